#!/usr/bin/env bats
# Web logs, --clf. The oracle is clf.py.

load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

@test "lines of web logs as Python reads them" {
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
    command -v zstd >/dev/null || skip "no zstd"
    "$PYTHON" "$srcdir/tests/clf.py" "$GPUHIST" 1 120
}

line='192.0.2.7 - ann [21/Nov/2026:13:45:02 +0100] "GET /a?b=c HTTP/1.1" 200 512 "-" "a \"b\" c" 0.25 x'

# fails MESSAGE ARG...: asserts an error that begins with MESSAGE, for the line on standard input.
fails() {
    run --separate-stderr gpuhist "${@:2}"
    echo "$stderr"
    assert_failed 1 "standard input:1: $1"
}

@test "every column of a line, and its kind" {
    while IFS='|' read -r column value; do
        [ "$(gpuhist uniq --clf -f "$column" <<<"$line")" = "$value"$'\t1' ] || { echo "$column"; false; }
    done <<'END'
ip|192.0.2.7
ident|-
user|ann
time|2026-11-21T12:45:02Z
time:localtime/1h|2026-11-21T13:00:00
request|GET /a?b=c HTTP/1.1
method|GET
path|/a
query|b=c
protocol|HTTP/1.1
status|200
bytes|512
referer|-
agent|a "b" c
10|0.25
11|x
ip:ip/24|192.0.2.0/24
END
    [ "$(gpuhist reduce sum --clf -f bytes,10 --where 'status>=200' --where 'path^=/' <<<"$line")" = $'bytes\t512\n10\t0.25' ]
    [ "$(gpuhist uniq --clf -f path --weight bytes --by user <<<"$line")" = $'ann\t/a\t512' ]
    gpuhist uniq --clf -f path --by time --save s -o none <<<"$line"
    [ "$(gpuhist merge s s)" = $'2026-11-21T12:45:02Z\t/a\t2' ]
}

@test "lines that are no web log, and values that are missing" {
    fails "invalid log line: fewer than seven fields" uniq --clf -f ip <<<'a - - [t] "r" 200'
    fails "invalid log line: its fourth field, the time, is not in brackets" uniq --clf -f ip \
        <<<'example.org:80 192.0.2.7 - - [t] "r" 200 1'
    fails "invalid log line: its fifth field, the request, is not in quotes" uniq --clf -f ip <<<'a - - [t] r 200 1'
    fails "invalid log line: unterminated quote" uniq --clf -f ip <<<'a - - [t] "r" 200 1 "x\"'
    fails "invalid log line: something follows a closing quote" uniq --clf -f ip <<<'a - - [t] "r"x 200 1'
    fails "invalid log line: unterminated bracket" uniq --clf -f ip <<<'a - - [t "r" 200 1'
    fails "missing field 'agent'" uniq --clf -f agent <<<'a - - [t] "r" 200 1'
    fails "invalid integer '-' (try --missing skip)" uniq --clf -f bytes <<<'a - - [t] "r" 304 -'
    fails "missing field '12'" uniq --clf -f 12 <<<"$line"
    # a dash after the agent: a string among strings or if it is the only value, missing among numbers
    printf 'a - - [t] "r" 200 1 "-" "b" %s\n' '- - 0.5' '- x -' '"-" "-" 0.25' >log
    [ "$(gpuhist uniq --clf -f 10 log)" = $'-\t3' ]
    [ "$(gpuhist uniq --clf -f 11 log)" = $'-\t2\nx\t1' ]
    run --separate-stderr gpuhist reduce sum --clf -f 12 log
    assert_failed 1 "log:2: invalid number '-' (try --missing skip)"
    [ "$(gpuhist reduce sum --clf -f 12 --missing skip -q log)" = 0.75 ]
    [ "$(gpuhist count --clf --where 12= log)" = 1 ]
}

@test "columns that are none, and options that do not go with --clf" {
    usage() { # usage TEXT ARG...
        run --separate-stderr gpuhist "${@:2}" </dev/null
        echo "$stderr"
        assert_failed 2 "$1"
    }
    usage "--clf requires columns: -f NAME, such as -f status" uniq --clf
    usage "with --clf, field 4 is named time" uniq --clf -f 4
    usage "with --clf, field 9 is named agent; the ninth word, which -f 9 reads without --clf, is named status" uniq --clf -f 9
    usage "(did you mean 'referer'?)" uniq --clf -f referrer
    usage "unknown column 'time/1h' (try time:time/1h)" uniq --clf -f time/1h
    usage "unknown column 'bytes/1000' (try bytes:int/1000)" uniq --clf -f status --by bytes/1000
    usage "unknown column 'ip/24' (try ip:ip/24)" count --clf --where ip/24=10.0.0.0
    usage "unknown column 'path/3': --clf has ip ident" uniq --clf -f path/3
    usage "invalid column '-1': with --clf, fields after the agent are counted from the left (try 10)" uniq --clf -f -1
    usage "unknown column '0': --clf has ip ident" uniq --clf -f ip --by 0
    usage "--jsonl cannot be combined with --clf" uniq --clf --jsonl -f ip
    usage "--clf cannot be combined with --csv, --delimiter and --header" uniq --clf -f ip --csv
}
