#!/usr/bin/env bash
# Compares the counts of ids in two files, in any order. Prints "id TAB count in A TAB count in B" for
# each id whose counts differ.
#
# Usage: compare-files.sh [A B]     default: two pairs of samples
# Environment: TYPE, of the ids (u32le); GPUHIST
# Exit status, as for cmp: 0 equal, 1 different, 2 trouble
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
different=0

count() { "$gpuhist" uniq --type "${TYPE:-u32le}" -o "$1" -- "$2" || exit 2; }

compare() {
    count "$work/1" "$1"
    count "$work/2" "$2"
    if cmp -s "$work/1" "$work/2"; then
        echo "${1##*/} and ${2##*/}: the same"
        return
    fi
    different=1
    echo "${1##*/} and ${2##*/}: different"
    awk -v OFS='\t' 'FILENAME == ARGV[1] { first[$1] = $2; next }
        { if (first[$1] + 0 != $2 + 0) print $1, first[$1] + 0, $2; delete first[$1] }
        END { for (id in first) print id, first[id], 0 }' "$work/1" "$work/2" | sort -n
}

if [ $# -eq 0 ]; then
    # 7, 300, 7, 70000; the same in another order; and with an 8 instead of a 7
    printf '\7\0\0\0\54\1\0\0\7\0\0\0\160\21\1\0' >"$work/a.ids"
    printf '\160\21\1\0\7\0\0\0\7\0\0\0\54\1\0\0' >"$work/b.ids"
    printf '\7\0\0\0\54\1\0\0\10\0\0\0\160\21\1\0' >"$work/c.ids"
    compare "$work/a.ids" "$work/b.ids"
    compare "$work/a.ids" "$work/c.ids"
    exit
fi
[ $# -eq 2 ] || { echo "usage: compare-files.sh [A B]" >&2; exit 2; }
compare "$1" "$2"
exit "$different"
