#!/usr/bin/env bats
# The source tree: its rooms, and that no test is left out.

load helpers

@test "#include goes down the rooms alone" {
    command -v python3 >/dev/null || skip "no python3"
    python3 "$srcdir/tests/includes.py" "$srcdir"
}

@test "every Bats file and every unit test is run" {
    local file
    for file in "$srcdir"/tests/*.bats "$srcdir"/tests/unit/*.c; do
        file=${file#"$srcdir/"}
        grep -qE "(^|[[:space:]])${file%.c}(\\.c)?([[:space:]]|$)" "$srcdir/Makefile.am" ||
            { echo "$file is not in Makefile.am"; return 1; }
    done
}
