#!/usr/bin/env bash
# Prints the number of requests in each minute of logs, including minutes without requests:
#
#     MINUTE (UTC) TAB requests
#
# The timestamp may be in the common log format, in RFC 3339, or in seconds since 1970.
#
# Usage: requests-per-minute.sh FIELD FILE...     logs, compressed or not, and the field of the time: 4 in
#                                                 logs of Apache and nginx; "-" is standard input
#        requests-per-minute.sh                   a sample of 300 requests
# Environment: GPUHIST
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}

if [ $# -eq 0 ]; then
    sample=$(mktemp -d)
    trap 'rm -rf "$sample"' EXIT
    seq 300 | awk '{ printf "10.0.0.%d - - [21/Nov/2026:13:%02d:%02d +0000] \"GET /%d HTTP/1.1\" 200 12\n",
                            $1 % 9, $1 * $1 / 3600, $1 % 60, $1 }' >"$sample/log"
    set -- 4 "$sample/log"
fi

field=$1
shift
"$gpuhist" -f "$field:time" --width 1m --zeros --format tsv -- "$@" | cut -f 1,3
