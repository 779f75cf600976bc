#!/usr/bin/env bash
# Counts the HTTP statuses of a web server log while it is written: each second, the counts so far,
# "status TAB requests", replace the previous ones. Ctrl-C or SIGTERM prints a last result and
# ends it. The log may be rotated meanwhile.
#
# Usage: live-tail.sh LOG [FILE]     FILE: output file for the counts; default: standard output
#        live-tail.sh                a sample: a log that gets 60 lines while it is followed
# Environment: EVERY, the time between results (1s); GPUHIST
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}

# Follows LOG until a signal comes, or this script ends.
follow() {
    exec "$gpuhist" uniq -f 9 --every "${EVERY:-1s}" -o "${2:--}" \
        < <(exec tail --lines=+1 -F --pid=$$ -- "$1" 2>/dev/null)
}

[ $# -eq 0 ] || follow "$@"

sample=$(mktemp -d)
trap 'rm -rf "$sample"' EXIT
line='192.0.2.1 - - [01/May/2025:10:00:00 +0000] "GET / HTTP/1.1" %d 512\n'
# shellcheck disable=SC2059  # the line is a format
printf "$line" 200 200 404 >"$sample/log"
EVERY=50ms follow "$sample/log" "$sample/counts" &
counter=$!
for _ in {1..19}; do
    # shellcheck disable=SC2059
    printf "$line" 200 304 503 >>"$sample/log"
    sleep 0.01
done
until [ "$(awk '{ n += $2 } END { print n + 0 }' "$sample/counts" 2>/dev/null)" = 60 ]; do
    kill -0 $counter
    sleep 0.02
done
kill -TERM $counter
wait $counter || echo "ended with status $?"
cat "$sample/counts"
