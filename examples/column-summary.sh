#!/usr/bin/env bash
# Summarises a column of a CSV file: its minimum, maximum, mean and standard deviation, and the
# number of cells that are not integers, such as empty ones. Each file has a header; fields may
# be quoted, and lines may end with CRLF.
#
# Usage: column-summary.sh NAME [FILE...]    the column NAME; default FILE: standard input
#        column-summary.sh                   a sample
# Environment: GPUHIST
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

if [ $# -eq 0 ]; then
    awk 'BEGIN {
        printf "id,\"city, country\",age\r\n"
        for (i = 0; i < 400; i++) printf "%d,\"city %d, Utopia\",%s\r\n", i, i % 7, (i % 90 == 5 ? "" : 18 + i * i % 60)
    }' >"$directory/people.csv"
    set -- age "$directory/people.csv"
fi

name=$1
shift

"$gpuhist" reduce count,min,max,mean,stddev --csv -f "$name" --invalid warn -- "$@" \
    2>"$directory/reports" || { cat "$directory/reports" >&2; exit 1; }

# gpuhist reports the first ten in one line each, and then the number of the others.
awk '/more invalid integers$/ { n += $2; next } /:[0-9]+: / { n++ } END { print "invalid\t" n + 0 }' \
    "$directory/reports"
