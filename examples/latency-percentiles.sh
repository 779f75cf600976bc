#!/usr/bin/env bash
# Prints for each HTTP status the number of requests, and the median, the 99th percentile and the
# maximum of their response times, from web server logs, plain or compressed, whose last word is the
# time in seconds, such as nginx's $request_time. Then prints the same for all failed requests (5xx)
# together:
#
#     status,count,p50,p99,max
#     failed,count,p50,p99,max
#
# Usage: latency-percentiles.sh [FILE...]    "-" is standard input; default: a sample of 2000 requests
# Environment: GPUHIST
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}

if [ $# -eq 0 ]; then
    sample=$(mktemp -d)
    trap 'rm -rf "$sample"' EXIT
    awk 'BEGIN {
        for (i = 0; i < 2000; i++) {
            status = i % 100 == 7 ? 503 : i % 50 == 3 ? 500 : i % 10 == 3 ? 404 : 200
            printf "192.0.2.%d - - [01/May/2025:10:%02d:%02d +0000] \"GET /page%d HTTP/1.1\" %d %d %d.%03d\n",
                i % 256, int(i / 60) % 60, i % 60, i % 17, status, i * 7 % 5000, status == 503 ? 30 : 0, i * i % 997
        }
    }' >"$sample/access.log"
    set -- "$sample/access.log"
fi
[ "$*" != - ] || { # it is read twice
    sample=$(mktemp -d)
    trap 'rm -rf "$sample"' EXIT
    cat >"$sample/input"
    set -- "$sample/input"
}

# The 9th word of a line is the status, the last one (-1) the time, with up to 3 decimal places.
"$gpuhist" reduce count,p50,p99,max -f -1:.3 --by 9 --format csv -- "$@" | sed '1s/^by/status/'
"$gpuhist" reduce count,p50,p99,max -f -1:.3 --where '9>=500' --format csv -- "$@" |
    sed '1d; s/^/failed,/'
