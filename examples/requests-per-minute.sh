#!/usr/bin/env bash
# Prints the number of requests in each minute of logs whose lines begin with the time in seconds
# since 1970, with or without a fraction, also of minutes without a request:
#
#     DATE HOUR:MINUTE (UTC) TAB requests
#
# Usage: requests-per-minute.sh FILE...     logs, compressed or not; "-" is standard input
#        requests-per-minute.sh             a sample of 300 requests
# Environment: GPUHIST
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}

if [ $# -eq 0 ]; then
    sample=$(mktemp -d)
    trap 'rm -rf "$sample"' EXIT
    seq 300 | awk '{ printf "%d.%03d GET /%d\n", 1746093540 + $1 * $1 / 200, $1 % 1000, $1 }' >"$sample/log"
    set -- "$sample/log"
fi

"$gpuhist" -f 1 --decimals 3 --width 60 --zeros --format tsv -- "$@" |
    while IFS=$'\t' read -r from _ requests; do
        TZ=UTC printf '%(%Y-%m-%d %H:%M)T\t%s\n' "${from%.*}" "$requests"
    done
