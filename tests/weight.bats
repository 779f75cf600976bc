#!/usr/bin/env bats
# --weight: another column gives the weight of each value. Oracles are awk, which repeats values or
# adds up their weights, Python's csv module and numpy.

load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

# make_pairs: makes `pairs`, lines `VALUE x WEIGHT` with small weights, whose sum is 0 for no value,
# and `repeated`, each value repeated by its weight.
make_pairs() {
    awk 'BEGIN { srand(5); for (i = 0; i < 4000; i++) {
        value = int(rand() * rand() * 800) - 120; weight = int(rand() * 8)
        print value, "x", weight; if (weight == 0) print value, "x", 1 } }' >pairs
    awk '{ for (i = 0; i < $3; i++) print $1 }' pairs >repeated
}

# sums_of FILE: prints `VALUE TAB SUM` of lines `VALUE WEIGHT`, in numeric order, in integers of any size.
sums_of() {
    numpy 'sums = {}
for line in open(sys.argv[1]):
    value, weight = map(int, line.split())
    sums[value] = sums.get(value, 0) + weight
for value in sorted(sums):
    print(value, sums[value], sep="\t")' "$1"
}

@test "--weight: bins, options and formats are those of values that come so often" {
    local options
    make_pairs
    while read -r options; do
        # shellcheck disable=SC2086
        {
            gpuhist $options repeated >expected 2>expected.err
            gpuhist $options -f 1 --weight 3 pairs >found 2>found.err
            # an image names the columns
            sed "s/\bweight\b/count/; s/^set xlabel 'field 1'/set xlabel 'value'/; s/^set ylabel 'field 3'/set ylabel 'count'/" \
                found | cmp expected -
            sed 's/^gpuhist: weight out of/gpuhist: values out of/' found.err | cmp expected.err -
        }
    done <<'END'
--bins 600
--bins 600 --outside clamp
--bins 600 --outside ignore --percent
--bins 7 --range -100:523
--width 10
--width 7 --range -50:500 --zeros
--range -50:500
--log2
--log10 --cumulative
--edges -100,-3,0,17,200
--bins 5M --outside ignore
histogram
histogram --zeros --format json
histogram --quantiles 0,50,99.9,100 --format json
uniq
uniq --top 7 --other
uniq --min-count 30 --other --percent --cumulative
uniq --sort count --format csv
uniq --quantiles 0,12.5,50,99.99
uniq --format raw
uniq --format json --top 3 --quantiles 50
--bins 40 --format raw
--width 50 --format gnuplot
--width 50 --plot
END
}

@test "--weight: files, pipes, compressed files, threads and chunks" {
    local options threads
    make_pairs
    zstd -q pairs
    cat pairs pairs.zst >/dev/null
    for options in "uniq" "--log2" "histogram" "--bins 600 --outside ignore"; do
        # shellcheck disable=SC2086
        for threads in 1 5; do
            gpuhist $options repeated repeated >expected
            options+=" -f 1 --weight -1 --threads $threads"
            gpuhist $options pairs pairs.zst | cmp expected -
            gpuhist $options --chunk-size 257 pairs pairs | cmp expected -
            gpuhist $options --chunk-size 4K - pairs.zst <pairs | cmp expected -
            gpuhist $options --chunk-size 99 < <(cat pairs pairs) | cmp expected -
            options=${options% -f*}
        done
    done
}

# bats test_tags=slow
@test "--weight: chunks and frames that end at every byte" {
    local cut size way
    printf '44 x 12\n\n2,7 x 5\n44 x y\n -3\tx 09 \r\n2 x 1 z\n44 x 100' >in
    printf -- '-3\t9\n2\t1\n44\t112\n' >expected
    size=$(stat -c %s in)
    for ((cut = 0; cut <= size; cut++)); do
        head -c $cut in >first
        tail -c +$((cut + 1)) in >second
        zstd -qc first second >frames.zst
        gpuhist uniq -f 1 --weight 3 --invalid ignore --threads $((1 + cut % 2 * 4)) frames.zst |
            cmp expected -
        # the first chunk, of 4096 bytes, ends there; before it is an invalid line
        { printf 'x%0*d\n' $((4094 - cut)) 0 && cat in; } >long
        ((cut % 2)) && way=long || way=-
        gpuhist uniq -f 1 --weight 3 --invalid ignore --threads $((5 - cut / 2 % 2 * 4)) \
            --chunk-size 4K "$way" < <(cat long) | cmp expected -
    done
}

@test "--weight: lines that are longer than a chunk" {
    local fields
    numpy 'for last in 7, 8, 7:
    print(last, "x" * 70000, 30 + last, "4 " * 50000, " " * 9999, last * 11, sep=" ")' >words
    tr -s ' ' , <words >list
    tr -s ' ' <words | sed 's/ /","/g; s/^/"/; s/$/"/' >quoted.csv
    for fields in "1 3 7:74 8:38" "3 1 37:14 38:8" "1 -1 7:154 8:88" "-1 3 77:74 88:38" \
        "-1 -2 77:8 88:4" "3 3 37:74 38:38"; do
        read -r first second low high <<<"$fields"
        printf '%s\t%s\n' "${low%:*}" "${low#*:}" "${high%:*}" "${high#*:}" >expected
        gpuhist uniq -f "$first" --weight "$second" --chunk-size 4K words | cmp expected -
        gpuhist uniq -d , -f "$first" --weight "$second" --chunk-size 4K < <(cat list) | cmp expected -
        gpuhist uniq --csv -f "$first" --weight "$second" --chunk-size 1M quoted.csv | cmp expected -
    done
}

@test "--weight: large weights, and the sum that does not fit" {
    local way
    numpy 'rng = np.random.default_rng(3)
for i in range(3000):
    print(rng.integers(-5, 5) * 10 ** rng.integers(0, 18), rng.integers(0, 2 ** rng.integers(1, 52)))' >in
    sums_of in >expected
    gpuhist uniq -f 1 --weight 2 --threads 3 --chunk-size 999 in | cmp expected -
    gpuhist -f 1 --weight 2 --width 1 -S 1 in | cmp expected -
    printf '%s\n' '3 9223372036854775807' '70000 9223372036854775807' '3 1' '-1 0' >most
    for way in uniq --width=1 --log2 histogram --bins=5; do
        [ "$(gpuhist $way -f 1 --weight 2 --threads 1 most --format json |
            grep -o '"total":[0-9]*')" = '"total":18446744073709551615' ]
        run --separate-stderr gpuhist $way -f 1 --weight 2 < <(cat most && echo 4 1)
        assert_failed 1 "the weights add up to more than 2^64 - 1"
    done
    [ "$(gpuhist uniq -f 1 --weight 2 most --quantiles 50,50.00000000000001)" = \
        $'50\t3\n50.00000000000001\t70000' ]
    # Invalid tokens of the input come first, wherever they are.
    run --separate-stderr gpuhist uniq -f 1 --weight 2 < <(cat most && printf '4 1\n5 x\n')
    assert_failed 1 "standard input:6: invalid weight 'x'"
}

@test "--weight NAME: in the header of each file, also of compressed ones and with quotes" {
    printf 'bytes status\n10 404\n5 200\n' >a
    printf 'x status y bytes\n0 404 0 7\n' >b
    zstd -q a b
    [ "$(gpuhist uniq -f status --weight bytes a b.zst - a.zst <b)" = $'200\t10\n404\t34' ]
    [ "$(gpuhist uniq -f 2 --weight bytes a a)" = $'200\t10\n404\t20' ]
    [ "$(gpuhist uniq -f status --weight 1 a)" = $'200\t5\n404\t10' ]
    [ "$(gpuhist uniq -f bytes --weight bytes a)" = $'5\t5\n10\t10' ]
    numpy 'import csv, random
random.seed(4)
names = ["size", "comment, with comma", "say \"n\"", "code"]
sums = {}
for file in range(3):
    random.shuffle(names)
    with open(f"{file}.csv", "w", newline="") as out:
        writer = csv.DictWriter(out, names, quoting=csv.QUOTE_ALL if file else csv.QUOTE_MINIMAL)
        writer.writeheader()
        for i in range(500):
            row = {"size": random.randrange(10 ** random.randrange(1, 12)), "code": random.randrange(200, 210),
                   names[1]: 0, "comment, with comma": "\", 5,\" " * random.randrange(3)}
            writer.writerow({name: row.get(name, i) for name in names})
    for row in csv.DictReader(open(f"{file}.csv", newline="")):
        sums[int(row["code"])] = sums.get(int(row["code"]), 0) + int(row["size"])
for code in sorted(sums):
    print(code, sums[code], sep="\t")' >expected
    gpuhist uniq --csv -f code --weight size ./*.csv | cmp expected -
    gpuhist uniq --csv -f code --weight size --threads 5 --chunk-size 300 ./*.csv | cmp expected -
    run --separate-stderr gpuhist uniq --csv -f code --weight sizes 0.csv
    assert_failed 1 "0.csv: unknown column 'sizes'"
    printf 'a b a\n1 2 3\n' >twice
    run --separate-stderr gpuhist uniq -f b --weight a twice
    assert_failed 1 "twice: duplicate column 'a' in the header"
    run --separate-stderr gpuhist uniq -f b --weight a --header=2 twice
    assert_failed 1 "twice: unknown column 'b'"
}

@test "--weight NAME: results are called by it" {
    local name words
    printf '%s\n' 'status,bytes,count,value,"by_bytes, ""x"""' 200,5,1,9,4 304,0,2,8,5 404,7,3,7,6 >in.csv
    jq -cn '{a: {b: 3}, s: 5}, {a: {b: 4}, s: 6}' 2>/dev/null >in.jsonl ||
        printf '%s\n' '{"a":{"b":3},"s":5}' '{"a":{"b":4},"s":6}' >in.jsonl
    local words="gpuhist uniq --csv -f status --weight bytes in.csv"
    [ "$($words --format csv | head -n 1)" = value,bytes ]
    [ "$($words --header-out --percent | head -n 1)" = $'value\tbytes\tpercent' ]
    [ "$($words --format jsonl --top 1)" = '{"value":404,"bytes":7}' ]
    [ "$($words --format json --top 1 --other | tail -n 2)" = $'{"value":404,"bytes":7}],\n"other":{"bytes":5}}' ]
    [ "$($words --by status --format csv | head -n 2)" = $'status,value,bytes\n200,200,5' ]
    [ "$(gpuhist --bins 500 --csv -f status --weight bytes in.csv --format csv --outside ignore)" = \
        $'value,bytes\n200,5\n404,7' ]
    [ "$(gpuhist --csv -f status --weight bytes in.csv --width 100 --format csv | head -n 1)" = low,high,bytes ]
    [ "$(gpuhist uniq -f 1 --weight 2 --format csv < <(echo 1 2))" = $'value,weight\n1,2' ]
    [ "$(gpuhist uniq -t u8 --record 2 --weight u8@1 --format csv < <(printf '\1\2'))" = $'value,weight\n1,2' ]
    [ "$(gpuhist uniq --jsonl -f s --weight .a.b --format jsonl in.jsonl)" = $'{"value":5,".a.b":3}\n{"value":6,".a.b":4}' ]
    # names of other columns, or names that need quotes; names of groups differ from them
    [ "$(gpuhist uniq --csv -f status --weight value --by value --format jsonl in.csv | head -n 1)" = \
        '{"by_value":7,"value":404,"sum_value":7}' ]
    [ "$(gpuhist uniq --csv -f status --weight bytes --by bytes --format jsonl in.csv | head -n 1)" = \
        '{"bytes":0,"value":304,"sum_bytes":0}' ]
    [ "$(gpuhist uniq --csv -f status --weight bytes --by bytes --format csv in.csv | head -n 1)" = bytes,value,sum_bytes ]
    [ "$(gpuhist uniq --csv -f status --weight value in.csv --format csv | head -n 1)" = value,sum_value ]
    name='by_bytes, "x"'
    numpy 'import csv, json, subprocess
name = sys.argv[2]
words = [sys.argv[1], "uniq", "--csv", "-f", "status", "--weight", name.replace("\"", "\"\"").join("\"\""), "in.csv", "--format"]
run = lambda form: subprocess.run([*words, form], capture_output=True, check=True).stdout
rows = [{"value": int(row["status"]), name: int(row[name])} for row in csv.DictReader(open("in.csv"))]
assert json.loads(run("json"))["bins"] == rows
assert [json.loads(line) for line in run("jsonl").splitlines()] == rows
assert [{key: int(cell) for key, cell in row.items()} for row in csv.DictReader(run("csv").decode().splitlines())] == rows' \
        "$GPUHIST" "$name"
    name=$(printf 'x%.0s' {1..9000})
    printf '%s v\n' "$name" >long
    printf '%s\n' "3 1" "4 2" >>long
    [ "$(gpuhist uniq -f v --weight "$name" --format jsonl --top 1 --other long)" = \
        "{\"value\":2,\"$name\":4}"$'\n'"{\"other\":true,\"$name\":3}" ]
    numpy 'import subprocess, io
for name, wanted in ("bytes", "bytes"), ("count", "count"), ("value", "sum_value"), (sys.argv[2], "by_bytes, \"x\""):
    out = subprocess.run([sys.argv[1], "uniq", "--csv", "-f", "status", "--weight", name, "in.csv", "--format", "npy"],
                         capture_output=True, check=True).stdout
    assert np.load(io.BytesIO(out)).dtype.names == ("value", wanted), out' "$GPUHIST" '"by_bytes, ""x"""'
    # other output than the result, and states
    run -0 --separate-stderr gpuhist --bins 300 --csv -f status --weight bytes in.csv
    [ "$stderr" = "gpuhist: bytes out of range: 0 below, 7 above (try --range auto)" ]
    run -0 --separate-stderr gpuhist uniq --csv -f status --weight bytes in.csv --stats --save state
    [[ ${stderr_lines[0]} == "gpuhist: 3 elements, "* ]]
    run -0 --separate-stderr gpuhist merge state state --stats --format csv
    [ "${lines[0]}" = value,bytes ]
    [ "$stderr" = "gpuhist: 2 states, 24 of bytes" ]
    gpuhist uniq --csv -f status --weight count in.csv --save other -o /dev/null
    run --separate-stderr gpuhist merge state other
    assert_failed 1 'other: --weight="count", not --weight="bytes" as in state'
}

@test "--weight: invalid weights are invalid tokens of their lines" {
    local bad type
    for bad in -1 x 1.5 1e3 0x1 9223372036854775808 18446744073709551616 ''; do
        run --separate-stderr gpuhist uniq -d , -f 1 --weight 2 < <(printf '1,1\n2,%s\n' "$bad")
        assert_failed 1 "standard input:2: invalid weight '$bad', no integer from 0 to 2^63 - 1"
    done
    for type in u8 i64 u64; do # type of values, for any type of weights
        run -0 gpuhist uniq -t $type -f 1 --weight 2 <<<'1 9223372036854775807'
        [ "$output" = $'1\t9223372036854775807' ]
        run --separate-stderr gpuhist uniq -t $type -f 1 --weight 2 <<<'1 9223372036854775808'
        assert_failed 1 "invalid weight '9223372036854775808', no integer from 0 to 2^63 - 1"
    done
    printf '5 1\n5\n5 -4\nx y\n6 2\n7 z\n' >in
    run --separate-stderr gpuhist uniq -f 1 --weight 2 in
    assert_failed 1 "in:2: missing field 2: the line has 1"
    run -1 --separate-stderr gpuhist uniq -f 1 --weight 2 --invalid fail in
    [ "$output" = $'5\t1\n6\t2' ]
    [ "${stderr_lines[1]}" = "gpuhist: in:3: invalid weight '-4', no integer from 0 to 2^63 - 1" ]
    # The first column is reported for a line that is invalid in both.
    [ "${stderr_lines[2]}" = "gpuhist: in:4: invalid integer 'x' (try COLUMN:text)" ]
    [ "${stderr_lines[3]}" = "gpuhist: in:6: invalid weight 'z', no integer from 0 to 2^63 - 1" ]
    [ "${stderr_lines[4]}" = "gpuhist: 4 invalid values in the input" ]
    run -1 --separate-stderr gpuhist uniq -f 1 --weight 2 --invalid fail < <(seq -f '7 x%g' 12)
    [ "${stderr_lines[10]}" = "gpuhist: 2 more invalid weights" ]
    [ "${stderr_lines[11]}" = "gpuhist: 12 invalid weights in the input" ]
    run -0 --separate-stderr gpuhist --width 1 -f 1 --weight 2 --invalid ignore --threads 1 in
    [ "$output" = $'5\t1\n6\t2' ] && [ "$stderr" = "gpuhist: note: skipped 4 invalid values, 1 of them a number not allowed as a weight" ]
    # The order of an out-of-range value and an invalid weight.
    run --separate-stderr gpuhist --bins 6 -f 1 --weight 2 --outside abort --invalid ignore in
    assert_failed 1 "in:5: value 6 is out of range"
    printf '1 1\n9 0\n9 x\n9 1\n' >in
    run --separate-stderr gpuhist --bins 6 -f 1 --weight 2 --outside abort in
    assert_failed 1 "in:3: invalid weight 'x'"
    run --separate-stderr gpuhist --bins 6 -f 1 --weight 2 --outside abort --invalid ignore in
    assert_failed 1 "in:4: value 9 is out of range"
}

@test "--weight: many invalid lines among few valid ones" {
    awk 'BEGIN { for (i = 0; i < 60000; i++) print i % 3, (i % 50 ? "x" : i) }' >in
    awk '$2 != "x" { s[$1] += $2; } END { for (i = 0; i < 3; i++) printf "%d\t%d\n", i, s[i] }' in >expected
    gpuhist uniq -f 1 --weight 2 --invalid ignore in | cmp expected -
    awk '{ print $2, $1 }' in >turned
    awk '$1 != "x" { s[$1] += $2; } END { for (i = 0; i < 60000; i += 50) if (i in s) printf "%d\t%d\n", i, s[i] }' \
        turned >expected
    gpuhist uniq -f 1 --weight 2 --invalid ignore turned | cmp expected -
}

@test "--weight: decimals and units add up exactly, in every format and over parts" {
    [ -n "${PYTHON:-}" ] || skip "no python3"
    run -0 "$PYTHON" "$srcdir/tests/weight.py" "$GPUHIST" $((RANDOM))
}

@test "--weight: decimals in limits, pictures, arrays and records" {
    printf '1 0.10\n2 0.25\n9 1.999\n' >in
    run --separate-stderr gpuhist uniq -f 1 --weight 2 in
    assert_failed 1 "in:1: invalid weight '0.10', no integer from 0 to 2^63 - 1 (try COLUMN:.2)"
    run --separate-stderr gpuhist uniq -f 1 --weight 2:.2 in
    assert_failed 1 "in:3: invalid weight '1.999', no number from 0 to 92233720368547758.07 with 2 decimals (try COLUMN:.3)"
    run --separate-stderr gpuhist uniq -f 1 --weight 2:.1 <<<'1 -0.5'
    assert_failed 1 "invalid weight '-0.5', no number from 0 to 922337203685477580.7 with 1 decimal"
    run -0 --separate-stderr gpuhist -f 1 --weight 2:.3 --range 2:5 --width 3 --save state in
    [ "$output" = $'2\t5\t0.250' ] && [ "$stderr" = "gpuhist: weight out of range: 0.100 below, 1.999 above (try --outside)" ]
    run -0 --separate-stderr gpuhist merge --stats state state
    [ "$output" = $'2\t5\t0.500' ]
    [ "${stderr_lines[0]}" = "gpuhist: 2 states, 4.698 of weight" ]
    gpuhist -f 1 --weight 2:.2 --range 2:5 --width 3 --save other -o /dev/null -q --invalid ignore in
    run --separate-stderr gpuhist merge state other
    assert_failed 1 "other: --weight=1:i64.2, not --weight=1:i64.3 as in state"
    [ "$(gpuhist uniq -f 1 --weight 2:.18 <<<$'7 9.2\n7 9.2' --format raw | od -An -tu8)" = "                    7 18400000000000000000" ]
    run --separate-stderr gpuhist uniq -f 1 --weight 2:.18 < <(yes '7 9.2' | head -n 3)
    assert_failed 1 "the weights add up to more than 18.446744073709551615"
    run --separate-stderr gpuhist uniq -f 1 --weight 2:.18 <<<'7 9.3'
    assert_failed 1 "invalid weight '9.3', no number from 0 to 9.223372036854775807 with 18 decimals"
    # the bars and axes of sums are those of the same integers
    LC_ALL=C COLUMNS=51 gpuhist --plot --width 5 -f 1 --weight 2:.3 in >plot
    LC_ALL=C COLUMNS=50 gpuhist --plot --width 5 -f 1 --weight 2 <<<$'1 100\n2 250\n9 1999' |
        sed 's/  350/ 0.350/; s/ 1999/ 1.999/' | cmp plot -
    run -0 gpuhist uniq --format svg -f 1:text --weight 2:.3 in
    [[ $output == *">2.349 (sum of field 2), 3 distinct<"*"<title>9: 1.999 (85.1%)</title>"* ]]
    run -0 gpuhist --format svg --range 0:12 --bins 3 -f 1 --weight 2:.3 in
    [[ $output == *">0.5</text>"*">1</text>"*"<title>8..12: 1.999 (85.1%)"* ]] || [[ $output == *">1.999</text>"* ]]
    run -0 gpuhist --format gnuplot --range 0:12 --bins 3 -f 1 --weight 2:.3 --log-count --percent --top 2 --other in
    [[ $output == *"set yrange [0.5*0.350*100.0/2.349:*]"*'set label "other: 0.000"'* ]]
    # integers of records are multiples of the unit, floats are rounded
    printf '\1\0\372\0' | cat >records
    [ "$(gpuhist uniq --record 4 -t u16 --weight u16@2:.2 records)" = $'1\t2.50' ]
    printf '\1\0\0\0\0\0\40\100' >records # 2.5
    [ "$(gpuhist uniq --record 8 -f u16@0 --weight f32@4:round.2 records)" = $'1\t2.50' ]
    printf '\1\0\0\0\0\0\40\300' >records
    run --separate-stderr gpuhist uniq --record 8 -f u16@0 --weight f32@4:round.2 records
    assert_failed 1 "weight -2.50 at byte 4 of the input is not from 0 to 92233720368547758.07"
}

@test "--weight: with other notations the weights are decimal integers" {
    printf '1.25 10\n1.5 2\n1.250 3\n' >in
    [ "$(gpuhist uniq --decimals 2 -f 1 --weight 2 in)" = $'1.25\t13\n1.50\t2' ]
    printf 'ff 10\n0xFF 2\n1 3\n' >in
    [ "$(gpuhist uniq --base 16 -f 1 --weight 2 in)" = $'1\t3\n255\t12' ]
    [ "$(gpuhist uniq -t u8 --base 16 -f 1 --weight 2 in)" = $'1\t3\n255\t12' ]
    run --separate-stderr gpuhist uniq --base 16 -f 2 --weight 1 in
    assert_failed 1 "in:1: invalid weight 'ff'"
}

@test "--weight: lines of uniq -c, and what gpuhist has counted before" {
    make_pairs
    gpuhist uniq repeated >expected
    sort -n repeated | uniq -c | gpuhist uniq -f 2 --weight 1 | cmp expected -
    gpuhist uniq -f 1 --weight 2 expected | cmp expected -
    gpuhist --log2 repeated | cmp <(gpuhist --log2 -f 1 --weight 2 expected) -
}

# bats test_tags=later
@test "--weight: more distinct values than memory" {
    awk 'BEGIN { srand(2); for (i = 0; i < 120000; i++)
        printf "%d %d\n", exp(rand() * 40), rand() * (i % 2 ? 3 : 1e9) }' >in
    sums_of in >expected
    gpuhist uniq -f 1 --weight 2 --threads 3 in | cmp expected -
    gpuhist uniq -f 1 --weight 2 -S 1M --threads 3 --stats in 2>stats | cmp expected -
    gpuhist uniq -f 1 --weight 2 -S 1 in | cmp expected -
}

@test "uniq --weight: values whose weights add up to 0" {
    printf '%s\n' '304 0' '200 5' '404 0' '200 6' '404 3' '-5 0' >in
    [ "$(gpuhist uniq -f 1 --weight 2 in)" = $'-5\t0\n200\t11\n304\t0\n404\t3' ]
    [ "$(gpuhist uniq -f 1:text --weight 2 in)" = $'-5\t0\n200\t11\n304\t0\n404\t3' ]
    [ "$(gpuhist uniq -f 1 --weight 2 --by 1 in)" = $'-5\t-5\t0\n200\t200\t11\n304\t304\t0\n404\t404\t3' ]
    [ "$(gpuhist uniq -f 1 --weight 2 --top 3 --percent in)" = \
        $'200\t11\t78.5714\n404\t3\t21.4286\n-5\t0\t0.0000' ]
    [ "$(gpuhist uniq -f 1 --weight 2 --min-count 1 --other in)" = $'200\t11\n404\t3\nother\t0' ]
    [ "$(gpuhist uniq -f 1 --weight 2 --quantiles 0,100 in)" = $'0\t200\n100\t404' ]
    [ "$(gpuhist uniq -f 1 --weight 2 < <(echo 7 0))" = $'7\t0' ]
    [ "$(gpuhist uniq -f 1 --weight 2 --percent --cumulative < <(echo 7 0))" = $'7\t0\t0.0000\t0\t0.0000' ]
    # bins whose weights add up to 0 are empty
    [ "$(gpuhist --bins 500 -f 1 --weight 2 --outside ignore in)" = $'200\t11\n404\t3' ]
    [ "$(gpuhist --width 2 -f 1 --weight 2 in)" = $'200\t202\t11\n404\t406\t3' ]
}

@test "--by --weight: groups whose weights are all 0 have empty bins, also in states" {
    local bins print group file zeros=$'\200\200\200\200\200\200\200\200\200'
    printf '%s\n' 'a 1 0' 'a 2 0' 'b 1 3' 'b 2 0' >one
    printf '%s\n' 'c 9 0' 'b 5 0' 'b 3 1' >two
    while IFS='|' read -r bins print; do
        # shellcheck disable=SC2086
        for file in one two; do
            gpuhist $bins --by 1:text -f 2 --weight 3 --save "$file.state" -o /dev/null "$file"
        done
        for group in a b c; do
            # shellcheck disable=SC2086
            gpuhist $bins $print --where "1:text=$group" -f 2 --weight 3 one two | sed "s/^/$group\t/"
        done >expected
        # shellcheck disable=SC2086
        gpuhist $bins $print --by 1:text -f 2 --weight 3 one two | cmp expected -
        # shellcheck disable=SC2086
        gpuhist merge $print two.state one.state | cmp expected -
        gpuhist merge two.state one.state --format json >groups
        [ "$(grep -o '"by":"[a-z]"' groups | tr -d '\n')" = '"by":"a""by":"b""by":"c"' ]
    done <<'END'
--range=0:4 --bins=2 --outside=ignore|--zeros
--edges=1,2,7 --outside=ignore|--zeros
--log2|--zeros
--width=2|--zeros
--width=2|--top=1 --other
--range=auto --bins=2|--zeros
END
    { printf 'gpuhist state 5\nhistogram --type=i64 --weight=1 --by=1:i64 --bins=10 --outside=report\n'
        printf '\0%s\2\0\16\3\0' "$zeros"; } | zstd -q >state
    [ "$(gpuhist merge --zeros state | awk '{ n += $3 == 0 && $1 == 7 } END { print n, NR }')" = "10 10" ]
    { printf 'gpuhist state 5\nhistogram --type=i64 --by=1:i64 --bins=10 --outside=report\n'
        printf '\0%s\2\0\16\3\0' "$zeros"; } | zstd -q >state
    run --separate-stderr gpuhist merge state
    assert_failed 1 "the counts exceed the number of elements"
}

# bats test_tags=later
@test "uniq --weight: values whose weights add up to 0, among many" {
    local layout options
    # dense values, counted in windows; sparse ones; both; ascending
    for layout in 'int(rand() * 12000)' 'int(rand() * 3000) * 1234567890123' \
        '(i % 3 ? int(rand() * 12000) : int(rand() * 3000) * 98765432101)' 'i'; do
        awk "BEGIN { srand(9); for (i = 0; i < 24000; i++)
            printf \"%.0f %d\\n\", $layout, rand() < 0.7 ? 0 : rand() * 3 }" >in
        sums_of in >expected
        grep -qP '\t0$' expected && grep -qvP '\t0$' expected
        head -n 8000 in >a
        tail -n +8001 in >b
        for options in "--threads 1" "--threads 3 --chunk-size 4096" "--threads 2 -S 1" "--threads 16 --sort bin"; do
            # shellcheck disable=SC2086
            {
                gpuhist uniq -f 1 --weight 2 $options in | cmp expected -
                gpuhist uniq -f 1 --weight 2 $options --save a.state -o /dev/null < <(cat a)
                gpuhist uniq -f 1 --weight 2 $options --save b.state -o /dev/null b
                gpuhist uniq -f 1 --weight 2 --by 1 $options in | cut -f 2- | cmp expected -
            }
            gpuhist merge b.state a.state --save both.state | cmp expected -
            gpuhist merge both.state | cmp expected -
        done
        sort -k 2,2nr -k 1,1n -s expected | head -n 11500 >top
        gpuhist uniq -f 1 --weight 2 --top 11500 in | cmp top -
        { cat a; sleep 0.2; cat b; } | gpuhist uniq -f 1 --weight 2 --every 30ms >so_far
        tail -n "$(wc -l <expected)" so_far | cmp expected -
    done
}

@test "--weight: many bins, several of which share a counter of a thread" {
    awk 'BEGIN { srand(4); for (i = 0; i < 50000; i++)
        print int(rand() * 500) + 524288 * int(rand() * rand() * 9), int(rand() * 1e6) }' >in
    sums_of in | awk '$2 > 0' >expected # an empty bin, and one whose weights add up to 0, are the same
    gpuhist --bins 5M -f 1 --weight 2 --threads 5 --chunk-size 20000 in | cmp expected -
    gpuhist --width 1 --range 0:20M -f 1 --weight 2 in | cmp expected -
}

@test "--weight: states, and those that are merged" {
    local options
    make_pairs
    head -n 1234 pairs >a
    tail -n +1235 pairs >b
    for options in uniq histogram "--bins 600 --outside ignore" --log2 "--width 9"; do
        # shellcheck disable=SC2086
        {
            gpuhist $options -f 1 --weight 3 pairs >expected
            gpuhist $options -f 1 --weight 3 a --save a.state >/dev/null
            gpuhist $options -f 1 --weight 3 b --save b.state >/dev/null
            gpuhist merge a.state b.state --save both.state | cmp expected -
            gpuhist merge both.state | cmp expected -
            gpuhist $options -f 1 b --save counts.state >/dev/null
            run --separate-stderr gpuhist merge a.state counts.state
            assert_failed 1 "counts.state: no --weight"
            run --separate-stderr gpuhist merge counts.state a.state
            assert_failed 1 "a.state: has --weight=1, unlike counts.state"
        }
    done
    printf '1 9223372036854775807\n' >large
    gpuhist uniq -f 1 --weight 2 large --save large.state >/dev/null
    run --separate-stderr gpuhist merge large.state large.state large.state
    assert_failed 1 "more than 2^64 - 1 elements"
}

@test "--weight: results so far" {
    make_pairs
    gpuhist uniq -f 1 --weight 3 pairs >expected
    { head -n 100 pairs; sleep 0.3; tail -n +101 pairs; } |
        gpuhist uniq -f 1 --weight 3 --every 50ms --format json >so_far
    gpuhist uniq -f 1 --weight 3 --format json pairs >expected
    tail -n "$(wc -l <expected)" so_far | sed 's/^{"reported":"[^"]*",/{/' | cmp expected -
    [ "$(wc -l <so_far)" -gt "$(wc -l <expected)" ]
}

@test "--weight TYPE@OFFSET: weights in binary records" {
    local type
    numpy 'rng = np.random.default_rng(8)
for name, kind in ("u8", "u1"), ("i16be", ">i2"), ("u32", "<u4"), ("i32", "<i4"), ("u64be", ">u8"):
    rows = rng.integers(0, 256, 13 * 9001, np.uint8).view(np.dtype(
        {"names": ["w", "v"], "formats": [kind, "<i2"], "offsets": [1, 9], "itemsize": 13}))
    rows["w"] = rng.integers(0, 127, 9001)
    rows["v"] %= 300
    rows.tofile(name + ".records")
    sums = np.bincount(rows["v"], rows["w"]).astype(int)
    with open(name + ".sums", "w") as out:
        out.writelines(f"{value}\t{total}\n" for value, total in enumerate(sums) if total)'
    for type in u8 i16be u32 i32 u64be; do
        options="-t i16 --record 13 --offset 9 --weight $type@1"
        # shellcheck disable=SC2086
        {
            gpuhist uniq $options $type.records | cmp $type.sums -
            gpuhist --bins 300 $options --threads 5 --chunk-size 100 < <(cat $type.records) |
                cmp $type.sums -
        }
    done
    [ "$(gpuhist uniq -t u8 --record 1 --weight u8@0 < <(printf '\2\3\2'))" = $'2\t4\n3\t3' ]
}

@test "--weight TYPE@OFFSET: weights that are none, and values outside the bins" {
    printf '\5\1\6\377\7\1' >in
    run --separate-stderr gpuhist uniq -t u8 --record 2 --weight i8@1 in
    assert_failed 1 "weight -1 at byte 3 of the input is not from 0 to 2^63 - 1"
    [ "$(gpuhist uniq -t u8 --record 2 --weight u8@1 in)" = $'5\t1\n6\t255\n7\t1' ]
    run --separate-stderr gpuhist uniq -t u8 --record 9 --weight u64@1 < <(printf '\5\0\0\0\0\0\0\0\200')
    assert_failed 1 "weight 9223372036854775808 at byte 1 of the input is not from 0 to 2^63 - 1"
    run --separate-stderr gpuhist --bins 5 -t u8 --record 2 --weight i8@1 --outside abort in
    assert_failed 1 "value 5 at byte 0 of the input is out of range"
    run --separate-stderr gpuhist --bins 6 -t u8 --record 2 --weight i8@1 --outside abort in
    assert_failed 1 "weight -1 at byte 3"
    printf '\1\1\6\0\7\1' >in
    run --separate-stderr gpuhist --bins 6 -t u8 --record 2 --weight i8@1 --outside abort in
    assert_failed 1 "value 7 at byte 4 of the input is out of range"
    [ "$(gpuhist -t u8 --record 2 --weight i8@1 in)" = $'1\t1\n7\t1' ]
}

@test "--weight: options that do not go together" {
    local operation
    for operation in "reduce sum" "count --all" stalin-sort merge; do
        # shellcheck disable=SC2086
        run --separate-stderr gpuhist $operation -f 1 --weight 2 in
        assert_failed 2 "cannot be used with ${operation%% *}"
    done
    run --separate-stderr gpuhist --weight 2 in
    assert_failed 2 "--weight requires -f, the column of values (for uniq -c output, try -f 2)"
    run --separate-stderr gpuhist --weight u32@4 in
    assert_failed 2 "--weight TYPE@OFFSET requires --record"
    run --separate-stderr gpuhist --record 8 --weight 4 in
    assert_failed 2 "with --record, --weight requires TYPE@OFFSET"
    run --separate-stderr gpuhist --record 8 --weight u32@5 in
    assert_failed 2 "--weight: u32 at byte 5 does not fit in a --record of 8 bytes"
    for bad in '' 99999999999; do
        run --separate-stderr gpuhist -f 1 --weight "$bad" in
        assert_failed 2 "invalid --weight '$bad': expected a field's number or name"
    done
}
