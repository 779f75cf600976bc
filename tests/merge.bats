#!/usr/bin/env bats
# Saved states: --save and merge. merge_parts.bats compares their sums with one run.

load helpers

setup() {
    mkdir "$BATS_TEST_TMPDIR/work"
    cd "$BATS_TEST_TMPDIR/work"
    int32 1 2 2 >a
    int32 2 3 >b
    printf '1\t1\n2\t3\n3\t1\n' >expected
}

save_both() { # ARG...: the states of a and b
    gpuhist "$@" --binary --save a.state -o /dev/null a
    gpuhist "$@" --binary --save b.state -o /dev/null b
}

@test "text, binary of either byte order and compressed files of one type are the same state" {
    numpy 'np.array([1, 2, 2], "<i8").tofile("little")
np.array([1, 2, 2], ">i8").tofile("big")'
    gpuhist -t i64 --binary --bins 5 --save binary -o /dev/null little
    gpuhist -t i64be --bins 5 --save big -o /dev/null big
    printf '1\n2\n2\n' | gzip | gpuhist --bins 5 --save text -o /dev/null ||
        printf '1\n2\n2\n' | gpuhist --bins 5 --save text -o /dev/null
    cmp binary big
    cmp binary text
    # of columns, too
    numpy 'rows = np.array([[7, 1], [7, 2], [-8, 2]], "<i8")
np.save("rows.npy", rows)
np.savetxt("rows.txt", rows, "%d")
rows.astype(">i8").tofile("rows")'
    gpuhist reduce sum -f 2 --by 1 --save array -o /dev/null rows.npy
    gpuhist reduce sum --record 16 -f i64be@8 --by i64be@0 --save records -o /dev/null rows
    gpuhist reduce sum -f -1 --by -2 --save text -o /dev/null rows.txt
    cmp array records
    cmp array text
}

@test "a list that was typed on several lines comes back from a state" {
    seq 10 | gpuhist count --any-of $'1\n2\t99 3' --all --save s >direct
    printf 'any-of 1?2?99 3\t3\nall\t10\n' | cmp - direct
    gpuhist merge s | cmp - direct
}

@test "states do not depend on engine, threads and chunks" {
    random_file in '<i4' 0 70000 300000
    for engine in $ENGINES; do
        gpuhist --binary --bins 65000 --engine "$engine" --threads 1 -q --save one -o /dev/null in
        gpuhist --binary --bins 65000 --engine "$engine" --threads 7 --chunk-size 4K -q \
            --save many -o /dev/null <in
        cmp one many
        [ ! -e first ] || cmp one first
        mv one first
    done
}

@test "several states in one file or stream are merged, too" {
    save_both --bins 5
    cat a.state b.state >both
    gpuhist merge both | cmp expected -
    cat a.state b.state | gpuhist merge | cmp expected -
    gpuhist merge a.state - <b.state | cmp expected -
    { gpuhist --binary --bins 5 --save - a; gpuhist --binary --bins 5 --save - b; } |
        gpuhist merge | cmp expected -
}

@test "--save - takes the place of the result, unless that goes elsewhere" {
    export THREADS
    for THREADS in 1 2 16; do
        gpuhist --binary --bins 5 --save - a >out
        gpuhist --binary --bins 5 --save a.state a >result
        cmp out a.state
        gpuhist --binary --bins 5 --save - -o other a | cmp a.state -
        cmp result other
    done
    unset THREADS
    run -0 --separate-stderr bash -c 'printf "" | "$GPUHIST" reduce mean --save - >empty'
    [ -z "$stderr" ]
    run --separate-stderr gpuhist merge empty
    assert_failed 1 "cannot compute mean: empty input"
}

@test "merge prints as one run does: reports, --quiet, --zeros, --format, -o, --stats" {
    save_both --range 2:4 --bins 2
    run -0 --separate-stderr gpuhist merge a.state b.state
    [ "$output" = $'2\t3\n3\t1' ]
    [ "$stderr" = "gpuhist: values out of range: 1 below, 0 above (try --outside)" ]
    # It does not advise options of bins, which it does not support.
    printf '7\n' | gpuhist --bins 3 --save other.state 2>none
    run -0 --separate-stderr gpuhist merge other.state
    [ "$stderr" = "gpuhist: values out of range: 0 below, 1 above (try --outside)" ]
    run -0 --separate-stderr gpuhist merge -q a.state
    [ "$output" = $'2\t2' ] && [ -z "$stderr" ]
    [ "$(gpuhist merge -q --zeros a.state)" = $'2\t2\n3\t0' ]
    [ "$(gpuhist merge -q --format raw a.state | od -An -v -tu8 | tr -s ' ')" = " 2 0" ]
    run -0 --separate-stderr gpuhist merge --stats -q -o out a.state b.state
    [ -z "$output" ] && [ "$stderr" = "gpuhist: 2 states, 5 elements" ]
    printf '2\t3\n3\t1\n' | cmp - out
}

@test "a state may be replaced by what it is merged to" {
    save_both --bins 5
    gpuhist merge --save a.state a.state b.state | cmp expected -
    gpuhist merge a.state | cmp expected -
}

@test "states of other jobs are refused, with the option that differs" {
    save_both --bins 5
    refuse() { # TEXT ARG...: asserts that the state of this run cannot be merged with a.state
        local text=$1
        shift
        gpuhist "$@" --save other -o /dev/null a
        run --separate-stderr gpuhist merge a.state b.state other
        [[ $text = has* ]] || text="$text as in"
        assert_failed 1 "other: $text a.state"
    }
    refuse "--bins=512, not --bins=5" --binary --bins 512
    refuse "--type=i16, not --type=i32" --binary -t i16 --bins 5
    refuse "has --range=1:8, unlike" --binary --bins 5 --range 1:8
    refuse "--outside=clamp, not --outside=report" --binary --bins 5 --outside clamp
    refuse "no --bins=5" --binary
    refuse "--width=10, not --bins=5" --binary --width 10
    refuse "--range=0:6, not --bins=5" --binary --width 2 --range 0:6
    refuse "uniq, not histogram" uniq --binary
    refuse "--log2, not --bins=5" --binary --log2
    refuse "--log10, not --bins=5" --binary --log10
    refuse "reduce count, not histogram" reduce count --binary
    save_both uniq
    refuse "histogram, not uniq" --binary --width 10
    refuse "histogram, not uniq" --binary
    save_both --log2
    refuse "--log10, not --log2" --binary --log10
    save_both --edges 0,5,7
    refuse "--edges=0,5,7,9, not --edges=0,5,7" --binary --edges 0,5,7,9
    gpuhist reduce sum,max --binary --save a.state -o /dev/null a
    run --separate-stderr gpuhist merge a.state b.state
    assert_failed 1 "b.state: histogram, not reduce sum,max as in a.state"
    gpuhist uniq --binary --save b.state -o /dev/null a
    run --separate-stderr gpuhist merge a.state b.state
    assert_failed 1 "b.state: uniq, not reduce sum,max as in a.state"
    run --separate-stderr gpuhist merge b.state a.state
    assert_failed 1 "a.state: reduce sum,max, not uniq as in b.state"
    gpuhist --width 10 --binary --save b.state -o /dev/null a
    run --separate-stderr gpuhist merge a.state b.state
    assert_failed 1 "b.state: histogram, not reduce sum,max as in a.state"
    save_both reduce sum,max
    refuse "reduce max,sum, not reduce sum,max" reduce max,sum --binary
    save_both count --ge 2 --lt 3
    refuse "--ge=3, not --ge=2" count --binary --ge 3 --lt 3
    refuse "no --lt=3" count --binary --ge 2
    refuse "has --all, unlike" count --binary --ge 2 --lt 3 --all
    refuse "--any-of=2,3, not --lt=3" count --binary --ge 2 --any-of 2,3
    save_both count --any-of "$(seq -s , 100)"
    refuse "--any-of=..., not --any-of=...,61,62,63,64,65,66,67,68,69,70,71,72,73,74,75,76,77,78,7..." \
        count --binary --any-of "$(seq -s , 60)"
}

@test "sets are compared by their values" {
    echo 1 3 5 7 11 >list
    save_both count --any-of @list
    echo 7 5 3 1 11 1 >list
    gpuhist count --binary --any-of @list --save same a >/dev/null
    [ "$(gpuhist merge a.state b.state same)" = 3 ]
    rm list # merge reads no list
    [ "$(gpuhist merge a.state b.state same)" = 3 ]
    echo 1 3 5 7 12 >list
    gpuhist count --binary --any-of @list --save other a >/dev/null
    run --separate-stderr gpuhist merge a.state other
    assert_failed 1 "other: --any-of=@list:5:"
    [[ $stderr =~ ", not --any-of=@list:5:"[0-9a-f]{16}" as in a.state"$ ]]
}

@test "options of the input and of other operations are usage errors" {
    save_both --bins 5
    gpuhist reduce --binary --save reduce.state -o /dev/null a
    for option in --bins=5 --range=0:5 --outside=clamp --type=i32 --binary --text --field=1 \
        --engine=cpu --chunk-size=1M --every=1s --strict --ge=3 --invalid=warn; do
        run --separate-stderr gpuhist merge "$option" a.state
        assert_failed 2 "${option%%=*} cannot be used with merge"
    done
    for option in --zeros --percent; do
        run --separate-stderr gpuhist merge "$option" reduce.state
        assert_failed 2 "${option%%=*} cannot be used with states of reduce"
    done
    run --separate-stderr gpuhist merge --format raw reduce.state
    assert_failed 2 "--format raw cannot be combined with reduce (try tsv, csv, json, jsonl, markdown, html"
    run --separate-stderr gpuhist stalin-sort --save state a
    assert_failed 2 "--save cannot be used with stalin-sort"
    [ ! -e state ]
    run --separate-stderr gpuhist --bins 5 --save '' a
    assert_failed 2 "invalid --save ''"
}

@test "no state, files that are none, and missing ones are errors" {
    save_both --bins 5
    run --separate-stderr gpuhist merge a.state missing
    assert_failed 1 "missing: No such file or directory"
    run --separate-stderr gpuhist merge a.state .
    assert_failed 1 ".: Is a directory"
    run --separate-stderr gpuhist merge a.state a
    assert_failed 1 "a: not a state that --save wrote"
    run --separate-stderr gpuhist merge </dev/null
    assert_failed 1 "standard input: not a state that --save wrote"
    gzip <a.state >packed || skip "no gzip"
    run --separate-stderr gpuhist merge packed
    assert_failed 1 "packed: not a state that --save wrote"
}

@test "a state that cannot be written is reported before the input is read" {
    for name in missing/state . "$(printf 'x%.0s' {1..5000})"; do
        run --separate-stderr timeout 30 "$GPUHIST" --binary --bins 5 --save "$name" /dev/zero
        assert_failed 1 "cannot write "
    done
    run --separate-stderr timeout 30 "$GPUHIST" --binary --bins 5 --save x -o ./x /dev/zero
    assert_failed 2 "--save and the result cannot both go to 'x'"
    mkfifo fifo
    run --separate-stderr timeout 30 "$GPUHIST" --binary --bins 5 --save fifo -o fifo /dev/zero
    assert_failed 2 "--save and the result cannot both go to 'fifo'"
    run --separate-stderr timeout 30 "$GPUHIST" --binary --bins 5 --save /dev/stdout /dev/zero
    assert_failed 2 "--save and the result cannot both go to '/dev/stdout'"
    run --separate-stderr timeout 30 bash -c '"$GPUHIST" --binary --bins 5 --save out /dev/zero >out'
    assert_failed 2 "--save and the result cannot both go to 'out'"
    run --separate-stderr timeout 30 "$GPUHIST" --binary --bins 5 --save - -o - </dev/null
    assert_failed 2 "--save and the result cannot both go to '-'"
    gpuhist --binary --bins 5 --save /dev/null -o /dev/null a
}

@test "a full disk: no result, no state" {
    [ -c /dev/full ] || skip "no /dev/full"
    run --separate-stderr gpuhist --binary --bins 5 --save /dev/full a
    assert_failed 1 "cannot write /dev/full: No space left on device"
    run --separate-stderr bash -c '"$GPUHIST" --binary --bins 5 --save - a >/dev/full'
    assert_failed 1 "cannot write standard output: No space left on device"
    save_both --bins 5
    run --separate-stderr gpuhist merge --save /dev/full a.state b.state
    assert_failed 1 "cannot write /dev/full: No space left on device"
    random_file in '<i4' 0 5000000 1000000
    run --separate-stderr bash -c 'ulimit -f 1; "$GPUHIST" --binary --bins 5M --save big in'
    assert_failed 1 "cannot write big: File too large"
    [ ! -e big ]
}

@test "a state is of the tokens that were valid, also with --invalid fail" {
    run -1 --separate-stderr gpuhist uniq --invalid fail --save state < <(printf '1\nx\n2\n')
    [ "$output" = $'1\t1\n2\t1' ]
    [ "$(gpuhist merge state)" = "$output" ]
}

@test "quantiles of a state of automatic bins are bins, and of values exact" {
    seq 1000 | gpuhist --save bins -o /dev/null
    [ "$(gpuhist merge --quantiles 50,99 bins)" = $'50\t500\t520\n99\t980\t1000' ]
    seq 1000 | gpuhist --quantiles 50 --save values -o /dev/null
    [ "$(gpuhist merge --quantiles 50,99 values)" = $'50\t500\n99\t990' ]
}

@test "bad input leaves no new state, and an old one as it was" {
    printf xyz >odd
    echo old >old
    for name in new old; do
        run --separate-stderr gpuhist --binary --bins 5 --save "$name" a odd
        assert_failed 1 "3 bytes left after"
    done
    [ ! -e new ] && [ "$(cat old)" = old ]
    gpuhist --binary --bins 5 --save good -o /dev/null a
    head -c 30 good >part
    run --separate-stderr gpuhist merge --save new good part
    assert_failed 1 "part: corrupt state"
    [ ! -e new ]
}

# bats test_tags=later
@test "runs that save to one file at the same time leave the state of one of them" {
    save_both --bins 100K
    local counts=(16 1 2)
    for turn in {1..10}; do
        for input in a b a b; do
            gpuhist --binary --bins 100K --save shared -o /dev/null "$input" \
                --threads "${counts[turn % 3]}" &
        done 3>&-
        for _ in {1..5}; do # the file is complete at any time
            [ ! -e shared ] || gpuhist merge -o /dev/null shared
        done
        wait
        cmp -s shared a.state || cmp shared b.state
    done
    [ -z "$(find . -name '.gpuhist*')" ]
}

@test "--save to a FIFO" {
    mkfifo fifo
    timeout 60 "$GPUHIST" merge fifo >out 3>&- &
    gpuhist --binary --bins 5 --save fifo -o /dev/null a b
    wait $!
    cmp expected out
}

@test "--every saves each time to a file, and to a stream once" {
    for file in state -; do
        [ "$file" = state ] && threads=16 || threads=1
        {
            cat a
            if [ "$file" = state ]; then
                for _ in {1..200}; do
                    [ ! -e state ] || break
                    sleep 0.05
                done
                gpuhist merge state >so_far
            fi
            sleep 0.1
            cat b
        } | timeout 60 "$GPUHIST" --binary --bins 5 --every 20ms --save "$file" \
            --threads "$threads" -o result >stream
        cmp expected result
    done 3>&-
    printf '1\t1\n2\t2\n' | cmp - so_far
    gpuhist merge state | cmp expected -
    gpuhist merge stream | cmp expected -
}

# bats test_tags=later
@test "the number of threads makes no difference, in any kind of state" {
    random_file in '<i4' -300 3000 200000
    split -b 160000 in part.
    for job in "--bins 2000" "" "uniq" "reduce" "reduce mode,p9,sum" "count --ge 3 --eq 7"; do
        for part in part.*; do
            # shellcheck disable=SC2086 # several words
            gpuhist $job --binary -q --save "state.${part##*.}" -o /dev/null "$part"
        done
        # shellcheck disable=SC2086
        gpuhist $job --binary -q --save whole -o whole.txt in
        for threads in 1 2 5; do
            gpuhist merge -q --threads "$threads" --save merged state.* | cmp - whole.txt
            cmp merged whole
        done
    done
}

@test "the first bad file is the one that is reported, whatever other threads have found" {
    save_both --bins 5
    head -c 30 a.state >broken
    for threads in 1 2 5; do
        run --separate-stderr gpuhist merge --threads "$threads" a.state b.state broken missing a
        assert_failed 1 "broken: corrupt state: it is cut off"
        run --separate-stderr gpuhist merge --threads "$threads" a.state b.state a missing broken
        assert_failed 1 "a: not a state that --save wrote"
        run --separate-stderr gpuhist merge --threads "$threads" broken a missing
        assert_failed 1 "broken: corrupt state: it is cut off"
    done
}

@test "states in pipes, one after the other" {
    save_both --bins 5
    mkfifo first second
    { cat a.state >first; cat b.state >second; } 3>&- &
    timeout 60 "$GPUHIST" merge --threads 2 first second | cmp expected -
    wait $!
}

@test "more states than files may be open" {
    gpuhist --binary --bins 9 --save many.1 -o /dev/null a
    for i in {2..40}; do
        ln many.1 "many.$i"
    done
    run -0 bash -c 'ulimit -n 32; "$GPUHIST" merge --threads 5 many.*'
    [ "$output" = $'1\t40\n2\t80' ]
}

# bats test_tags=plain
@test "one bin, and 5M bins" {
    gpuhist --binary --bins 1 --range 0:10 --save one -o /dev/null a
    [ "$(gpuhist merge one one)" = $'0\t10\t6' ]
    random_file in '<i4' 0 5000000 3000000
    head -c 4000000 in >first
    tail -c +4000001 in >second
    gpuhist --binary --bins 5M in >whole
    gpuhist --binary --bins 5M --save first.state -o /dev/null first
    gpuhist --binary --bins 5M --save second.state -o /dev/null second
    gpuhist merge second.state first.state | cmp whole -
    [ "$(stat -c %s first.state)" -lt 4000000 ] # less than a byte per bin
}

@test "a state of more bins than there is memory for is refused at once" {
    skip_under_asan
    command -v zstd >/dev/null || skip "no zstd"
    printf 'gpuhist state 5\nhistogram --type=i32 --bins=4294967294 --outside=report\n\0\0\0\0\0' |
        zstd -qc >large
    run --separate-stderr bash -c 'ulimit -v 2000000; "$GPUHIST" merge large'
    assert_failed 1 "4294967294 bins"
}

@test "a state with a long name of a column" {
    command -v zstd >/dev/null || skip "no zstd"
    head -c 3000000 /dev/zero | tr '\0' n >name
    { printf 'gpuhist state 5\nuniq --type=i64 --by="'; cat name; printf '":i64\n\1\1\0\0\0\0'; } |
        zstd -qc >long
    { printf '{"'; cat name; printf '":0,"value":0,"count":1}\n'; } >expected
    gpuhist merge --format jsonl long | cmp expected -
}
