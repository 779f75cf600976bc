# shellcheck shell=bash
# Runs once before the tests of a file: what this machine has. Where GPUHIST_TEST_SHARE is set, in a
# build that is slow, comparisons with Python make one in so many of their runs, and some tests read less.

# leave_terminal: no test reads the terminal that the tests are started from, or takes its size. Standard
# input is empty, and what opens /dev/tty, as man, ssh and parallel do, finds none: Bats calls
# bats-exec-file for each file, here in a process that gives its terminal up but stays in its group, so
# that Ctrl-C still ends it.
leave_terminal() {
    exec </dev/null
    unset COLUMNS LINES
    if { : </dev/tty; } 2>/dev/null && command -v python3 >/dev/null; then
        # shellcheck disable=SC2317  # Bats calls it
        bats-exec-file() {
            python3 -c 'import fcntl, os, signal, sys, termios
fcntl.ioctl(os.open("/dev/tty", os.O_RDWR), termios.TIOCNOTTY)
for name in signal.SIGPIPE, signal.SIGXFSZ: # which Python ignores
    signal.signal(name, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' bats-exec-file "$@"
        }
    fi
}

setup_suite() {
    bats_require_minimum_version 1.5.0
    : "${GPUHIST:=$PWD/gpuhist}"
    : "${srcdir:=$(cd "$BATS_TEST_DIRNAME/.." 2>/dev/null && pwd)}"
    if [ ! -x "$GPUHIST" ]; then
        echo "no program to test: $GPUHIST" >&2
        return 1
    fi
    local python
    for python in /usr/bin/python3 python3; do
        if "$python" -c 'import importlib.util as i, sys; sys.exit(not i.find_spec("numpy"))' \
            2>/dev/null; then
            PYTHON=$python
            break
        fi
    done
    ENGINES=cpu
    if "$GPUHIST" info | grep -q '^cuda: yes'; then
        ENGINES='cuda cpu'
    fi
    leave_terminal
    # the source may be read-only, and is to stay clean
    export PYTHONDONTWRITEBYTECODE=1
    # Leaks are looked for by the unit tests and where calls fail (check_faults), in every operation:
    # to do it in each run takes a third of its time.
    export ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
    SHARE=${GPUHIST_TEST_SHARE:-1}
    export GPUHIST srcdir PYTHON ENGINES SHARE
}
