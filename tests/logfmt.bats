#!/usr/bin/env bats
# Lines of logfmt. The oracle is logfmt.py; the laws of rows (laws.bats) have more.

load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

@test "lines of logfmt as Python reads them" {
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
    command -v zstd >/dev/null || skip "no zstd"
    "$PYTHON" "$srcdir/tests/logfmt.py" "$GPUHIST" 1 150
}

# fails MESSAGE ARG...: asserts an error that begins with MESSAGE, for the line on standard input.
fails() {
    run --separate-stderr gpuhist "${@:2}"
    echo "$stderr"
    assert_failed 1 "standard input:1: $1"
}

@test "lines that are no logfmt, and values that are none" {
    fails "invalid logfmt line: unterminated quoted value" uniq --logfmt -f a <<<'a=1 b="x'
    fails "invalid logfmt line: unterminated quoted value" uniq --logfmt -f a <<<'a=1 b="x\"'
    fails "invalid logfmt line: text after a quoted value" uniq --logfmt -f a <<<'a=1 b="x"y'
    fails "invalid logfmt line: quote inside a value" uniq --logfmt -f a <<<'a=1 b=x"y'
    fails "invalid logfmt line: invalid escape in a value" uniq --logfmt -f a <<<'a=1 b="\/"'
    fails "invalid logfmt line: quote in a key" uniq --logfmt -f a <<<'a=1 "b"=2'
    fails "invalid logfmt line: quote in a key (try --jsonl)" uniq --logfmt -f a <<<'{"a":1}'
    fails "invalid logfmt line: missing key" uniq --logfmt -f a <<<'a=1 =2'
    fails "missing key 'levl' (try --missing skip, or did you mean 'level'?)" uniq --logfmt -f levl <<<'ready level=1 b="levle=1"'
    fails "missing key 'd+u' (try A+B:time, as only timestamps are joined)" uniq --logfmt -f d+u <<<'d=1 u=2'
    fails "invalid" uniq --logfmt -f ready <<<'a=1 ready'
    fails "invalid timestamp '2026-11-21 x'" uniq --logfmt -f d+t:time <<<'d=2026-11-21 t=x'
}

@test "options that do not go with --logfmt, and keys that are none" {
    usage() { # usage TEXT ARG...
        run --separate-stderr gpuhist "${@:2}" </dev/null
        assert_failed 2 "$1"
    }
    usage "--logfmt requires columns: -f KEY" uniq --logfmt
    usage "--jsonl cannot be combined with --logfmt" uniq --logfmt --jsonl -f a
    for option in --csv '-d ,' --header; do
        # shellcheck disable=SC2086
        usage "--logfmt cannot be combined with --csv, --delimiter and --header" uniq --logfmt -f a $option
    done
    for key in 'a b' '"a=b"' '"a""b"'; do
        usage ": it is empty, or has blanks, = or quotes" uniq --logfmt -f "$key"
    done
}

@test "times, addresses and texts, quoted or not; keys that are numbers; comments; a mark; NUL" {
    printf '\xef\xbb\xbfat=2026-11-21T13:45:02Z 3=7 from=10.0.0.1 to="x y"\n# at=\n\n%s\n' \
        'to="a\tb" at="2026-11-21 13:45:40" 3="7 " from="::1"' >in
    [ "$(gpuhist uniq --logfmt --comment '#' -f at:time/1m in)" = $'2026-11-21T13:45:00Z\t2' ]
    [ "$(gpuhist uniq --logfmt --comment '#' -f 3 in)" = $'7\t2' ]
    [ "$(gpuhist uniq --logfmt --comment '#' -f from:ip --where 'to:text=x y' in)" = $'10.0.0.1\t1' ]
    [ "$(gpuhist uniq --logfmt --comment '#' -f to:text in)" = $'a\\tb\t1\nx y\t1' ]
    [ "$(printf 'd=2026-11-21 t=13:45:02 a\nd="2026-11-21" t=13:45\n' | gpuhist uniq --logfmt -f d+t:time/1h)" = \
        $'2026-11-21T13:00:00Z\t2' ]
    [ "$(printf 'a=1\0b=3\na=2\0' | gpuhist reduce sum -z --logfmt -f a 2>&1 | tail -n 1)" = 3 ]
    [ "$(gpuhist stalin-sort --logfmt -f n:.1 <<<$'n=1.5\nn="1.0"\nx n=2')" = $'1.5\n2.0' ]
    run --separate-stderr gpuhist --logfmt -f n --bins 3 --outside abort <<<$'n=1\nn=5'
    assert_failed 1 "standard input:2: value 5 is out of range"
}
