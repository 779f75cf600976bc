#!/usr/bin/env bash
# Shows the number of requests of each HTTP status since the last result, from a web server log while it
# is written: each second the lines
#
#     status TAB requests
#
# of the statuses that occurred, and an empty line. Ctrl-C or SIGTERM ends it.
#
# Usage: live-rates.sh LOG
#        live-rates.sh               a sample: a log that gets 7 lines while it is followed
# Environment: EVERY, the time between results (1s); GPUHIST
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}

# mawk reads and writes in blocks unless it is interactive; others need fflush() to write at once.
interactive=()
case $(awk -W version 2>&1 </dev/null) in mawk*) interactive=(-W interactive) ;; esac

# --every prints all counts so far, and an empty line between two results.
rates() {
    "$gpuhist" uniq -f 9 --invalid warn --every "${EVERY:-1s}" |
        awk "${interactive[@]}" 'NF && $2 > n[$1] { print $1 "\t" $2 - n[$1]; n[$1] = $2; some = 1 }
            !NF && some { print ""; some = 0 }
            { fflush() }'
}

[ $# -eq 0 ] || { tail --lines=+1 -F -- "$1" | rates; exit; }

sample=$(mktemp -d)
trap 'rm -rf "$sample"' EXIT
line='192.0.2.1 - - [01/May/2025:10:00:00 +0000] "GET / HTTP/1.1" %d 512\n'

# Writes the given statuses to the log at once, and waits until they are counted.
write() {
    local text
    # shellcheck disable=SC2059  # the line is a format
    text=$(printf "$line" "$@")
    cat >>"$sample/log" <<<"$text" # one write; the shell's printf makes one per line
    lines=$((lines + $#))
    until [ "$(awk '{ n += $2 } END { print n + 0 }' "$sample/rates")" = $lines ]; do
        kill -0 $counter
        sleep 0.02
    done
}

lines=0
touch "$sample/log" "$sample/rates"
sleep 60 3>&- &
server=$!
trap 'kill $server 2>/dev/null || true; rm -rf "$sample"' EXIT
tail --lines=+1 -f --pid=$server -s 0.02 "$sample/log" | EVERY=20ms rates >"$sample/rates" &
counter=$!
write 200 200 404 200
write 200 503 200
kill $server
wait
cat "$sample/rates"
