#!/usr/bin/env bash
# Prints the median, the 99th percentile and the maximum of a number in JSON lines, which jq selects:
#
#     percentage TAB value
#
# Usage: json-lines.sh FILTER [FILE...]     a filter of jq that yields numbers, such as '.ms', or
#                                           'select(.status >= 500) | .ms'; default FILE: standard input
#        json-lines.sh                      a sample of 400 requests
# Environment: DECIMALS, of the numbers (3); GPUHIST
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}
command -v jq >/dev/null || { echo "json-lines: jq is not installed" >&2; exit 77; }

if [ $# -eq 0 ]; then
    sample=$(mktemp -d)
    trap 'rm -rf "$sample"' EXIT
    seq 400 | awk '{ printf "{\"path\":\"/%d\",\"status\":%d,\"ms\":%s}\n", $1 % 9, $1 % 50 ? 200 : 503,
                            $1 % 40 ? $1 * $1 % 701 / 4 : "null" }' >"$sample/requests"
    set -- 'select(.status == 200) | .ms' "$sample/requests"
fi

filter=$1
shift
jq -r "($filter) // empty" -- "$@" |
    "$gpuhist" --decimals "${DECIMALS:-3}" --quantiles 50,99,100
