#!/usr/bin/env bats
# Fields, headers and ends of lines in text. Oracles are awk, cut and datamash.

# shellcheck disable=SC2031  # each test has variables of its own
load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

# A log of words between runs of blanks, numbers in the 3rd and last; the same between commas.
make_log() {
    awk 'BEGIN { srand(5); for (i = 0; i < 20000; i++) {
        blanks = substr("    ", 1, 1 + int(4 * rand()))
        line = (i % 7 ? "" : "\t ") "GET" blanks "/index" int(9 * rand()) "\t" int(600 * rand())
        for (j = int(5 * rand()); j > 0; j--) line = line " w" j
        print line blanks int(100000 * rand()) - 50000 (i % 5 ? "" : " ") } }' >log
}

# assert_named SUM ARG...: asserts the sum of a named column of "in", from a file and a pipe, on every engine.
assert_named() {
    local engine
    for engine in $ENGINES; do
        [[ $engine == cpu || " $* " != *" --csv "* ]] || continue # only on the CPU
        run -0 --separate-stderr gpuhist reduce sum --engine "$engine" "${@:2}" in
        [ "$output" = "$1" ] || { echo "$output for $1: ${*:2}"; return 1; }
        run -0 --separate-stderr gpuhist reduce sum --engine "$engine" "${@:2}" < <(cat in)
        [ "$output" = "$1" ] || { echo "$output for $1 in a pipe: ${*:2}"; return 1; }
    done
}

@test "-f N, from the front and the back, as awk counts" {
    local engine
    make_log
    awk '{ n += $3 } END { print n }' log >third
    awk '{ n += $NF } END { print n }' log >last
    for engine in $ENGINES; do
        gpuhist reduce sum -f 3 --engine "$engine" log | cmp third -
        gpuhist reduce sum -f 3 --engine "$engine" --chunk-size 4096 <log | cmp third -
        gpuhist reduce sum --field=-1 --engine "$engine" < <(cat log) | cmp last -
        gpuhist reduce sum -f -1 --engine "$engine" --chunk-size 5000 --threads 4 log | cmp last -
        awk '{ print $3 }' log | sort -n | uniq -c | awk '{ print $2 "\t" $1 }' |
            cmp - <(gpuhist -f 3 --bins 600 --engine "$engine" log)
        [ "$(gpuhist count --lt 0 -f -1 --engine "$engine" log)" = "$(awk '$NF < 0' log | wc -l)" ]
    done
}

@test "-d C, as cut and datamash read it" {
    local engine delimiter field
    for delimiter in ',' ';' '|' ' ' x $'\t'; do
        awk -v d="$delimiter" 'BEGIN { srand(9); for (i = 0; i < 3000; i++) {
            line = i; for (j = 0; j < 5; j++) line = line d int(2000 * rand()) - 1000; print line } }' >table
        for field in 1 2 6; do
            cut -d "$delimiter" -f $field table | awk '{ n += $1 } END { print n }' >expected
            for engine in $ENGINES; do
                gpuhist reduce sum -d "$delimiter" -f $field --engine "$engine" table | cmp expected -
                gpuhist reduce sum -d "$delimiter" -f $((field - 7)) --engine "$engine" \
                    --chunk-size 4096 < <(cat table) | cmp expected -
            done
            if [ "$delimiter" != x ] && command -v datamash >/dev/null; then # x: it reads 0x1F
                datamash -t "$delimiter" sum $field <table | cmp expected -
            fi
        done
        tr "$delimiter" '\n' <table | awk '{ n += $1 } END { print NR "\n" n }' >expected
        gpuhist reduce count,sum -d "$delimiter" table | cut -f 2 | cmp expected -
    done
    run -0 gpuhist reduce sum -d '\t' -f 2 < <(printf '1\t2\n3\t4\n')
    [ "$output" = 6 ]
}

@test "blanks around a part are ignored; empty and missing parts are invalid" {
    printf ' 1 ,\t2\t, 3\n' | assert_sum "3 6" -d ,
    printf '1,2\n3, 4 \n' | assert_sum "2 6" -d , -f 2
    printf '1,2\n3,,4\n' | assert_report 2 "invalid integer '' (try --invalid ignore)" -d ,
    printf '1,2\n3,\n' | assert_report 2 "invalid integer '' (try --invalid ignore)" -d ,
    printf '1,2\n,3\n' | assert_report 2 "invalid integer '' (try --invalid ignore)" -d ,
    printf '1,2\n3,\n' | assert_report 2 "invalid integer '' (try --missing skip)" -d , -f 2
    printf '1,2\n3\n' | assert_report 2 "missing field 2: the line has 1" -d , -f 2
    printf '1 2\n\n3\n' | assert_report 3 "missing field 2: the line has 1" -f 2
    printf '1 2\n3\n' | assert_report 2 "missing field -2: the line has 1" -f -2
    printf '1,2,\r\n3\n' | assert_report 1 "missing field 9: the line has 3" -d , -f 9
    printf '\t1  2 \t3 \r\n3\n' | assert_report 1 "missing field 9: the line has 3" -f 9
    printf '1,"2,""x"",y",3\n' | assert_report 1 "missing field -4: the line has 3" --csv -f -4
    printf '1,2\n3,4 5\n' | assert_invalid 2 '4 5' -d , -f 2
}

@test "--header skips lines of each file, also behind compression and in pipes" {
    printf 'id,bytes\n1,10\n2,20\n' >a
    printf 'id,bytes\n3,30' >b
    if reads_gzip; then gzip -c a >c; else cp a c; fi
    for engine in $ENGINES; do
        run -0 gpuhist reduce sum -d , -f 2 --header --engine "$engine" a b
        [ "$output" = 60 ]
        run -0 gpuhist reduce sum -d , -f 2 --header --engine "$engine" < <(cat a)
        [ "$output" = 30 ]
        run -0 gpuhist reduce sum -d , -f 2 --header=2 --engine "$engine" a b
        [ "$output" = 20 ]
        run -0 gpuhist reduce sum -d , -f 2 --header --engine "$engine" c b - <a
        [ "$output" = 90 ]
    done
    run --separate-stderr gpuhist reduce sum -d , a
    assert_failed 1 "a:1: invalid integer 'id' (try --header, or -f NAME)"
    seq 3 >values # --header would skip one of them
    run --separate-stderr gpuhist reduce sum values - < <(echo id; seq 3)
    assert_failed 1 "standard input:1: invalid integer 'id'"
    run --separate-stderr gpuhist reduce sum -f 1 values - < <(echo id; seq 3)
    assert_failed 1 "standard input:1: invalid integer 'id'"
    : >values
    run --separate-stderr gpuhist reduce sum values - < <(echo id; seq 3)
    assert_failed 1 "standard input:1: invalid integer 'id' (try --header)"
    { printf '%70000s\n' title; seq 100000; } >long
    run -0 gpuhist reduce sum --header --chunk-size 4096 long
    [ "$output" = 5000050000 ]
    { cat long; echo x; } >bad
    run --separate-stderr gpuhist reduce sum --header bad
    assert_failed 1 "bad:100002: invalid integer 'x'"
    run -0 gpuhist reduce count --header=200000 long
    [ "$output" = 0 ]
}

# make_tables: makes files with "ms" at different positions; one is claimed in ranges, one is read on.
make_tables() {
    awk 'BEGIN { print "id,ms x,ms"; for (i = 0; i < 20000; i++) print i ",7," i % 900 }' >a
    printf '\357\273\277 ms ,id\r\n1000000,3\r\n2000000,' >b
    printf 'q,id,ms' >c
    awk 'BEGIN { print "x,y,z,ms"; for (i = 0; i < 9000; i++) print "1,2,3," i }' >d
}

@test "-f NAME: the column that the header of each file names, plain, compressed, in pipes" {
    local files file sum threads
    make_tables
    sum=$((3000000 + $(awk -F , 'NR > 1 { n += $3 } END { print n }' a) + 8999 * 4500))
    files=(a b c d)
    for engine in $ENGINES; do
        for threads in 1 5; do
            run -0 gpuhist reduce sum -d , -f ms --engine "$engine" --threads $threads --chunk-size 4096 "${files[@]}"
            [ "$output" = "$sum" ]
            run -0 gpuhist reduce sum -d , -f ms --engine "$engine" --threads $threads a b - d < <(cat c)
            [ "$output" = "$sum" ]
        done
    done
    if reads_gzip; then gzip -c a >a.gz && files=(a.gz b c d); fi
    if reads zstd zstd; then # frames that end anywhere, so that parts of the file have no header
        split -b 3000 d part. && for file in part.*; do zstd -qc "$file" >>d.zst; done
        for file in a b; do zstd -q $file; done
        files=("${files[0]}" b.zst c d.zst)
        run -0 gpuhist reduce sum -d , -f ms - b.zst c d.zst <a.zst
        [ "$output" = "$sum" ]
    fi
    for threads in 1 5; do
        run -0 gpuhist reduce sum -d , -f ms --threads $threads "${files[@]}"
        [ "$output" = "$sum" ]
        run -0 gpuhist stalin-sort -d , -f ms --threads $threads "${files[@]}"
        [ "${lines[-1]}" = 2000000 ]
    done
}

@test "-f NAME: names between blanks and other delimiters; the last of the header lines has them" {
    printf 'host  ms -1 ms\nx 10 3 a\ny\t20 4 b\n' >in
    for engine in $ENGINES; do
        run -0 --separate-stderr gpuhist reduce sum -f -1 --header --invalid ignore --engine "$engine" in
        [ "$output" = 0 ]
        run --separate-stderr gpuhist reduce sum -f ms --engine "$engine" in
        assert_failed 1 "in: duplicate column 'ms' in the header"
        run -0 gpuhist reduce sum -f +x --engine "$engine" < <(printf '1 +x\n1 5\n')
        [ "$output" = 5 ]
        run -0 gpuhist reduce sum -d '\t' -f 'a b' --engine "$engine" < <(printf 'id\ta b\n1\t5\n')
        [ "$output" = 5 ]
        run -0 gpuhist reduce sum -f ms --header=3 --engine "$engine" < <(printf '# ms\n\nid ms\n1 5\n')
        [ "$output" = 5 ]
    done
}

@test "the field that is suggested for a misspelt one is the one that Python finds" {
    command -v python3 >/dev/null || skip "no python3"
    "${PYTHON:-python3}" "$srcdir/tests/names.py" "$GPUHIST" $((400 / ${GPUHIST_TEST_SHARE:-1})) $RANDOM
}

@test "empty files among others are skipped, also where a header is wanted" {
    printf 'id,ms\n1,20\n2,30\n' >a
    printf 'ms,id\n40,3\n' >b
    : >none
    local none=none columns
    if reads_gzip; then gzip -c none >none.gz && none="none none.gz"; fi
    for columns in '-f ms' '-f ms --header' '-f ms --where id>0' '-f -1 --by id --header=1'; do
        # shellcheck disable=SC2086
        expected=$(gpuhist uniq --csv $columns a b)
        [ -n "$expected" ]
        for files in "none a b" "a none b" "a b none" "$none a $none b $none" "a - b"; do
            # shellcheck disable=SC2086
            run -0 --separate-stderr gpuhist uniq --csv $columns $files </dev/null
            [ "$output" = "$expected" ] && [ -z "$stderr" ]
        done
    done
    [ "$(gpuhist reduce sum --csv -f ms a none b)" = $((20 + 30 + 40)) ]
    run -0 --separate-stderr gpuhist reduce count,sum --csv -f ms none
    [ "$output" = $'count\t0\nsum\t0' ] && [ -z "$stderr" ]
    # A file with an empty line is not empty, nor is one whose second line would have the names.
    echo >line
    run -1 --separate-stderr gpuhist reduce sum --csv -f ms a line b
    [ "$stderr" = "gpuhist: line: unknown column 'ms': the header is empty" ]
    run -1 --separate-stderr gpuhist reduce sum --csv -f ms --header=2 line
    [ "$stderr" = "gpuhist: line: unknown column 'ms': the header is empty" ]
}

@test "-f NAME: what the header is instead, and the option that would separate it" {
    # missing FILE MESSAGE ARG...
    missing() {
        run --separate-stderr gpuhist reduce sum -f ms "${@:3}" "$1"
        assert_failed 1 ''
        [ "$stderr" = "gpuhist: $1: unknown column 'ms'$2" ]
    }
    printf 'time,ms\r\n1,2\r\n' >comma
    missing comma ": the header is 'time,ms' (try --csv)"
    missing comma ": the header is 'time,ms' (try --csv)" -d ';'
    printf 'time;ms\n1;2\n' >semicolon
    missing semicolon ": the header is 'time;ms' (try -d ';')"
    missing semicolon ": the header is 'time;ms' (try --csv -d ';')" --csv
    printf 'time|a\033b\n' >bar
    missing bar ": the header is 'time|a?b' (try -d '|')" -d ,
    printf 'time,MS\n1,2\n' >case
    missing case ": the header is 'time,MS' (did you mean 'MS'?)" --csv
    printf 'id,latency_ms,"the status",2017\n1,2,3,4\n' >near
    for case in latncy_ms:latency_ms latencyms:latency_ms Latency_ms:latency_ms 'the staus:the status' 2071:2017; do
        run --separate-stderr gpuhist reduce sum --csv --names -f "${case%:*}" near
        assert_failed 1 "near: unknown column '${case%:*}': the header is 'id,latency_ms,\"the status\",2017' (did you mean '${case#*:}'?)"
        run --separate-stderr gpuhist reduce count --csv --names --where "${case%:*}=1" near
        assert_failed 1 "(did you mean '${case#*:}'?)"
    done
    run --separate-stderr gpuhist reduce sum --csv -f bytes near
    [ "$stderr" = "gpuhist: near: unknown column 'bytes': the header is 'id,latency_ms,\"the status\",2017'" ]
    [ "$(gpuhist reduce sum --csv --names -f 2017 near)" = 4 ]
    printf 'id\tms\n1\t2\n' >tabbed
    missing tabbed ": the header is 'id?ms' (try --csv -d '\t')" --csv
    printf 'time MS\n' >blank
    missing blank ": the header is 'time MS' (did you mean 'MS'?)"
    printf '%0100d\n' 0 >long
    missing long ": the header is '$(printf '%080d' 0)...' (try the field's number, if there is no header)"
    printf '10.0.0.7 - [21/Nov/2026] "GET /ms, 5" 200, "x"\n' >log
    missing log ": the header is '$(cat log)' (try the field's number, if there is no header)"
    missing log ": the header is '$(cat log)' (try the field's number, if there is no header)" -d ' '
    printf '\n1\n' >empty
    missing empty ": the header is empty"
    run --separate-stderr gpuhist reduce sum -f 2-3 blank
    assert_failed 1 "blank: unknown column '2-3': the header is 'time MS' (try one field, by its number or name)"
    run --separate-stderr gpuhist reduce sum -f '"1,ms"' blank
    assert_failed 1 "blank: unknown column '1,ms': the header is 'time MS'"
}

@test "-f NAME: a name that a header lacks or has twice, however the file comes" {
    local file
    make_tables
    printf 'ms,id, ms\n1,2,3\n' >twice
    printf 'id,MS,ms2\n1,2,3\n' >lacks
    echo >empty
    head -c 2000000 /dev/zero >zeros
    if reads zstd zstd; then zstd -qc lacks >packed; else cp lacks packed; fi
    for file in lacks packed empty; do
        run --separate-stderr gpuhist reduce sum -d , -f ms a $file d
        assert_failed 1 "$file: unknown column 'ms'"
        run --separate-stderr gpuhist reduce sum -d , -f ms < <(cat $file)
        assert_failed 1 "standard input: unknown column 'ms'"
    done
    run --separate-stderr gpuhist reduce sum -d , -f id2 a d
    assert_failed 1 "a: unknown column 'id2'"
    printf 'id\0next,ms\r\r\n1,2\n' >next
    run --separate-stderr gpuhist reduce sum -d , -f ms next
    assert_failed 1 "next: unknown column 'ms'"
    run --separate-stderr gpuhist reduce sum -d , -f id next # not the two arguments with a NUL between
    assert_failed 1 "next: unknown column 'id'"
    run --separate-stderr gpuhist reduce sum -d , -f ms --header=2 c
    assert_failed 1 "c: unknown column 'ms'"
    run --separate-stderr gpuhist reduce sum -d , -f ms a twice
    assert_failed 1 "twice: duplicate column 'ms' in the header"
    run --separate-stderr gpuhist reduce sum -d , -f ms zeros
    assert_failed 1 "zeros: its header line is longer than 1 MiB"
    sed 's/^2000000,$/2000000\n/; $ s/$/x/' b >bad
    run --separate-stderr gpuhist reduce sum -d , -f id a bad
    assert_failed 1 "bad:3: missing field 2 'id': the line has 1"
}

@test "--csv: quoted fields, as RFC 4180 has them" {
    printf '"1","a,b",3\r\n2,"say ""5,6""","4"\n' >table
    assert_sum "2 3" --csv -f 1 <table
    assert_sum "2 7" --csv -f 3 <table
    assert_sum "2 7" --csv -f -1 <table
    assert_invalid 1 'a,b' --csv -f 2 <table
    sed 1d table | assert_invalid 1 'say ""5,6""' --csv -f -2
    printf '" 5 ", 6 ,"-7"\n\n \n"+8"' | assert_sum "4 12" --csv
    printf '1,""\n' | assert_report 1 "invalid integer '' (try --invalid ignore)" --csv
    printf '1;"2,";"4"\n' | assert_sum "1 4" --csv -d ';' -f 3
    printf '"GET / 1" 200 "" 5\n' | assert_sum "1 5" -d ' ' --csv -f 4
    printf '"1,23,4"\n' | assert_invalid 1 '1,23,4' --csv
    printf '"5\n' | assert_report 1 "invalid integer '\"5' (try --csv)" -d ,
}

@test "--csv: a quote that never closes is an error, one that is out of place an invalid token" {
    printf '1,2\n5,"ab\n7,c"\n' >in
    run -0 --separate-stderr gpuhist reduce count,sum --csv -f 1 in
    [ "$output" = $'count\t2\nsum\t6' ] && [ -z "$stderr" ]
    local how
    for how in abort fail warn ignore; do # it is never only an invalid token
        printf '1,2\n5,"ab\n7,c\n' | assert_report 2 "a quote is never closed" --csv -f 1 --invalid $how
        printf '"x\n",2\n"ab\n' | assert_report 3 "a quote is never closed" --csv -f 2 --invalid $how
    done
    printf 'a,"b\nc\n' >in2
    run --separate-stderr gpuhist reduce sum --csv -f a in2
    assert_failed 1 "in2: a quote in its header is never closed"
    printf '1,2,0\n3,4 "x" ,5\n' | assert_sum "2 5" --csv -f 3
    printf '1,"2"3,4\n' | assert_report 1 "invalid integer '\"2\"3,4' (spaces or text around its quotes)" --csv -f -1
    printf '1, "2",3\n' | assert_report 1 "invalid integer '\"2\",3' (spaces or text around its quotes)" --csv
    printf '"""\r\n' | assert_report 1 "a quote is never closed" --csv
    printf '1,2"' | assert_invalid 1 '2"' --csv
    run --separate-stderr gpuhist reduce sum --csv -d '"' in
    assert_failed 2 ""
    for clash in '-t i32le' --binary; do
        # shellcheck disable=SC2086
        run --separate-stderr gpuhist reduce sum --csv $clash in
        assert_failed 2 ""
    done
}

@test "--csv: columns by quoted names, lines cut at every byte by chunks, as Python's csv module reads them" {
    local shift threads=1
    [ -n "${PYTHON:-}" ] || skip "no python3"
    "$PYTHON" -c 'import csv, random
rng = random.Random(4)
with open("table", "w", newline="") as file:
    out = csv.writer(file)
    out.writerow(["id", "a \"quoted\", name", "ms"])
    for i in range(1200):
        text = "".join(rng.choice("ab,\"\" 1") for _ in range(rng.randint(0, 20)))
        out.writerow([i, text, rng.randint(-999, 999)])
    writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
    for i in range(1200):
        writer.writerow([i, rng.choice(["", "x,y", "\""]) * 5, rng.randint(-999, 999)])
rows = list(csv.DictReader(open("table", newline="")))
print(len(rows), sum(int(row["ms"]) for row in rows))' >expected
    for shift in {0..58..2}; do
        threads=$((6 - threads))
        { printf '%*s\n' "$shift" ''; cat table; } >in
        gpuhist reduce count,sum --csv --header=2 -f ms --threads $threads --chunk-size 4096 in | cut -f 2 |
            paste -sd ' ' | cmp expected -
    done
    gpuhist reduce count --csv -f '"a ""quoted"", name"' --invalid ignore table >/dev/null
    if reads zstd zstd; then
        zstd -qf table
        gpuhist reduce count,sum --csv -f ms --threads 5 table.zst | cut -f 2 | paste -sd ' ' | cmp expected -
        gpuhist reduce count,sum --csv -f ms < <(cat table.zst) | cut -f 2 | paste -sd ' ' | cmp expected -
    fi
    awk 'BEGIN { printf "1,\"%2000000s\",2\n", "x,\"\"y" }' >long # a line longer than any chunk
    run -0 gpuhist reduce sum --csv -f 3 long
    [ "$output" = 2 ]
}

@test "-f NAME: a header that begins with # names the columns behind it" {
    printf '# x y  z\n1 20 300\n2 30 400\n' >in
    assert_named 3 -f x
    assert_named 50 -f y
    assert_named 700 -f z
    assert_named 700 -d ' ' -f 3 --header
    printf '#x y z\r\n1 20 300\r\n2 30 400\r\n' >in
    assert_named 3 -f x
    assert_named 3 -f '#x'
    assert_named 700 -f z
    printf '\357\273\277#x,y,z\n1,20,300\n' >in
    assert_named 1 --csv -f x
    assert_named 300 -d , -f z
    printf '# x y z\n1 20 300\n' >in
    assert_named 1 -d ' ' -f x
    # the logs of W3C and Zeek
    printf '%s\n' '#Software: x 1.0' '#Date: 2026-01-02 00:00:00' '#Fields: date time sc-status time-taken' \
        '2026-01-02 00:00:01 404 31' '2026-01-02 00:00:02 200 47' >in
    assert_named 604 --header=3 -f sc-status
    assert_named 78 --header=3 -f time-taken
    [ "$(gpuhist uniq --header=3 -f sc-status --weight time-taken in)" = $'200\t47\n404\t31' ]
    printf '#fields\tts\tuid\tid.orig_p\torig_bytes\n1.5\tC 1\t80\t7\n2.5\tC2\t443\t9\n' >in
    assert_named 523 -f id.orig_p
    assert_named 16 -f orig_bytes
    [ "$(gpuhist reduce sum -f orig_bytes --by id.orig_p in 2>/dev/null)" = $'80\t7\n443\t9' ]
    # a column may be named #; before tabs this is ambiguous
    printf '#,name,ms\n1,a,5\n2,b,6\n' >in
    assert_named 11 --csv -f ms
    assert_named 3 --csv -f '#'
    printf '#\tname\tms\n1\ta\t5\n2\tb\t6\n' >in
    assert_named 11 -f ms
    printf '#\tx\ty\n5\t6\n' >in
    run --separate-stderr gpuhist reduce sum -f x in
    assert_failed 1 "in:2: wrong number of fields: the line has 2, the header 3 (try -f 2 --header)"
    printf '#Fieldsx y\n1 2\n' >in
    assert_named 1 -f Fieldsx
    for name in '#Fields' '#' Fields: ''; do
        run --separate-stderr gpuhist reduce sum -f "$name" in
        [ "$status" -ne 0 ]
    done
}

@test "-f NAME: a header with tabs is read by tabs, with a note, however the file comes" {
    local note="gpuhist: note: the header of in has tabs, so tabs separate its fields (-d '\\t')"
    printf 'user id\tms\tx\n7 8\t15\t1\n9\t\t2\n' >in
    assert_named 3 -f x
    [ "$stderr" = "${note/ in / standard input }" ]
    assert_named 3 -f x -q
    [ -z "$stderr" ]
    assert_named 9 -f 'user id' --invalid ignore -q
    assert_named 3 -f x -d '\t'
    [ -z "$stderr" ]
    run --separate-stderr gpuhist reduce sum -f ms in
    assert_failed 1 "in:3: invalid integer '' (try --missing skip)"
    run --separate-stderr gpuhist reduce sum -f id in
    assert_failed 1 "in: unknown column 'id': the header is 'user id?ms?x'"
    run --separate-stderr gpuhist reduce sum -f user_bytes in
    assert_failed 1 "in: unknown column 'user_bytes': the header is 'user id?ms?x'"
    # columns by number are separated as the named ones are
    [ "$(gpuhist uniq -f x --weight 3 in 2>/dev/null)" = $'1\t1\n2\t2' ]
    [ "$(gpuhist reduce sum -f 3 --by x in 2>/dev/null)" = $'1\t1\n2\t2' ]
    # trailing blanks of a header are not separators
    printf 'id ms\t \n1 20\n' >in
    assert_named 20 -f ms
    [ -z "$stderr" ]
    # large files, by several workers, compressed and not, each with its own header
    awk 'BEGIN { print "a b\tms\tw"; for (i = 0; i < 60000; i++) print "x y\t" i % 1000 "\t" i % 7 }' >tabbed
    awk 'BEGIN { print "w  ms"; for (i = 0; i < 60000; i++) print i % 5 " " i % 100 }' >blanks
    awk -F '\t' 'FNR > 1 { n += $2 } END { print n }' tabbed >tabbed.ms
    awk 'FNR > 1 { n += $2 } END { print n }' blanks >blanks.ms
    awk -F '\t' 'FNR > 1 { n[$3] += $2 } END { for (w in n) print w "\t" n[w] }' tabbed | sort -n >tabbed.by
    for engine in $ENGINES; do
        for how in "--threads 4 --chunk-size 4096" "--threads 3" "--threads 1 --chunk-size 1M"; do
            # shellcheck disable=SC2086
            gpuhist reduce sum -f ms --engine "$engine" $how tabbed 2>/dev/null | cmp tabbed.ms -
            # shellcheck disable=SC2086
            gpuhist reduce sum -f ms --engine "$engine" $how 2>/dev/null < <(cat tabbed) | cmp tabbed.ms -
            # shellcheck disable=SC2086
            gpuhist reduce sum -f ms --engine "$engine" $how blanks | cmp blanks.ms -
            for files in "tabbed blanks tabbed" "blanks tabbed tabbed"; do
                # shellcheck disable=SC2086
                gpuhist reduce sum -f ms --engine "$engine" $how $files 2>/dev/null |
                    cmp <(echo $((2 * $(cat tabbed.ms) + $(cat blanks.ms)))) -
            done
        done
    done
    gpuhist reduce sum -f ms --by w --threads 3 tabbed 2>/dev/null | cmp tabbed.by -
    if command -v zstd >/dev/null; then
        { head -c 300000 tabbed | zstd -q; tail -c +300001 tabbed | zstd -q; } >tabbed.zst
        zstd -qf blanks -o blanks.zst
        gpuhist reduce sum -f ms --threads 4 tabbed.zst blanks.zst tabbed.zst 2>/dev/null |
            cmp <(echo $((2 * $(cat tabbed.ms) + $(cat blanks.ms)))) -
        gpuhist reduce sum -f ms --by w --threads 4 tabbed.zst 2>/dev/null | cmp tabbed.by -
    fi
}

@test "-f NAME: a row with another number of words than its header is an invalid token" {
    local engine
    printf 'id ms x\n1 20 3\n2 4\n\n3 30 5 6\n \n4 40 7\n' >in
    run --separate-stderr gpuhist reduce sum -f ms in
    assert_failed 1 "in:3: wrong number of fields: the line has 2, the header 3 (try -f 2 --header)"
    run --separate-stderr gpuhist reduce sum -f x in
    assert_failed 1 "in:3: missing field 3 'x': the line has 2"
    run --separate-stderr gpuhist reduce sum -f 1 --by ms in
    assert_failed 1 "in:3: wrong number of fields: the line has 2, the header 3"
    run --separate-stderr gpuhist uniq -f ms --weight 1 in
    assert_failed 1 "in:3: wrong number of fields: the line has 2, the header 3 (try -f 2 --header)"
    for engine in $ENGINES; do
        run -0 --separate-stderr gpuhist reduce count,sum -f ms --invalid warn --engine "$engine" in
        [ "$output" = $'count\t2\nsum\t60' ]
        [ "$stderr" = "gpuhist: in:3: wrong number of fields: the line has 2, the header 3 (try -f 2 --header)
gpuhist: in:5: wrong number of fields: the line has 4, the header 3 (try -f 2 --header)" ]
    done
    run -0 --separate-stderr gpuhist uniq -f -1 --weight id --invalid ignore in
    [ "$output" = $'3\t1\n7\t4' ]
    # rows counted only by number, or by a delimiter, may have any number of fields
    [ "$(gpuhist reduce sum -f 2 --header in)" = 94 ]
    printf 'id,ms,x\n1,20\n2,30,4,5\n' >in
    [ "$(gpuhist reduce sum --csv -f ms in)" = 50 ]
    # rows that are longer than a chunk, and many, as awk counts them
    awk 'BEGIN { srand(4); print "id ms x"; for (i = 0; i < 20000; i++) {
        line = i " " i % 50; for (j = int(2.2 * rand()); j > 0; j--) line = line " " j; print line } }' >many
    awk 'NR > 1 && NF == 3 { n++; sum += $2 } END { print n, sum }' many >expected
    for engine in $ENGINES; do
        gpuhist reduce count,sum -f ms --invalid ignore --threads 3 --chunk-size 4096 --engine "$engine" many 2>/dev/null |
            cut -f 2 | paste -sd ' ' | cmp expected -
        gpuhist reduce count,sum -f ms --invalid ignore --engine "$engine" 2>/dev/null < <(cat many) |
            cut -f 2 | paste -sd ' ' | cmp expected -
    done
    { echo id ms x; printf '%9000s 5 6\n' 1; printf '1 %09000d 6 7\n' 5; printf '1 %09000d 6\n' 5; } >in
    run -0 --separate-stderr gpuhist reduce count,sum -f ms --invalid warn --chunk-size 4096 --engine cpu in
    [ "$output" = $'count\t2\nsum\t10' ] && [[ $stderr == *"in:3: wrong number of fields: the line has 4, the header 3"* ]]
}

@test "the end of a file is the end of a line" {
    local i
    for i in {1..50}; do printf '%d' "$i" >"f$i"; done
    seq -s ' ' 20000 | tr -d '\n' >large
    # shellcheck disable=SC2031
    for engine in $ENGINES; do
        run -0 gpuhist reduce count,sum --engine "$engine" f*
        [ "$output" = $'count\t50\nsum\t1275' ]
        run -0 gpuhist reduce count,sum --engine "$engine" --chunk-size 4096 large f1 large - large f2 < <(printf 7)
        [ "$output" = $'count\t60003\nsum\t600030010' ]
    done
}

@test "a line that is being written is read whole, when the file has grown" {
    mkfifo out
    { seq 1000001 1900000; printf 1; } >in
    gpuhist stalin-sort --threads 1 --engine cpu in >out 3>&- &
    exec 4<out # opened, but not read: little of the input can have been read
    head -c 8 <&4 >first
    echo 900001 >>in
    cat <&4 >rest
    exec 4<&-
    wait $!
    [ "$(cat first)" = 1000001 ]
    [ "$(tail -n 1 rest)" = 1900001 ]
}

# bats test_tags=plain
@test "a note if -d splits quoted fields, and so shifts a wanted one" {
    local note="gpuhist: note: in has quoted fields, which -d splits (try --csv)"
    printf 'path,who,ms,n\n/a,"Lee, 51",17,1\n/b,"Kim",18,2\n' >in
    head -n 2 in | cut -d , -f 3 | tail -n 1 >shifted # 51"
    grep -q 51 shifted
    for field in ms 3 -4; do
        run --separate-stderr gpuhist reduce sum --header --invalid ignore -d , -f "$field" in
        [ "$status" -eq 0 ] && [ "${stderr_lines[0]}" = "$note" ]
        run --separate-stderr gpuhist reduce sum --header --invalid ignore -q -d , -f "$field" in
        [ "${stderr_lines[0]}" != "$note" ]
    done
    run -0 --separate-stderr gpuhist reduce sum --header --invalid ignore -d , -f 4 in # counts 17
    [ "$output" = 19 ] && [ "$stderr" = "$note" ]
    run -0 --separate-stderr gpuhist reduce sum --header -d , -f -1 --by -4 --invalid ignore in
    [ "${stderr_lines[0]}" = "$note" ]
    run -0 --separate-stderr gpuhist reduce sum --header --invalid ignore -d , -f 4 < <(cat in)
    [ "$output" = 19 ] && [ "$stderr" = "${note/in has/standard input has}" ]
    if reads_gzip; then
        gzip -c in >in.gz
        run -0 --separate-stderr gpuhist reduce sum --header --invalid ignore -d , -f 4 in.gz
        [ "$output" = 19 ] && [ "$stderr" = "${note/in has/in.gz has}" ]
    fi
    # the first block of a file that is larger than the read-ahead
    { cat in; for _ in {1..9}; do cat in; done; seq 300000 | sed 's/.*/a,b,&,1/'; } >large
    run -0 --separate-stderr gpuhist reduce count --header --invalid ignore -d , -f n large
    [ "${stderr_lines[0]}" = "${note/in has/large has}" ]
    # --csv, and fields from either end up to the quoted one
    for rules in "--csv -f ms" "-d, --csv -f n" "-d , -f -1" "-d , -f -2"; do
        # shellcheck disable=SC2086
        run -0 --separate-stderr gpuhist reduce sum --header $rules in
        [[ $output =~ ^(3|35)$ ]] && [ -z "$stderr" ]
    done
    for field in path 1 2 -3; do
        run -0 --separate-stderr gpuhist reduce count --header --invalid ignore -d , -f "$field" in
        [[ $stderr != *quoted* ]]
    done
    # quotes that are invalid in CSV, or contain no delimiter
    printf '"GET",1,7\n"a"b,c",1\n5",1,"8\n"x,1,"9\n"a""b",1,2\n 1,"",2\n' >in
    run -0 --separate-stderr gpuhist reduce count --invalid ignore -d , -f 2 in
    [ "$stderr" = "gpuhist: note: skipped 2 invalid values, none of them a number" ]
    # a log, split as by cut
    printf '%s\n' '::1 - "GET / HTTP/1.1" 200 5' >in
    run -0 --separate-stderr gpuhist reduce sum -d ' ' -f 6 in
    [ "$output" = "$(cut -d ' ' -f 6 in)" ] && [ -z "$stderr" ]
    printf '"a"",b",1\r\n' >in
    run -0 --separate-stderr gpuhist reduce sum -d , -f 3 in
    [ "$output" = 1 ] && [ "$stderr" = "$note" ]
}
