#!/usr/bin/env bash
# Counts shards (files of little-endian 32-bit ids) one by one, as several machines might do, and
# adds up the raw counts: "id TAB count". Then counts all shards as one stream, which must give the
# same result.
#
# Usage: shards.sh [BINS FILE...]     ids are below BINS; default: three samples
# Environment: GPUHIST
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Converts numbers, one a line, to little-endian 32-bit integers.
u32() {
    printf '%b' "$(awk '{ printf "\\0%03o\\0%03o\\0%03o\\0%03o", $1 % 256, int($1 / 256) % 256,
                                 int($1 / 65536) % 256, int($1 / 16777216) }')"
}

if [ $# -eq 0 ]; then
    seq 0 99 | awk '{ print $1 * $1 % 13 }' | u32 >"$work/first"
    seq 0 49 | awk '{ print $1 % 7 * 100 }' | u32 >"$work/second"
    seq 990 999 | u32 >"$work/third"
    set -- 1K "$work/first" "$work/second" "$work/third"
elif [ $# -eq 1 ]; then
    echo "usage: shards.sh [BINS FILE...]" >&2
    exit 2
fi
bins=$1
shift

count() { "$gpuhist" --type u32le --bins "$bins" --outside abort "$@"; }

for shard; do count --format raw -- "$shard"; done >"$work/counts" # 8 bytes per bin
every=$(($(wc -c <"$work/counts") / 8 / $#))                       # bins per shard
od -An -v -t u8 "$work/counts" |
    awk -v bins="$every" '{ for (i = 1; i <= NF; i++) { sum[n % bins] += $i; n++ } }
        END { for (i = 0; i < bins; i++) if (sum[i] > 0) printf "%d\t%.0f\n", i, sum[i] }' |
    tee "$work/added"

count -- "$@" | cmp - "$work/added"
echo "the same as one stream of $# files"
