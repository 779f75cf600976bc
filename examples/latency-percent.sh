#!/usr/bin/env bash
# How long did requests take? From little-endian 32-bit latencies, in whatever unit, a table with a
# line for each of BINS parts of LO <= latency < HI:
#
#     low TAB high (exclusive) TAB count TAB percent TAB percent up to here
#
# Percentages are of the latencies in the range; how many lie outside is told on standard error.
#
# Usage: latency-percent.sh LO:HI BINS [FILE...]     no FILE is standard input
#        latency-percent.sh                          on a sample of 200 latencies
# Environment: GPUHIST
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}

# Numbers, one a line, to little-endian 32-bit integers.
u32() {
    printf '%b' "$(awk '{ printf "\\0%03o\\0%03o\\0%03o\\0%03o", $1 % 256, int($1 / 256) % 256,
                                 int($1 / 65536) % 256, int($1 / 16777216) }')"
}

if [ $# -eq 0 ]; then
    sample=$(mktemp -d)
    trap 'rm -rf "$sample"' EXIT
    seq 0 199 | awk '{ print int($1 * $1 / 40) }' | u32 >"$sample/latencies"
    set -- 0:1000 10 "$sample/latencies"
elif [ $# -eq 1 ]; then
    echo "usage: latency-percent.sh [LO:HI BINS [FILE...]]" >&2
    exit 2
fi

# A bin that is one wide has no column "high" of its own.
"$gpuhist" --type u32le --range "$1" --bins "$2" --zeros -- "${@:3}" |
    awk '{ low[NR] = $1; high[NR] = NF == 3 ? $2 : $1 + 1; count[NR] = $NF; all += $NF }
        END {
            for (i = 1; all > 0 && i <= NR; i++) {
                sofar += count[i]
                printf "%s\t%s\t%s\t%.2f\t%.2f\n", low[i], high[i], count[i],
                       count[i] / all * 100, sofar / all * 100
            }
        }'
