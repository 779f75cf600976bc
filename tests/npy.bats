#!/usr/bin/env bats
# NumPy files (.npy), against numpy (npy.py).

load helpers

setup() {
    cd "$BATS_TEST_TMPDIR"
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
}

# saves NAME CODE [NAME CODE]...: saves the array of CODE in NAME.npy.
saves() {
    local code=
    while [ $# -gt 0 ]; do
        code+="np.save('$1.npy', $2); "
        shift 2
    done
    numpy "$code"
}

@test "arrays of any type, order, shape and version, in files, pipes and compressed" {
    run -0 "$PYTHON" "$srcdir/tests/npy.py" "$GPUHIST" read $((60 / SHARE + 1)) 1
}

@test "a damaged file is an error, or what numpy makes of it" {
    run -0 "$PYTHON" "$srcdir/tests/npy.py" "$GPUHIST" damage $((300 / SHARE + 1)) 1
}

@test "--format npy is what numpy counts" {
    run -0 "$PYTHON" "$srcdir/tests/npy.py" "$GPUHIST" write $((40 / SHARE + 1)) 1
}

@test "ranges of large arrays, by rows and by columns, for many threads" {
    numpy 'a = np.random.default_rng(5).integers(-1000, 1000, (300000, 3)).astype(">i8")
np.save("c.npy", a)
np.save("f.npy", np.asfortranarray(a))
for i in range(3): print(a[:, i].sum(), a[:, i].min(), a[:, i].max(), sep="\t")' >expected
    for name in c f; do
        for engine in $ENGINES; do
            for i in 1 2 3; do
                gpuhist reduce sum,min,max -f $i --engine "$engine" --chunk-size 70000 --threads 5 \
                    --format csv $name.npy | tail -n 1 | tr , '\t'
            done >sums
            cmp expected sums
        done
        for i in 1 2 3; do
            gpuhist reduce sum,min,max -f $((i - 4)) --format csv <$name.npy | tail -n 1 | tr , '\t'
        done >sums
        cmp expected sums
    done
    run --separate-stderr gpuhist reduce count --stats -f 2 c.npy
    [[ ${stderr_lines[0]} == "gpuhist: 300000 elements, 7200128 bytes in "* ]]
    # two files with different numbers of rows, and one with other columns
    run -0 gpuhist reduce count -f 3 f.npy f.npy
    [ "$output" = 600000 ]
    run --separate-stderr gpuhist reduce count -f 3 f.npy c.npy
    assert_failed 1 "c.npy: its NumPy array is in C order, but the first input is read in Fortran order"
    run --separate-stderr gpuhist reduce count -f 3 c.npy f.npy
    assert_failed 1 "f.npy: its NumPy array is in Fortran order, but the first input is read in C order"
}

# bats test_tags=slow
@test "without columns, an array of any dimensions and order is read whole" {
    numpy 'draw = np.random.default_rng()
for name, shape in ("none", ()), ("one", (60,)), ("two", (3, 20)), ("three", (4, 3, 5)), ("zero", (0, 7)):
    np.save(name, draw.integers(0, 9, shape, "<i2"))
np.save("fortran", np.asfortranarray(np.load("two.npy")))
np.save("float", draw.normal(size=(6, 1, 5, 2)).astype("<f4"))'
    local name
    for name in none one two three zero fortran; do
        numpy "values, counts = np.unique(np.load('$name.npy'), return_counts=True)
for value, count in zip(values, counts): print(value, count, sep='\t')" >expected
        gpuhist uniq $name.npy | cmp - expected
        gpuhist uniq <$name.npy | cmp - expected
    done
    gpuhist uniq one.npy two.npy three.npy fortran.npy none.npy >all
    numpy "values, counts = np.unique(np.concatenate([np.load(n + '.npy').ravel() for n in
    ('one', 'two', 'three', 'fortran', 'none')]), return_counts=True)
for value, count in zip(values, counts): print(value, count, sep='\t')" | cmp - all
    [ "$(gpuhist reduce count --decimals round.3 float.npy)" = 60 ]
    [ "$(gpuhist count two.npy) $(gpuhist count three.npy) $(gpuhist count fortran.npy)" = "3 4 3" ]
    for name in none three; do
        run --separate-stderr gpuhist uniq -f 1 $name.npy
        assert_failed 1 "dimensions: only those with 2 have columns; without -f, all elements are read"
    done
    run --separate-stderr gpuhist uniq -f 1 two.npy three.npy
    assert_failed 1 "three.npy: its NumPy array has 3 dimensions, but that of the first input 2"
}

@test "what is no array of integers or floats is an error that names it" {
    local row
    numpy 'np.save("float.npy", np.zeros(3))
np.save("bool.npy", np.zeros(3, "?"))
np.save("complex.npy", np.zeros(3, "c8"))
np.save("time.npy", np.zeros(3, "M8[s]"))
np.save("text.npy", np.array(["ab"]))
np.save("pairs.npy", np.zeros(3, [("a", "<i4"), ("b", "<f8")]))
np.save("object.npy", np.array([None]))'
    run --separate-stderr gpuhist uniq float.npy
    assert_failed 2 "values of f64 are rounded (try --decimals round.0)"
    for row in "bool type '|b1'" "complex type '<c8'" "time type '<M8[s]'" \
        "text type '<U2'" "pairs type [('a', '<i4'), ('b', '<f8')]" "object type '|O'"; do
        run --separate-stderr gpuhist uniq "${row%% *}.npy"
        assert_failed 1 "${row%% *}.npy: its NumPy array is of ${row#* }, and only integers and floats are read"
        run --separate-stderr gpuhist uniq -f 1 <"${row%% *}.npy"
        assert_failed 1 "standard input: its NumPy array is of ${row#* }, and only integers and floats are read"
    done
}

@test "an array that is shorter or longer than its header says" {
    saves a 'np.arange(100, dtype="<i4")'
    local how
    head -c -3 a.npy >short.npy
    { cat a.npy; printf 12345; } >long.npy
    head -c 100 a.npy >header.npy
    for how in "short.npy|3 bytes missing at the end: its NumPy array is shorter than its header says" \
        "long.npy|5 bytes left at the end: its NumPy array is longer than its header says" \
        "header.npy|it ends within its NumPy header"; do
        run --separate-stderr gpuhist uniq "${how%%|*}"
        assert_failed 1 "${how%%|*}: ${how#*|}"
        run --separate-stderr gpuhist uniq a.npy "${how%%|*}"
        assert_failed 1 "${how%%|*}: ${how#*|}"
        run --separate-stderr gpuhist uniq - < <(cat "${how%%|*}")
        assert_failed 1 "standard input: ${how#*|}"
        zstd -qf "${how%%|*}"
        run --separate-stderr gpuhist uniq "${how%%|*}.zst"
        assert_failed 1 "${how%%|*}.zst: ${how#*|}"
    done
    saves b 'np.zeros((100000, 4), dtype="<i8")'
    head -c -1 b.npy >c.npy
    run --separate-stderr gpuhist uniq -f 1 c.npy
    assert_failed 1 "c.npy: 1 byte missing at the end"
}

@test "several arrays are of one type, byte order and width; others are errors with their names" {
    saves a 'np.arange(5, dtype="<i4")' big 'np.arange(5, dtype=">i4")' unsigned 'np.arange(5, dtype="<u4")' \
        two 'np.zeros((5, 1), dtype="<i4")' three 'np.zeros((5, 3), dtype="<i4")' \
        four 'np.zeros((5, 4), dtype="<i4")'
    int32 1 2 3 >raw
    : >empty
    run -0 gpuhist reduce sum a.npy empty a.npy
    [ "$output" = 20 ]
    run --separate-stderr gpuhist reduce sum empty a.npy # the first input determines the type
    assert_failed 1 "a.npy: NumPy arrays after other input or with options"
    run --separate-stderr gpuhist uniq a.npy big.npy
    assert_failed 1 "big.npy: its NumPy array is of type i32be, but that of the first input of i32le"
    run --separate-stderr gpuhist uniq a.npy unsigned.npy
    assert_failed 1 "unsigned.npy: its NumPy array is of type u32le, but that of the first input of i32le"
    run --separate-stderr gpuhist uniq -f 1 a.npy two.npy
    assert_failed 1 "two.npy: its NumPy array has 2 dimensions, but that of the first input 1"
    run --separate-stderr gpuhist uniq a.npy raw
    assert_failed 1 "raw: not a NumPy array, but the first input is"
    run --separate-stderr gpuhist uniq raw a.npy
    assert_failed 1 "a.npy: NumPy arrays after other input or with options"
    run --separate-stderr gpuhist uniq -f 1 three.npy four.npy
    assert_failed 1 "four.npy: its NumPy array has rows of 4, but that of the first input of 3"
}

@test "an array of one row or of one column is in both orders" {
    saves row 'np.array([[3, 1, 4]], dtype="<i4")'
    sed -i "s/'fortran_order': False/'fortran_order': True /" row.npy
    saves column 'np.array([[3], [1], [4]], dtype="<i4")'
    sed -i "s/'fortran_order': False/'fortran_order': True /" column.npy
    grep -qa True row.npy && grep -qa True column.npy
    run -0 gpuhist reduce sum -f 1,-1 --where '2=1' row.npy
    [ "$output" = $'1\t3\n-1\t4' ]
    run -0 gpuhist reduce sum -f 1 --where '1>1' column.npy
    [ "$output" = 7 ]
}

# bats test_tags=slow
@test "options that an array goes with, and those that it does not" {
    saves a 'np.array([3, 1, 3], dtype="<i4")'
    saves b 'np.arange(12, dtype="<u2").reshape(4, 3)'
    saves f 'np.asfortranarray(np.arange(12, dtype="<u2").reshape(4, 3))'
    run -0 gpuhist uniq -t i32 -f -1 a.npy
    [ "$output" = $'1\t1\n3\t2' ]
    run -0 gpuhist reduce sum -f 1,-1 --where '2>=4' b.npy
    [ "$output" = $'1\t18\n-1\t24' ]
    run -0 gpuhist uniq -f 2 --weight 3 b.npy
    [ "$output" = $'1\t2\n4\t5\n7\t8\n10\t11' ]
    run --separate-stderr gpuhist uniq -t u32 a.npy
    assert_failed 1 "a.npy: its NumPy array is of type i32le, not of -t u32"
    for column in 4 -4 0 x; do
        run --separate-stderr gpuhist uniq -f $column b.npy
        assert_failed 1 "b.npy: its NumPy array has columns 1 to 3 (or -1 to -3), but no -f '$column'"
    done
    run --separate-stderr gpuhist reduce sum -f 1,2 f.npy
    assert_failed 1 "f.npy: only one column of a NumPy array in Fortran order is read at once"
    for options in "--csv -f 1" --text "--record 4" "-d ,"; do
        # shellcheck disable=SC2086
        run --separate-stderr gpuhist uniq $options a.npy
        assert_failed 1 "a.npy: NumPy arrays after other input or with options for text or records are not supported"
    done
    # as plain bytes: the header has 128 bytes
    for options in --binary "-t i32le"; do
        # shellcheck disable=SC2086
        run -0 gpuhist reduce count $options a.npy
        [ "$output" = 35 ]
    done
    run -0 gpuhist reduce count -f 2 --every 1h b.npy
    [ "$output" = 4 ]
    run -0 gpuhist reduce count --every 1h < <(cat a.npy)
    [ "$output" = 3 ]
    run --separate-stderr gpuhist reduce count -f 2 --every 1h < <(cat b.npy)
    assert_failed 1 "standard input: NumPy arrays after other input or with options"
    # the first intermediate result precedes the first line
    run -0 bash -c '{ sleep 1; echo 1; } | "$GPUHIST" reduce count -f 1 --every 300ms'
    [ "${lines[0]}" = 0 ]
    # the kept values are elements, without a header
    run -0 bash -c '"$GPUHIST" stalin-sort -f 2 f.npy | od -An -v -t u2 | xargs'
    [ "$output" = "1 4 7 10" ]
    # bounds of the array's type
    numpy 'np.save("large.npy", np.array([[2**64 - 1, 1], [7, 2]], "u8"))'
    [ "$(gpuhist --edges 0,5,18446744073709551616 -f 1 large.npy)" = $'5\t18446744073709551616\t2' ]
    [ "$(gpuhist --range 0:18446744073709551616 --bins 2 -f 1 large.npy)" = \
        $'0\t9223372036854775808\t1\n9223372036854775808\t18446744073709551616\t1' ]
    run --separate-stderr gpuhist --edges 0,18446744073709551616 -f 1 b.npy
    assert_failed 2 "exceeds the values of"
    # parts of an array, saved and merged
    gpuhist reduce sum,max -f 2,3 --by 1 --save one.state b.npy >/dev/null
    run -0 gpuhist merge one.state one.state
    [ "${lines[3]}" = $'2\t9\t20\t10' ]
}

# bats test_tags=slow
@test "--format npy beyond -S, and what cannot be combined with it" {
    numpy 'np.random.default_rng(3).integers(0, 1 << 62, 700000, dtype="<u8").tofile("ids.u64")'
    gpuhist uniq -t u64le -S 1 --threads 1 -T . --format npy -o out.npy ids.u64
    numpy 'a = np.load("out.npy"); values, counts = np.unique(np.fromfile("ids.u64", "<u8"), return_counts=True)
assert (a["value"] == values).all() and (a["count"] == counts).all() and len(a) == len(values)'
    run --separate-stderr gpuhist uniq --format npy -f 1 --by 2 <<<"1 2"
    assert_failed 2 "--by cannot be combined with --format npy"
    run --separate-stderr gpuhist uniq --format npy -f 1:text <<<"a"
    assert_failed 2 "uniq of strings cannot be combined with --format npy (try tsv, csv, json, jsonl, markdown, html"
    for operation in "reduce sum" "count --ge 1"; do
        # shellcheck disable=SC2086
        run --separate-stderr gpuhist $operation --format npy <<<"1 2"
        assert_failed 2 "--format npy cannot be combined with ${operation%% *} (try tsv, csv, json, jsonl, markdown, html"
    done
    gpuhist uniq -f 1 --by 2 --save by.state <<<"1 2" >/dev/null
    run --separate-stderr gpuhist merge --format npy by.state
    assert_failed 2 "--by cannot be combined with --format npy"
    for options in "--top 1" --percent "--percentiles 50"; do
        # shellcheck disable=SC2086
        run --separate-stderr gpuhist uniq --format npy $options <<<"1 2"
        assert_failed 2 "${options%% *} cannot be combined with --format npy"
    done
}
