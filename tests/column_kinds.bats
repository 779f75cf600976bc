#!/usr/bin/env bats
# How the values of columns are read: times and addresses. Oracles are Python's datetime and ipaddress.

load helpers

@test "times and addresses are read as Python's datetime and ipaddress have them" {
    [ -n "${PYTHON:-}" ] || skip "no python3"
    "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || skip "python3 is older than 3.11"
    run -0 "$PYTHON" "$srcdir/tests/column_kinds.py" "${GPUHIST%/*}/tests/unit/read_kinds" $((RANDOM))
}
