#!/usr/bin/env bash
# Prints the most frequent ids in binary files, "id TAB count", most frequent first; ids with equal
# counts are in ascending order. The ids are any integers, with any number of distinct ones: MEMORY
# limits the memory; larger tables spill to disk.
#
# Usage: top-ids.sh [FILE...]     "-" is standard input; default: a sample of 1000 ids
# Environment: TOP, the number of ids to print (10); TYPE, of the ids (u64le); MEMORY (1G); GPUHIST
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}

# Converts numbers, one per line, to little-endian 64-bit integers.
u64() {
    printf '%b' "$(awk '{
        v = $1
        for (i = 0; i < 8; i++) { printf "\\0%03o", v % 256; v = int(v / 256) }
    }')"
}

if [ $# -eq 0 ]; then
    sample=$(mktemp -d)
    trap 'rm -rf "$sample"' EXIT
    seq 0 999 | awk '{ printf "%.0f\n", 7e15 + int($1 * $1 / 50000) * 7 % 20 * 1000003 }' |
        u64 >"$sample/ids"
    set -- "$sample/ids"
fi

"$gpuhist" uniq --type "${TYPE:-u64le}" --top "${TOP:-10}" --buffer-size "${MEMORY:-1G}" \
    --format tsv -- "$@"
