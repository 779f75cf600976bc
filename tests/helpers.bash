# shellcheck shell=bash
# Functions for all tests. The oracles are od, sort, uniq, awk and numpy, never our own output.

bats_require_minimum_version 1.5.0

# gpuhist ARG...: runs gpuhist, with $THREADS threads if set.
gpuhist() {
    "$GPUHIST" "$@" ${THREADS:+--threads "$THREADS"}
}

# document FILE: prints the path of a made file: in the build directory or a tarball's tree.
document() {
    local dir=${GPUHIST%/*}
    [ -e "$dir/$1" ] || dir=$srcdir
    echo "$dir/$1"
}

# run [-STATUS|!] [--separate-stderr] COMMAND ARG...: sets status, output, lines, stderr and
# stderr_lines like Bats' run, which traces all commands: 6 ms of CPU time. This one takes 1 ms.
run() {
    local -
    set +eET
    run_untraced "$@"
}

run_untraced() {
    local run_expected='' run_errors=''
    while [[ $1 == -* || $1 == '!' ]]; do
        case $1 in
        --separate-stderr) run_errors=$BATS_TEST_TMPDIR.stderr ;;
        *) run_expected=$1 ;;
        esac
        shift
    done
    if [ -n "$run_errors" ]; then
        output=$("$@" 2>"$run_errors")
        status=$?
        read -d '' -r stderr <"$run_errors"
    else
        output=$("$@" 2>&1)
        status=$?
    fi
    set -f
    local IFS=$'\n'
    # shellcheck disable=SC2034,SC2206  # for the tests; split at newlines
    lines=($output) stderr_lines=($stderr)
    case $run_expected in
    '') ;;
    '!') [ "$status" -ne 0 ] ;;
    *) [ "$status" -eq "${run_expected#-}" ] ;;
    esac || {
        IFS=" "
        echo "status $status, not $run_expected: $*"
        return 1
    }
}

# skip_without_gpu: skips tests tagged "gpu".
skip_without_gpu() {
    [[ $ENGINES == *cuda* ]] || skip "no GPU here"
}

# skip_under_asan: skips tests that limit the address space or hide /proc: AddressSanitizer and
# ThreadSanitizer need terabytes of addresses, and read /proc.
skip_under_asan() {
    ! grep -qaE '__(asan|tsan)_init' "$GPUHIST" || skip "built with a sanitizer of memory"
}

# skip_under_emulator WHY: skips tests that see the emulator (.ci/cross) instead of the program.
skip_under_emulator() {
    [ "$(head -c 2 "$GPUHIST" | tr -d '\0')" != '#!' ] || skip "run by an emulator: $1"
}

# skip_long: skips tests that take minutes.
skip_long() {
    [ -n "${GPUHIST_LONG_TESTS:-}" ] || skip "takes minutes: GPUHIST_LONG_TESTS=1 runs it"
}

# assert_flat EXPECTED ARG...: gpuhist reads standard input in less than FLAT_KIB (100000 KiB) of
# memory, and prints EXPECTED.
assert_flat() {
    local expected=$1
    shift
    "$PYTHON" -c 'import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status)' "$GPUHIST" "$@" --engine cpu --threads 2 -o out >peak
    echo "$(<peak) KiB: $*"
    [ "$(cat out)" = "$expected" ]
    [ "$(cat peak)" -lt "${FLAT_KIB:-100000}" ]
}

# reads_gzip: succeeds if this build decodes gzip, and gzip is installed.
reads_gzip() {
    [ "$(printf '7\n' | gzip 2>/dev/null | "$GPUHIST" reduce sum 2>/dev/null)" = 7 ]
}

# use_comma_locale: sets a locale that writes 1.5 as 1,5; makes it if the system has none.
use_comma_locale() {
    export LC_ALL=de_DE.UTF-8
    if ! LC_ALL=de_DE.UTF-8 bash -c 'printf "%.1f" 1,5' >/dev/null 2>&1; then
        export LOCPATH=$BATS_TEST_TMPDIR/locale
        mkdir "$LOCPATH"
        localedef -i de_DE -f UTF-8 "$LOCPATH/de_DE.UTF-8" 2>/dev/null || skip "no locale with commas"
    fi
    [ "$(bash -c 'printf "%.1f" 1,5' 2>/dev/null)" = 1,5 ] || skip "no locale with commas"
}

# compare_type DRIVER TYPE [ENGINE]...: runs tests/DRIVER.py, which compares gpuhist with Python on
# random values of the type, on this machine's engines and the given ones.
compare_type() {
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
    # shellcheck disable=SC2086
    "$PYTHON" "$srcdir/tests/$1.py" "$GPUHIST" "$2" $ENGINES "${@:3}"
}

# compare_isas DRIVER TYPE: like compare_type, and also on the CPU with each single instruction set.
compare_isas() {
    compare_type "$@" cpu:avx512 cpu:avx2 cpu:plain
}

# numpy CODE [ARG]...: runs Python code with the arguments in sys.argv. Imports numpy, which takes a
# tenth of a second, only if the code contains np.
numpy() {
    local code=$1 modules=sys
    shift
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
    [[ $code != *np.* ]] || modules="sys, numpy as np"
    "$PYTHON" -c "import $modules
$code" "$@"
}

# int32 VALUE...: writes the values as little-endian int32 to stdout, without gpuhist or numpy.
int32() {
    local value byte escapes=
    for value; do
        for byte in 0 8 16 24; do
            printf -v escapes '%s\\x%02x' "$escapes" $((value >> byte & 255))
        done
    done
    printf '%b' "$escapes"
}

# counts_of OD-FORMAT [FILE]: prints "value TAB count" in numeric order, by od, sort and uniq.
counts_of() {
    local format=$1
    shift
    od -An -v -w"${format//[!0-9]/}" -t"$format" "$@" | sort -n | uniq -c | awk '{ print $2 "\t" $1 }'
}

# random_file NAME DTYPE LOW HIGH COUNT: writes uniform random numbers, equal in every run.
random_file() {
    numpy 'np.random.default_rng(7).integers(int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]),
        dtype=sys.argv[2][1:], endpoint=False).astype(sys.argv[2]).tofile(sys.argv[1])' "$@"
}

# assert_failed STATUS STRING: the last "run --separate-stderr" ended with STATUS, printed nothing,
# and wrote one line to stderr, "gpuhist: ...", that contains STRING.
assert_failed() {
    # shellcheck disable=SC2154  # set by run
    [[ $status == "$1" && -z $output && ${#stderr_lines[@]} == 1 && ${stderr_lines[0]} == "gpuhist: "*"$2"* ]] || {
        printf 'status %s, stdout "%s", stderr:\n%s\n' "$status" "$output" "$stderr"
        return 1
    }
}

# inputs_of ENGINE: sets "inputs" for the next assertion: file and pipe. For a GPU, which needs a
# third of a second to start, alternates between them.
inputs_of() {
    inputs="file pipe"
    if [ "$1" = cuda ]; then
        [ "${cuda_input:-pipe}" = file ] && cuda_input="pipe" || cuda_input="file"
        inputs=$cuda_input
    fi
}

# assert_sum SUM ARG...: "reduce count,sum" of a pipe and a file prints SUM, "COUNT SUM".
assert_sum() {
    local expected=$1 engine inputs
    shift
    cat >in
    for engine in $ENGINES; do
        inputs_of "$engine"
        if [[ $inputs == *file* ]]; then
            run -0 --separate-stderr gpuhist reduce count,sum --text --engine "$engine" "$@" in
            [ "$(cut -f 2 <<<"$output" | paste -sd ' ')" = "$expected" ]
            [ -z "$stderr" ]
        fi
        if [[ $inputs == *pipe* ]]; then
            # shellcheck disable=SC2002
            [ "$(cat in | gpuhist reduce count,sum --text --engine "$engine" "$@" | cut -f 2 |
                paste -sd ' ')" = "$expected" ]
        fi
    done
}

# assert_invalid LINE TOKEN ARG...: gpuhist reports this invalid integer in standard input.
assert_invalid() {
    assert_report "$1" "invalid integer '$2'" "${@:3}"
}

# assert_report LINE REASON ARG...: gpuhist reports an invalid token in standard input.
assert_report() {
    local line=$1 reason=$2 engine inputs
    shift 2
    cat >in
    for engine in $ENGINES; do
        inputs_of "$engine"
        if [[ $inputs == *file* ]]; then
            run --separate-stderr gpuhist reduce sum --text --engine "$engine" "$@" in
            [ "$status" -eq 1 ] && [ -z "$output" ]
            [ "$stderr" = "gpuhist: in:$line: $reason" ]
        fi
        if [[ $inputs == *pipe* ]]; then
            run --separate-stderr bash -c 'cat in | "$GPUHIST" reduce sum --text --engine "$@"' - \
                "$engine" "$@"
            [ "$status" -eq 1 ] && [ -z "$output" ]
            [ "$stderr" = "gpuhist: standard input:$line: $reason" ]
        fi
    done
}

# check_faults TEST: runs a test of faults.py on this machine's engines.
check_faults() {
    command -v python3 >/dev/null || skip "no python3"
    command -v zstd >/dev/null || skip "no zstd"
    [ "$(GPUHIST_FAULT=list timeout 10 "$GPUHIST" --version | sed -n 1p)" = malloc ] ||
        skip "not built with --enable-faults"
    # shellcheck disable=SC2086
    ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=1 timeout 600 "${PYTHON:-python3}" "$srcdir/tests/faults.py" \
        "$GPUHIST" "$1" $ENGINES
}

skip_without_gzip() {
    reads_gzip || skip "no gzip"
}

# reads FORMAT TOOL: succeeds if this build decodes the format, and its tool is installed.
reads() {
    command -v "$2" >/dev/null && gpuhist info | grep -q "^$1: yes"
}
