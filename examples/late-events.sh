#!/usr/bin/env bash
# Splits a stream of timestamps (little-endian, 64 bits, any unit), in order of arrival, in one pass
# into two streams of the same format:
#
#     DIRECTORY/in-order     not less than any earlier one: sorted, for tools that require it
#     DIRECTORY/late         the others, in order of arrival
#
# Then prints "in-order TAB count", "late TAB count", and "time TAB count" for each time of late
# events.
#
# Usage: late-events.sh DIRECTORY [FILE...]     default FILE: standard input
#        late-events.sh                         a sample of 60 events
# Environment: GPUHIST
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}

# Converts numbers, one per line, to little-endian 64-bit integers.
u64() {
    printf '%b' "$(awk '{
        for (i = 0; i < 8; i++) { printf "\\0%03o", $1 % 256; $1 = int($1 / 256) }
    }')"
}

if [ $# -eq 0 ]; then
    sample=$(mktemp -d)
    trap 'rm -rf "$sample"' EXIT
    # An event every 5 seconds; every seventh is delayed by 12 seconds.
    seq 0 59 | awk '{ print 1700000000 + $1 * 5 - ($1 % 7 == 6 ? 12 : 0) }' | u64 >"$sample/events"
    set -- "$sample" "$sample/events"
fi
directory=$1
shift

"$gpuhist" stalin-sort --type u64le --purged "$directory/late" -o "$directory/in-order" -- "$@"

for part in in-order late; do
    printf '%s\t' "$part"
    "$gpuhist" reduce count --type u64le -- "$directory/$part"
done
od -An -v -t u8 -w8 "$directory/late" | sort -n | uniq -c | awk '{ print $2 "\t" $1 }'
