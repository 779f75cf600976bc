#!/usr/bin/env bash
# Counts the ids of each day once, keeps the result as a state, and merges the states of all days:
# prints the most frequent ids, "id TAB count". A day with a state is not read again, unless
# its file is newer. The days can also be counted on different machines.
#
# Usage: month-of-days.sh STATES FILE...     STATES: a directory; a FILE for each day has an id in each
#                                            line, and may be compressed
#        month-of-days.sh                    a sample: two days, and then a third one
# Environment: TOP, the number of ids to print (5); GPUHIST
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}

# month STATES FILE...
month() {
    local states=$1 day state
    mkdir -p -- "$states"
    for day in "${@:2}"; do
        state=$states/${day##*/}.state
        if [ ! -e "$state" ] || [ "$day" -nt "$state" ]; then
            echo "counting ${day##*/}"
            "$gpuhist" uniq --text --save "$state" -o /dev/null -- "$day"
        fi
    done
    "$gpuhist" merge --top "${TOP:-5}" --format tsv -- "$states"/*.state
}

if [ $# -eq 0 ]; then
    sample=$(mktemp -d)
    trap 'rm -rf "$sample"' EXIT
    for day in 1 2 3; do
        seq 900 | awk -v day=$day '{ printf "%d%012d\n", 7 + day, $1 * $1 % (100 + 3 * day) % 40 }'
        seq 50 | awk -v day=$day '{ print $1 % day }'
    done | split -l 950 -a 1 --numeric-suffixes=1 - "$sample/2025-05-0"
    month "$sample/states" "$sample"/2025-05-0[12]
    month "$sample/states" "$sample"/2025-05-0[123]
    exit
fi
month "$@"
