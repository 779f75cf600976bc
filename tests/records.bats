#!/usr/bin/env bats
# Elements of binary records: --record and --offset. Oracles are numpy, od and awk.

load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

# make_records ROW...: for each row NUMPY_TYPE:TYPE:RECORD:OFFSET makes random records in
# `TYPE.records`, and only their elements in `TYPE.elements`.
make_records() {
    numpy 'for row in sys.argv[1:]:
    kind, name, record, offset = row.split(":")
    shape = np.dtype({"names": ["value"], "formats": [kind], "offsets": [int(offset)], "itemsize": int(record)})
    data = np.random.default_rng(len(row)).integers(0, 256, int(record) * 1203, np.uint8)
    data.tofile(name + ".records")
    data.view(shape)["value"].tofile(name + ".elements")' "$@"
}

@test "--record: one element of each, of any type, record and offset" {
    local row type record offset options threads=1
    local -a rows=(i1:i8:3:2 u1:u8:16:0 i2:i16:5:3 '>u2:u16be:12:4' i4:i32:16:12 '>i4:i32be:4:0'
        u4:u32:24:7 i8:i64:16:8 '>u8:u64be:13:5' u8:u64:9000:8992)
    make_records "${rows[@]}"
    zstd -q ./*.records
    for row in "${rows[@]}"; do
        IFS=: read -r _ type record offset <<<"$row"
        options="-t $type --record $record --offset $offset --threads $threads"
        gpuhist reduce --binary -t "$type" "$type.elements" >reductions
        gpuhist --log2 --binary -t "$type" "$type.elements" >powers
        gpuhist stalin-sort --binary -t "$type" --purged purged "$type.elements" >sorted
        # shellcheck disable=SC2086
        for engine in $ENGINES; do
            gpuhist reduce --engine "$engine" $options --chunk-size 99 <"$type.records" | cmp reductions -
            gpuhist --engine "$engine" --log2 $options --chunk-size 1K "$type.records" | cmp powers -
            gpuhist stalin-sort --engine "$engine" $options --purged gone "$type.records" | cmp sorted -
            cmp purged gone
            [ "$engine" = cpu ] || continue
            gpuhist reduce --engine "$engine" $options "$type.records" | cmp reductions -
            gpuhist reduce --engine "$engine" $options < <(cat "$type.records") | cmp reductions -
            gpuhist reduce --engine "$engine" $options "$type.records.zst" | cmp reductions -
        done
        threads=$((6 - threads))
    done
    numpy 'print(int(np.fromfile("i32.elements", "<i4").astype(object).sum()))' >sum
    gpuhist reduce sum --record 16 --offset 12 i32.records | cmp sum -
}

@test "--record: stalin-sort of any number of records in a chunk, with and without conditions" {
    local count
    local -a counts=($((RANDOM + 4096)) 4097 4095 8191 20000 4096 8193 70001 $((2 * RANDOM + 4096)))
    for count in "${counts[@]:0:9 / SHARE + 1}"; do
        numpy 'data = np.random.default_rng(int(sys.argv[1])).integers(0, 256, (int(sys.argv[1]), 5), np.uint8)
data.tofile("in")
for name, rows in ("kept", data), ("some", data[data[:, 0] < 99]):
    kept, purged, last = bytearray(), bytearray(), 0
    for value in rows[:, 3].tolist():
        (kept if value >= last else purged).append(value)
        last = max(last, value)
    open(name, "wb").write(kept)
    open(name + "_purged", "wb").write(purged)' "$count"
        for options in "--threads 1" "--threads 3" "--threads 2 --chunk-size 50003"; do
            # shellcheck disable=SC2086
            timeout 20 "$GPUHIST" stalin-sort --record 5 -t u8 --offset 3 $options --purged gone in | cmp kept -
            cmp kept_purged gone
            # shellcheck disable=SC2086
            timeout 20 "$GPUHIST" stalin-sort --record 5 -f u8@3 --where 'u8@0<99' $options --purged gone in | cmp some -
            cmp some_purged gone
        done
    done
}

@test "--record: bins that grow, and any values, on every engine" {
    local row type record offset options
    local -a rows=(i2:i16:5:3 '>i4:i32be:7:3' i8:i64:24:8)
    make_records "${rows[@]}"
    for row in "${rows[@]}"; do
        IFS=: read -r _ type record offset <<<"$row"
        options="-t $type --record $record --offset $offset"
        gpuhist --binary -t "$type" "$type.elements" >automatic
        gpuhist uniq --binary -t "$type" "$type.elements" >different
        # shellcheck disable=SC2086
        for engine in $ENGINES; do
            gpuhist --engine "$engine" $options "$type.records" | cmp automatic -
            gpuhist --engine "$engine" $options --chunk-size 100 --threads 1 < <(cat "$type.records") | cmp automatic -
            gpuhist uniq --engine "$engine" $options --chunk-size 1K "$type.records" | cmp different -
        done
    done
}

# bats test_tags=gpu
@test "gpu: records in chunks of every feeder, of any length" {
    skip_without_gpu
    numpy 'records = np.random.default_rng(6).integers(0, 1 << 64, (3000001, 2), np.uint64)
records.tofile("in")
print(len(records), sum(map(int, records[:, 1])), records[:, 1].min(), records[:, 1].max(), sep="\n")' >expected
    for size in 4M 1000003 64K; do
        gpuhist reduce count,sum,min,max -t u64 --record 16 --offset 8 --engine cuda --chunk-size $size in |
            cut -f 2 | cmp expected -
        gpuhist reduce count,sum,min,max -t u64 --record 16 --offset 8 --gpus 0 --chunk-size $size \
            < <(cat in) | cut -f 2 | cmp expected -
    done
}

@test "--record: records go over the ends of chunks, files and frames" {
    local cut expected options threads
    printf '%s' aBc dEf gHi jKl >all
    expected=$(printf '%d\n' "'B" "'E" "'H" "'K" | awk '{ print $1 "\t" 1 }')
    for cut in {0..12}; do
        options="-t u8 --record 3 --offset 1 --width 1"
        head -c "$cut" all >first
        tail -c +$((cut + 1)) all >second
        zstd -qc first second >frames.zst
        # shellcheck disable=SC2086
        for engine in $ENGINES; do
            [ "$engine" = cpu ] || [ $((cut % 5)) -eq 4 ] || continue
            run -0 gpuhist --engine "$engine" $options --threads $((1 + cut % 2 * 4)) first second
            [ "$output" = "$expected" ]
            run -0 gpuhist --engine "$engine" $options --threads $((1 + cut % 2 * 4)) frames.zst
            [ "$output" = "$expected" ]
            [ "$cut" -lt 8 ] || {
                run -0 gpuhist --engine "$engine" $options --chunk-size "$cut" --threads 5 all
                [ "$output" = "$expected" ]
            }
        done
    done
    # longer than every chunk
    head -c 3000000 /dev/zero >long
    printf '\1\2\3\4\5' >>long
    cat long long >longer
    options="-t u16be --record 3000005 --offset 3000003"
    # shellcheck disable=SC2086
    for engine in $ENGINES; do
        for threads in 1 3; do
            [ "$(gpuhist reduce sum --engine "$engine" $options --threads $threads longer)" = 2058 ]
            [ "$(gpuhist reduce sum --engine "$engine" $options --threads $threads < <(cat longer))" = 2058 ]
        done
    done
}

@test "--record: bytes that are left over are an error that says how many" {
    local bytes
    head -c 64 /dev/zero >in
    for bytes in 1 15 16 17 31; do
        run --separate-stderr gpuhist reduce sum -t u32 --record 16 < <(head -c $bytes in)
        if [ "$bytes" -eq 16 ]; then
            [ "$status" -eq 0 ] && [ "$output" = 0 ]
        else
            assert_failed 1 "standard input: truncated input: $((bytes % 16)) byte"
            [[ $stderr == *" left after the last 16-byte record" ]]
        fi
    done
    head -c 24 in | zstd -q >in.zst
    run --separate-stderr gpuhist reduce sum -t u32 --record 16 in in.zst
    assert_failed 1 "in.zst: truncated input: 8 bytes left after the last 16-byte record"
    for engine in $ENGINES; do
        run -1 --separate-stderr gpuhist stalin-sort --engine "$engine" -t u8 --record 3 < <(printf 'abcdef12')
        [ "$output" = ad ]
        [ "$stderr" = "gpuhist: standard input: truncated input: 2 bytes left after the last 3-byte record" ]
    done
}

@test "--record: other operations, a value outside the bins, states" {
    printf '%s' 1a 2b 3c 9d 5e >in
    printf 12395 | gpuhist reduce sum --binary -t u8 --save b >b.sum
    for engine in $ENGINES; do
        [ "$(gpuhist count --engine "$engine" --ge 51 --record 2 -t u8 in)" = 3 ]
        run --separate-stderr gpuhist --engine "$engine" --record 2 --offset 1 -t u8 --range 97:100 --outside abort in
        assert_failed 1 "value 100 at byte 7 of the input is out of range"
        run -0 gpuhist stalin-sort --engine "$engine" --record 2 -t u8 --purged - -o /dev/null in
        [ "$output" = 5 ]
        gpuhist reduce sum --engine "$engine" --record 2 -t u8 in --save a >/dev/null
        [ "$(gpuhist merge a b)" = $((2 * $(<b.sum))) ]
        run -0 --separate-stderr gpuhist reduce count --engine "$engine" --record 2 -t u8 --stats in
        [[ $stderr == *"5 elements"* ]]
    done
}

@test "--record: the byte of a value outside the bins, and of an invalid weight, is that of the stream" {
    numpy 'rng = np.random.default_rng(int(sys.argv[1]))
at = 0
for number in range(3):
    data = np.zeros((rng.integers(1, 30000), 3), "<i4")
    data[:, 0] = rng.integers(0, 2, len(data))
    if number == 2:
        row = rng.integers(0, len(data))
        data[row] = (1, 5000, -1)
        print(at + row * 12 + 4, at + row * 12 + 8)
    at += data.nbytes
    data.tofile(f"{number}")' "$RANDOM" >bytes
    read -r value weight <bytes
    if reads_gzip; then gzip -k 0 1 2; fi
    for files in "0 1 2" "0.gz 1 2" "0.gz 1.gz 2.gz" "0 1.gz 2"; do
        [[ $files != *gz* ]] || reads_gzip || continue
        for options in "" "--where i32@0=1"; do
            # shellcheck disable=SC2086
            run --separate-stderr gpuhist --bins 100 --outside abort --record 12 -f i32@4 $options $files
            assert_failed 1 "value 5000 at byte $value of the input is out of range"
            # shellcheck disable=SC2086
            run --separate-stderr gpuhist uniq --record 12 -f i32@4 --weight i32@8 $options $files
            assert_failed 1 "weight -1 at byte $weight of the input is not from 0 to 2^63 - 1"
        done
    done
}

@test "--record: options that do not go together" {
    run --separate-stderr gpuhist --offset 4 in
    assert_failed 2 "--offset requires --record"
    printf 'abcdabce' >in
    for options in "--offset 2" "-t i64" "-t u8be" "--offset 0 -t i8"; do
        # shellcheck disable=SC2086
        run --separate-stderr gpuhist reduce sum --record 4 -f u8@0 $options in
        assert_failed 2 "-f TYPE@OFFSET says another type or offset than --type and --offset"
    done
    [ "$(gpuhist reduce sum --record 4 -f u8@3 --offset 3 -t u8 in)" = 201 ]
    run --separate-stderr gpuhist --record 16 --offset 13 in
    assert_failed 2 "--offset: i32 at byte 13 does not fit in a --record of 16 bytes"
    run --separate-stderr gpuhist --record 7 -t u64 in
    assert_failed 2 "--offset: u64 at byte 0 does not fit in a --record of 7 bytes"
    run --separate-stderr gpuhist --record 16 -f 2 in
    assert_failed 2 "--field requires text input, but --record requires binary input"
    for bad in 0 -1 x '' 17M; do
        run --separate-stderr gpuhist --record "$bad" in
        assert_failed 2 "invalid --record '$bad': expected bytes from 1 to 16M"
    done
    run --separate-stderr gpuhist --record 16 --offset=-1 in
    assert_failed 2 "invalid --offset '-1': expected bytes"
}
