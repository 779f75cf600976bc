#!/usr/bin/env bash
# Summarises the logs of a web server in the common or combined format, including rotated ones:
# plain or compressed with gzip, zstd, xz, bzip2 or lz4. Prints a line for each HTTP status:
#
#     status TAB requests
#
# Then prints the sum and the mean of the bytes sent, over the requests that sent any.
#
# Usage: log-statuses.sh access.log*
#        log-statuses.sh             a sample of 500 requests in three files
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
    }' | split -l 200 -a 1 --numeric-suffixes=0 - "$sample/access.log."
    if "$gpuhist" info | grep -q '^gzip: yes'; then gzip "$sample"/access.log.[12]; fi
    set -- "$sample"/access.log*
fi

# The 9th word of a line is the status. It is missing or invalid in a truncated line.
"$gpuhist" uniq -f 9 --invalid warn -- "$@"

# The 10th word is the number of bytes sent, or "-".
"$gpuhist" reduce sum,mean -f 10 --invalid ignore -- "$@"
