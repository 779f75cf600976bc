#!/usr/bin/env bats
# Elements of binary records: --record and --offset. Oracles are numpy, od and awk.

load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

# make_records ROW...: for each row NUMPY_TYPE:TYPE:RECORD:OFFSET random records in `TYPE.records`,
# and their elements alone in `TYPE.elements`.
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
        # shellcheck disable=SC2086
        {
            gpuhist reduce $options "$type.records" | cmp reductions -
            gpuhist reduce $options --chunk-size 99 <"$type.records" | cmp reductions -
            gpuhist reduce $options < <(cat "$type.records") | cmp reductions -
            gpuhist reduce $options "$type.records.zst" | cmp reductions -
            gpuhist --log2 --binary -t "$type" "$type.elements" >powers
            gpuhist --log2 $options --chunk-size 1K "$type.records" | cmp powers -
            gpuhist stalin-sort --binary -t "$type" "$type.elements" >sorted
            gpuhist stalin-sort $options "$type.records" | cmp sorted -
        }
        threads=$((6 - threads))
    done
    numpy 'print(int(np.fromfile("i32.elements", "<i4").astype(object).sum()))' >sum
    gpuhist reduce sum --record 16 --offset 12 i32.records | cmp sum -
}

@test "--record: records go over the ends of chunks, files and frames" {
    local cut expected
    printf '%s' aBc dEf gHi jKl >all
    expected=$(printf '%d\n' "'B" "'E" "'H" "'K" | awk '{ print $1 "\t" 1 }')
    for cut in {0..12}; do
        head -c "$cut" all >first
        tail -c +$((cut + 1)) all >second
        run -0 gpuhist -t u8 --record 3 --offset 1 --width 1 --threads $((1 + cut % 2 * 4)) first second
        [ "$output" = "$expected" ]
        zstd -qc first second >frames.zst
        run -0 gpuhist -t u8 --record 3 --offset 1 --width 1 --threads $((1 + cut % 2 * 4)) frames.zst
        [ "$output" = "$expected" ]
        [ "$cut" -lt 8 ] || {
            run -0 gpuhist -t u8 --record 3 --offset 1 --width 1 --chunk-size "$cut" --threads 5 all
            [ "$output" = "$expected" ]
        }
    done
    # longer than every chunk
    head -c 3000000 /dev/zero >long
    printf '\1\2\3\4\5' >>long
    cat long long >longer
    for threads in 1 3; do
        [ "$(gpuhist reduce sum -t u16be --record 3000005 --offset 3000003 --threads $threads longer)" = 2058 ]
        [ "$(gpuhist reduce sum -t u16be --record 3000005 --offset 3000003 --threads $threads \
            < <(cat longer))" = 2058 ]
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
            assert_failed 1 "standard input: $((bytes % 16)) byte"
            [[ $stderr == *" left over at the end: a record has 16" ]]
        fi
    done
    head -c 24 in | zstd -q >in.zst
    run --separate-stderr gpuhist reduce sum -t u32 --record 16 in in.zst
    assert_failed 1 "in.zst: 8 bytes left over at the end: a record has 16"
    run -1 --separate-stderr gpuhist stalin-sort -t u8 --record 3 < <(printf 'abcdef12')
    [ "$output" = ad ]
    [ "$stderr" = "gpuhist: standard input: 2 bytes left over at the end: a record has 3" ]
}

@test "--record: other operations, a value outside the bins, states" {
    printf '%s' 1a 2b 3c 9d 5e >in
    [ "$(gpuhist count --ge 51 --record 2 -t u8 in)" = 3 ]
    run --separate-stderr gpuhist --record 2 --offset 1 -t u8 --range 97:100 --outside abort in
    assert_failed 1 "value 100 at byte 7 of the input is outside the bins"
    run -0 gpuhist stalin-sort --record 2 -t u8 --purged - -o /dev/null in
    [ "$output" = 5 ]
    gpuhist reduce sum --record 2 -t u8 in --save a >/dev/null
    printf 12395 | gpuhist reduce sum --binary -t u8 --save b >b.sum
    [ "$(gpuhist merge a b)" = $((2 * $(<b.sum))) ]
    run -0 --separate-stderr gpuhist reduce count --record 2 -t u8 --stats in
    [[ $stderr == *"5 elements"* ]]
}

@test "--record: options that do not go together" {
    run --separate-stderr gpuhist --offset 4 in
    assert_failed 2 "--offset needs --record"
    run --separate-stderr gpuhist --record 16 --offset 13 in
    assert_failed 2 "i32 at --offset 13 does not fit in a --record of 16 bytes"
    run --separate-stderr gpuhist --record 7 -t u64 in
    assert_failed 2 "u64 at --offset 0 does not fit in a --record of 7 bytes"
    run --separate-stderr gpuhist --record 16 -f 2 in
    assert_failed 2 "the input cannot be text ("
    for bad in 0 -1 x '' 17M; do
        run --separate-stderr gpuhist --record "$bad" in
        assert_failed 2 "invalid --record '$bad': expected bytes from 1 to 16M"
    done
    run --separate-stderr gpuhist --record 16 --offset=-1 in
    assert_failed 2 "invalid --offset '-1': expected bytes"
    run --separate-stderr gpuhist reduce sum --record 16 --engine cuda < <(head -c 32 /dev/zero)
    [ "$status" -eq 3 ] && [ -z "$output" ]
    ! gpuhist info | grep -q '^cuda: .*CUDA' || [[ $stderr == *"does not support --record" ]]
}
