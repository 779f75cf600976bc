#!/usr/bin/env bats
# Notations of numbers in text: --base and --decimals. Oracles are printf, sort and Python's decimal
# module.

load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

# assert_refused TOKEN ARG...: asserts that TOKEN, in the second line, is invalid.
assert_refused() {
    run --separate-stderr gpuhist reduce sum --text "${@:2}" < <(printf '1\n%s\n' "$1")
    assert_failed 1 "standard input:2: invalid integer '$1'"
}

# assert_beyond REASON TOKEN ARG...: asserts that the number in the second line is out of range for the type.
assert_beyond() {
    run --separate-stderr gpuhist reduce sum --text "${@:3}" < <(printf '1\n%s\n' "$2")
    assert_failed 1 "standard input:2: '$2' is out of range for $1"
    [ "$stderr" = "gpuhist: standard input:2: '$2' is out of range for $1" ]
}

# on_every_reader FILE ARG...: prints gpuhist's output on a file; asserts the same with chunks cut
# everywhere, from a pipe and compressed, on every engine.
on_every_reader() {
    local file=$1 threads engine
    shift
    gpuhist "$@" --engine cpu "$file" >all
    zstd -qf "$file" -o "$file.zst"
    for engine in $ENGINES; do
        for threads in 1 5; do
            gpuhist "$@" --engine "$engine" --threads $threads --chunk-size 4096 "$file" | cmp - all
            gpuhist "$@" --engine "$engine" --threads $threads "$file.zst" | cmp - all
            gpuhist "$@" --engine "$engine" --threads $threads --chunk-size 4097 < <(cat "$file") | cmp - all
        done
    done
    cat all
}

# make_ids: makes hexadecimal ids in every form, and the same ids as decimal integers.
make_ids() {
    awk 'BEGIN { srand(3); for (i = 0; i < 5000; i++) print int(40000 * rand()) - 9000 }' >decimal
    awk '{ sign = $1 < 0 ? "-" : NR % 7 ? "" : "+"; prefix = NR % 3 ? "" : NR % 2 ? "0x" : "0X"
        printf (NR % 5 ? "%s%s%x\n" : "%s%s%08X\n"), sign, prefix, $1 < 0 ? -$1 : $1 }' decimal >hex
}

@test "--base 16: the values of hexadecimal tokens" {
    make_ids
    sort -n decimal | uniq -c | awk '{ print $2 "\t" $1 }' >counts
    on_every_reader hex --base 16 --width 1 | cmp counts -
    gpuhist reduce decimal >reductions
    on_every_reader hex reduce --base 16 | cmp reductions -
    awk '{ print "x, " $1 " ,y" }' hex >fields
    on_every_reader fields reduce --base 16 -d , -f -2 | cmp reductions -
    tr -d , <fields >words
    on_every_reader words reduce --base 16 -f 2 | cmp reductions -
    gpuhist reduce --base 10 decimal | cmp reductions -
    for engine in $ENGINES; do
        [ "$(gpuhist count --engine "$engine" --lt 0 --base 16 hex)" = "$(grep -c -- - decimal)" ]
    done
}

@test "--base 16: tokens that are not hexadecimal, and the limits of types" {
    local bad
    for bad in 0x x x1 0xx1 00x1 1g 0x1.8 1h 0x- --1 0x0x1 $'\303\251'; do
        assert_refused "$bad" --base 16
        assert_refused "$bad" --base 16 -f 1
        assert_refused "$bad" --base 16 -d ,
    done
    printf '7f -80\n' >i8
    [ "$(gpuhist reduce sum --base 16 -t i8 i8)" = -1 ]
    assert_beyond 'i8 (try -t i64)' 80 --base 16 -t i8
    assert_beyond 'i8 (try -t i64)' -81 --base 16 -t i8
    assert_beyond 'u64 (try -t i64)' -1 --base 16 -t u64
    [ "$(gpuhist reduce sum --base 16 -t u64 < <(echo 0xffffFFFFffffFFFF))" = 18446744073709551615 ]
    assert_beyond 'u64' 10000000000000000 --base 16 -t u64
    assert_beyond 'i64 (try -t u64)' 8000000000000000 --base 16
    assert_beyond 'i64 (try -t u64)' 0XFFFFffffFFFFffff --base 16
    assert_beyond i64 -0x8000000000000001 --base 16
    assert_refused 0xfffffffffffffffffg --base 16
    [ "$(gpuhist reduce sum --base 16 < <(printf '0x%09999d10' 0))" = 16 ]
    run --separate-stderr gpuhist reduce sum --base 16 < <(printf '%09999dx10' 0)
    assert_failed 1 "standard input:1: invalid integer '00"
    run --separate-stderr gpuhist --base 8 hex
    assert_failed 2 "invalid --base '8': expected 10 or 16"
    run --separate-stderr gpuhist --base 16 --binary hex
    assert_failed 2 " requires text input, but --binary requires binary input"
}

# bats test_tags=gpu
@test "gpu: decimals and hexadecimal text in chunks of every feeder" {
    skip_without_gpu
    local n=3000000
    awk -v n=$n 'BEGIN { for (i = 0; i < n; i++) printf "%d.%02d 0x%x\n", i, i % 100, i }' >in
    for size in 4M 1000003; do
        run -0 gpuhist reduce sum -f 1 --decimals 3 --engine cuda --chunk-size $size in
        [ "$output" = $((n * (n - 1) / 2 + n * 99 / 200)).000 ]
        run -0 gpuhist reduce count,sum -f 2 --base 16 --engine cuda --chunk-size $size < <(cat in)
        [ "$output" = $'count\t'"$n"$'\nsum\t'$((n * (n - 1) / 2)) ]
    done
}

@test "--base 16: stalin-sort writes tokens as they are" {
    make_ids
    paste -d ' ' decimal hex | awk 'NR == 1 || $1 >= last { print $2 >"kept"; last = $1; next }
        { print $2 >"gone" }'
    printf 'a,0X05 ,b\na, 0005,c\na,x,\na,4,\na,+6\n' >table
    for engine in $ENGINES; do
        for threads in 1 5; do
            for chunk in 4096 64K; do
                gpuhist stalin-sort --engine "$engine" --base 16 --chunk-size $chunk --threads $threads \
                    --purged purged hex | cmp kept -
                cmp gone purged
                gpuhist stalin-sort --engine "$engine" --base 16 --chunk-size $chunk --threads $threads hex | cmp kept -
            done
        done
        run -0 --separate-stderr gpuhist stalin-sort --engine "$engine" --base 16 -d , -f 2 --invalid ignore --strict table
        [ "$output" = $'0X05\n+6' ]
        run -1 --separate-stderr gpuhist stalin-sort --engine "$engine" --base 16 -d , -f 2 table
        [ "$output" = $'0X05\n0005' ]
    done
}

# bats test_tags=later
@test "--decimals: bins, quantiles, counts and reductions, as Python's decimal module has them" {
    [ -n "${PYTHON:-}" ] || skip "no python3"
    # shellcheck disable=SC2086
    run -0 "$PYTHON" "$srcdir/tests/decimals.py" "$GPUHIST" $((RANDOM)) $ENGINES
}

# assert_no_number TOKEN ARG...: like assert_refused.
assert_no_number() {
    run --separate-stderr gpuhist reduce sum "${@:2}" < <(printf '1.5\n%s\n' "$1")
    assert_failed 1 "standard input:2: invalid number '$1'"
}

@test "--decimals: tokens that are not numbers, and the limits of types" {
    local bad
    for bad in 1e 1e5.0 e5 1.5e-3 1e+ 1e5x 1.2.3 1..2 . -. +. 0.1234 1.0001 1,5 0x10 NaN inf 1.5- --1.5 1.-5; do
        assert_no_number "$bad" --decimals 3
        assert_no_number "$bad" --decimals 3 -f 1
    done
    assert_no_number 1.0001 --decimals 3 -d ,
    run --separate-stderr gpuhist reduce sum --decimals 1 <<<-0.25
    assert_failed 1 "standard input:1: invalid number '-0.25' (try --decimals 2)"
    run --separate-stderr gpuhist --width 0.5 <<<0.25
    assert_failed 2 "invalid --width '0.5': expected a number such as 10, 500 or 1Mi, or 0.5 with --decimals 1 (try"
    run --separate-stderr gpuhist --range 0:1.5 <<<0.25
    assert_failed 2 "invalid --range '0:1.5': expected auto, or LO:HI, two integers, or numbers with --decimals (try"
    run --separate-stderr gpuhist count --ge 0.5 <<<0.25
    assert_failed 2 "invalid --ge '0.5': expected an integer such as 500, -3 or 5M, or 0.5 with --decimals 1 (try"
    printf '%s\n' 12.7 -12.8 1.10 .5 5. +0.000 >i8
    [ "$(gpuhist reduce sum --decimals 1 -t i8 i8)" = 6.5 ]
    assert_beyond 'i8 with --decimals 1 (try -t i64)' 12.8 --decimals 1 -t i8
    assert_beyond 'i8 with --decimals 1 (try -t i64)' -12.9 --decimals 1 -t i8
    assert_beyond 'u8 with --decimals 1 (try -t i64)' -0.1 --decimals 1 -t u8
    [ "$(gpuhist reduce max --decimals 18 -t u64 < <(echo 18.446744073709551615))" = 18.446744073709551615 ]
    assert_beyond 'u64 with --decimals 18' 18.446744073709551616 --decimals 18 -t u64
    [ "$(gpuhist reduce min --decimals 18 < <(echo -9.223372036854775808))" = -9.223372036854775808 ]
    assert_beyond 'i64 with --decimals 18 (try -t u64)' 9.223372036854775808 --decimals 18
    assert_beyond 'i64 with --decimals 18 (try -t u64)' 10 --decimals 18
    assert_beyond 'i64 with --decimals 3' 99999999999999999999.0000 --decimals 3
    assert_no_number 99999999999999999999.0001 --decimals 3
    # longer than a chunk
    [ "$(gpuhist reduce sum --decimals 2 --chunk-size 4096 < <(printf '%09999d.5%09999d' 7 0))" = 7.50 ]
    run --separate-stderr gpuhist reduce sum --decimals 2 --chunk-size 4096 < <(printf '%09999d.5%09999d' 7 1)
    assert_failed 1 "standard input:1: invalid number '0000000000000000000000000000000000000000..."
    run -1 --separate-stderr gpuhist reduce sum --decimals 1 --invalid fail < <(printf '1.5\n1_000\n')
    [ "$output" = 1.5 ]
    [ "$stderr" = $'gpuhist: standard input:2: invalid number \'1_000\' (try man gpuhist-formats, UNSUPPORTED NUMBERS)\ngpuhist: 1 invalid number in the input' ]
}

@test "--decimals: plots and scripts, values outside the bins" {
    printf '%s\n' 0.5 0.75 -1 0.5 >in
    COLUMNS=30 LC_ALL=C run -0 gpuhist --decimals 2 --width 0.5 --plot --quantiles 50 in
    [ "${lines[0]}" = "-1.0..-0.5  1  #####" ]
    [ "${lines[-1]}" = "50%  0.50..1.00" ]
    run -0 gpuhist --decimals 2 --width 0.01 --format gnuplot in
    # shellcheck disable=SC2016
    [[ $output == *$'\n-1.00\t1\n0.50\t2\n0.75\t1\nEOD\n'*'plot $data using 1:($2):(0.01) with boxes' ]]
    for engine in $ENGINES; do
        run --separate-stderr gpuhist --engine "$engine" --decimals 2 --range 0:0.6 --outside abort in
        assert_failed 1 "in:2: value 0.75 is out of range"
    done
    run -0 gpuhist --decimals 1 --bins 6 -q < <(printf '0.5\n0.3\n0.6\n')
    [ "$output" = $'0.3\t1\n0.5\t1' ]
    run -0 gpuhist --decimals 1 --log10 < <(printf '0.5\n3\n-20.1\n')
    [ "$output" = $'-99.9\t-9.9\t1\n0.1\t1.0\t1\n1.0\t10.0\t1' ]
}

@test "--decimals: stalin-sort writes numbers as they are" {
    printf '%s\n' +1.5 1.25 01.50 2 1.999 2.0000 .5 13. >in
    for engine in $ENGINES; do
        run -0 gpuhist stalin-sort --engine "$engine" --decimals 3 in
        [ "$output" = $'+1.5\n01.50\n2\n2.0000\n13.' ]
        run -0 gpuhist stalin-sort --engine "$engine" --decimals 3 --strict --purged - -o /dev/null in
        [ "$output" = $'1.25\n01.50\n1.999\n2.0000\n.5' ]
    done
}

@test "--decimals: states carry them" {
    local operation
    printf '1.5\n-0.25\n' >in
    for operation in 'reduce sum,mean' 'reduce median' uniq '--width 0.5' '--range -1:2 --width 0.5' '--log2' '--edges -1,0,1.75' \
        'count --ge 1.5 --any-of 7.5,1.5'; do
        # shellcheck disable=SC2086
        gpuhist $operation --decimals 2 in in >result
        # shellcheck disable=SC2086
        gpuhist $operation --decimals 2 in --save a.state >/dev/null
        gpuhist merge a.state a.state | cmp result -
    done
    gpuhist reduce sum --decimals 2 in --save a.state
    gpuhist reduce sum --decimals 3 in --save b.state
    gpuhist reduce sum --save c.state < <(echo 7)
    run --separate-stderr gpuhist merge a.state b.state
    assert_failed 1 "b.state: --decimals=3, not --decimals=2 as in a.state"
    run --separate-stderr gpuhist merge a.state c.state
    assert_failed 1 "c.state: no --decimals=2 as in a.state"
    run --separate-stderr gpuhist merge c.state a.state
    assert_failed 1 "a.state: has --decimals=2, unlike c.state"
}

@test "--decimals: options" {
    run --separate-stderr gpuhist reduce sum,xor --decimals 2 in
    assert_failed 2 "and, or and xor require integers"
    run --separate-stderr gpuhist --decimals 2 --base 16 in
    assert_failed 2 "--decimals cannot be combined with --base 16"
    run --separate-stderr gpuhist --decimals 2 --binary in
    assert_failed 2 " requires text input, but --binary requires binary input"
    for bad in -1 19 x 1.5 ''; do
        run --separate-stderr gpuhist --decimals "$bad" in
        assert_failed 2 "invalid --decimals '$bad': expected a number from 0 to 18"
    done
    run --separate-stderr gpuhist --width 0.125 --decimals 2 in
    assert_failed 2 "invalid --width '0.125': expected a number with no more decimals"
    run --separate-stderr gpuhist --width 0.5 in
    assert_failed 2 "invalid --width '0.5'"
    run --separate-stderr gpuhist --width 0 --decimals 2 in
    assert_failed 2 "--width must be at least 0.01"
    run --separate-stderr gpuhist --range 0:0.125 --decimals 2 in
    assert_failed 2 "invalid --range '0:0.125': expected auto, or LO:HI, two numbers with no more decimals"
    run --separate-stderr gpuhist --edges 0,0.5,0.125 --decimals 2 in
    assert_failed 2 "invalid --edges '0.125': expected numbers with no more decimals"
    run --separate-stderr gpuhist --edges 0,0.5,0.25 --decimals 2 in
    assert_failed 2 "--edges must be ascending: 0.25 is not greater than the edge before it"
    run --separate-stderr gpuhist count --ge 0.125 --decimals 2 in
    assert_failed 2 "invalid --ge '0.125': expected a number with no more decimals"
    run --separate-stderr gpuhist count --in 0:0.125 --decimals 2 in
    assert_failed 2 "invalid --in '0:0.125': expected LO:HI, two numbers"
    run --separate-stderr gpuhist --bins 11 --range 0:0.1 --decimals 2 in
    assert_failed 2 "--bins 11 is more than the 10 values of --range"
    printf '0.5 0.125\n' >list
    run --separate-stderr gpuhist count --any-of @list --decimals 2 in
    assert_failed 1 "list:1: invalid number '0.125'"
    [ "$(gpuhist count --any-of 1.5K,.5,-1.,2. --decimals 2 < <(printf '1500\n0.50\n-1\n2.5\n'))" = 3 ]
}
