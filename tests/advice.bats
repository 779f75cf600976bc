#!/usr/bin/env bats
# Advice: mistakes on the command line, and the result of the advised command.

load helpers

@test "what other programs take has advice, which gives the result that was asked for" {
    [ -n "${PYTHON:-}" ] || skip "no python3"
    run -0 "$PYTHON" "$srcdir/tests/advice.py" "$GPUHIST" $((RANDOM))
}
