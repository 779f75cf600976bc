#!/usr/bin/env bats
# How integers in text are written: --base. Oracles are printf and sort.

load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

# assert_refused TOKEN ARG...: a token that is not a value, in the second line.
assert_refused() {
    run --separate-stderr gpuhist reduce sum --text "${@:2}" < <(printf '1\n%s\n' "$1")
    assert_failed 1 "standard input:2: invalid integer '$1'"
}

# on_every_reader FILE ARG...: the output of gpuhist on a file, which is the same with chunks that
# are cut everywhere, in a pipe and compressed.
on_every_reader() {
    local file=$1 threads
    shift
    gpuhist "$@" "$file" >all
    zstd -qf "$file" -o "$file.zst"
    for threads in 1 5; do
        gpuhist "$@" --threads $threads --chunk-size 4096 "$file" | cmp - all
        gpuhist "$@" --threads $threads "$file.zst" | cmp - all
        gpuhist "$@" --threads $threads --chunk-size 4097 < <(cat "$file") | cmp - all
    done
    cat all
}

# make_ids: hexadecimal ids in every form, and the same as decimal integers.
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
    [ "$(gpuhist count --lt 0 --base 16 hex)" = "$(grep -c -- - decimal)" ]
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
    assert_refused 80 --base 16 -t i8
    assert_refused -81 --base 16 -t i8
    assert_refused -1 --base 16 -t u64
    [ "$(gpuhist reduce sum --base 16 -t u64 < <(echo 0xffffFFFFffffFFFF))" = 18446744073709551615 ]
    assert_refused 10000000000000000 --base 16 -t u64
    assert_refused 8000000000000000 --base 16
    [ "$(gpuhist reduce sum --base 16 < <(printf '0x%09999d10' 0))" = 16 ]
    run --separate-stderr gpuhist reduce sum --base 16 < <(printf '%09999dx10' 0)
    assert_failed 1 "standard input:1: invalid integer '00"
    run --separate-stderr gpuhist --base 8 hex
    assert_failed 2 "invalid --base '8': expected 10 or 16"
    run --separate-stderr gpuhist --base 16 --binary hex
    assert_failed 2 "the input cannot be text ("
}

@test "--base 16: stalin-sort writes tokens as they are" {
    make_ids
    paste -d ' ' decimal hex | awk 'NR == 1 || $1 >= last { print $2 >"kept"; last = $1; next }
        { print $2 >"gone" }'
    for threads in 1 5; do
        for chunk in 4096 64K; do
            gpuhist stalin-sort --base 16 --chunk-size $chunk --threads $threads \
                --purged purged hex | cmp kept -
            cmp gone purged
            gpuhist stalin-sort --base 16 --chunk-size $chunk --threads $threads hex | cmp kept -
        done
    done
    printf 'a,0X05 ,b\na, 0005,c\na,x,\na,4,\na,+6\n' >table
    run -0 gpuhist stalin-sort --base 16 -d , -f 2 --invalid ignore --strict table
    [ "$output" = $'0X05\n+6' ]
    run -1 --separate-stderr gpuhist stalin-sort --base 16 -d , -f 2 table
    [ "$output" = $'0X05\n0005' ]
}

@test "--base 16 is not for GPUs: auto takes the CPU, cuda is refused with status 3" {
    run --separate-stderr gpuhist reduce sum --base 16 --engine cuda < <(echo ff)
    [ "$status" -eq 3 ] && [ -z "$output" ]
    ! gpuhist info | grep -q '^cuda: .*CUDA' || [[ $stderr == *"does not support --base 16" ]]
    [ "$(gpuhist reduce sum --base 16 --engine auto < <(echo ff))" = 255 ]
}
