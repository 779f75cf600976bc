#!/usr/bin/env bats
# Signals: those that end a run do so at once and leave no half-written file; the others change
# nothing. progress.bats has more tests of SIGUSR1 and --every, faults.bats of interrupted calls,
# output.bats of the limit of a file's size (SIGXFSZ).

load helpers

check_signals() { # TEST: runs a test of signals.py on every engine
    command -v python3 >/dev/null || skip "no python3"
    # shellcheck disable=SC2086
    timeout 300 "${PYTHON:-python3}" "$srcdir/tests/signals.py" "$GPUHIST" "$1" $ENGINES
}

@test "SIGINT, SIGTERM and SIGHUP end it while it reads" { check_signals end; }
@test "they end it while it waits for whoever reads its output" { check_signals end_at_output; }
# bats test_tags=slow
@test "they leave the old -o file or the new one, whole, and no other" { check_signals end_of_file; }
# Without /proc, which a GPU and the sanitizers need; these also delay signals.
# bats test_tags=slow,plain
@test "any signal that ends it removes files with temporary names" {
    skip_under_asan
    ENGINES=cpu check_signals end_of_named
}
@test "so does SIGPIPE of a thread that writes" {
    skip_under_asan
    ENGINES=cpu check_signals pipe_of_named
}
@test "they are ignored if they were before" { check_signals ignored; }
@test "SIGTERM to a stopped run ends it when it goes on" { check_signals stopped_reader; }
@test "SIGPIPE ends it; ignored, it is an error like any other" { check_signals pipe; }
@test "SIGUSR1 by the thousands, from FIFO to FIFO" { check_signals flood; }
@test "SIGSTOP and SIGCONT change nothing" { check_signals stop; }

# bats test_tags=later
@test "calls that are interrupted, and move less than all, change nothing" {
    local interrupted=${GPUHIST%/*}/tests/unit/interrupted
    cd "$BATS_TEST_TMPDIR"
    random_file in '<i4' 0 1000 100003
    counts_of d4 in >expected
    od -An -v -w4 -td4 in >text
    awk '{ n[$1] = $2 } END { for (i = 0; i < 200000; i++) print i "\t" n[i] + 0 }' expected >rows
    awk '{ print $1 > (NR == 1 || $1 >= last ? "kept.expected" : "purged.expected") }
        NR == 1 || $1 >= last { last = $1 }' text
    for threads in 1 2 16; do
        "$interrupted" --bins 1000 --threads $threads --chunk-size 16K in | cmp expected -
        "$interrupted" --bins 1000 --threads $threads <in | cmp expected -
        "$interrupted" --bins 1000 --threads $threads < <(cat in) | cmp expected -
        "$interrupted" --bins 1000 --threads $threads --chunk-size 16K text | cmp expected -
        "$interrupted" --bins 1000 --threads $threads -f 1 < <(cat text) | cmp expected -
        "$interrupted" --bins 200K --threads $threads --zeros -o out in
        cmp rows out
        "$interrupted" stalin-sort --text text --threads $threads --purged purged -o kept
        cmp kept kept.expected
        cmp purged purged.expected
    done
    "$interrupted" --bins 1000 --save - -o /dev/null in | "$interrupted" merge | cmp expected -
    "$interrupted" count --any-of @- --all in < <(seq 0 9) >counts
    awk '$1 < 10 { few += $2 } { all += $2 } END { print "any-of @-\t" few "\nall\t" all }' expected |
        cmp - counts
    command -v zstd >/dev/null || return 0
    split -b 50000 --filter 'zstd -q -c' in >frames
    for threads in 1 2 16; do
        "$interrupted" --bins 1000 --threads $threads frames | cmp expected -
        "$interrupted" --bins 1000 --threads $threads < <(cat frames) | cmp expected -
    done
}
