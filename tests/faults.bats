#!/usr/bin/env bats
# Every call that can fail is let fail once, and from then on: each time the result is right, or
# there is one clear line, status 1, no result, no half-written file, no hang, and no leak where the
# build has AddressSanitizer. It takes a build configured with --enable-faults.

load helpers

check_faults() { # TEST: one of faults.py
    command -v python3 >/dev/null || skip "no python3"
    command -v zstd >/dev/null || skip "no zstd"
    [ "$(GPUHIST_FAULT=list timeout 10 "$GPUHIST" --version | sed -n 1p)" = malloc ] ||
        skip "not built with --enable-faults"
    # shellcheck disable=SC2086
    timeout 600 python3 "$srcdir/tests/faults.py" "$GPUHIST" "$1" $ENGINES
}

@test "a call that fails once" { check_faults once; }
@test "a call that fails from then on" { check_faults on; }
@test "calls that are interrupted or move less than all" { check_faults harmless; }

@test "a signal before each call that has to do with a file that is written" { check_faults killed; }

@test "a device made for tests that fails, once and from then on" { check_faults device; }

@test "where the CPU starts again, checksums of frames are verified first as well" {
    command -v zstd >/dev/null || skip "no zstd"
    [ "$(GPUHIST_FAULT=list timeout 10 "$GPUHIST" --version | sed -n 1p)" = malloc ] ||
        skip "not built with --enable-faults"
    cd "$BATS_TEST_TMPDIR"
    # many frames, so that more than one puller is wanted; the last one is cut off
    seq 600000 | split -l 5000 --filter 'zstd -q --check' >good
    { cat good; seq 700000 | zstd -q --check | head -c -1; } >bad
    export GPUHIST_FAULT_DEVICE=1 GPUHIST_FAULT=fault_device_worker_absorb:1
    for name in good bad; do
        timeout 60 "$GPUHIST" stalin-sort --text --gpus 0 $name >out 2>err && status=0 || status=$?
        grep -q "starting again on the CPU" err
        [ "$status" -eq "$([ "$name" = good ]; echo $?)" ]
        seq 600000 | cmp - out
    done
}

# bats test_tags=gpu
@test "a call of CUDA that fails, once and from then on" {
    skip_without_gpu
    check_faults cuda
}

# bats test_tags=gpu
@test "a call that fails while a GPU works" {
    skip_without_gpu
    check_faults cuda_host
}
