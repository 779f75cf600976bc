#!/usr/bin/env bash
# Summarises web server logs in the common or combined format, plain or compressed with zstd,
# gzip, xz, bzip2 or lz4. Prints a line for each HTTP status:
#
#     status TAB requests
#
# Then prints the sum and the mean of the bytes sent, over the requests that sent any.
#
# Usage: log-statuses.sh FILE...
#        log-statuses.sh             a sample of 500 requests
# Environment: GPUHIST
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}

if [ $# -eq 0 ]; then
    sample=$(mktemp -d)
    trap 'rm -rf "$sample"' EXIT
    awk 'BEGIN {
        for (i = 0; i < 500; i++) {
            status = i % 50 == 7 ? 500 : i % 10 == 3 ? 404 : i % 4 == 1 ? 304 : 200
            printf "192.0.2.%d - - [01/May/2025:10:%02d:%02d +0000] \"GET /page%d HTTP/1.1\" %d %s \"-\" \"agent/1.0 (x)\"\n",
                i % 256, int(i / 60), i % 60, i % 17, status, (status == 304 ? "-" : 100 + i * 13)
        }
    }' >"$sample/access.log"
    set -- "$sample/access.log"
fi

# The 9th word of a line is the status. It is missing or invalid in a truncated line.
"$gpuhist" -f 9 --bins 1000 --outside ignore --invalid warn -- "$@"

# The 10th word is the number of bytes sent, or "-".
"$gpuhist" reduce sum,mean -f 10 --invalid ignore -- "$@"
