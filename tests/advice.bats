#!/usr/bin/env bats
# Advice: what is typed by mistake, and what is printed once the advice is taken.

load helpers

@test "what other programs take has advice, which gives the result that was asked for" {
    [ -n "${PYTHON:-}" ] || skip "no python3"
    run -0 "$PYTHON" "$srcdir/tests/advice.py" "$GPUHIST" $((RANDOM))
}
