#!/usr/bin/env bash
# Which events arrive late? Reads timestamps (little-endian, 64 bits, of any unit) in the order in
# which the events arrived, in one pass, and divides them into two streams of the same format:
#
#     DIRECTORY/in-order     not earlier than any before them: sorted, for tools that need that
#     DIRECTORY/late         the others, as they came
#
# Then prints "in-order TAB count", "late TAB count", and "time TAB count" for each time at which
# late events happened.
#
# Usage: late-events.sh DIRECTORY [FILE...]     no FILE is standard input
#        late-events.sh                         on a sample of 60 events
# Environment: GPUHIST
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}

# Numbers, one a line, to little-endian 64-bit integers.
u64() {
    printf '%b' "$(awk '{
        for (i = 0; i < 8; i++) { printf "\\0%03o", $1 % 256; $1 = int($1 / 256) }
    }')"
}

if [ $# -eq 0 ]; then
    sample=$(mktemp -d)
    trap 'rm -rf "$sample"' EXIT
    # An event every 5 seconds; of seven the last is buffered somewhere for 12 seconds.
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
