#!/usr/bin/env bats
# Random jobs of other tests' drivers, on engine cuda: found kinds, weights, units and the laws. By default,
# gpuhist chooses the CPU for few rows.

load helpers

setup() {
    skip_without_gpu
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
    command -v zstd >/dev/null || skip "no zstd"
    reads_gzip || skip "no gzip"
    cd "$BATS_TEST_TMPDIR"
    # Runs a command with --engine cuda, and without it if the engine does not support the job.
    cat >cuda <<'END'
#!/bin/bash
at=$0.$$ operation=()
case $1 in
merge | info | status) exec "$GPUHIST" "$@" ;;
histogram | uniq | reduce | count | stalin-sort) operation=("$1") && shift ;;
esac
[ ! -p /dev/stdin ] || cat >"$at.in"
attempt() {
    if [ -e "$at.in" ]; then cat "$at.in" | "$GPUHIST" "$@"; else "$GPUHIST" "$@" </dev/stdin; fi
}
attempt "${operation[@]}" --engine cuda "$@" >"$at.out" 2>"$at.err"
status=$?
if [ $status = 3 ] && grep -q 'engine cuda does not support' "$at.err"; then
    attempt "${operation[@]}" "$@"
    status=$?
else
    echo "${operation[*]} $*" >>"${0%/*}/ran"
    cat "$at.out"
    cat "$at.err" >&2
fi
rm -f "$at".*
exit $status
END
    chmod +x cuda
}

# drawn SHARE DRIVER ARG...: runs one in SHARE of the driver's random jobs.
drawn() {
    SHARE=$1 timeout 900 "$PYTHON" "$srcdir/tests/$2" "$PWD/cuda" "${@:3}"
}

# assert_ran LEAST: asserts that the GPU ran at least LEAST jobs.
assert_ran() {
    local jobs
    jobs=$(wc -l <ran)
    echo "$jobs jobs on the GPU"
    [ "$jobs" -ge "$1" ]
}

# bats test_tags=gpu
@test "gpu: what runs the drivers' jobs runs them there" {
    run -0 --separate-stderr ./cuda uniq --stats -f 1 <<<5
    [ "$output" = $'5\t1' ]
    [[ $stderr == *cuda* ]]
    run -0 --separate-stderr ./cuda -f 1 --width 10 --stats <<<5
    [[ $stderr == *cuda* ]]
    run -0 --separate-stderr ./cuda uniq -f 1 --by 2 --stats <<<'5 7'
    [ "$output" = $'7\t5\t1' ]
    [[ $stderr != *cuda* ]]
    assert_ran 2
    run -1 ./cuda uniq -f 1:int <<<x
}

# bats test_tags=gpu
@test "gpu: a found kind gives what the typed one gives" {
    drawn 5 found_kinds.py $((RANDOM))
    assert_ran 10
}

# bats test_tags=gpu
@test "gpu: weights with decimals and units" {
    drawn 3 weight.py $((RANDOM))
    assert_ran 10
}

# bats test_tags=gpu
@test "gpu: a duration or size is read whole or refused" {
    drawn 1 units.py $((RANDOM))
    assert_ran 100
}

# bats test_tags=gpu
@test "gpu: the laws of rows, of those jobs that the engine supports" {
    for law in where parts formats saved found; do
        drawn 2 laws.py "$law" 1 50
    done
    assert_ran 30
}
