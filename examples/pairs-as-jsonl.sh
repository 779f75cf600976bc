#!/usr/bin/env bash
# Prints how often each pair of a host and an HTTP status occurs in CSV files, and the distribution of the response
# times of each status over base-2 logarithmic bins. gpuhist writes JSON Lines, one object per line with the
# members in a fixed order, which sed can parse; jq is not needed:
#
#     host HOST, status STATUS: COUNT
#     status STATUS, LOW to HIGH ms: COUNT
#
# Usage: pairs-as-jsonl.sh [FILE...]    files with the columns host, status and ms; default: a sample of
#                                       600 requests
# Environment: GPUHIST
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}

if [ $# -eq 0 ]; then
    sample=$(mktemp -d)
    trap 'rm -rf "$sample"' EXIT
    awk 'BEGIN { print "host,status,ms"
        for (i = 0; i < 600; i++)
            printf "%d,%d,%d\n", 1 + i % 2, i % 20 ? i % 9 ? 200 : 404 : 503, i % 20 ? i * i % 61 : 900 }' >"$sample/a.csv"
    set -- "$sample/a.csv"
fi

# {"host":1,"status":200,"value":...}: for uniq, the value is the status.
"$gpuhist" uniq --csv -f status --by host --format jsonl -- "$@" |
    sed 's/{"host":\([^,]*\),"value":\([^,]*\),"count":\([^}]*\)}/host \1, status \2: \3/'
# A bin of width 1, such as that of 0, also has a "low" and a "high".
"$gpuhist" --log2 --csv -f ms --by status --format jsonl -- "$@" |
    sed 's/{"status":\([^,]*\),"low":\([^,]*\),"high":\([^,]*\),"count":\([^}]*\)}/status \1, \2 to \3 ms: \4/'
