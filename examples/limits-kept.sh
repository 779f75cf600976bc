#!/usr/bin/env bash
# Prints the number of latencies (little-endian, 32 bits, any unit) within each of several limits, in
# one pass, with a line for each limit:
#
#     limit TAB latencies up to it TAB percent
#
# Usage: limits-kept.sh LIMIT,LIMIT,... [FILE...]     default FILE: standard input
#        limits-kept.sh                               a sample of 200 latencies
# Environment: GPUHIST
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}

# Converts numbers, one per line, to little-endian 32-bit integers.
u32() {
    printf '%b' "$(awk '{ printf "\\0%03o\\0%03o\\0%03o\\0%03o", $1 % 256, int($1 / 256) % 256,
                                 int($1 / 65536) % 256, int($1 / 16777216) }')"
}

if [ $# -eq 0 ]; then
    sample=$(mktemp -d)
    trap 'rm -rf "$sample"' EXIT
    seq 0 199 | awk '{ print int($1 * $1 / 40) }' | u32 >"$sample/latencies"
    set -- 50,100,250,500,1K "$sample/latencies"
fi

predicates=()
IFS=, read -r -a limits <<<"$1"
for limit in "${limits[@]}"; do predicates+=(--le "$limit"); done

"$gpuhist" count --type u32le --all "${predicates[@]}" -- "${@:2}" |
    awk -F '\t' 'NR == 1 { all = $2; next }
        { sub(/^le /, ""); printf "%s\t%d\t%.2f\n", $1, $2, (all ? $2 / all * 100 : 100) }'
