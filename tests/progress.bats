#!/usr/bin/env bats
# During a run: intermediate results (--every), statistics on SIGUSR1, and the progress line.

load helpers

check_progress() { # TEST: runs a test of progress.py on every engine
    command -v python3 >/dev/null || skip "no python3"
    # shellcheck disable=SC2086
    timeout 300 "${PYTHON:-python3}" "$srcdir/tests/progress.py" "$GPUHIST" "$1" $ENGINES
}

check_signals() { # TEST: like check_progress, for tests that send SIGUSR1 once it is blocked
    skip_under_emulator "it has signal masks of its own"
    check_progress "$1"
}

# bats test_tags=later
@test "--every: with a slow writer, results are those of prefixes, and the last is the final one" {
    check_progress slow
}
@test "--every with --format raw: one table after the other" { check_progress raw; }
@test "--every: with a fast writer, results are consistent and never go back" { check_progress fast; }
@test "--every: many bins and a fast writer" { check_progress fast_histogram; }
@test "--every: a file that several threads read at once" { check_progress file; }
@test "--every with -o FILE: each result replaces the file" { check_progress output; }
@test "--every: bad input after a result is an error, and no result follows" {
    check_progress fault
}
@test "--every: a result that cannot be written ends the run" { check_progress full; }
@test "--every: SIGINT and SIGTERM end it after a last result" { check_signals end; }
@test "--every: SIGINT and SIGTERM leave complete files, and are ignored if they were" {
    check_signals end_files
}
@test "--every: a second SIGINT ends it at once" { check_progress end_twice; }
@test "--every at a terminal redraws in place" { check_progress redrawn; }
@test "SIGUSR1 prints the statistics so far, and the run goes on" { check_signals signal; }
@test "SIGUSR1 by the thousands loses nothing" { check_signals flood; }
# bats test_tags=later
@test "--progress at a terminal is drawn in place and cleared" { check_progress terminal; }
# bats test_tags=slow
@test "without --progress: at a terminal, after a second; else nothing" { check_progress default; }
# bats test_tags=slow
@test "--progress where there is no terminal: lines" { check_progress lines; }
# bats test_tags=slow
@test "--progress goes on while runs are merged and results are printed" { check_progress stages; }
@test "--progress counts the bytes of compressed files as they are in the files" {
    check_progress compressed
}

@test "--every: -o - and -o /dev/stdout are streams of results, also where that is a file" {
    mkfifo "$BATS_TEST_TMPDIR/fifo"
    for output in - /dev/stdout; do
        : >"$BATS_TEST_TMPDIR/out"
        timeout 60 "$GPUHIST" --bins 5 --every 10ms -o "$output" \
            <"$BATS_TEST_TMPDIR/fifo" >"$BATS_TEST_TMPDIR/out" 3>&- &
        exec 4>"$BATS_TEST_TMPDIR/fifo"
        int32 3 >&4
        until grep -q 3 "$BATS_TEST_TMPDIR/out"; do sleep 0.01; done
        exec 4>&-
        wait $!
        # 3 TAB 1 at least twice, with an empty line between, none at the end
        awk 'NR > 1 && /./ && last != "" { exit 1 } { last = $0 } /./ && $0 != "3\t1" { exit 1 }
            /./ { n++ } END { exit !(n >= 2 && last == "3\t1") }' "$BATS_TEST_TMPDIR/out"
    done
}

@test "--every: what comes before the first result changes nothing" {
    int32 1 2 2 >"$BATS_TEST_TMPDIR/in"
    for engine in $ENGINES; do
        run -0 --separate-stderr gpuhist --bins 5 --every 1h --engine "$engine" \
            "$BATS_TEST_TMPDIR/in"
        [ "$output" = $'1\t1\n2\t2' ]
        run --separate-stderr gpuhist reduce mean --every 1d --engine "$engine" </dev/null
        assert_failed 1 "cannot compute mean: empty input"
    done
}

@test "--every: a time that is none is a usage error, as is stalin-sort" {
    for bad in 0 0s -1 -1s 1x 1us 0.9ms "" s ms " 1" "1 s" 1e3 1h30m 0x1 NaN 99999999999999999; do
        run --separate-stderr gpuhist --bins 5 --every "$bad" </dev/null
        assert_failed 2 "invalid --every '$bad'"
    done
    run --separate-stderr gpuhist stalin-sort --every 1s </dev/null
    assert_failed 2 "--every cannot be used with stalin-sort"
    run --separate-stderr gpuhist --bins 5 --every
    assert_failed 2 "option --every needs a value"
    for good in 1ms 500ms 0.25 10 10s 1.5m 2h 1d; do
        gpuhist --bins 5 --every "$good" </dev/null
    done
}

@test "--no-progress and --progress: the last one counts" {
    run -0 --separate-stderr gpuhist --bins 5 --progress --no-progress </dev/null
    [ -z "$stderr" ]
    run -0 --separate-stderr gpuhist --bins 5 --no-progress --progress </dev/null
    # shellcheck disable=SC2154
    [[ ${stderr_lines[-1]} == "gpuhist: 0 B in "*", 0 B/s" ]]
}
