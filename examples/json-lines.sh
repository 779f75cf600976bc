#!/usr/bin/env bash
# Prints the number of requests, the median, the 99th percentile and the maximum of a number in JSON
# Lines, for each value of another member:
#
#     group TAB count TAB median TAB p99 TAB maximum
#
# Usage: json-lines.sh NUMBER GROUP [OPTION...] [FILE...]
#                                           names of members, or paths such as .http.ms; options such as
#                                           --where '.status>=500'; default FILE: standard input
#        json-lines.sh                      a sample of 400 requests
# Environment: DECIMALS, of the numbers (3); GPUHIST
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}

if [ $# -eq 0 ]; then
    sample=$(mktemp -d)
    trap 'rm -rf "$sample"' EXIT
    seq 400 | awk '{ printf "{\"path\":\"/%d\",\"status\":%d,\"http\":{\"ms\":%s}}\n", $1 % 9,
                            $1 % 50 ? 200 : 503, $1 % 40 ? $1 * $1 % 701 / 4 : "null" }' >"$sample/requests"
    set -- .http.ms path:text --where 'status=200' "$sample/requests"
fi

number=$1
group=$2
shift 2
"$gpuhist" reduce count,median,p99,max --jsonl -f "$number:.${DECIMALS:-3}" --by "$group" --invalid ignore -q "$@"
