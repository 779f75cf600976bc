#!/usr/bin/env bats
# --every with --window: results of the last periods.

load helpers

check_window() { # TEST [THREADS]...: runs a test of window.py with these numbers of threads
    command -v python3 >/dev/null || skip "no python3"
    timeout 300 "${PYTHON:-python3}" "$srcdir/tests/window.py" "$GPUHIST" "$@"
}

@test "--window: results are those of runs over the lines of the last periods" {
    check_window text 1 2 16
}
@test "--window: likewise of binary records" { check_window records 1 2 16; }
@test "--window: with a fast writer and of a file, each value is in one period" {
    check_window fast 1 2 16
}
@test "--window: --save keeps the last window" { check_window save 2; }
@test "--window: SIGINT ends it after a last window" {
    skip_under_emulator "it has signal masks of its own"
    check_window end 2
}
@test "--window: reports on stderr" { check_window reports 2; }

@test "--window: what ends before the first result is in the window, and an empty one is no error" {
    printf '1\n2\n2\n' >"$BATS_TEST_TMPDIR/in"
    for window in 1h 2h 10000h; do
        run -0 --separate-stderr gpuhist uniq --every 1h --window $window "$BATS_TEST_TMPDIR/in"
        [ "$output" = $'1\t1\n2\t2' ]
        run -0 --separate-stderr gpuhist reduce mean --every 1h --window $window </dev/null
        [ -z "$output$stderr" ]
    done
}

@test "--window: a period whose weights are all 0 is in it" {
    for options in "" "--by 2"; do
        # shellcheck disable=SC2086
        run -0 gpuhist uniq -f 1 --weight 2 $options --every 20ms --window 100s < <(echo 5 0; sleep 0.2)
        [ "${lines[-1]}" = "${options:+0$'\t'}5"$'\t0' ]
        [ "${output##*$'\n\n'}" = "${lines[-1]}" ]
    done
}

@test "--window takes a multiple of --every" {
    run --separate-stderr gpuhist --window 5m </dev/null
    assert_failed 2 "--window requires --every"
    for pair in "2s 1s" "2s 3s" "7ms 1s" "1.5s 2s"; do
        run --separate-stderr gpuhist --every "${pair% *}" --window "${pair#* }" </dev/null
        assert_failed 2 "--window must be a multiple of --every"
    done
    run --separate-stderr gpuhist uniq --every 1s --window 10001s </dev/null
    assert_failed 2 "--window can be at most 10000 times --every"
    for bad in 0 -1s 1x "" 0.5ms; do
        run --separate-stderr gpuhist --every 1s --window "$bad" </dev/null
        assert_failed 2 "invalid --window '$bad'"
    done
    for good in "1s 1s" "500ms 1.5s" "10s 5m" "1m 1d"; do
        gpuhist --every "${good% *}" --window "${good#* }" </dev/null
    done
    run --separate-stderr gpuhist stalin-sort --every 1s --window 5s </dev/null
    assert_failed 2 "--every cannot be used with stalin-sort"
    run --separate-stderr gpuhist merge --window 5s state
    assert_failed 2 "--window cannot be used with merge"
}

@test "--window is of the CPU alone" {
    local message="engine cuda does not support --window"
    [[ $(gpuhist info) != *"cuda: no: not in this build"* ]] || message="engine cuda cannot run: not in this build"
    run --separate-stderr gpuhist uniq --engine cuda --every 1s --window 5s </dev/null
    assert_failed 3 "$message"
    run -0 --separate-stderr gpuhist uniq --gpus 0 --every 1h --window 2h <<<7
    [ "$output" = $'7\t1' ]
    [ -z "$stderr" ]
}
