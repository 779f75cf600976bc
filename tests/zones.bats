#!/usr/bin/env bats
# Means of times. The oracle is Python.

load helpers

zones() { # zones PART
    [ -n "${PYTHON:-}" ] || skip "no python3"
    cd "$BATS_TEST_TMPDIR"
    SHARE=${GPUHIST_TEST_SHARE:-1} "$PYTHON" "$srcdir/tests/zones.py" "$GPUHIST" "$1" $RANDOM
}

@test "means and interpolated quantiles of times are times" { zones means; }
