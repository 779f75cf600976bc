#!/usr/bin/env bash
# Prints how often ids occur: "LOW TAB HIGH TAB N" means that N distinct ids occur at least LOW and
# less than HIGH times. Ids are any number of 64-bit integers: --buffer-size limits the memory.
#
# Usage: how-often.sh [FILE...]     text with an id in each line; "-" is standard input; default: a
#                                   sample of 3000 ids
# Environment: MEMORY, for the counts (1G); GPUHIST
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}

if [ $# -eq 0 ]; then
    sample=$(mktemp -d)
    trap 'rm -rf "$sample"' EXIT
    seq 0 2999 | awk '{ printf "18%018d\n", int(sqrt($1 * 7919 % 3000 * 300)) * 1000003 }' >"$sample/ids"
    set -- "$sample/ids"
fi

"$gpuhist" uniq --text --type u64 --buffer-size "${MEMORY:-1G}" --format tsv -- "$@" |
    "$gpuhist" --field 2 --log2 --format tsv
