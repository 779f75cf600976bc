#!/usr/bin/env bash
# Draws a heat map of the response times in web server logs, as an SVG image on standard output: time from left
# to right, response times upwards, in eight bins for each power of 2, and counts as colours.
#
# Usage: latency-map.sh BUCKET TIME MS FILE...     BUCKET is a length of time such as 5m or 1h; TIME and MS the
#                                                  fields of the time and the response time; "-" is standard input
#        latency-map.sh                            a sample of 6 hours in which a server slows down for a while
# Environment: GPUHIST
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}

if [ $# -eq 0 ]; then
    sample=$(mktemp -d)
    trap 'rm -rf "$sample"' EXIT
    # Only integers, so that the image is the same with every awk.
    awk 'function random(n) { state = (state * 1103 + 12345) % 1048576; return int(state / 64) % n }
        BEGIN {
            for (i = 0; i < 20000; i++) {
                second = int(i * 216 / 200)
                ms = 20 + random(15) + random(15)
                if (random(9) == 0) ms += 60 + random(200)
                if (second > 9000 && second < 13000) ms += random(int((second - 9000) / 8) + 1)
                printf "10.0.0.%d - - [21/Nov/2026:%02d:%02d:%02d +0000] \"GET / HTTP/1.1\" 200 512 %d\n",
                    i % 7, 8 + int(second / 3600), int(second / 60) % 60, second % 60, ms
            }
        }' >"$sample/log"
    set -- 10m 4 11 "$sample/log"
fi

bucket=$1 time=$2 ms=$3
shift 3
"$gpuhist" --log2=3 --field "$ms" --by "$time:time/$bucket" --format svg --title 'Response times' \
    --label milliseconds -- "$@"
