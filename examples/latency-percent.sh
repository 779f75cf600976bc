#!/usr/bin/env bash
# Prints a table of latencies (little-endian, 32 bits, any unit), with a line for each of BINS equal
# parts of LO <= latency < HI:
#
#     low TAB high (exclusive) TAB count TAB percent TAB cumulative percent
#
# Percentages are of the latencies in the range. The number of those outside is reported on standard
# error.
#
# Usage: latency-percent.sh LO:HI BINS [FILE...]     default FILE: standard input
#        latency-percent.sh                          a sample of 200 latencies
# Environment: GPUHIST
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}

# Converts numbers, one a line, to little-endian 32-bit integers.
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

# A bin of width 1 has no column "high".
"$gpuhist" --type u32le --range "$1" --bins "$2" --zeros -- "${@:3}" |
    awk '{ low[NR] = $1; high[NR] = NF == 3 ? $2 : $1 + 1; count[NR] = $NF; all += $NF }
        END {
            for (i = 1; all > 0 && i <= NR; i++) {
                sofar += count[i]
                printf "%s\t%s\t%s\t%.2f\t%.2f\n", low[i], high[i], count[i],
                       count[i] / all * 100, sofar / all * 100
            }
        }'
