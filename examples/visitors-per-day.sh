#!/usr/bin/env bash
# Prints the number of distinct clients on each day of logs:
#
#     DAY TAB clients
#
# Days are those of the timestamps as written, whatever their offset from UTC.
#
# Usage: visitors-per-day.sh FILE...     logs of Apache or nginx, compressed or not: field 1 is the IP address,
#                                        field 4 the timestamp; "-" is standard input
#        visitors-per-day.sh             a sample of 300 requests
# Environment: GPUHIST
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}

if [ $# -eq 0 ]; then
    sample=$(mktemp -d)
    trap 'rm -rf "$sample"' EXIT
    seq 300 | awk '{ printf "10.0.0.%d - - [%02d/Nov/2026:13:%02d:%02d +0100] \"GET /%d HTTP/1.1\" 200 12\n",
                            $1 * $1 % 47, 20 + $1 / 90, $1 % 60, $1 % 7, $1 }' >"$sample/log"
    set -- "$sample/log"
fi

"$gpuhist" reduce distinct --field 1:ip --by 4:localtime/1d --format tsv -- "$@" | sed 's/T00:00:00//'
