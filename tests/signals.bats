#!/usr/bin/env bats
# Signals: those that end it do so at once and leave no half-written file, the others change
# nothing. Of SIGUSR1 and --every there is more in progress.bats, of calls that are interrupted in
# faults.bats, of the limit of a file's size (SIGXFSZ) in output.bats.

load helpers

check_signals() { # TEST: one of signals.py, on every engine
    command -v python3 >/dev/null || skip "no python3"
    # shellcheck disable=SC2086
    timeout 300 python3 "$srcdir/tests/signals.py" "$GPUHIST" "$1" $ENGINES
}

@test "SIGINT, SIGTERM and SIGHUP end it while it reads" { check_signals end; }
@test "they end it while it waits for whoever reads its output" { check_signals end_at_output; }
@test "they leave the old -o file or the new one, whole, and no other" { check_signals end_of_file; }
@test "any signal that ends it removes files with temporary names" {
    skip_under_asan # the sanitizers need /proc, and delay or handle signals themselves
    check_signals end_of_named
}
@test "so does SIGPIPE of a thread that writes" {
    skip_under_asan
    check_signals pipe_of_named
}
@test "they are ignored if they were before" { check_signals ignored; }
@test "SIGTERM to a stopped run ends it when it goes on" { check_signals stopped_reader; }
@test "SIGPIPE ends it; ignored, it is an error like any other" { check_signals pipe; }
@test "SIGUSR1 by the thousands, from FIFO to FIFO" { check_signals flood; }
@test "SIGSTOP and SIGCONT change nothing" { check_signals stop; }
