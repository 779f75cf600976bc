#!/usr/bin/env bats
# A device that fails midway, the fake device (tests/faults/fault_device.h): if the input can be read
# again, the CPU starts from the beginning, and no result is wrong. Requires a build configured with
# --enable-faults; faults.py tests each failure in each operation.

load helpers

AGAIN="gpuhist: the device made for tests has failed; starting again on the CPU"

setup() {
    GPUHIST_FAULT=list "$GPUHIST" 2>/dev/null | grep -q '^fault_device' ||
        skip "not built with --enable-faults"
    cd "$BATS_TEST_TMPDIR"
    export GPUHIST_FAULT_DEVICE=1
}

# failing FUNCTION:N[+] ARG...: runs gpuhist on the CPU and on the device, with a failure of that call.
# If the call occurs, the file "mark" exists afterwards.
failing() {
    local fault=$1
    shift
    rm -f mark
    GPUHIST_FAULT_MARK=mark GPUHIST_FAULT=fault_device_$fault timeout 60 "$GPUHIST" "$@" \
        --gpus 0 --threads 2 --chunk-size 16K
}

# assert_told FILE: asserts that FILE, the last run's stderr, has only the note about a restart, if the call failed.
assert_told() {
    if [ -e mark ]; then [ "$(cat "$1")" = "$AGAIN" ]; else [ ! -s "$1" ]; fi
}

# assert_again STDOUT [LINE]...: asserts that the last run restarted and succeeded, and reported only
# that and these lines.
assert_again() {
    local wanted=("$AGAIN" "${@:2}")
    if [ "$status" -ne 0 ] || [ "$output" != "$1" ] ||
        [ "${stderr_lines[*]}" != "${wanted[*]}" ]; then
        printf 'status %s, stdout "%s", stderr:\n%s\n' "$status" "$output" "$stderr"
        return 1
    fi
}

@test "the device made for tests counts, beside the CPU" {
    random_file in '<i4' 0 50 300000
    counts_of d4 in >expected
    # the device is ready after the CPU could have counted all
    GPUHIST_FAULT=fault_device_prepare:1w300 GPUHIST_FAULT_DEVICE=both run -0 --separate-stderr \
        timeout 60 "$GPUHIST" --bins 50 --gpus 0 --threads 2 --chunk-size 16K --stats in
    [ "$output" = "$(cat expected)" ]
    [[ $stderr == *"gpuhist: cuda: "*"gpuhist: cpu: "* ]]
}

@test "a device that cannot begin is none" {
    random_file in '<i4' 0 50 300000
    counts_of d4 in >expected
    for fault in probe:1+ prepare:1 open:1 consumer_open:1+; do
        run -0 --separate-stderr failing $fault --bins 50 --verbose in
        [ "$output" = "$(cat expected)" ]
        [[ $stderr == "gpuhist: engine cuda is not used: "*"has failed"*"engine cpu was used"* ]]
        run -0 --separate-stderr failing $fault --bins 50 - < <(cat in)
        [ "$output" = "$(cat expected)" ] && [ -z "$stderr" ]
    done
}

@test "an engine asked for by name that fails is an error with status 3" {
    random_file in '<i4' 0 50 300000
    echo old >out
    for fault in probe:1 open:1 consumer_open:1 consumer_buffer:5 consumer_accumulate:2 consumer_merge:1 merge:1; do
        run --separate-stderr failing $fault --bins 50 --engine cuda -o out in
        assert_failed 3 "has failed"
        [ "$(cat out)" = old ]
    done
}

@test "standard input is read again from where it stood, also where it is named twice" {
    random_file in '<i4' -1000 1000 300000
    expected=$(tail -c +4001 in | od -An -v -td4 -w4 | awk '{ n += $1 } END { printf "%.0f", n }')
    for names in - "- -"; do for fault in consumer_accumulate:3 merge:1; do
        # shellcheck disable=SC2086
        run --separate-stderr bash -c '
            exec <in
            dd bs=4000 count=1 of=/dev/null status=none
            GPUHIST_FAULT=$0 timeout 60 "$GPUHIST" reduce sum --binary \
                --gpus 0 --threads 2 --chunk-size 16K "$@"' fault_device_$fault $names
        assert_again "$expected"
    done; done
}

@test "many files, plain and compressed" {
    random_file in '<i4' -1000 1000 300000
    zstd -q in -o in.zst
    expected=$(cat in in in | od -An -v -td4 -w4 | awk '{ n += $1 } END { printf "%.0f", n }')
    # shellcheck disable=SC2094  # nobody writes it
    run --separate-stderr failing consumer_accumulate:1 reduce sum --binary in in.zst - <in
    assert_again "$expected"
}

# frames_that_cut BYTES TOOL ARG...: makes "cut.zst", a frame of BYTES bytes of "in", a hole (a skippable frame), and a
# frame of the rest, so that the frames are decoded concurrently.
frames_that_cut() {
    {
        head -c "$1" in | "${@:2}"
        printf 'S*M\x18\0\0\x10\0'
        head -c 1M /dev/zero
        tail -c +$(($1 + 1)) in | "${@:2}"
    } >cut.zst
}

# assert_struck FUNCTION:N[+]...: asserts that each fault strikes in one of some runs on "cut.zst", and no run is wrong.
assert_struck() {
    local fault
    for fault; do
        for _ in {1..50}; do
            failing "$fault" reduce sum -t i32le cut.zst 2>err | cmp - sum
            assert_told err
            [ ! -e mark ] || break
        done
        [ -e mark ]
    done
}

@test "a device fails, and then a binary element is cut by the end of a frame" {
    command -v zstd >/dev/null || skip "no zstd"
    random_file in '<i4' -2000000000 2000000000 1500000
    od -An -v -td4 -w4 in | awk '{ n += $1 } END { printf "%.0f\n", n }' >sum
    # the first attempt would read far before the cut; the second, on the CPU, reaches it
    frames_that_cut 4000001 zstd -qc1
    assert_struck consumer_accumulate:1 consumer_accumulate:9 consumer_accumulate:1+ consumer_buffer:1
    for fault in consumer_accumulate:2 consumer_buffer:3; do
        run --separate-stderr failing $fault reduce sum -t i32le --engine cuda cut.zst
        assert_failed 3 "has failed"
    done
}

@test "a binary element is cut by the end of a frame, and then a device fails" {
    reads lz4 lz4 || skip "no lz4"
    random_file in '<i4' -2000000000 2000000000 1500000
    od -An -v -td4 -w4 in | awk '{ n += $1 } END { printf "%.0f\n", n }' >sum
    # the first attempt reaches the cut at once; in the second, in order, the device takes turns
    frames_that_cut 5 lz4 -qc1
    assert_struck consumer_accumulate:2 consumer_accumulate:9 consumer_merge:1 merge:1 consumer_buffer:2
    for fault in consumer_accumulate:9 consumer_buffer:9; do
        run --separate-stderr failing $fault reduce sum -t i32le --engine cuda cut.zst
        assert_failed 3 "has failed"
    done
}

@test "invalid integers are reported once, and the first is the first" {
    seq 100000 | awk 'NR % 20000 == 7 { print "x" NR; next } { print }' >in
    expected=$(grep -v x in | awk '{ n += $1 } END { printf "%.0f", n }')
    mapfile -t reports < <(grep -n x in | sed "s/^\([0-9]*\):\(.*\)/gpuhist: in:\1: invalid integer '\2'/")
    [ "${#reports[@]}" -eq 5 ]
    for fault in consumer_accumulate:2 consumer_merge:1 merge:1; do
        run --separate-stderr failing $fault reduce sum --invalid=warn in
        assert_again "$expected" "${reports[@]}"
        run --separate-stderr failing $fault reduce sum in
        [ "$status" -eq 1 ] && [ -z "$output" ]
        [ "${stderr_lines[-1]}" = "${reports[0]}" ]
    done
}

@test "values outside the bins are reported once, unless --quiet; that all is done again, always" {
    random_file in '<i4' 0 100 300000
    expected=$(counts_of d4 in | awk '$1 < 50')
    above=$(counts_of d4 in | awk '$1 >= 50 { n += $2 } END { print n }')
    run --separate-stderr failing consumer_accumulate:2 --bins 50 in
    assert_again "$expected" "gpuhist: values out of range: 0 below, $above above (try --range auto)"
    run --separate-stderr failing consumer_accumulate:2 --bins 50 --quiet in
    assert_again "$expected"
}

@test "stalin-sort goes on behind what it has written, wherever that went" {
    numpy '
a = (np.random.default_rng(3).integers(-999, 999, 200000) + np.arange(200000) // 40).astype("<i4")
a.tofile("in")
best = np.maximum.accumulate(a)
a[a == best].tofile("kept")
a[a != best].tofile("lost")'
    [ "$(stat -c %s kept)" -gt 1000 ]
    for fault in consumer_accumulate:1 consumer_accumulate:5 consumer_buffer:9 consumer_merge:1 consumer_merge:2 merge:1; do
        failing $fault stalin-sort --binary in --purged dropped 2>err >out
        assert_told err
        cmp out kept
        cmp dropped lost
        failing $fault stalin-sort --binary in -o out2 2>err | cmp - /dev/null
        assert_told err
        cmp out2 kept
        failing $fault stalin-sort --binary in --purged - -o out3 2>err | cmp - lost
        assert_told err
        cmp out3 kept
    done
}

@test "stalin-sort of sorted text, written in pieces" {
    seq 200000 >in
    for fault in consumer_accumulate:1 consumer_accumulate:5 consumer_buffer:20 merge:1; do
        failing $fault stalin-sort in 2>err | cmp - in
        assert_told err
    done
}

@test "an input that has changed meanwhile is an error" {
    seq 200000 >in
    mkfifo fifo
    failing merge:1 stalin-sort -o fifo in 2>err 3>&- &
    exec 4<fifo # the input has been checked by now, and does not fit into a pipe
    touch -d 2001-01-01 in
    cmp - in <&4
    wait $! && return 1
    [[ $(cat err) == "gpuhist: the device made for tests has failed; the CPU cannot start again: the input has changed"* ]]
    [ "$(wc -l <err)" -eq 1 ]
}

@test "results so far, and progress, go on" {
    random_file in '<i4' 0 50 300000
    expected=$(counts_of d4 in)
    failing consumer_accumulate:2 --bins 50 --every 1ms --progress -o out in 2>err
    [ "$(cat out)" = "$expected" ]
    [ ! -e mark ] || grep -qFx "$AGAIN" err
    failing consumer_accumulate:2 --bins 50 --every 1ms in >out 2>err
    [ "$(tail -n 50 out)" = "$expected" ]
    assert_told err
}

@test "a pipe: all is right, or there is one line and no result" {
    random_file in '<i4' 0 50 300000
    split -b 10000 in frame.
    for i in frame.*; do zstd -qc "$i"; done >in.zst
    expected=$(counts_of d4 in)
    for fault in consumer_buffer:3 consumer_accumulate:1 consumer_accumulate:5 consumer_merge:1 merge:1; do
        for i in in in.zst; do
            run --separate-stderr failing $fault --bins 50 --binary < <(cat $i)
            [ "$output" = "$expected" ] && [ "$status" -eq 0 ] && [ -z "$stderr" ] ||
                assert_failed 1 "has failed; the CPU cannot start again: not all inputs are regular files"
        done
    done
}

@test "stalin-sort of a slow pipe: what was printed before is right" {
    slow() { int32 1 5; sleep 0.3; int32 3 7; }
    GPUHIST_FAULT=fault_device_consumer_flush:1 run --separate-stderr bash -c '
        timeout 60 "$GPUHIST" stalin-sort --type i32le --engine cuda | od -An -td4
        exit "${PIPESTATUS[0]}"' < <(slow)
    [ "$status" -eq 3 ]
    [[ $stderr == "gpuhist: the device made for tests has failed" ]]
    [[ $output =~ ^\ +1\ +5$ ]]
}
