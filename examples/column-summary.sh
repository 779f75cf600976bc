#!/usr/bin/env bash
# What is in a column of a CSV file? Its smallest and largest value, the mean and the standard
# deviation, and how many of its cells are not integers, such as those that are empty. The file has a
# header and no quoted commas; lines may end with CRLF.
#
# Usage: column-summary.sh NAME [FILE...]    the column of that name; no FILE is standard input
#        column-summary.sh                   on a sample
# Environment: GPUHIST
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

if [ $# -eq 0 ]; then
    awk 'BEGIN {
        printf "id,city,age\r\n"
        for (i = 0; i < 400; i++) printf "%d,city %d,%s\r\n", i, i % 7, (i % 90 == 5 ? "" : 18 + i * i % 60)
    }' >"$directory/people.csv"
    set -- age "$directory/people.csv"
fi

name=$1
shift
if [ $# -eq 0 ]; then
    cat >"$directory/input.csv"
    set -- "$directory/input.csv"
fi

field=$(head -n 1 -- "$1" | tr -d '\r' | tr ',' '\n' | grep -nxF -- "$name" | head -n 1 | cut -d : -f 1) || {
    echo "$1: no column '$name'" >&2
    exit 1
}

"$gpuhist" reduce count,min,max,mean,stddev -d , -f "$field" --header --invalid warn -- "$@" \
    2>"$directory/reports" || { cat "$directory/reports" >&2; exit 1; }

# One line for each of the first ten, and then how many more there are.
awk '/more invalid integers$/ { n += $2; next } / invalid integer / { n++ } END { print "invalid\t" n + 0 }' \
    "$directory/reports"
