# shellcheck shell=bash
# Runs once before the tests of a file: finds the features of this machine. GPUHIST_TEST_SHARE=N is
# for slow builds: comparisons with Python do one in N of their runs, and some tests read less.

# leave_terminal: hides the terminal from the tests: none can read it or its size. Standard input is
# empty, and programs that open /dev/tty (man, ssh, parallel) find none. Bats calls bats-exec-file
# per file; this one runs in a process that leaves its terminal but stays in its group, so that
# Ctrl-C still ends it.
leave_terminal() {
    exec </dev/null
    unset COLUMNS LINES
    if { : </dev/tty; } 2>/dev/null && command -v python3 >/dev/null; then
        # shellcheck disable=SC2317  # Bats calls it
        bats-exec-file() {
            python3 -c 'import fcntl, os, signal, sys, termios
fcntl.ioctl(os.open("/dev/tty", os.O_RDWR), termios.TIOCNOTTY)
for name in signal.SIGPIPE, signal.SIGXFSZ: # ignored by Python
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
    # the source can be read-only and must stay clean
    export PYTHONDONTWRITEBYTECODE=1
    # The unit tests and check_faults detect leaks in every operation. Detection in each run would
    # take a third of its time.
    export ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
    SHARE=${GPUHIST_TEST_SHARE:-1}
    export GPUHIST srcdir PYTHON ENGINES SHARE
}
