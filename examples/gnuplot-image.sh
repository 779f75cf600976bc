#!/usr/bin/env bash
# Draws a histogram of latencies, in base-2 logarithmic bins, as a PNG image with gnuplot.
#
# Usage: gnuplot-image.sh IMAGE.png FILE...     FILE: an integer in each line; "-" is standard input
#        gnuplot-image.sh                       a sample of 2000 latencies; prints the image's size
# Environment: TITLE; GPUHIST
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}
command -v gnuplot >/dev/null || { echo "gnuplot-image: gnuplot is not installed" >&2; exit 77; }

# draw IMAGE FILE...: gnuplot reads its settings, and then the script with the data.
draw() {
    {
        echo "set terminal pngcairo size 800,480"
        echo "set output '${1//\'/\'\'}'"
        echo "set title '${TITLE:-latencies in ms}' noenhanced"
        "$gpuhist" --text --log2 --format gnuplot -- "${@:2}"
    } | gnuplot
}

if [ $# -eq 0 ]; then
    sample=$(mktemp -d)
    trap 'rm -rf "$sample"' EXIT
    seq 2000 | awk '{ print int(exp($1 * 7919 % 2000 / 250)) }' >"$sample/latencies"
    draw "$sample/image.png" "$sample/latencies"
    # The width and the height, in bytes 16 to 23.
    od -An -v -t u1 -j 1 -N 23 "$sample/image.png" |
        awk '{ for (i = 1; i <= NF; i++) b[n++] = $i }
            END { printf "%c%c%c, %d x %d pixels\n", b[0], b[1], b[2], b[17] * 256 + b[18], b[21] * 256 + b[22] }'
    exit
fi
[ $# -gt 1 ] || { echo "usage: gnuplot-image.sh IMAGE.png FILE..." >&2; exit 2; }
draw "$@"
