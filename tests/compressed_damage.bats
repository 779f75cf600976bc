#!/usr/bin/env bats
# Compressed files with corruption anywhere, made by compressed.py. Decoding does not depend on the
# engine: the GPU takes part only in two formats.

load helpers

setup() {
    cd "$BATS_TEST_TMPDIR"
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
}

# bats test_tags=slow
@test "zstd: files of many frames, cut, flipped or with junk anywhere" {
    # shellcheck disable=SC2086
    run -0 "$PYTHON" "$srcdir/tests/compressed.py" "$GPUHIST" zstd 1 $ENGINES
}

# bats test_tags=slow
@test "gzip: files of many members, cut, flipped or with junk anywhere" {
    skip_without_gzip
    # shellcheck disable=SC2086
    run -0 "$PYTHON" "$srcdir/tests/compressed.py" "$GPUHIST" gzip 1 $ENGINES
}

@test "BGZF: files of many members, cut, flipped or with junk anywhere" {
    skip_without_gzip
    run -0 "$PYTHON" "$srcdir/tests/compressed.py" "$GPUHIST" bgzf 1 cpu
}

# bats test_tags=later
@test "gzip: one large file, whole and damaged, decoded by several threads" {
    skip_without_gzip
    run -0 "$PYTHON" "$srcdir/tests/one_gzip.py" "$GPUHIST" "${GPUHIST_TEST_SEED:-5}" $((8 / SHARE + 1))
}

# bats test_tags=later
@test "bzip2: blocks of a stream, whole and damaged, decoded by several threads" {
    reads bzip2 bzip2 || skip "this gpuhist does not read bzip2"
    run -0 "$PYTHON" "$srcdir/tests/blocks.py" "$GPUHIST" "${GPUHIST_TEST_SEED:-5}" $((1 / SHARE + 1))
}

# bats test_tags=slow
@test "xz, bzip2, lz4: files of many streams, cut, flipped or with junk anywhere" {
    local format formats=()
    for format in xz bzip2 lz4; do
        if reads $format $format; then formats+=("$format"); fi
    done
    [ "${#formats[@]}" -gt 0 ] || skip "none of these formats"
    for format in "${formats[@]}"; do
        SHARE=$((SHARE * 2)) run -0 "$PYTHON" "$srcdir/tests/compressed.py" "$GPUHIST" "$format" 1 cpu
    done
}
