#!/usr/bin/env bash
# Prints the most frequent ids in files of binary records, such as those of databases and packet
# captures: "id TAB count", most frequent first. A record has RECORD bytes. The id starts at OFFSET, a
# little-endian 32-bit integer.
#
# Usage: binary-records.sh [FILE...]     "-" is standard input; default: a sample of 300 records of a
#                                    64-bit time, a 32-bit id and a 32-bit size
# Environment: RECORD (16), OFFSET (8), TOP, the number of ids to print (5); GPUHIST
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}

# Writes numbers, one per line, as little-endian 32-bit integers.
u32() {
    printf '%b' "$(awk '{ printf "\\0%03o\\0%03o\\0%03o\\0%03o", $1 % 256, int($1 / 256) % 256,
                                 int($1 / 65536) % 256, int($1 / 16777216) }')"
}

if [ $# -eq 0 ]; then
    sample=$(mktemp -d)
    trap 'rm -rf "$sample"' EXIT
    seq 0 299 | awk '{ print 1700000000 + $1; print 0; print 4000 + $1 * $1 % 17; print 60 + $1 }' |
        u32 >"$sample/records"
    set -- "$sample/records"
fi

"$gpuhist" uniq --type u32le --record "${RECORD:-16}" --offset "${OFFSET:-8}" --top "${TOP:-5}" \
    --format tsv -- "$@"
