#!/usr/bin/env bats
# Every call that can fail fails once, and then also persistently: each time the result is right, or
# there is one clear line, status 1, no result, no half-written file, no hang, and no leak if the build
# has AddressSanitizer. Requires a build configured with --enable-faults.

load helpers

@test "a call that fails once, and from then on" { check_faults failed; }
@test "calls that are interrupted or move less than all" { check_faults harmless; }

@test "a signal before each call that has to do with a file that is written" { check_faults killed; }

@test "where the CPU starts again, checksums of members are verified first as well" {
    skip_without_gzip
    [ "$(GPUHIST_FAULT=list timeout 10 "$GPUHIST" --version | sed -n 1p)" = malloc ] ||
        skip "not built with --enable-faults"
    cd "$BATS_TEST_TMPDIR"
    # members of gzip, so that several workers take turns with the decoder; the last one is cut off
    seq 600000 | split -l 5000 --filter 'gzip -c' >good
    { cat good; seq 700000 | gzip -c | head -c -1; } >bad
    export GPUHIST_FAULT_DEVICE=1 GPUHIST_FAULT=fault_device_consumer_accumulate:1
    for name in good bad; do
        timeout 60 "$GPUHIST" stalin-sort --text --gpus 0 $name >out 2>err && status=0 || status=$?
        grep -q "starting again on the CPU" err
        [ "$status" -eq "$([ "$name" = good ]; echo $?)" ]
        seq 600000 | cmp - out
    done
}
