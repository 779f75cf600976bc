#!/usr/bin/env bats
# Rows of CSV against Python's csv module, wherever the input is divided; rows that end with NUL or CR, and comments:
# csv_rows.py.

load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

# rows KIND [SEED [COUNT]]: runs a test of csv_rows.py.
rows() {
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
    timeout 3000 "$PYTHON" "$srcdir/tests/csv_rows.py" "$GPUHIST" "$@"
}

@test "rows with quoted newlines, by every operation, divided anywhere" {
    rows good 1 60
}

@test "rows with quotes everywhere, and the lines of invalid tokens" {
    rows bad 1 60
}

@test "a quote that is never closed is an error with its line" {
    rows open 1 40
}

# bats test_tags=gpu
@test "gpu: rows with quotes, in some chunks or everywhere" {
    skip_without_gpu
    export ENGINE=cuda
    rows good 1 20
    rows bad 1 20
    rows open 1 5
}

@test "words between comments" {
    rows words 1 40
}

@test "-z: rows end with NUL, and newlines are blanks in them, which texts keep" {
    printf '1 a\n2\0003 b\n4\0' >nuls
    [ "$(gpuhist reduce sum -z -f 3 nuls)" = 6 ]
    [ "$(gpuhist reduce sum --zero-terminated -f -1 < <(cat nuls))" = 6 ]
    printf 'id,ms\0001,10\0002,x\0' >table
    [ "$(gpuhist reduce sum -z --csv -f id table)" = 3 ]
    run --separate-stderr gpuhist reduce sum -z -d , -f ms table
    assert_failed 1 "table:3: invalid integer 'x'"
    printf 'a b\0a\nb\0a\nb\0,"\v""\n",x\0' >names
    gpuhist uniq -z -f 0:text names | sort |
        cmp - <(printf ',"\v""\\n",x\t1\na b\t1\na\\nb\t2\n' | sort)
    gpuhist uniq -z --csv -f 2:text --invalid ignore -q names | cmp - <(printf '\v"\\n\t1\n')
    [ "$(gpuhist uniq -z -f 1:text names | head -n 2)" = $',"\v""\t1\na\t3' ]
    [ "$(gpuhist uniq -z -f 0:text --where $'0:text=a\nb' names)" = $'a\\nb\t2' ]
    printf '{"a":"x",\n"b": 5}\0{"b":\n6,"a":"x"}\0' >objects
    [ "$(gpuhist reduce sum --jsonl -z -f b --by a:text objects)" = $'x\t11' ]
    local seed
    for seed in 1 2 3; do
        "$PYTHON" -c '
import random, sys
rng = random.Random(int(sys.argv[1]))
for _ in range(30000):
    sys.stdout.write("".join(rng.choices("ab \"\\\t\n\v\f", k=rng.randrange(6))) + "\0")
' "$seed" >names
        gpuhist uniq -z -f 0:text --format json names >counts
        "$PYTHON" -c '
import collections, json, sys
names = collections.Counter(name for name in sys.stdin.read().split("\0") if name.strip(" \t"))
assert {row["value"]: row["count"] for row in json.load(open("counts"))["bins"]} == names
' <names
    done
    run --separate-stderr gpuhist reduce sum -z --binary table
    assert_failed 2 " requires text input, but --"
}

@test "--comment: lines that begin with C, also before a header; #Fields and #fields name columns" {
    local engine
    printf '# made by 7\n1\n#2 3\n 4 # 5\n' >words
    run --separate-stderr gpuhist reduce sum --comment '#' words
    assert_failed 1 "words:4: invalid integer '#'"
    # shellcheck disable=SC2153  # setup_suite.bash sets it
    for engine in $ENGINES; do
        [ "$(gpuhist reduce sum --comment '#' --engine "$engine" --invalid ignore -q words)" = 10 ]
        [ "$(gpuhist reduce sum --comment '#' -f 1 --engine "$engine" words)" = 5 ]
    done
    printf '#Software: x\n#Version: 1.0\n#Fields: date ms\nd 5\n#Fields: date ms\nd 6\n' >w3c
    [ "$(gpuhist reduce sum --comment '#' -f ms w3c)" = 11 ]
    [ "$(gpuhist reduce sum --comment '#' -f 2 w3c)" = 11 ]
    [ "$(gpuhist reduce sum --comment '#' -f 2 --header w3c)" = 11 ]
    # a later line that names other columns: an error at that line
    local other message="names other columns than the header (divide the file before it)"
    seq -f '2026-11-21 %.0f' 0 59999 >rows
    for other in 'ms date' 'date user ms' $'date\tms' date 'ms ms'; do
        { cat w3c rows; printf '#Fields: %s\n7 8\n' "$other"; } >changed
        run --separate-stderr gpuhist reduce sum --comment '#' -f ms changed
        assert_failed 1 "changed:60007: the line $message"
        [ "$(gpuhist reduce sum --comment '#' -f 2 changed)" = 1799970019 ]
    done
    run --separate-stderr gpuhist reduce sum --comment '#' -f ms <changed
    assert_failed 1 "standard input:60007: the line $message"
    run --separate-stderr gpuhist reduce sum --comment '#' -f ms < <(cat changed)
    assert_failed 1 "standard input:60007: the line $message"
    if reads_gzip; then
        head -n 30000 changed | gzip >changed.gz
        tail -n +30001 changed | gzip >>changed.gz
        run --separate-stderr gpuhist reduce sum --comment '#' -f ms changed.gz
        assert_failed 1 "changed.gz:60007: the line $message"
    fi
    { cat w3c; printf 'd x\n#Fields: ms date\n'; } >changed # the first error is reported
    run --separate-stderr gpuhist reduce sum --comment '#' -f ms changed
    assert_failed 1 "changed:7: invalid integer 'x'"
    printf '#Fields: date ms\nd 5\n#Fields: date ms user\nd 6 u\n' >changed
    run --separate-stderr gpuhist reduce sum -d ' ' --comment '#' -f ms --invalid ignore -q changed
    [ "$status" -eq 0 ] && [ "$output" = 11 ]
    printf '#separator x\n#fields\tts\tport\n#types\ttime\tport\n1\t443\n2\t80\n#close\n' >zeek
    [ "$(gpuhist reduce sum --comment '#' -f port zeek)" = 523 ]
    printf '%% a "comment, \nid,ms\n%% "another\n1,"a\n%%b"\n2,3\n' >table
    [ "$(gpuhist reduce sum --comment % --csv -f id table)" = 3 ]
    run --separate-stderr gpuhist reduce sum --comment % --csv -f ms table
    assert_failed 1 "table:4: invalid integer 'a?%b'"
    run --separate-stderr gpuhist reduce sum --comment '##' table
    assert_failed 2 "invalid --comment '##': expected one byte that is no digit"
}

@test "a row of CSV that is longer than a chunk, and one that never ends" {
    "${PYTHON:-python3}" -c 'print("1,\"" + "a\n" * 9000000 + "\",2\n3,x,4")' >long
    [ "$(gpuhist reduce sum --csv -f 3 long)" = 6 ]
    [ "$(gpuhist reduce sum --csv -f 3 < <(cat long))" = 6 ]
}

@test "field 0 of CSV is the whole line as it is, with its quotes" {
    printf '"a",b,"c"\n"a"\n' >in
    run -0 gpuhist uniq --csv --header=0 -f 0:text in
    [ "$output" = $'"a"\t1\n"a",b,"c"\t1' ]
    run -0 gpuhist uniq --csv --header=0 -f 1:text --by 0:text --where '0:text*=a",b' in
    [ "$output" = $'"a",b,"c"\ta\t1' ]
    printf '"2026-11-21",5\n' >dated
    run -1 gpuhist uniq --csv -f 0:time dated
    [[ $output == *"invalid timestamp '\"2026-11-21\",5'"* ]]
    printf '""\n' >empty
    run -1 gpuhist uniq --csv -f 0:int empty
    [[ $output == *"invalid integer '\"\"'" ]]
}

@test "wrong quotes are named in a row of any kind, and so is a text that is too long" {
    printf 'x,"a"b,1\n' >after
    printf 'x, "a",1\n' >blanks
    for column in 2:text 1:text 0:text 3:text 2:time 3:ip 2 0; do
        run -1 --separate-stderr gpuhist uniq --csv -f $column after
        [[ $stderr == *": invalid "*" '\"a\"b,1' (spaces or text around its quotes)" ]]
        run -1 --separate-stderr gpuhist uniq --csv -f $column blanks
        [[ $stderr == *": invalid "*" '\"a\",1' (spaces or text around its quotes)" ]]
    done
    # the column is the one that has them
    printf 'h,s,ms\na,200,5\nb,"20"0,6\nc,200,"7"x\n"d"d,200,8\n' >in
    run -0 --separate-stderr gpuhist uniq --csv -f ms --by s --where h:text!=x --invalid warn in
    [ "$output" = $'200\t5\t1' ]
    [ "$stderr" = "gpuhist: in:3: invalid group '\"20\"0,6' (spaces or text around its quotes)
gpuhist: in:4: invalid integer '\"7\"x' (spaces or text around its quotes)
gpuhist: in:5: invalid string '\"d\"d,200,8' of --where (spaces or text around its quotes)" ]
    # the reported line is that of the invalid opening quote, whatever lines it includes
    printf 'h,s\n1,a\n2,"x y\n3,b\n4,"c",5\n6,d\n' >stray
    run -1 --separate-stderr gpuhist reduce sum --csv -f 1 --header stray
    [[ $stderr == "gpuhist: stray:3: invalid integer '\"x y?3,b?4,\"c\",5' (spaces or text around its quotes)" ]]
    printf 'h,s\n1,a\n2,"x y\n3,b\n' >stray
    run -1 --separate-stderr gpuhist reduce sum --csv -f 1 --header stray
    [ "$stderr" = "gpuhist: stray:3: a quote is never closed" ]
    { printf '"'; head -c 65537 /dev/zero | tr '\0' a; printf '",1\n'; } >long
    run -1 --separate-stderr gpuhist uniq --csv -f 1:text long
    [[ $stderr == *": text of more than 65536 bytes" ]]
    run -1 --separate-stderr gpuhist uniq --csv -f 0:text long
    [[ $stderr == *": text of more than 65536 bytes" ]]
}

@test "texts with a newline of any kind, a comma or a quote are quoted, and are read again" {
    printf '"a\rb",1\n"\r",2\n"c\r\nd",3\n"e\nf",4\n"g,h",5\n"i""j",6\nk l,7\n' >in
    gpuhist uniq --csv -f 1:text --by 2 --format csv in >out
    printf '%s,%s,1\n' 1 $'"a\rb"' 2 $'"\r"' 3 $'"c\r\nd"' 4 $'"e\nf"' 5 '"g,h"' 6 '"i""j"' 7 'k l' |
        cat <(echo by,value,count) - | cmp - out
    gpuhist uniq --csv -f value:text --by by --format csv out | cmp - out
}

@test "rows are those of Python's csv, whatever newlines are quoted, also with --invalid ignore" {
    numpy 'import csv, random
random.seed(11)
words = ["a", "x\ny", "1\n2\n3", "7", "\n", "5\r\n6", "say \"9\"\n8", ",\n,4", ""]
with open("in.csv", "w", newline="") as out:
    writer = csv.writer(out)
    writer.writerow(["id", "note", "ms"])
    for i in range(4000):
        ms = random.choice(["x", "-", "1\n2"]) if random.random() < 0.2 else random.randrange(90)
        writer.writerow([i, "".join(random.choice(words) for _ in range(random.randrange(4))), ms])
rows = list(csv.DictReader(open("in.csv", newline="")))
good = [int(row["ms"]) for row in rows if row["ms"].isdigit()]
print(len(rows), len(good), sum(good), len(rows) - len(good))' >expected
    read -r rows good sum bad <expected
    for options in "--threads 1" "--threads 3 --chunk-size 4096" "--threads 16 --chunk-size 5000"; do
        # shellcheck disable=SC2086
        {
            [ "$(gpuhist count --all --csv -f id --invalid ignore $options in.csv)" = "$rows" ]
            [ "$(gpuhist count --all --csv -f id --invalid ignore $options < <(cat in.csv))" = "$rows" ]
            run -0 --separate-stderr gpuhist reduce count,sum --csv -f ms --invalid ignore $options in.csv
        }
        [ "$output" = $'count\t'"$good"$'\nsum\t'"$sum" ]
        [[ $stderr == "gpuhist: note: skipped $bad invalid values"* ]]
    done
}

# bats test_tags=slow
@test "all of these, for minutes" {
    skip_long
    seed=${GPUHIST_TEST_SEED:-$RANDOM$RANDOM}
    echo "GPUHIST_TEST_SEED=$seed"
    for kind in good bad open words; do
        rows $kind "$seed" 2000
    done
}
