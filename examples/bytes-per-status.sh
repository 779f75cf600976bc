#!/usr/bin/env bash
# Prints the number of bytes that a web server has sent for each HTTP status, from logs in the common or
# combined format, plain or compressed:
#
#     status TAB bytes TAB percent
#
# Usage: bytes-per-status.sh [FILE...]     "-" is standard input; default: a sample of 500 requests
# Environment: GPUHIST
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}

if [ $# -eq 0 ]; then
    sample=$(mktemp -d)
    trap 'rm -rf "$sample"' EXIT
    awk 'BEGIN {
        for (i = 0; i < 500; i++) {
            status = i % 50 == 7 ? 500 : i % 10 == 3 ? 404 : i % 4 == 1 ? 304 : 200
            printf "192.0.2.%d - - [01/May/2025:10:%02d:%02d +0000] \"GET /page%d HTTP/1.1\" %d %s\n",
                i % 256, int(i / 60), i % 60, i % 17, status, (status == 304 ? "-" : 100 + i * i)
        }
    }' >"$sample/access.log"
    set -- "$sample/access.log"
fi

# The 9th word of a line is the status. The 10th is the number of bytes, or "-" if there are none: that
# is not a weight, and the line is skipped.
"$gpuhist" uniq -f 9 --weight 10 --invalid ignore --percent --format tsv -- "$@"
