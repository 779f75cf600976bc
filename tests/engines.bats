#!/usr/bin/env bats
# Engines agree with numpy, and so with each other, for all types, threads, chunks and values.

# bats file_tags=twice

load helpers

# bats test_tags=slow,later
@test "i8 on every engine" { compare_type matrix i8; }
@test "u8 on every engine" { compare_type matrix u8; }
# bats test_tags=slow,later
@test "i16 on every engine" { compare_type matrix i16; }
# bats test_tags=slow,later
@test "u16be on every engine" { compare_type matrix u16be; }
@test "i32 on every engine" { compare_type matrix i32; }
# bats test_tags=slow,later
@test "i32be on every engine" { compare_type matrix i32be; }
# bats test_tags=slow,later
@test "u32 on every engine" { compare_type matrix u32; }
# bats test_tags=slow,later
@test "i64 on every engine" { compare_type matrix i64; }
# bats test_tags=slow,later
@test "i64be on every engine" { compare_type matrix i64be; }
@test "u64 on every engine" { compare_type matrix u64; }

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

@test "numbers with exponents are counted by every engine, as Python reads them" {
    [ -n "${PYTHON:-}" ] || skip "no python3"
    cd "$BATS_TEST_TMPDIR"
    # numbers of up to 3 decimal places, some with an exponent, some lines long; and what is wanted
    "$PYTHON" - "$RANDOM" <<'EOF'
import decimal, random, sys
rng = random.Random(int(sys.argv[1]))
values, lines = [], []
for i in range(3000):
    value = rng.randrange(-90000, 90000)
    text = str(decimal.Decimal(value).scaleb(-3))
    if rng.randrange(300) == 0:
        text = f"{value}{rng.choice('eE')}-3" if rng.randrange(2) else f"{value / 1000:.4e}".replace("e", "0e")
    values.append(value)
    lines.append(text + rng.choice(("", " x", " " + "0" * rng.randrange(20000) if i % 100 == 0 else "")))
open("in", "w").write("\n".join(lines) + "\n")
open("integers", "w").write("".join(f"{value // 1000}{rng.choice(('',) * 99 + ('e0',))}\n" for value in values))
print(f"{len(values)}\t{decimal.Decimal(sum(values)).scaleb(-3)}\t{len(set(values))}", file=open("wanted", "w"))
print(f"{len(values)}\t{sum(value // 1000 for value in values)}", file=open("wanted.integers", "w"))
EOF
    for engine in $ENGINES; do
        for options in '' '--chunk-size 8K --threads 3'; do
            # shellcheck disable=SC2086
            how() { gpuhist "$@" --engine "$engine" $options; }
            how reduce count,sum,distinct -f 1:.3 in --format csv | tail -n 1 | tr , '\t' | cmp - wanted
            how reduce count,sum -f 1:.3 in --format csv | tail -n 1 | tr , '\t' | cmp - <(cut -f 1,2 wanted)
            how reduce count,sum -f 1:int integers --format csv | tail -n 1 | tr , '\t' | cmp - wanted.integers
            [ "$(how --range -100:100 --bins 10 -f 1:.3 in | awk '{ n += $3 } END { print n }')" = 3000 ]
            [ "$(how -f 1:.3 in | awk '{ n += $3 } END { print n }')" = 3000 ]
            [ "$(how uniq -f 1:.3 in | awk '{ n += $2 } END { print n, NR }')" = "$(awk '{ print $1, $3 }' wanted)" ]
            [ "$(how count -f 1:.3 --ge -1000 in | cut -f 2)" = 3000 ]
        done
    done
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

@test "auto: a file that is too small for a GPU to pay begins and ends on the CPU" {
    int32 1 1 2 >"$BATS_TEST_TMPDIR/in"
    run -0 --separate-stderr gpuhist --bins 3 --verbose --stats "$BATS_TEST_TMPDIR/in"
    [ "$output" = $'1\t2\n2\t1' ]
    [[ ${stderr_lines[0]} == "gpuhist: engine cuda is not used: "* ]]
    [[ ${stderr_lines[1]} == "gpuhist: engine cpu was used, with 1 worker, from "* ]]
    [[ ${stderr_lines[3]} == "gpuhist: cpu: 1 worker, 12 bytes, ready after "* ]]
    [ "${#stderr_lines[@]}" -eq 6 ]
}

@test "--gpus: under auto those that are there; by name all of them must be" {
    int32 1 1 2 >"$BATS_TEST_TMPDIR/in"
    for gpus in 0 15 0,15 3,2,1; do
        run -0 gpuhist --bins 3 --gpus "$gpus" "$BATS_TEST_TMPDIR/in"
        [ "$output" = $'1\t2\n2\t1' ]
        run -0 gpuhist --bins 3 --gpus "$gpus" --engine cpu "$BATS_TEST_TMPDIR/in"
        [ "$output" = $'1\t2\n2\t1' ]
    done
    CUDA_VISIBLE_DEVICES=0 run --separate-stderr gpuhist --bins 3 --gpus 0,1 --engine cuda \
        "$BATS_TEST_TMPDIR/in"
    assert_failed 3 "engine cuda cannot run: "
}

@test "--gpus: a list that is none is a usage error" {
    for bad in "" "," "0," ",0" "0,,1" "0,0" "1,0,1" -1 16 a 0x1 0-1 "0 1" 1.5 99999999999999999999; do
        run --separate-stderr gpuhist --bins 5 --gpus "$bad" </dev/null
        assert_failed 2 "invalid --gpus '$bad': expected numbers from 0 to 15, each once, such as 0 or 0,1 (try"
    done
}

@test "auto: a GPU joins the CPU, and both count" {
    skip_without_gpu
    # A hole, which is read without a disk; one thread needs longer for it than a GPU to start.
    int32 7 8 >"$BATS_TEST_TMPDIR/in"
    truncate -s 30G "$BATS_TEST_TMPDIR/in"
    int32 9 >>"$BATS_TEST_TMPDIR/in"
    elements=$(((30 << 30) / 4))
    run -0 --separate-stderr gpuhist --bins 10 --binary --threads 1 --gpus 0 --stats \
        "$BATS_TEST_TMPDIR/in"
    [ "$output" = $'0\t'"$((elements - 2))"$'\n7\t1\n8\t1\n9\t1' ]
    [[ $stderr == *"gpuhist: cuda: 1 worker, "*"gpuhist: cpu: 1 worker, "* ]]
    run -0 --separate-stderr gpuhist reduce count,sum --binary --threads 1 --gpus 0 --stats \
        "$BATS_TEST_TMPDIR/in"
    [ "$output" = $'count\t'"$((elements + 1))"$'\nsum\t24' ]
    [[ $stderr == *"gpuhist: cuda: 1 worker, "*"gpuhist: cpu: 1 worker, "* ]]
    gpuhist stalin-sort --strict --binary --threads 1 --gpus 0 --stats "$BATS_TEST_TMPDIR/in" \
        >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err"
    int32 7 8 9 | cmp - "$BATS_TEST_TMPDIR/out"
    grep -q "^gpuhist: cuda: 1 worker, " "$BATS_TEST_TMPDIR/err"
}

@test "auto: text of long lines, on the CPU and a GPU" {
    skip_without_gpu
    # lines longer than a buffer of the CPU's, and not longer than one of the GPU's
    awk 'BEGIN { for (i = 0; i < 200; i++) { for (j = 0; j < 100000; j++) printf "%d,", j; print i } }' \
        >"$BATS_TEST_TMPDIR/in"
    for threads in 1 3; do
        run -0 gpuhist reduce count,sum -d , --threads "$threads" --gpus 0 "$BATS_TEST_TMPDIR/in"
        [ "$output" = $'count\t20000200\nsum\t999990019900' ]
        # shellcheck disable=SC2002
        run -0 gpuhist reduce count,sum -d , --threads "$threads" --gpus 0 \
            < <(cat "$BATS_TEST_TMPDIR/in"; sleep 0.5; cat "$BATS_TEST_TMPDIR/in")
        [ "$output" = $'count\t40000400\nsum\t1999980039800' ]
    done
}

# A GPU counts in 32 bits; these are its limits, and a chunk that would exceed them.
@test "gpu: more equal values than a GPU's counter holds" {
    skip_without_gpu
    n=$(((1 << 32) + 12345))
    truncate -s "$n" "$BATS_TEST_TMPDIR/in"
    for size in 4M 1000003 64M; do
        run -0 gpuhist --engine cuda --chunk-size $size --bins 3 -t u8 --binary "$BATS_TEST_TMPDIR/in"
        [ "$output" = $'0\t'"$n" ]
        run -0 gpuhist --engine cuda --chunk-size $size -w 10 -t u8 --binary "$BATS_TEST_TMPDIR/in"
        [ "$output" = $'0\t10\t'"$n" ]
    done
}

# The first window has no 2565, which is 05 0a.
@test "gpu: more values than a GPU's counter holds, then some that take a larger window" {
    skip_without_gpu
    n=$(((1 << 32) + 12345))
    truncate -s $((2 * n)) "$BATS_TEST_TMPDIR/zeros"
    yes $'\x05' | head -c 16M > "$BATS_TEST_TMPDIR/others"
    run -0 gpuhist --engine cuda --threads 1 -w 1 -t u16le "$BATS_TEST_TMPDIR"/{zeros,others}
    [ "$output" = $'0\t'"$n"$'\n2565\t'$((8 << 20)) ]
}

@test "gpu: more values than a GPU's counter holds, in several bins" {
    skip_without_gpu
    n=9000000000 # a third of it fits a counter once, but not twice
    run -0 --separate-stderr gpuhist --engine cuda --range 98:102 --bins 4 -t u8 --binary \
        < <(yes ab | head -c $n)
    [ "$output" = $'98\t'"$((n / 3))" ]
    [ "$stderr" = "gpuhist: values out of range: $((2 * n / 3)) below, 0 above (try --outside)" ]
}
