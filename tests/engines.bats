#!/usr/bin/env bats
# Engines agree: with numpy and so with each other, whatever type, threads, chunks and values.

load helpers

check_matrix() { # TYPE
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
    # shellcheck disable=SC2086
    "$PYTHON" "$srcdir/tests/matrix.py" "$GPUHIST" "$1" $ENGINES
}

@test "i8 on every engine" { check_matrix i8; }
@test "u8 on every engine" { check_matrix u8; }
@test "i16 on every engine" { check_matrix i16; }
@test "u16be on every engine" { check_matrix u16be; }
@test "i32 on every engine" { check_matrix i32; }
@test "i32be on every engine" { check_matrix i32be; }
@test "u32 on every engine" { check_matrix u32; }
@test "i64 on every engine" { check_matrix i64; }
@test "i64be on every engine" { check_matrix i64be; }
@test "u64 on every engine" { check_matrix u64; }

@test "every instruction set gives the same bytes" {
    random_file "$BATS_TEST_TMPDIR/in" '<i4' -1000 5000000 300000
    for isa in avx512vbmi2 avx512 avx2 plain; do
        GPUHIST_ISA=$isa gpuhist --bins 1000 --range -500:4000000 --engine cpu \
            "$BATS_TEST_TMPDIR/in" >"$BATS_TEST_TMPDIR/$isa" 2>&1
    done
    cmp "$BATS_TEST_TMPDIR/avx512" "$BATS_TEST_TMPDIR/avx2"
    cmp "$BATS_TEST_TMPDIR/avx512" "$BATS_TEST_TMPDIR/plain"
    awk -F'\t' 'NF == 3 { n += $3 } END { exit n < 200000 }' "$BATS_TEST_TMPDIR/plain"
}

@test "GPUHIST_ISA=plain is what info then says" {
    GPUHIST_ISA=plain run -0 gpuhist info
    [[ $output == *"plain code"* ]]
}

@test "tiny chunks cut nothing wrong, through pipe and file" {
    random_file "$BATS_TEST_TMPDIR/in" '<i4' 0 50 20011
    counts_of d4 "$BATS_TEST_TMPDIR/in" >"$BATS_TEST_TMPDIR/expected"
    for engine in $ENGINES; do
        for chunk in 8 9 13 1021; do
            gpuhist --bins 50 --engine "$engine" --chunk-size "$chunk" --threads 5 \
                "$BATS_TEST_TMPDIR/in" | cmp "$BATS_TEST_TMPDIR/expected" -
            # shellcheck disable=SC2002
            cat "$BATS_TEST_TMPDIR/in" | gpuhist --bins 50 --engine "$engine" \
                --chunk-size "$chunk" --threads 3 | cmp "$BATS_TEST_TMPDIR/expected" -
        done
    done
}

@test "the CUDA engine counts in shared memory and in global memory alike" {
    skip_without_gpu
    random_file "$BATS_TEST_TMPDIR/in" '<i4' 0 70000 3000000
    for bins in 1 2 255 1500 12000 24000 48000 58000 58110 58111 58112 58113 70000; do
        for engine in cuda cpu; do
            gpuhist --bins "$bins" --engine "$engine" --format raw "$BATS_TEST_TMPDIR/in" \
                >"$BATS_TEST_TMPDIR/$engine" 2>"$BATS_TEST_TMPDIR/$engine.err"
        done
        cmp "$BATS_TEST_TMPDIR/cuda" "$BATS_TEST_TMPDIR/cpu"
        cmp "$BATS_TEST_TMPDIR/cuda.err" "$BATS_TEST_TMPDIR/cpu.err"
    done
}

@test "no visible GPU: auto runs on the CPU, cuda is refused with status 3" {
    for devices in "" 99; do
        CUDA_VISIBLE_DEVICES=$devices run -0 --separate-stderr gpuhist --bins 3 --verbose \
            < <(int32 1 1)
        [ "$output" = $'1\t2' ]
        [[ $stderr == "gpuhist: engine cuda is not used: "*"engine cpu was used, with "* ]]
        CUDA_VISIBLE_DEVICES=$devices run --separate-stderr gpuhist --bins 3 --engine cuda \
            < <(int32 1 1)
        assert_failed 3 "engine cuda cannot run: "
        CUDA_VISIBLE_DEVICES=$devices run -0 gpuhist info
        [[ $output == *$'\n'"cuda: no: "* && $output == *$'\n'"cpu: yes: "* ]]
    done
}
