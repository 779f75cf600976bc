#!/usr/bin/env bash
# Prints the median, the 99th and the 99.9th percentile of a column of CSV files, which are counted
# together. Each file has a header row, in which the column may have a different position; fields may be
# quoted. The values are integers, such as latencies in milliseconds:
#
#     percentage TAB value
#
# Usage: latency-quantiles.sh NAME [FILE...]    the column NAME; default FILE: standard input
#        latency-quantiles.sh                   a sample of two servers
# Environment: GPUHIST
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}

if [ $# -eq 0 ]; then
    sample=$(mktemp -d)
    trap 'rm -rf "$sample"' EXIT
    awk 'BEGIN { print "path,ms,status"; for (i = 0; i < 900; i++) print "/" i "," i * i % 97 ",200" }' >"$sample/a.csv"
    awk 'BEGIN { print "ms,\"path, query\""; for (i = 0; i < 300; i++) print 3 * i ",\"/?q=" i ",5\"" }' >"$sample/b.csv"
    set -- ms "$sample/a.csv" "$sample/b.csv"
fi

name=$1
shift
"$gpuhist" --percentiles 50,99,99.9 --csv -f "$name" -- "$@"
