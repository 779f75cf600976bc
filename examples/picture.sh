#!/usr/bin/env bash
# Draws latencies of a column of CSV files, in base-2 logarithmic bins, as an image for a report, and
# prints the tooltips of its bars: "LOW..HIGH: COUNT (PERCENT%)".
#
# Usage: picture.sh PICTURE.svg NAME [FILE...]     the column NAME; default FILE: standard input
#        picture.sh                                a sample, whose image is not kept
# Environment: GPUHIST
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}

if [ $# -eq 0 ]; then
    sample=$(mktemp -d)
    trap 'rm -rf "$sample"' EXIT
    seq 0 499 | awk 'BEGIN { print "path,ms" } { print "/page" $1 % 7 "," int($1 ^ 3 / 100000) }' >"$sample/requests.csv"
    set -- "$sample/picture.svg" ms "$sample/requests.csv"
elif [ $# -eq 1 ]; then
    echo "usage: picture.sh [PICTURE.svg NAME [FILE...]]" >&2
    exit 2
fi

"$gpuhist" --csv --field "$2" --log2 --format svg --output "$1" -- "${@:3}"
sed -n 's:^<rect .*<title>\(.*\)</title></rect>$:\1:p' "$1"
