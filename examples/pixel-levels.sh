#!/usr/bin/env bash
# Prints how often each grey level occurs in an image: "level TAB pixels", 256 lines. The image is a
# binary PGM (P5) with 8 bits per pixel, whose header ends with a newline, as usual.
#
# Usage: pixel-levels.sh [FILE]     default: a sample of 16 x 16 pixels
# Environment: GPUHIST
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}
image=${1:-}

die() { echo "pixel-levels: $*" >&2; exit 1; }

if [ -z "$image" ]; then
    sample=$(mktemp -d)
    trap 'rm -rf "$sample"' EXIT
    image=$sample/image.pgm
    printf 'P5\n# the pixel at column x, row y is x * y\n16 16\n255\n' >"$image"
    printf '%b' "$(seq 0 255 | awk '{ printf "\\0%03o", $1 % 16 * int($1 / 16) }')" >>"$image"
fi

# read stops right after the line that it reads, so head continues with the first pixel.
exec <"$image"
header=()
while [ "${#header[@]}" -lt 4 ] && IFS= read -r line; do
    read -r -a words <<<"${line%%#*}"
    header+=("${words[@]}")
done
[[ "${header[*]}" =~ ^P5\ ([1-9][0-9]{0,8})\ ([1-9][0-9]{0,8})\ ([1-9][0-9]{0,4})$ ]] ||
    die "$image: no header of a binary PGM"
pixels=$((BASH_REMATCH[1] * BASH_REMATCH[2]))
[ "${BASH_REMATCH[3]}" -le 255 ] || die "$image: more than 8 bits a pixel"

head -c "$pixels" | "$gpuhist" --type u8le --bins 256 --zeros |
    awk -v pixels="$pixels" '{ line[NR] = $0; all += $2 }
        END { for (i = 1; all == pixels && i <= NR; i++) print line[i]; exit all != pixels }' ||
    die "$image: found no $pixels pixels to count"
