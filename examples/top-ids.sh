#!/usr/bin/env bash
# Prints the most frequent ids in files of little-endian 32-bit ids: "id TAB count", most frequent
# first; ids with equal counts are in ascending order.
#
# Usage: busiest-ids.sh [FILE...]     "-" is standard input; default: a sample of 1000 ids
# Environment: TOP, how many to print (10); BINS, one more than the largest id (5M); GPUHIST
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
    seq 0 999 | awk '{ print 1000000 + int($1 * $1 / 50000) * 7 % 20 }' | u32 >"$sample/ids"
    set -- "$sample/ids"
fi

"$gpuhist" --type u32le --bins "${BINS:-5M}" --top "${TOP:-10}" --format tsv -- "$@"
