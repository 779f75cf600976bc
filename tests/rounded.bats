#!/usr/bin/env bats
# Numbers with an exponent, and numbers that are rounded (round.N).

load helpers

@test "numbers are exact or rounded as Python's Decimal has them" {
    [ -n "${PYTHON:-}" ] || skip "no python3"
    run -0 "$PYTHON" "$srcdir/tests/rounded.py" "$GPUHIST" $((RANDOM))
}

@test "round.N as values, groups and conditions, in states, and beside another engine's" {
    cd "$BATS_TEST_TMPDIR"
    printf '%s\n' 0.0050278913817449365 1.5e-3 2.5e-6 -1E-7 12 >in
    for engine in ${ENGINES:-cpu}; do
        run -0 gpuhist reduce count,sum,min,max,p50 --decimals round.6 --engine "$engine" in
        [ "$output" = $'count\t5\nsum\t12.006530\nmin\t0.000000\nmax\t12.000000\np50\t0.001500' ]
    done
    [ "$(gpuhist reduce count --by 1:round.2 in)" = $'0.00\t3\n0.01\t1\n12.00\t1' ]
    [ "$(gpuhist count --all --where '1:round.2=1e-2' in)" = 1 ]
    [ "$(gpuhist reduce sum --jsonl -f a:round.1,b:int <<<'{"a":0.25,"b":1e3}')" = $'a\t0.2\nb\t1000' ]
    [ "$(printf '2.55\n2.45\n3\n' | gpuhist stalin-sort --decimals round.1)" = $'2.55\n3' ]
    gpuhist uniq --decimals round.6 --save state -o whole in
    gpuhist merge state state | cmp - <(awk '{ print $1 "\t" 2 * $2 }' whole)
    gpuhist --decimals round.3 --width 5e-3 in >bins
    grep -qx $'0.005\t0.010\t1' bins
}

@test "binary floats in records, arrays and groups, and what is invalid" {
    cd "$BATS_TEST_TMPDIR"
    [ -n "${PYTHON:-}" ] || skip "no python3"
    "$PYTHON" -c 'import struct
nan, inf = float("nan"), float("inf")
open("in", "wb").write(struct.pack("<4d", 1.5, nan, 0.25, inf))
open("rows", "wb").write(b"".join(struct.pack("<dfi", *row) for row in ((1.5, 2.0, 7), (nan, 0.5, 7), (0.25, nan, 7), (2, 9, 8))))'
    refused 1 "the number nan at byte 8 of the input is invalid" reduce sum -t f64 --decimals round.1 in
    for how in fail:1 warn:0 ignore:0; do
        run -"${how#*:}" --separate-stderr gpuhist reduce sum -t f64 --decimals round.1 --invalid "${how%:*}" in
        [ "$output" = 1.7 ]
        [[ $stderr == "gpuhist: note: 2 numbers skipped, infinite, out of range or none, from byte 8 of the input on"* ]]
    done
    run -0 gpuhist reduce count,sum --record 16 -f f64@0:round.2,f32@8:round.1 --invalid ignore -q rows
    [ "$output" = $'f64@0\tcount\t3\nf64@0\tsum\t3.75\nf32@8\tcount\t3\nf32@8\tsum\t11.5' ]
    run -0 gpuhist reduce sum --record 16 -f i32@12 --by f32@8:round.0 --invalid ignore -q rows
    [ "$output" = $'0\t7\n2\t7\n9\t8' ]
    run -0 gpuhist count --all --record 16 -f i32@12 --where 'f64@0:round.2>0.3' --invalid ignore -q rows
    [ "$output" = 2 ]
    refused 2 "values of f64 are rounded (try --decimals round.6)" uniq -t f64 in
    refused 2 "f64@0 of f64 are rounded (try 'f64@0:round.6')" uniq --record 16 -f f64@0:.2 rows
    refused 2 "round.N is of text and of floats (-t f16, bf16, f32, f64), not of i32" uniq --binary --decimals round.1 in
    refused 2 "stalin-sort does not support floats" stalin-sort -t f64 --decimals round.1 in
    if "$PYTHON" -c 'import numpy' 2>/dev/null; then
        "$PYTHON" -c 'import numpy as np; np.save("a.npy", np.array([[1.5, 2], [0.25, 3]], ">f4"))'
        [ "$(gpuhist reduce sum -f 1:round.1 a.npy)" = 1.7 ]
        refused 2 "1 of f32 are rounded (try '1:round.6')" reduce sum -f 1 a.npy
        [ "$(gpuhist uniq --save s -t f64 --decimals round.1 --invalid ignore -q in && gpuhist merge s)" = $'0.2\t1\n1.5\t1\n0.2\t1\n1.5\t1' ]
    fi
}

refused() { # refused STATUS MESSAGE ARGUMENT...
    run --separate-stderr gpuhist "${@:3}"
    assert_failed "$1" "$2"
}

@test "a number that is not read names the kind or option that reads it" {
    cd "$BATS_TEST_TMPDIR"
    echo 1.5e-3 >in
    refused 1 "in:1: invalid integer '1.5e-3' (try --decimals 4)" reduce sum in
    refused 1 "in:1: invalid number '1.5e-3' (try COLUMN:.4)" reduce sum -f 1:.2 in
    refused 2 "the values of '1' are numbers with exponents (try '1:round.4')" reduce sum -f 1 in
    refused 2 "the values of '1' are numbers with exponents (try '1:round.4' or '1:text')" uniq -f 1 in
    refused 2 "--where '1>0': the values are numbers with exponents (try '1:round.4>0')" count --all --where '1>0' in
    refused 2 "invalid --decimals 'round.19': expected a number from 0 to 18, or round.6 to round numbers" uniq --decimals round.19 in
    refused 2 "invalid --decimals 'round': expected" uniq --decimals round in
    refused 2 "and, or and xor require integers" reduce xor -f 1:round.2 in
    echo 1e19 >in
    refused 1 "in:1: '1e19' is out of range for i64 with --decimals 0 (try -t u64)" reduce sum --decimals round.0 in
    refused 1 "in:1: '1e19' is out of range for i64 (try -t u64)" reduce sum -f 1:int in
    echo 0.0050278913817449365 >in
    refused 2 "the values of '1' are numbers of more digits than are read exactly (try '1:round.8' or" uniq -f 1 in
    # a key of found integers has only one notation
    { seq -f %.0f 20000 && echo 12e4; } >in
    refused 1 "in:20001: '12e4' is not written as the first values of '1', whose type was found (try '1:int' or '1:text')" uniq -f 1 in
    [ "$(gpuhist reduce sum -f 1 in)" = 200130000 ]
    [ "$(gpuhist reduce max -f 1:int in)" = 120000 ]
}
