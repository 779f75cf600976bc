#!/usr/bin/env bats
# What is shown at a terminal and in pictures: bins of times, tables, names.

load helpers

setup() {
    cd "$BATS_TEST_TMPDIR"
}

check_screen() {
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
    run -0 timeout 120 "$PYTHON" "$srcdir/tests/screen.py" "$GPUHIST" "$1"
    [ -z "$output" ]
}

@test "uniq at a terminal: a table of all values, with bars and shares" { check_screen tables; }

@test "results at a terminal: aligned columns with names" { check_screen results; }

@test "powers of two of decimals; lines that combine bins of powers" { check_screen powers; }

@test "automatic bins of times: round widths, from seconds to years" { check_screen times; }

@test "bins of times: widths of columns, ranges, fractions of a second" { check_screen time_units; }

@test "pictures of times: ticks at round times, dates where they change" { check_screen time_ticks; }

@test "messages wrap at words at a terminal" { check_screen messages; }

@test "labels of plots: no needless decimals" { check_screen labels; }

@test "ticks of a zone are where its days begin" { check_screen zone_ticks; }
