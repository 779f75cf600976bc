#!/usr/bin/env bats
# Reading columns of timestamps and IP addresses. Oracles are Python's datetime and ipaddress.

load helpers

@test "times and addresses are read as Python's datetime and ipaddress have them" {
    [ -n "${PYTHON:-}" ] || skip "no python3"
    "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || skip "python3 is older than 3.11"
    run -0 "$PYTHON" "$srcdir/tests/column_kinds.py" "${GPUHIST%/*}/tests/unit/read_kinds" $((RANDOM))
}

@test "columns and conditions that cannot be read: what to write instead" {
    cd "$BATS_TEST_TMPDIR"
    printf 'ms,status\n1.5,200\n' >in
    refused() { # refused STATUS MESSAGE ARGUMENT...
        run --separate-stderr gpuhist reduce sum "${@:3}" in
        assert_failed "$1" "$2"
    }
    kinds="expected int hex .N round.N s ms us ns bytes ibytes time localtime ip text, with an optional width such as time/15m or time/day-of-week"
    for column in ms:round ms:round.19 ms:blob ms:.x ms:.19 ms:float ms:Int/5 ms:time:1m 1:text:1 ms:int/x ms:int/0 ms:time.3/15x \
        status:ip/200 status:text/2; do
        refused 1 "in: unknown column type '${column##*:}': $kinds; the header has no column '$column' either" --csv -f "$column"
        refused 1 "in: unknown column type '${column##*:}': $kinds; the header has no column '$column' either" --csv -f 1 --by "$column"
    done
    refused 1 "unknown column 'status/100': the header is 'ms,status'" --csv -f ms:.1 --by status/100
    refused 1 "in:2: invalid IP address '1.5'" --csv --header -f 2 --where 1:ip=10.0.0.1
    refused 2 "invalid --where 'ms:time>x': 'x' is not a timestamp such as 2026-11-21T13:45:02Z" --csv -f 2 --where 'ms:time>x'
    refused 2 "invalid --where 'ms:ip=10.0': '10.0' is not an IP address such as" --csv -f 2 --where ms:ip=10.0
    refused 2 "reduce of IP addresses supports only count, distinct and mode" --csv -f ms:ip
    refused 1 "in: unknown column type 'int/0': $kinds; the header has no column 'ms:int/0' either" --csv -f status --where ms:int/0=0
    refused 2 "invalid --field ',': expected 1 for the first, -1 for the last, ..., or a name, and" --csv -f ,
    refused 2 "invalid --field 'ms,': expected 1 for the first, -1 for the last, ..., or a name" --csv -f ms,
    refused 2 "invalid --where 'ms': expected a column, an operator and a value in quotes, such as '9>=500', else the shell takes > and <" --csv -f status --where ms
    refused 2 "invalid --where 'ms=x': 'x' is not a number with no more decimals than its column (try 'ms:text=x')" \
        --csv -f status --where ms=x
    refused 2 "invalid --where 'ms:.1=0.25': '0.25' is not a number with no more decimals than its" \
        --csv -f status --where ms:.1=0.25
    run --separate-stderr gpuhist --csv -f status:int --decimals 1 --width 0.5 in
    assert_failed 2 "invalid --width '0.5': expected a number such as 10"
    refused 2 "--where TYPE@OFFSET requires --record, the bytes of a record" -t u16 --where u16@0=1
    refused 2 "with --record, --where requires TYPE@OFFSET, such as u32@8" --record 4 --where 2=1
    refused 2 "--record: -f 'u16@0:hex' can only have type int or .N" --record 4 -f u16@0:hex
    refused 2 "--record: -f 'u16@0:int/2' cannot have a width; use --width" --record 4 -f u16@0:int/2
    run --separate-stderr gpuhist reduce max --csv -f status --where status=404 in
    assert_failed 1 "cannot compute max: no row with a value meets --where"
    run --separate-stderr gpuhist uniq --csv -f status --weight ms:text in
    assert_failed 2 "--weight 'ms:text' can only be numbers, durations or sizes"
    for format in raw gnuplot; do
        run --separate-stderr gpuhist uniq --csv -f ms:.1 --by status --format $format in
        assert_failed 2 "--by cannot be combined with --format $format (try tsv, csv, json, jsonl, markdown, html, svg, --plot)"
        gpuhist uniq --csv -f ms:.1 --by status --save state -o /dev/null in
        run --separate-stderr gpuhist merge --format $format state
        assert_failed 2 "--by cannot be combined with --format $format (try tsv, csv, json, jsonl, markdown, html, svg, --plot)"
    done
    # widths of the only column
    run -0 gpuhist uniq -f 1:int/5 < <(printf '%s\n' -7 -1 7 5)
    [ "$output" = $'-10\t1\n-5\t1\n5\t2' ]
    run -0 gpuhist reduce sum --csv -f ms:.1/0.5,status:int/150 in
    [ "$output" = $'ms\t1.5\nstatus\t150' ]
    # the kind of a record's integer is not text, and overrides --decimals
    run -0 gpuhist uniq --record 2 -f u16@0:.1 --where 'u16@0:.1>0.7' < <(printf '\7\0\10\0')
    [ "$output" = $'0.8\t1' ]
    run -0 gpuhist reduce max --csv -f ms:.2,status --decimals 1 in
    [ "$output" = $'ms\t1.50\nstatus\t200.0' ]
}

# refused STATUS TEXT ARG...: asserts an error that contains TEXT; the input is in `in`.
refused() {
    run --separate-stderr gpuhist "${@:3}" in
    assert_failed "$1" "$2"
}

@test "an invalid token of a kind is called by it" {
    cd "$BATS_TEST_TMPDIR"
    printf 'x y\n' >in
    refused 1 "in:1: invalid timestamp 'x'" uniq -f 1:time
    refused 1 "in:1: invalid timestamp 'x' of --by" uniq -f 2:text --by 1:localtime.3
    refused 1 "in:1: invalid IP address 'y' of --where" uniq -f 1:text --where 2:ip=10.0.0.0/8
    refused 1 "in:1: missing field 3: the line has 2" uniq -f 3:text
    printf '2500-01-01 x\n' >in
    refused 1 "'2500-01-01' is out of range for timestamps with 9 digits of a second" uniq -f 1:time.9
    head -c 65537 /dev/zero | tr '\0' w >in
    refused 1 "in:1: text of more than 65536 bytes" uniq -f 1:text
    head -c 65536 /dev/zero | tr '\0' w >in
    [ "$(gpuhist uniq -f 1:text in | wc -c)" -eq 65539 ]
    # escapes are not bytes of the string
    { printf '{"a":"'; yes '\u0041' | head -n 65537 | tr -d '\n'; printf '"}\n'; } >in
    refused 1 "in:1: text of more than 65536 bytes" uniq --jsonl -f a:text
    [ "$(gpuhist reduce distinct --jsonl -f a:text <(sed 's/\\u0041//' in))" = 1 ]
    printf 'x\n2026-11-21\n' >in
    run -0 --separate-stderr gpuhist uniq -f 1:time --invalid warn in
    [ "$output" = $'2026-11-21T00:00:00Z\t1' ] && [ "$stderr" = "gpuhist: in:1: invalid timestamp 'x'" ]
    run -0 --separate-stderr gpuhist uniq -f 1:time --invalid ignore in
    [ "$stderr" = "gpuhist: note: skipped 1 invalid value" ]
}

@test "a value of a condition that is no integer names the kind that reads it" {
    cd "$BATS_TEST_TMPDIR"
    echo 7 >in
    while read -r condition meant; do
        refused 2 "invalid --where '${condition//_/ }': " uniq -f 1 --where "${condition//_/ }"
        [[ $stderr == *" (${meant:-try gpuhist uniq --help})" ]]
        [[ $meant != try* ]] || gpuhist count --all --invalid ignore --where "$(eval "echo ${meant#try }")" in # valid advice
    done <<'END'
1=/api/cart try '1:text=/api/cart'
1!=GET,PUT try '1:text!=GET,PUT'
1=200,x try '1:text=200,x'
1=10.3.183.229 try '1:ip=10.3.183.229'
1=10.3.0.0/16,::1 try '1:ip=10.3.0.0/16,::1'
1>=2026-11-21 try '1:time>=2026-11-21'
1<2026-11-21T10:00:00Z try '1:time<2026-11-21T10:00:00Z'
1=200,
1:int=x
1:.2=x
1:time=x
END
    printf '{"path":"/"}\n' >in
    [ "$(gpuhist uniq --jsonl -f .path:text --where .path=/ in)" = $'/\t1' ]
}

@test "an invalid integer names the kind that reads it" {
    cd "$BATS_TEST_TMPDIR"
    for case in '2026-11-21T13:45:02Z time' '21/Nov/2026:13:45:02 time' '10.0.0.7 ip or COLUMN:text' \
        '::1 ip or COLUMN:text' '[::1]:80 ip or COLUMN:text'; do
        printf 'a %s\n' "${case%% *}" >in
        refused 1 "in:1: invalid integer '${case%% *}' (try COLUMN:${case#* })" uniq -f 2:int
        refused 1 "in:1: invalid group '${case%% *}' (try COLUMN:${case#* })" uniq -f 1:text --by 2:int
    done
    printf '7 GET\n' >in
    for command in uniq 'reduce distinct' 'reduce count,distinct'; do
        # shellcheck disable=SC2086
        refused 1 "in:1: invalid integer 'GET' (try COLUMN:text)" $command -f 2:int
        # shellcheck disable=SC2086
        gpuhist $command -f 2:text in
    done
    for options in 'reduce sum' 'reduce mean,distinct' '--width 5' '--bins 5 --range auto' '--quantiles 50' 'stalin-sort'; do # no strings
        # shellcheck disable=SC2086
        run -1 --separate-stderr gpuhist $options -f 2 in
        [ "$stderr" = "gpuhist: in:1: invalid integer 'GET'" ]
    done
    refused 1 "in:1: invalid group 'GET' (try COLUMN:text)" reduce sum -f 1 --by 2:int
    refused 1 "in:1: invalid integer 'GET' of --where (try COLUMN:text)" reduce sum -f 1 --where 2:int=5
    printf '{"ms":5}\n' >in
    refused 1 "(try --jsonl -f NAME)" reduce sum
    refused 1 "(try --jsonl -f .ms)" reduce sum -f ms
    refused 1 "(try --jsonl -f .http.ms)" reduce sum -f .http.ms
    printf '{"ms":"/a"}\n' >in
    refused 1 "in:1: invalid integer '/a' (try COLUMN:text)" uniq --jsonl -f .ms:int
}

@test "--jsonl: what is no object, and members that are missing or of another kind" {
    cd "$BATS_TEST_TMPDIR"
    for case in '[1]|not an object' '{"a" 1}|missing colon' '{"a":1|unterminated string, object or array' \
        '{"a":1} x|trailing data after the object' '{"a":"\ud800"}|invalid escape in a string' '{"a":nul}|a value is not a number'; do
        printf '{"a":1}\n%s\n' "${case%|*}" >in
        refused 1 "in:2: invalid JSON: ${case##*|}" uniq --jsonl -f a
        run -0 --separate-stderr gpuhist uniq --jsonl -f a --invalid warn in
        [ "$output" = $'1\t1' ]
    done
    printf '%s\n' '{"a":1,"b":{"c":"x"},"b":{"d":null}}' >in
    refused 1 "in:1: missing JSON member '.b.c'" uniq --jsonl -f .b.c:text
    printf '{"a":1,"http":{"latency_ms":5}}\n{"a":2,"http" : {"l\\"x":"latency_m","latency" :7,"stat us":1}}\n' >near
    printf '{"f":[{"ms":1}],"b":{"c":{"ms":2}},"d.e":3,"at":4}\n' >>near
    for case in 1:.http.latency_sm:.http.latency_ms 1:latency_ns:.http.latency_ms 1:.http.bytes: 1:.b.a:.a \
        2:.http.latncy:.http.latency 2:".x.stat_us:.http.stat us" 2:latency_m:.http.latency 1:http.a:a \
        3:b.c.ms:.b.c.ms 3:ms:.b.c.ms 3:.f.ms:.b.c.ms 3:att:at 3:.x.at:.at 3:e: 3:t:; do
        IFS=: read -r line path meant <<<"$case"
        run -1 --separate-stderr gpuhist reduce sum --jsonl -f "$path" < <(sed -n "${line}p" near)
        meant=${meant:+", or did you mean '$meant'?"}
        [ "$stderr" = "gpuhist: standard input:1: missing JSON member '$path' (try --missing skip$meant)" ]
    done
    refused 1 "in:1: invalid integer 'null'" uniq --jsonl -f .b.d
    refused 1 "in:1: invalid integer '{\"d\":null}'" uniq --jsonl -f b:int
    [ "$(gpuhist uniq --jsonl -f b:text --format csv in)" = $'value,count\n"{""d"":null}",1' ]
    refused 2 "--jsonl requires columns: -f NAME or -f .PATH" count --all --jsonl
    refused 2 "--jsonl cannot be combined with --csv, --delimiter and --header" uniq --jsonl -f a --csv
}

@test "--jsonl: numbers in quotes may have escapes" {
    local value
    cd "$BATS_TEST_TMPDIR"
    for value in '1\u0032' '\u00312' '\u0030000000000000000012' ' \u00312 ' '\u002b12'; do
        printf '{"v":"%s","w":3}\n{"v":5,"w":"\\u0034"}\n' "$value" >in
        [ "$(gpuhist uniq --jsonl -f v:int in)" = $'5\t1\n12\t1' ]
        [ "$(gpuhist uniq --jsonl -f w --weight v in)" = $'3\t12\n4\t5' ]
        [ "$(gpuhist uniq --jsonl -f w --by v:int/4 in)" = $'4\t4\t1\n12\t3\t1' ]
        [ "$(gpuhist reduce sum --jsonl -f v,w --where w=4 in)" = $'v\t5\nw\t4' ]
        [ "$(gpuhist stalin-sort --jsonl -f v in)" = 12 ]
    done
    printf '%s\n' '{"v":"-1\u002e25","h":"\u0030x1F"}' >in
    [ "$(gpuhist reduce sum --jsonl -f v:.2,h:hex in)" = $'v\t-1.25\nh\t31' ]
    for value in '1\n' '\"12' '1\u0000' '9223372036854775807\u0030'; do
        printf '{"v":"%s"}\n' "$value" >in
        refused 1 "in:1: invalid integer '$value'" uniq --jsonl -f v:int
    done
}

@test "blanks around a field are part of a text, and of no other kind" {
    for cells in "-d ," --csv; do
        # shellcheck disable=SC2086 # two words
        printf ' 7 ,x\n7,x\n' | gpuhist uniq $cells -f 1:text | cmp - <(printf ' 7 \t1\n7\t1\n')
        # shellcheck disable=SC2086
        printf ' 7 ,x\n7,x\n' | gpuhist uniq $cells -f 1 | cmp - <(printf '7\t2\n')
    done
}

@test "values and groups of all kinds on a terminal: drawn or listed, and addresses and texts with the cells of a file" {
    cd "$BATS_TEST_TMPDIR"
    printf '%s\n' '1 5 2026-11-21T13:45:02Z 10.0.0.1 abc 2.50 ff' '2 7 2026-11-21T13:46:02Z 10.0.0.2 abd 2.75 fe' \
        '1 5 2026-11-22T13:45:02Z ::1 abc 12.5 0' >in
    "$PYTHON" - "$GPUHIST" <<'END'
import itertools, os, pty, re, subprocess, sys
kinds = "2:int", "3:time", "3:localtime", "4:ip", "5:text", "6:.2", "7:hex", "3:time/1h", "2:int/5", "4:ip/24"
words = ["uniq"], ["histogram"], ["histogram", "--width", "2"], ["reduce", "count,distinct"], ["uniq", "--top", "1"]
groups = [], ["--by", "1"], ["--by", "5:text"], ["--by", "1,4:ip"]
cases = list(itertools.product(kinds, words, groups, ([], ["--plot"])))
for kind, word, by, plot in cases[::int(os.environ["SHARE"])]:
    command = [sys.argv[1], *word, "-f", kind, *by, *plot, "in"]
    main, terminal = pty.openpty()
    with subprocess.Popen(command, stdout=terminal, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        os.close(terminal)
        shown = b""
        try:
            while piece := os.read(main, 65536):
                shown += piece
        except OSError:
            pass  # its end
    os.close(main)
    listed = subprocess.run(command, capture_output=True, check=False)
    assert run.returncode in (0, 2) and run.returncode == listed.returncode, command
    if kind[2:] in ("ip", "text", "ip/24") and run.returncode == 0:
        lines = [line.split() for line in re.sub(rb"\033\[\d*m", b"", shown).splitlines()]
        names = 0 if len(lines[0]) == 1 and lines[0][0].isdigit() else 1
        wanted = [line.split() for line in listed.stdout.splitlines()]
        cells = len(wanted[0]) if not plot else 0
        assert [line[:cells or None] for line in lines[0 if plot else names:]] == wanted, (command, shown)
    assert (len(shown) > 0) == (run.returncode == 0), command
END
}

@test "what cannot be combined with kinds is an error of usage" {
    cd "$BATS_TEST_TMPDIR"
    echo 7 >in
    refused 2 "and, or and xor require integers" reduce xor -f 1:time
    refused 2 "--format gnuplot cannot be combined with timestamps" -f 1:time --format gnuplot
    refused 2 "histogram cannot be used with strings (try uniq)" -f 1:text
    refused 2 "reduce of IP addresses supports only count, distinct and mode" reduce min -f 1:ip
    refused 2 "reduce of strings supports only count, distinct and mode" reduce distinct,sum -f 1:text
    refused 2 "count cannot be used with strings" count --all -f 1:text
    refused 2 "uniq of strings cannot be combined with --zeros (try" uniq -f 1:text --zeros
    refused 2 "uniq of IP addresses cannot be combined with --percentiles (try" uniq -f 1:ip --quantiles 50
    refused 2 "uniq of strings cannot be combined with --format npy (try tsv, csv, json, jsonl, markdown, html, svg)" uniq -f 1:text --format npy
    refused 2 "uniq of strings cannot be combined with --zeros (try" uniq -f 1:text --format svg --zeros
    refused 2 "uniq of IP addresses cannot be combined with --format raw (try tsv, csv, json, jsonl, markdown, html, svg)" uniq -f 1:ip --format raw
    gpuhist uniq -f 1:text --save texts -o /dev/null in
    gpuhist --width 1h -f 1:time --save times -o /dev/null <<<2026-01-01
    local option
    for option in '--format gnuplot' '--format raw' --zeros --percentiles=50; do
        # shellcheck disable=SC2086
        run --separate-stderr gpuhist merge $option texts
        assert_failed 2 "uniq of strings cannot be combined with ${option%=*}"
    done
    run --separate-stderr gpuhist merge --format gnuplot times
    assert_failed 2 "--format gnuplot cannot be combined with timestamps"
    run -0 gpuhist uniq -f 1:text --percent --format jsonl in
    for kind in time localtime/hour-of-day ip text; do
        refused 2 "--weight '1:$kind' can only be numbers, durations or sizes" uniq -f 1 --weight 1:$kind
    done
    refused 2 "^=, *=, ~ and !~ are for strings" uniq -f 1 --where '1:int^=7'
    refused 2 "is not a time" uniq -f 1 --where '1:time=x'
    refused 2 "is not an IP address such as 10.0.0.1, or a prefix such as 10.0.0.0/8" uniq -f 1 --where '1:ip=10.0.0.0/33'
    seq 500000 >in
    refused 1 "the distinct strings need more than 16777216 bytes of memory, their part of -S" \
        uniq -f 1:text -S 64K --threads 1
    run -0 gpuhist reduce distinct -f 1:text -S 1 --threads 5 in
    [ "$output" = 500000 ]
}

@test "--edges and --any-of take times of the column's kind, also in a file" {
    cd "$BATS_TEST_TMPDIR"
    printf '%s\n' 2026-11-21T13:00:30Z 2026-11-21T15:30:00+01:00 >in
    printf '2026-11-21 2026-11-21T13:30\n21/Nov/2026:14:30:00,2026-11-22\n' >edges
    for edges in "$(tr ' \n' ,, <edges | sed 's/,$//')" @edges 1795219200,1795267800,1795271400,1795305600; do
        run -0 gpuhist -f 1:time --edges "$edges" --save state in
        [ "$output" = $'2026-11-21T00:00:00Z\t2026-11-21T13:30:00Z\t1\n2026-11-21T14:30:00Z\t2026-11-22T00:00:00Z\t1' ]
        run -0 gpuhist merge state
        [ "${lines[1]}" = $'2026-11-21T14:30:00Z\t2026-11-22T00:00:00Z\t1' ]
    done
    [ "$(gpuhist count -f 1:localtime --any-of 2026-11-21T15:30,0 in)" = 1 ]
    [ "$(gpuhist count -f 1:time --any-of 2026-11-21T15:30,0 in)" = 0 ]
    refused 2 "invalid --edges 'x': expected timestamps without blanks, such as " -f 1:time --edges 0,x
    echo x >edges
    refused 1 "edges:1: invalid timestamp 'x'" -f 1:time --edges @edges
}

@test "a time goes on over one blank with -d ' ' as well, but not over a quote" {
    local line='x [21/Nov/2026:13:45:02 +0130] 2026-11-21 13:45:02.5 7'
    for options in "" "-d \\ " "--csv -d \\ "; do
        eval "run -0 gpuhist reduce count -f -1 $options --by 2:time,4:time.1" <<<"$line"
        [ "$output" = $'2026-11-21T12:15:02Z\t2026-11-21T13:45:02.5Z\t1' ]
        eval "run -0 gpuhist uniq -f 2:time $options" <<<"$line"
        [ "$output" = $'2026-11-21T12:15:02Z\t1' ]
    done
    run -0 gpuhist uniq --csv -d ' ' -f 1:time <<<'"2026-11-21" 13:45'
    [ "$output" = $'2026-11-21T00:00:00Z\t1' ]
    run -0 gpuhist uniq -d ';' -f 1:time <<<'2026-11-21; 13:45'
    [ "$output" = $'2026-11-21T00:00:00Z\t1' ]
}

@test "values outside the bins are found in times and JSON lines as well" {
    cd "$BATS_TEST_TMPDIR"
    printf '{"at":"2026-11-21T13:4%d:00Z","n":%d}\n' 1 5 2 70000 >in
    refused 1 "in:2: value 70000 is out of range" --bins 10 --outside abort --jsonl -f n
    refused 1 "in:2: value 70000 is out of range" --bins 10 --outside abort --jsonl -f n --by at:text
    refused 1 "in:2: value 2026-11-21T13:42:00Z is out of range" --jsonl -f at:time --outside abort \
        --range 2026-11-21T13:00:00Z:2026-11-21T13:42:00Z
    run -0 gpuhist stalin-sort --jsonl -f at:time --descending in
    [ "$output" = 2026-11-21T13:41:00Z ]
}

@test "groups of texts of any bytes and lengths are printed whole" {
    cd "$BATS_TEST_TMPDIR"
    head -c 65000 /dev/zero | tr '\0' k >long
    { cat long; printf ',5\n"a\0b",6\n'; } >in
    { printf 'a\0b\t6\t1\n'; cat long; printf '\t5\t1\n'; } >expected
    gpuhist uniq --csv -f 2 --by 1:text in | cmp - expected
    { printf 'value,count\n"a\0b",1\n' | tr -d '"'; cat long; printf ',1\n'; } >expected
    gpuhist uniq --csv -f 1:text --format csv in | cmp - expected
}

@test "reduce count and distinct of addresses and texts, with and without groups" {
    cd "$BATS_TEST_TMPDIR"
    seq 20000 | awk '{ print "10.0." $1 % 7 "." $1 * $1 % 251, "/" $1 % 613, $1 % 3 }' >in
    gzip -k in
    addresses=$(cut -d ' ' -f 1 in | sort -u | wc -l)
    paths=$(cut -d ' ' -f 2 in | sort -u | wc -l)
    for options in '' '--threads 1' '--threads 16 --chunk-size 4K' '-S 1M'; do
        for file in in in.gz; do
            # shellcheck disable=SC2086
            run -0 gpuhist reduce distinct,count -f 1:ip,2:text $options "$file"
            [ "$output" = $'1\tdistinct\t'"$addresses"$'\n1\tcount\t20000\n2\tdistinct\t'"$paths"$'\n2\tcount\t20000' ]
        done
    done
    gpuhist reduce distinct,count -f 1:ip --by 3 in >got
    awk '{ n[$3]++; if (!seen[$3, $1]++) d[$3]++ } END { for (g = 0; g < 3; g++) print g "\t" d[g] "\t" n[g] }' in |
        cmp - got
    head -n 777 in | gpuhist reduce distinct -f 2:text --by 3 --save a >a.out
    tail -n +778 in | gpuhist reduce distinct -f 2:text --by 3 --save b >b.out
    gpuhist reduce distinct -f 2:text --by 3 in >got
    gpuhist merge a b | cmp - got
    run -0 gpuhist reduce distinct,count -f 1:ip --format json </dev/null
    [ "$output" = '{"operation":"reduce","distinct":0,"count":0}' ]
}

@test "texts that are not UTF-8: as they are in tsv, U+FFFD and a note in json and html" {
    cd "$BATS_TEST_TMPDIR"
    printf 'a\377b 1\n\303\244 2\n' >in
    gpuhist uniq -f 1:text in | cmp - <(printf 'a\377b\t1\n\303\244\t1\n')
    for command in 'uniq -f 1:text' 'reduce sum -f 2 --by 1:text' 'reduce sum -f 2,2 --by 1:text'; do
        # shellcheck disable=SC2086
        run -0 --separate-stderr gpuhist $command --format json --save state in
        [[ $output == *$'"a\357\277\275b"'* ]] && [[ $output == *$'"\303\244"'* ]]
        [ "$stderr" = "gpuhist: note: 1 text is not UTF-8: json has U+FFFD for these bytes (tsv and csv have them as they are)" ]
        run -0 --separate-stderr gpuhist merge --format jsonl state
        [[ $stderr == *"note: 1 text is not UTF-8: jsonl has U+FFFD"* ]]
        run -0 --separate-stderr gpuhist merge --format html state
        [[ $output == *$'a\357\277\275b'* ]]
        [[ $stderr == *"note: 1 text is not UTF-8: html has U+FFFD"* ]]
    done
}

@test "a state of a window of texts has the texts of its rows alone" {
    cd "$BATS_TEST_TMPDIR"
    mkfifo pipe
    gpuhist uniq -f 1:text --every 50ms --window 50ms --save state <pipe >out 3>&- &
    exec 4>pipe
    seq 5000 >&4
    until grep -qz $'\n\n\n' out; do sleep 0.01; done # a result of a window without values
    echo last >&4
    exec 4>&-
    wait $!
    [ "$(wc -c <state)" -lt 120 ] # with "last", or after the end of its period without it
    [ "$(gpuhist merge state | sort -u)" = $'last\t1' ] || [ -z "$(gpuhist merge state)" ]
}

@test "a number that fits while its bucket does not" {
    run -1 gpuhist uniq -f 1:int/10 < <(echo -9223372036854775808)
    [[ $output == *": the bucket of '-9223372036854775808' starts below the smallest i64" ]]
    run -1 gpuhist uniq -f 1:int/10 < <(echo -9223372036854775809)
    [[ $output == *": '-9223372036854775809' is out of range for i64" ]]
    run -1 gpuhist uniq -t i8 -f 1:int/10 < <(echo -128)
    [[ $output == *": the bucket of '-128' starts below the smallest i8 (try -t i64)" ]]
    # a run that skips it does not report that it is out of range
    run -0 --separate-stderr gpuhist uniq -t i8 -f 1:int/10 --invalid ignore < <(printf '%s\n' 5 -128)
    [ "$output" = $'0\t1' ]
    [ "$stderr" = "gpuhist: note: skipped 1 invalid value, a number in a bucket that starts below the smallest i8" ]
    run -0 --separate-stderr gpuhist uniq -t i8 -f 1:int/10 --invalid ignore < <(printf '%s\n' 5 -128 -127 x 200)
    [ "$stderr" = "gpuhist: note: skipped 4 invalid values, 3 of them numbers that do not fit: 1 out of range for i8, 2 in a bucket that starts below the smallest i8 (try -t i64)" ]
}

@test "a time is read whole or refused, as the manual's table says" {
    [ -n "${PYTHON:-}" ] || skip "no python3"
    run -0 "$PYTHON" "$srcdir/tests/times.py" "$GPUHIST" $((RANDOM)) "$srcdir/man/gpuhist-formats.5"
}

@test "--year is of a --time-format without a year, which is else the last one" {
    cd "$BATS_TEST_TMPDIR"
    local year
    year=$(date -u +%Y)
    printf 'Jan  1 00:00:01\n' >in
    run -0 --separate-stderr gpuhist uniq -d , -f 1:time --time-format '%b %e %T' in
    [ "$output" = "$year-01-01T00:00:01Z"$'\t1' ]
    [ "$stderr" = "gpuhist: note: dates are of $year; --year N is another" ]
    run -0 --separate-stderr gpuhist uniq -d , -f 1:time --time-format '%b %e %T' --year 1999 in
    [ "$output" = $'1999-01-01T00:00:01Z\t1' ] && [ -z "$stderr" ]
    date -u -d '+3 days' '+%m-%d' >in
    run -0 --separate-stderr gpuhist uniq -d , -f 1:time --time-format '%m-%d' in
    [ "$output" = \
        "$(date -u -d '+3 days' "+$(($(date -u -d '+3 days' +%Y) - 1))-%m-%dT00:00:00Z")"$'\t1' ]
    [[ $stderr == "gpuhist: note: dates are "*" of "*"; --year N is another" ]]
    if [ "$(date -u -d '+3 days' +%Y)" = "$year" ]; then
        [ "$stderr" = "gpuhist: note: dates are later than tomorrow, and so of $((year - 1)); --year N is another" ]
        echo '01-01' >>in
        run -0 --separate-stderr gpuhist uniq -d , -f 1:time --time-format '%m-%d' in
        [ "$stderr" = "gpuhist: note: dates are of $year, those later than tomorrow of $((year - 1)); --year N is another" ]
    fi
    : >in
    run -0 --separate-stderr gpuhist uniq -d , -f 1:time --time-format '%m-%d' in
    [ -z "$stderr" ]
    echo 'Feb 29' >in
    refused 1 "try --year N, unless it is a day of 2023" \
        uniq -d , -f 1:time --time-format '%b %d' --year 2023 in
    refused 2 "--time-format requires a column of timestamps (try -f COLUMN:time)" \
        uniq -d , -f 1 --time-format '%b %d' --year 2023 in
    refused 2 "--year is of a --time-format that has no year" uniq -f 1:time --year 2023 in
    refused 2 "%p goes with the hours of %I" uniq -f 1:time --time-format '%F %H %p' in
    refused 2 "%I and %l go with %p" uniq -f 1:time --time-format '%F %I' in
    refused 2 "has no day and month" uniq -f 1:time --time-format '%T' in
}

@test "a note counts the times that are 0" {
    cd "$BATS_TEST_TMPDIR"
    local engine
    seq 1700000000 1700000999 | sed 's/[36]$/&\n0/' >in
    for engine in $ENGINES; do
        run -0 --separate-stderr gpuhist uniq --top 1 -f 1:time/1d --engine "$engine" --chunk-size 1K in
        [ "$stderr" = "gpuhist: note: 200 times are 0, which is the beginning of 1970" ]
        run -0 --separate-stderr gpuhist uniq -q --top 1 -f 1:time --engine "$engine" in
        [ "$output" = $'1970-01-01T00:00:00Z\t200' ] && [ -z "$stderr" ]
    done
    printf '0,1\n1700000000,0\n' >in
    run -0 --separate-stderr gpuhist reduce sum --csv --header=0 -f 2 --by 1:time in
    [ "$stderr" = "gpuhist: note: 1 time is 0, which is the beginning of 1970" ]
    echo 1700000000 >in
    run -0 --separate-stderr gpuhist uniq -f 1:time in
    [ -z "$stderr" ]
}

@test "an invalid time names another way to read it" {
    cd "$BATS_TEST_TMPDIR"
    local text way
    while IFS='|' read -r text way; do
        echo "$text" >in
        refused 1 "$way" uniq -f 1:time in
    done <<'END'
2024-01-01 10:00:00 EST|localtime
2024-01-01 10:00:00 -10|1+2:time
2024-01-01T10:00:00 +0200|1+2:time
2024-01-01 10.22.40|--time-format '%F'
2024010112|--time-format
END
    echo '2024-01-01 10.22.40' >in
    run -0 gpuhist uniq -f 1:time --time-format '%F' in
    [ "$output" = $'2024-01-01T00:00:00Z\t1' ]
    echo '2024-01-01 10:00:00 EST' >in
    run -0 gpuhist uniq -f 1:localtime in
    [ "$output" = $'2024-01-01T10:00:00\t1' ]
}

@test "marks end an address in a line" {
    local text
    for text in 10.0.0.7:5555] '10.0.0.7, x' '[10.0.0.7:5555]' '(10.0.0.7)' '10.0.0.7;8'; do
        run -0 gpuhist uniq -f 1:ip <<<"$text"
        [ "$output" = $'10.0.0.7\t1' ]
    done
    for text in 1.2.3.4,5.6.7.8 1.2.3.4: ::1: ::1,::2; do
        run -1 gpuhist uniq -f 1:ip <<<"$text"
    done
    run -1 gpuhist uniq --csv -f 1:ip <<<'"10.0.0.7,"'
}

@test "addresses with the same prefix are one value, as awk cuts them, of a kind that is found too" {
    cd "$BATS_TEST_TMPDIR"
    seq 0 999 | awk '{ print "10." $1 % 3 "." int($1 / 7) % 256 "." $1 % 251 }' >in
    awk -F. '{ n[$1 "." $2 "." $3 ".0/24"]++ } END { for (k in n) print k "\t" n[k] }' in | sort >wanted
    gpuhist uniq -f 1:ip/24 in | sort | cmp - wanted
    gpuhist uniq --csv -f 1:ip/24 in | sort | cmp - wanted
    [ "$(gpuhist uniq -f 1 in | wc -l)" = "$(sort -u in | wc -l)" ]
}

@test "brackets are around times, one on each side" {
    local text
    for text in '5]' '[5' '[5]' '+0000]' '1.5]' '[[2026-01-01' '{2026-01-01}'; do
        run -1 gpuhist uniq -f 1:time < <(echo "$text")
        [[ $output == *": invalid timestamp '$text'"* ]]
    done
    for text in '[01/Jan/2026:00:00:00 +0000]' '[2026-01-01T00:00:00Z]' '[2026-01-01 00:00:00]' '2026-01-01 00:00]' '[2026-01-01' '2026-01-01]'; do
        run -0 gpuhist uniq -f 1:time < <(echo "$text")
        [ "$output" = $'2026-01-01T00:00:00Z\t1' ]
    done
}

@test "a number after a time that no offset is, is a field of its own" {
    run -0 gpuhist uniq -f 1:time --by 2 < <(echo '2026-01-01T00:00:00 -1999')
    [ "$output" = $'-1999\t2026-01-01T00:00:00Z\t1' ]
    run -1 gpuhist uniq -f 1:time < <(echo '2026-01-01T00:00:00 -1200')
    [[ $output == *"try 1+2:time"* ]]
    run -1 gpuhist uniq --csv -f 1:time < <(echo '2026-01-01T00:00:00 -1999')
    [[ $output == *"invalid time"* ]]
}

# bats test_tags=slow
@test "a byte order mark before a text is dropped, and one before a comment" {
    cd "$BATS_TEST_TMPDIR"
    printf '\357\273\277a 1\na 2\n' >in
    { printf '\357\273\277' | gzip; printf 'a 1\na 2\n' | gzip; } >in.gz
    { printf '\357\273' | gzip; printf '\277a 1\na 2\n' | gzip; } >split.gz
    head -c 2 in >short
    for options in '' '--threads 1' '--threads 4 --chunk-size 4K'; do
        # shellcheck disable=SC2086
        for command in 'uniq -f 1:text' 'uniq -f 2:int/10 --by 1:text'; do
            gpuhist $command $options in in.gz split.gz in >got
            [[ $(cat got) == @(a$'\t'8|a$'\t'0$'\t'8) ]]
            { head -c 1 in; sleep 0.1; tail -c +2 in; } | gpuhist $command $options >got
            [[ $(cat got) == @(a$'\t'2|a$'\t'0$'\t'2) ]]
        done
        # shellcheck disable=SC2086
        gpuhist uniq -f 1:text $options short | cmp - <(printf '\357\273\t1\n')
    done
    tr '\n' '\0' <in >nul
    run -0 gpuhist uniq -z -f 1:text nul
    [ "$output" = $'a\t2' ]
    printf '\357\273\277b\n\357\273\277c\n' | gpuhist uniq -f 1:text | cmp - <(printf 'b\t1\n\357\273\277c\t1\n')
    printf '\357\273\277# x\na,b\n1,2\n' >comment
    run -0 gpuhist uniq --csv -f b --comment '#' comment
    [ "$output" = $'2\t1' ]
    run -1 gpuhist uniq -f 1:int in
    [[ $output == *"<byte order mark>a"* ]]
}

@test "--where of texts: as awk compares bytes, with texts that others begin with" {
    cd "$BATS_TEST_TMPDIR"
    printf '%s,1\n' a ab abc abd b ba '' AB zab z >in
    meets() { # meets CONDITION AWK
        LC_ALL=C awk -F , "$2" in | cut -d , -f 1 | LC_ALL=C sort >expected
        gpuhist uniq --csv -f 1:text --where "$1" in | cut -f 1 | cmp expected -
    }
    meets '1:text=ab' '$1 "" == "ab"'
    meets '1:text!=ab' '$1 "" != "ab"'
    meets '1:text<ab' '$1 "" < "ab"'
    meets '1:text<=ab' '$1 "" <= "ab"'
    meets '1:text>ab' '$1 "" > "ab"'
    meets '1:text>=ab' '$1 "" >= "ab"'
    meets '1:text^=ab' 'index($1, "ab") == 1'
    meets '1:text*=ab' 'index($1, "ab") > 0'
    meets '1:text=abc,z,ab,b' '$1 == "abc" || $1 == "z" || $1 == "ab" || $1 == "b"'
    meets '1:text!=abc,z,ab,b' '!($1 == "abc" || $1 == "z" || $1 == "ab" || $1 == "b")'
}

# bats test_tags=slow
@test "--where with regular expressions: of bytes, long strings and escapes, as grep -E has them" {
    cd "$BATS_TEST_TMPDIR"
    { printf '%s\n' a ab abc 'a+b' 'x y' /api/v1 /api/v22 $'caf\xc3\xa9' $'\xff' 'a~b' aXXb
        seq 3000 | awk '{ print "row" $1 * 7919 % 3001 }'; } >in
    for pattern in '^a' 'b$' '^(ab|/api/v[0-9]+)$' 'a\+b' '[[:digit:]]{2}' '^caf..$' '^.$' '(a|b)c?$' 'row(1|2)[0-9]*7$' \
        '~' '^row(.)\1'; do
        for options in '--threads 1' '--threads 3 --chunk-size 4096'; do
            # shellcheck disable=SC2086
            gpuhist uniq -f 0:text --where "0~$pattern" $options -q in | sed 's/\t1$//' >found
            { LC_ALL=C grep -aE -- "$pattern" in || true; } | LC_ALL=C sort | cmp found -
            # shellcheck disable=SC2086
            [ "$(gpuhist reduce count --where "0 !~ $pattern" $options -q in)" = \
                "$(LC_ALL=C grep -avcE -- "$pattern" in)" ]
        done
    done
    gzip -c in >in.gz
    [ "$(gpuhist count --all --where '0:text~^row1' in.gz)" = "$(grep -c ^row1 in)" ]
    [ "$(gpuhist count --all --where '0:text~^row1' <in)" = "$(grep -c ^row1 in)" ]
    { printf 'x%.0s' {1..65535}; echo y; printf 'x%.0s' {1..65535}; echo z; } >in
    [ "$(gpuhist count --all --where '0~^x+y$' in)" = 1 ]
    printf '%s\n' '{"a":"x\u0000y"}' '{"a":"x\ny"}' '{"a":"x"}' '{"a":"caf\u00e9"}' >in
    [ "$(gpuhist count --all --jsonl --where 'a~x[^a]y$' in)" = 2 ]
    [ "$(gpuhist count --all --jsonl --where 'a~x.y' in)" = 1 ] # a point does not match NUL
    [ "$(gpuhist count --all --jsonl --where 'a~^x$' in)" = 1 ]
    [ "$(gpuhist count --all --jsonl --where $'a~caf\xc3\xa9' in)" = 1 ]
}

# bats test_tags=slow
@test "--where with regular expressions that are too large is one line, and soon" {
    refused() { # refused PATTERN
        run -2 --separate-stderr timeout 20 "$GPUHIST" count --where "1:text~$1" <<<aac
        [[ $stderr == *"a regular expression has at most 100 parentheses inside each other, and 4000 characters"* ]]
        [ "${#stderr_lines[@]}" = 1 ]
    }
    taken() { # taken PATTERN COUNT
        [ "$(timeout 20 "$GPUHIST" count --where "1:text~$1" <<<aac 2>/dev/null)" = "$2" ]
    }
    repeat() { printf "$1%.0s" $(seq "$2"); } # TEXT N
    taken "$(repeat '(' 100)a$(repeat ')' 100)" 1
    refused "$(repeat '(' 101)a$(repeat ')' 101)"
    refused "$(repeat '(' 60000)"
    taken "$(repeat 'a|' 1999)b" 1
    refused "$(repeat 'a|' 2000)b"
    taken 'a{4000}' 0
    refused 'a{4001}'
    taken '(a{1,2}){1,1300}c' 1
    refused '(a{1,2}){1,1400}c'
    refused '((((x{255}){255}){255}){255})'
    refused '((x{1,200}){,200}){200,}'
    refused '((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+'
    taken '((((((((a+)+)+)+)+)+)+)+)c' 1
    # text in brackets or after a backslash is not a group
    taken "$(repeat '[](]?' 200)a" 1
    taken "$(repeat '[^](]?' 200)" 1
    taken "$(repeat '[[:alpha:](]?' 200)" 1
    taken "$(repeat '[[.-.](]?' 200)" 1
    taken "$(repeat '\\(?' 200)" 1
    taken "$(repeat 'a?' 100)$(repeat '[b{9999}]?' 100)" 1
}

@test "--where with what is no regular expression, or no string" {
    cd "$BATS_TEST_TMPDIR"
    echo a >in
    refused 2 "invalid --where '1~(a': '(a' is not an extended regular expression: Unmatched ( or \(" \
        count --all --where '1~(a' in
    refused 2 "'[a' is not an extended regular expression: " count --all --where '1!~[a' in
    refused 2 "^=, *=, ~ and !~ are for strings (COLUMN:text)" count --all --where '1:int~1' in
    refused 2 "of strings also ^= begins with, *= contains, ~ and !~ a regular expression" count --all --where '1~' in
    run -0 --separate-stderr gpuhist count --all --where '1~^b' in
    [[ $stderr == *"note: no row has 1 ~ '^b'"* ]]
}

@test "--where of addresses: prefixes within others, and beside them" {
    cd "$BATS_TEST_TMPDIR"
    printf '%s\n' 9.255.255.255 10.0.0.0 10.1.2.3 10.200.0.1 10.255.255.255 11.0.0.0 11.0.0.1 ::1 >in
    run -0 gpuhist reduce count -f 1:ip --where 1:ip=10.0.0.0/8,10.1.0.0/16 in
    [ "$output" = 4 ]
    run -0 gpuhist reduce count -f 1:ip --where 1:ip=10.1.0.0/16,10.0.0.0/8,11.0.0.0/32 in
    [ "$output" = 5 ]
    run -0 gpuhist reduce count -f 1:ip --where 1:ip!=10.0.0.0/8,10.1.0.0/16 in
    [ "$output" = 4 ]
}

@test "advice about arrays of JSON, long decimals and other notations; a name that begins with #" {
    cd "$BATS_TEST_TMPDIR"
    for in in '[{"a":1},'$'\n''{"a":2}]' $'[\n {"a":1}\n]' '[{"a":1}]'; do
        printf '%s\n' "$in" >in
        for options in '--jsonl -f a' '--jsonl -f b:text'; do
            # shellcheck disable=SC2086
            refused 1 "(try jq -c '.[]', which writes the objects of an array as lines)" uniq $options
        done
    done
    refused 1 "(try jq -c '.[]', which writes the objects of an array as lines for --jsonl)" uniq -f 1:int
    echo 0.00092967512345678912 >in
    refused 1 "(try COLUMN:round.9)" uniq -f 1:.9
    printf '1_000 1\n5 2\n' >in
    run -0 --separate-stderr gpuhist uniq -f 2 --where '1>3' --invalid ignore in
    [ "$stderr" = "gpuhist: note: skipped 1 invalid value, a number in another notation, such as 1e6 or 1,234" ]
    for row in '# of items,b;--csv' $'# of items\tb;-q' '#of,b;--csv'; do
        printf '%s\n' "${row%;*}" >in
        if [[ $row = *csv ]]; then echo 3,4; else printf '3\t4\n'; fi >>in
        name=${row%%[,$'\t']*}
        [ "$(gpuhist uniq "${row#*;}" -f "$name" in)" = $'3\t1' ]
        [ "$(gpuhist uniq "${row#*;}" -f "${name#\#}" in)" = $'3\t1' ] || [[ $name = *' '* ]]
    done
}

@test "--csv with texts alone: a note that line 1 is a row, unless it is said to be none" {
    cd "$BATS_TEST_TMPDIR"
    printf 'city,n\nOslo,1\nRom,2\n' >in
    local note='gpuhist: note: line 1 is read as a row: --header=1 skips a header, and --header=0 says that there is none'
    for options in 'uniq -f 1:text' 'count --all --by 1:text' 'count --all --where 1:text!=x' \
        'reduce distinct -f 1:text,2:text'; do
        # shellcheck disable=SC2086
        run -0 --separate-stderr gpuhist $options --csv in
        [ "$stderr" = "$note" ]
        for quiet in --header=0 --header=1 -q; do
            # shellcheck disable=SC2086
            run -0 --separate-stderr gpuhist $options --csv $quiet in
            [ -z "$stderr" ]
        done
    done
    for options in 'uniq -f city:text' 'uniq -f 1:text --header' 'uniq -f 1:text /dev/null' 'uniq -d , -f 1:text' \
        'uniq -f 1:text --where 2>=0 --invalid ignore'; do
        local csv=--csv
        [[ $options != *'-d'* ]] || csv=
        # shellcheck disable=SC2086
        run -0 --separate-stderr gpuhist $options $csv in
        [[ $stderr != *'line 1'* || $options = *null ]]
    done
}

@test "a condition answers the question that was typed, and advice asks the same one" {
    [ -n "${PYTHON:-}" ] || skip "no python3"
    run -0 "$PYTHON" "$srcdir/tests/conditions.py" "$GPUHIST" $((RANDOM))
}
