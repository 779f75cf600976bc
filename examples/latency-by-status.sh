#!/usr/bin/env bash
# Prints for each HTTP status in web server logs the number of requests, and the mean, the standard
# deviation and the maximum of their response times, in seconds. The columns are found by their names
# in the header row of each CSV file, which may be compressed:
#
#     status,count,mean,stddev,max
#
# Usage: latency-by-status.sh [FILE...]    default: a sample of two servers
# Environment: GPUHIST
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}

if [ $# -eq 0 ]; then
    sample=$(mktemp -d)
    trap 'rm -rf "$sample"' EXIT
    awk 'BEGIN { print "path,status,seconds"
        for (i = 0; i < 1000; i++) printf "/%d,%d,%d.%03d\n", i, i % 50 ? 200 : 404, i % 2, i }' >"$sample/a.csv"
    awk 'BEGIN { print "seconds,\"path, query\",status"
        for (i = 0; i < 100; i++) printf "0.25,\"/?q=%d,5\",%d\n", i, i % 20 ? 200 : 503 }' >"$sample/b.csv"
    set -- "$sample/a.csv" "$sample/b.csv"
fi

"$gpuhist" reduce count,mean,stddev,max --csv -f seconds:.3 --by status --format csv -- "$@"
