#!/usr/bin/env bats
# Missing values: --missing, and their conditions. The oracle is missing.py.

load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

@test "missing values as a model has them" {
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
    "$PYTHON" "$srcdir/tests/missing.py" "$GPUHIST" 1 150
}

@test "the message of a missing value names --missing skip" {
    told() { # told MESSAGE ARG...: asserts the error MESSAGE for the line on standard input
        run --separate-stderr gpuhist "${@:2}"
        echo "$stderr"
        assert_failed 1 "standard input:1: $1"
        run -0 --separate-stderr gpuhist uniq -f x --logfmt --missing skip <<<$'x=1\nz'
        [ "$stderr" = "gpuhist: note: 1 row with a missing value left out" ]
    }
    told "missing JSON member 'ms' (try --missing skip)" uniq --jsonl -f ms:int <<<'{"a":1}'
    told "invalid integer 'null' (try --missing skip)" uniq --jsonl -f ms:int <<<'{"ms":null}'
    told "invalid string 'null' (try --missing skip)" uniq --jsonl -f ms:text <<<'{"ms":null}'
    told "invalid integer '' (try --missing skip)" uniq --logfmt -f ms:int <<<'ms='
    told "invalid integer '-' (try --missing skip)" uniq --clf -f bytes <<<'a - - [t] "r" 304 -'
    told "missing field 2: the line has 1" uniq -f 2 --missing skip <<<'1'
}

@test "kinds are found beside missing values, joined times, states, stalin-sort, -q" {
    printf '{"a":null,"b":"x"}\n{"a":3}\n{"a":""}\n{"a":1.5}\n' >in
    [ "$(gpuhist reduce sum --jsonl -f a --missing skip -q in 2>&1)" = 4.5 ]
    [ "$(gpuhist stalin-sort --jsonl -f a:.1 --missing skip -q in)" = 3.0 ]
    [ "$(gpuhist uniq --jsonl -f a:.1 --where a= --missing skip -q in 2>&1)" = "" ]
    gpuhist uniq --jsonl -f a:.1 --where 'a!=' --save s -o none in
    [ "$(gpuhist merge s s)" = $'1.5\t2\n3.0\t2' ]
    printf 'd,t,n\n2026-11-21,13:45,1\n2026-11-21,,2\n,13:45,3\n' >moments
    [ "$(gpuhist uniq --csv -f n --where 'd+t:time=' moments)" = $'2\t1\n3\t1' ]
    [ "$(gpuhist uniq --csv -f d+t:time/1h --missing skip moments 2>&1)" = \
        $'2026-11-21T13:00:00Z\t1\ngpuhist: note: 2 rows with missing values left out' ]
    [ "$(printf '1.50,x\n,y\n2,z\n' | gpuhist stalin-sort -d , -f 1:.2 --missing skip -q)" = $'1.50\n2' ]
}

@test "a row with several missing values is left out once, and counted once" {
    printf '{}\n{"a":1}\n{"b":2}\n{"a":1,"b":2}\n{}\n' >in
    for threads in 1 4; do
        run -0 --separate-stderr gpuhist reduce count --jsonl -f a:int,b:int --missing skip --threads $threads in
        [ "$output" = $'a\t2\nb\t2' ]
        [ "$stderr" = "gpuhist: note: 4 rows with missing values left out" ]
    done
}

@test "what has no missing values" {
    run --separate-stderr gpuhist uniq --missing skip <<<1
    assert_failed 2 "--missing skip requires columns of text"
    run --separate-stderr gpuhist uniq --record 2 -f u8@0 --where 'u8@1=' <<<1
    assert_failed 2 "--where 'u8@1=' is of missing values, which binary input has none of"
}
