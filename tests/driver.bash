#!/usr/bin/env bash
# Automake's driver for tests that print TAP, but with one line per test file, with its counts. A
# failed test has its own line before it. "make check V=1" prints a line for every test.
#
#   driver.bash TAP-DRIVER --test-name NAME --log-file FILE OPTION... -- COMMAND
set -euo pipefail
name=$3 log=$5

sh "$@" | awk -v name="$name" -v log_file="$log" -v start="$(date +%s)" '
    {
        result = $0
        gsub(/\033\[[0-9;]*m/, "", result) # colours on a terminal
        sub(/:.*/, "", result)
        if (result == "ERROR" && count["FAIL"] && / exited with status 1$/)
            next # Bats also reports it
        count[result]++
    }
    result !~ /^(PASS|XFAIL|SKIP)$/ { print }
    END {
        failed = count["FAIL"] + count["XPASS"] + count["ERROR"]
        "date +%s" | getline end
        printf "%s: %s%d passed%s, %d s%s\n", name, failed ? failed " FAILED, " : "",
            count["PASS"] + count["XFAIL"], count["SKIP"] ? ", " count["SKIP"] " skipped" : "",
            end - start, failed ? "; its log is " log_file : ""
    }'
