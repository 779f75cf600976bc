#!/usr/bin/env bats
# Output of results: -o, and output that cannot be written.

load helpers

setup() {
    mkdir "$BATS_TEST_TMPDIR/work"
    cd "$BATS_TEST_TMPDIR/work"
    int32 1 2 2 >in
    printf '1\t1\n2\t2\n' >expected
}

@test "-o writes the result to a file, new or old" {
    export THREADS
    for THREADS in 1 2 16; do
        run -0 --separate-stderr gpuhist --bins 5 -o out in
        [ -z "$output" ] && [ -z "$stderr" ]
        cmp expected out
        echo old >out
        chmod 640 out
        gpuhist --bins 5 --output=out in
        cmp expected out
        [ "$(stat -c %a out)" = 640 ]
        [ "$(ls)" = $'expected\nin\nout' ]
        rm out
    done
}

@test "-o makes a new file with the umask's permissions" {
    umask 027
    gpuhist --bins 5 -o out in
    [ "$(stat -c %a out)" = 640 ]
}

@test "-o follows links, writes to devices, and - is standard output" {
    echo old >target
    ln -s target link
    gpuhist --bins 5 -o link in
    [ -L link ] && cmp expected target
    gpuhist --bins 5 -o /dev/null in
    [ -c /dev/null ]
    gpuhist --bins 5 -o - in | cmp expected -
    ln -s nowhere dangling
    run --separate-stderr gpuhist --bins 5 -o dangling in
    assert_failed 1 "cannot write dangling: No such file or directory"
}

@test "-o /dev/stdout is standard output, wherever that goes" {
    echo header >out
    gpuhist --bins 5 -o /dev/stdout in >>out
    { echo header; cat expected; } | cmp - out
    { echo header; gpuhist --bins 5 -o /dev/fd/1 in; echo footer; } >out
    { echo header; cat expected; echo footer; } | cmp - out
    gpuhist --bins 5 -o /dev/stdout in | cmp expected -
}

@test "-o to the file that standard error goes to adds the result to the messages" {
    for name in told ./told /dev/stderr; do
        gpuhist --bins 2 -o "$name" in 2>told
        printf '1\t1\ngpuhist: values out of range: 0 below, 2 above (try --range auto)\n' | cmp - told
    done
}

# as_nobody ARG...: runs gpuhist without root's rights, in the directory $dir, which nobody can read.
as_nobody() {
    (cd "$dir" && timeout 30 setpriv --reuid 65534 --regid 65534 --clear-groups ./gpuhist "$@")
}

# make_directory: makes $dir, which nobody can use, with the program in it.
make_directory() {
    if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null; then skip "needs root and setpriv"; fi
    dir=$(mktemp -d)
    chmod 755 "$dir" # allows no new file of nobody's
    cp "$GPUHIST" "$dir/gpuhist"
}

# assert_refused OLD REASON: asserts that the last run failed for REASON, and that $dir has only the
# program and "out", with the contents OLD. Removes $dir.
assert_refused() {
    local left
    left=$(ls -A "$dir")
    printf '%s' "$1" | cmp - "$dir/out"
    rm -rf "$dir"
    assert_failed 1 "$2"
    [ "$left" = $'gpuhist\nout' ]
}

@test "-o in a directory that takes no new file is refused before the input is read" {
    make_directory
    printf '3\n1\n4\n' >"$dir/out"
    chmod 666 "$dir/out"
    for arguments in "stalin-sort --text out -o out" "stalin-sort --text --purged out out" \
        "reduce sum --save out out" "reduce sum -o out out"; do
        # shellcheck disable=SC2086
        run --separate-stderr as_nobody $arguments
        assert_failed 1 "cannot replace out: no file can be made beside it: Permission denied"
        [ "$(cat "$dir/out")" = $'3\n1\n4' ]
    done
    run --separate-stderr as_nobody reduce sum -o new out
    assert_failed 1 "cannot write new: Permission denied"
    run --separate-stderr as_nobody --bins 5 -o out /dev/zero
    assert_refused $'3\n1\n4\n' "cannot replace out: no file can be made beside it"
}

@test "-o over a file that only its owner can replace is refused before the input is read" {
    make_directory
    chmod 1777 "$dir" # allows new files, but nobody cannot replace root's
    echo old >"$dir/out"
    chmod 666 "$dir/out"
    run --separate-stderr as_nobody --bins 5 -o out /dev/zero
    assert_refused $'old\n' "cannot replace out: Operation not permitted"
}

@test "-o over a file that may not be written is refused, though it could be replaced" {
    make_directory
    echo old >"$dir/out"
    chmod 777 "$dir"
    chmod 444 "$dir/out"
    run --separate-stderr as_nobody --bins 5 -o out /dev/zero
    assert_refused $'old\n' "cannot write out: Permission denied"
}

@test "-o in a directory that can only be appended to is refused before the input is read" {
    mkdir kept
    echo old >kept/out
    chattr +a kept 2>/dev/null || skip "cannot set attributes here"
    run --separate-stderr timeout 30 "$GPUHIST" --bins 5 -o kept/out /dev/zero
    chattr -a kept
    assert_failed 1 "cannot replace kept/out: no file can be made beside it: Operation not permitted"
    chattr +a kept
    run --separate-stderr timeout 30 "$GPUHIST" --bins 5 -o kept/new /dev/zero
    chattr -a kept
    assert_failed 1 "cannot write kept/new: Operation not permitted"
    [ "$(ls -A kept)" = out ] && [ "$(cat kept/out)" = old ]
}

@test "a place that is taken while the input is read is an error that names it, and nothing is left" {
    mkfifo pipe
    for taken in kept purged; do
        timeout 30 "$GPUHIST" stalin-sort --text -o kept --purged purged pipe 2>told 3>&- &
        exec 4>pipe # it has checked its outputs before it opens its input
        mkdir $taken
        printf '2\n1\n' >&4
        exec 4>&-
        wait $! && return 1
        [ "$(cat told)" = "gpuhist: cannot write $taken: Is a directory" ]
        rmdir $taken
        [ "$taken" = kept ] || [ "$(cat kept)" = 2 ]
        rm -f kept
        [ "$(ls -A)" = $'expected\nin\npipe\ntold' ]
    done
}

@test "-o to a socket is refused before the input is read" {
    [ -n "${PYTHON:-}" ] || skip "no python3"
    "$PYTHON" -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
    run --separate-stderr timeout 30 "$GPUHIST" --bins 5 -o socket /dev/zero
    assert_failed 1 "cannot write socket: No such device or address"
}

needs_namespace() {
    if [ "$(id -u)" -ne 0 ] || ! unshare -m true 2>/dev/null; then skip "needs root and unshare"; fi
}
# in_namespace COMMAND: runs it by bash in a separate mount namespace.
in_namespace() { timeout 60 unshare -m bash -c "$1"; }

@test "-o over a mount point is refused before the input is read" {
    needs_namespace
    echo old >out
    echo other >other
    run --separate-stderr in_namespace 'mount --bind other out || exit 9
        "$GPUHIST" --bins 5 -o out /dev/zero; status=$?; cat out >content; exit "$status"'
    [ "$status" -ne 9 ] || skip "cannot mount"
    assert_failed 1 "cannot replace out: Device or resource busy"
    [ "$(cat content out other)" = $'other\nold\nother' ]
}

@test "-o over a file that can only be appended to is refused before the input is read" {
    echo old >out
    chattr +a out 2>/dev/null || skip "cannot set attributes here"
    run --separate-stderr timeout 30 "$GPUHIST" --bins 5 -o out /dev/zero
    chattr -a out
    assert_failed 1 "cannot replace out: Operation not permitted"
    [ "$(cat out)" = old ]
}

@test "-o on a file system without a free inode, or full, leaves the old file" {
    needs_namespace
    run --separate-stderr in_namespace 'mkdir disk && mount -t tmpfs -o nr_inodes=2 none disk &&
        echo old >disk/out || exit 9
        "$GPUHIST" --bins 5 -o disk/out /dev/zero; status=$?; ls -A disk >left; cat disk/out >content
        exit "$status"'
    [ "$status" -ne 9 ] || skip "cannot mount"
    assert_failed 1 "cannot replace disk/out: no file can be made beside it: No space left on device"
    [ "$(cat left content)" = $'out\nold' ]
    for threads in 1 2 16; do
        run --separate-stderr in_namespace 'mount -t tmpfs -o size=1m none disk && echo old >disk/out
            "$GPUHIST" --bins 300K --zeros -o disk/out --threads '$threads' in; status=$?
            ls -A disk >left; cat disk/out >content; exit "$status"'
        assert_failed 1 "cannot write disk/out: No space left on device"
        [ "$(cat left content)" = $'out\nold' ]
    done
}

@test "-o on a read-only file system is refused before the input is read" {
    needs_namespace
    run --separate-stderr in_namespace 'mkdir disk && mount -t tmpfs none disk && echo old >disk/out &&
        mount -o remount,ro disk || exit 9
        "$GPUHIST" --bins 5 -o disk/out /dev/zero'
    [ "$status" -ne 9 ] || skip "cannot mount"
    assert_failed 1 "cannot write disk/out: Read-only file system"
}

@test "-o without /proc has a file with a temporary name, which is gone at the end" {
    needs_namespace
    skip_under_asan
    int32 7 7 >odd
    printf x >>odd
    echo old >old
    for threads in 1 2 16; do
        rm -f out
        run --separate-stderr in_namespace 'mount -t tmpfs none /proc || exit 9
            set -- --bins 5 --threads '$threads'
            "$GPUHIST" "$@" -o out in && "$GPUHIST" "$@" --binary -o old odd'
        [ "$status" -ne 9 ] || skip "cannot mount"
        assert_failed 1 "1 byte left after"
        cmp expected out
        [ "$(cat old)" = old ]
        [ "$(ls -A)" = $'expected\nin\nodd\nold\nout' ]
    done
}

@test "-o where /proc is no real one has a file with a temporary name" {
    needs_namespace
    skip_under_asan # it needs /proc
    run in_namespace 'mount -t tmpfs none /proc && mkdir -p /proc/self/fd || exit 9
        "$GPUHIST" --bins 5 -o out in'
    [ "$status" -ne 9 ] || skip "cannot mount"
    cmp expected out
    [ "$(ls -A)" = $'expected\nin\nout' ]
}

@test "-o /dev/fd/N is that open file, from where it stands" {
    echo old >out
    gpuhist --bins 5 -o /dev/fd/7 in 7>>out
    { echo old; cat expected; } | cmp - out
    gpuhist --bins 5 -o /dev/fd/12 in 12>>out
    { echo old; cat expected expected; } | cmp - out
    run --separate-stderr gpuhist --bins 5 -o /dev/fd/7 in 7<out
    assert_failed 1 "cannot write /dev/fd/7: Bad file descriptor"
    run --separate-stderr gpuhist --bins 5 -o /dev/fd/7 in 7<&-
    assert_failed 1 "cannot write /dev/fd/7: No such file or directory"
    { echo old; cat expected expected; } | cmp - out
    gpuhist stalin-sort --purged >(cat >others) -o kept in
    cmp kept in
}

@test "-o that cannot be written is reported before a pipe has been waited for" {
    mkfifo pipe
    exec 9<>pipe
    run --separate-stderr timeout 30 "$GPUHIST" -o missing/out <pipe
    exec 9>&-
    assert_failed 1 "cannot write missing/out: No such file or directory"
}

@test "root's -o keeps the owner and the permissions of the file that it replaces" {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    for option in -o --save; do
        echo old >out
        chown 1234:2345 out
        chmod 640 out
        gpuhist --bins 5 "$option" out in
        [ "$(stat -c %u:%g:%a out)" = 1234:2345:640 ]
        chmod 6755 out # but no result runs as its owner
        gpuhist --bins 5 "$option" out in
        [ "$(stat -c %u:%g:%a out)" = 1234:2345:755 ]
    done
}

@test "-o by a member of the group of the file that it replaces keeps the group and the permissions" {
    make_directory
    chmod 777 "$dir"
    echo old >"$dir/out"
    chgrp 2345 "$dir/out"
    chmod 664 "$dir/out"
    cp in "$dir/in"
    run --separate-stderr bash -c 'cd "$0" && exec setpriv --reuid 65534 --regid 65534 --groups 2345 \
        ./gpuhist --bins 5 -o out in' "$dir"
    cp "$dir/out" out
    kept=$(stat -c %u:%g:%a "$dir/out")
    rm -rf "$dir"
    [ "$status" -eq 0 ] && [ -z "$output$stderr" ]
    cmp expected out
    [ "$kept" = 65534:2345:664 ]
}

@test "-o with the name that its temporary file would get" {
    run -0 --separate-stderr bash -c 'echo other >".gpuhist.$$.0"
        exec "$GPUHIST" --bins 5 -o out in'
    [ -z "$output$stderr" ]
    cmp expected out
    [ "$(cat .gpuhist.*)" = other ]
    [ "$(find . -type f | wc -l)" -eq 4 ]
}

# bats test_tags=later
@test "two results to one place are a usage error, however it is spelled" {
    [ -c /dev/full ] || skip "no /dev/full"
    mkfifo pipe
    echo old >file
    ln -s file link
    ln file hard
    ln -s . here
    ln -s "$PWD" there
    check_same() { # ARG...: with standard output to the file "printed"
        run --separate-stderr bash -c 'timeout 30 "$GPUHIST" "$@" in >printed' - "$@"
        assert_failed 2 "cannot both go to"
        [ ! -s printed ]
    }
    for first in - /dev/stdout /dev/fd/1 /proc/self/fd/1 printed ./printed there/printed; do
        check_same stalin-sort --purged "$first"
        check_same stalin-sort --purged "$first" -o -
        check_same stalin-sort --purged - -o "$first"
        check_same --bins 5 --save "$first" -o /dev/stdout
        check_same --bins 5 --save "$first" -o -
        check_same merge --save "$first" -o -
    done
    for first in file ./file link here/file there/here/link; do
        check_same stalin-sort --purged "$first" -o file
        check_same --bins 5 --save file -o "$first"
    done
    check_same stalin-sort --purged new -o there/new
    check_same stalin-sort --purged here/pipe -o pipe
    check_same stalin-sort --purged /dev/full -o /dev/full
    [ "$(cat file)" = old ]
    [ "$(ls -A)" = "$(printf '%s\n' expected file hard here in link pipe printed there)" ]
    # A hard link or another directory is another place; /dev/null is never the same.
    mkdir one two
    gpuhist stalin-sort -o one/new --purged two/new in
    cmp in one/new
    [ ! -s two/new ]
    for THREADS in 1 2 16; do
        echo old >hard
        gpuhist stalin-sort --purged hard -o file in
        cmp in file
        [ ! -s hard ]
    done
    unset THREADS
    gpuhist stalin-sort --purged /dev/null -o /dev/null in
    gpuhist --bins 5 --save - in | gpuhist merge - | cmp expected -
}

@test "the terminal is one place, by its name and as standard output" {
    [ -n "${PYTHON:-}" ] || skip "no python3"
    run -0 "$PYTHON" -c 'import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "stalin-sort", "--purged", os.ttyname(1), "in"])
try:
    told = os.read(terminal, 10000)
finally:
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
assert status == 2 and b"cannot both go to" in told, (status, told)' "$GPUHIST"
}

@test "an input that results are appended to while it is read is a usage error" {
    seq 5 >file
    for arguments in "stalin-sort file" "stalin-sort -o /dev/stdout -- in ./file" \
        "stalin-sort -o other --purged - file" "count --all --every 1h file" \
        "stalin-sort --purged other /dev/fd/0"; do
        # shellcheck disable=SC2086
        run --separate-stderr bash -c '"$GPUHIST" "$@" <file >>file' - $arguments
        assert_failed 2 "is an input, and results cannot be written to it while it is read"
        seq 5 | cmp - file
    done
    run --separate-stderr bash -c '"$GPUHIST" stalin-sort <file >>file'
    assert_failed 2 "standard input is an input"
    run --separate-stderr bash -c '"$GPUHIST" uniq --every 1s -o file <file'
    assert_failed 2 "file is an input, and"
    # Intermediate results replace files, which would be read as inputs or lost.
    ln -s file link
    : >empty
    for arguments in "-o file - file" "-o link file" "-o other --save ./file -- in file" "-o empty - empty" \
        "-o file" "--save file"; do
        # shellcheck disable=SC2086
        run --separate-stderr bash -c '"$GPUHIST" count --text --all --every 1ms "$@" <file' - $arguments
        assert_failed 2 "is an input, and results cannot be written to it while it is read"
        seq 5 | cmp - file
        [ ! -s empty ]
    done
    # Reads before the first write, and empty files, do no harm.
    # shellcheck disable=SC2094
    gpuhist reduce sum file >>file
    [ "$(tail -n 1 file)" = 15 ]
    for THREADS in 1 2 16; do
        gpuhist stalin-sort file -o file
        { seq 5; echo 15; } | cmp - file
    done
    : >empty
    # shellcheck disable=SC2094
    gpuhist stalin-sort <empty >>empty
    [ ! -s empty ]
    # nor does input that was already read
    seq 5 >file
    run -0 --separate-stderr bash -c '{ cat >/dev/null; "$GPUHIST" stalin-sort; } <file >>file'
    seq 5 | cmp - file
}

@test "-o over a file with a name of the greatest length" {
    name=$(printf 'x%.0s' {1..255})
    gpuhist --bins 5 -o "$name" in
    gpuhist --bins 5 -o "$name" in
    cmp expected "$name"
}

@test "a result beyond the file size limit is an error, and leaves nothing" {
    for threads in 1 2 16; do
        run --separate-stderr bash -c 'ulimit -f 1
            "$GPUHIST" --bins 5M --zeros -o big --threads "$0" in' $threads
        assert_failed 1 "cannot write big: File too large"
        [ "$(ls -A)" = $'expected\nin' ]
    done
}

@test "a non-blocking pipe as output loses nothing" {
    command -v perl >/dev/null || skip "no perl"
    for threads in 1 2 16; do
        run -0 bash -c 'perl -MFcntl -e "fcntl STDOUT, F_SETFL, O_NONBLOCK or die; exec @ARGV" \
            "$GPUHIST" --bins 200K --zeros --threads "$0" in | { sleep 0.1; wc -l; }' $threads
        [ "$output" -eq 200000 ]
    done
}

@test "-o may be the input itself" {
    cp in input
    for THREADS in 1 2 16; do
        cp input in
        gpuhist --bins 5 -o in in
        cmp expected in
    done
}

@test "-o that cannot be written is reported before the input is read" {
    run --separate-stderr timeout 30 "$GPUHIST" --bins 5 -o missing/out /dev/zero
    assert_failed 1 "cannot write missing/out: No such file or directory"
    run --separate-stderr timeout 30 "$GPUHIST" --bins 5 -o . /dev/zero
    assert_failed 1 "cannot write .: Is a directory"
    run --separate-stderr timeout 30 "$GPUHIST" --bins 5 -o "$(printf 'x%.0s' {1..5000})" /dev/zero
    assert_failed 1 "File name too long"
}

@test "a failed run leaves an old -o file as it was, and no new one" {
    echo old >out
    printf xyz >odd
    for THREADS in 1 2 16; do
        run --separate-stderr gpuhist --binary --bins 5 -o out odd
        assert_failed 1 "3 bytes left"
        [ "$(cat out)" = old ]
        run --separate-stderr gpuhist --binary --bins 5 -o new odd
        assert_failed 1 "3 bytes left"
        [ ! -e new ]
        [ "$(ls)" = $'expected\nin\nodd\nout' ]
    done
}

@test "a full disk is an error: results, --help, --version, info" {
    [ -c /dev/full ] || skip "no /dev/full"
    for arguments in "--bins 5 in" "--bins 5 --format raw in" --help --version info \
        "--bins 5 -o /dev/full in"; do
        # shellcheck disable=SC2086
        run --separate-stderr bash -c '"$GPUHIST" "$@" >/dev/full' - $arguments
        assert_failed 1 "No space left on device"
    done
    for threads in 1 2 16; do
        gpuhist --bins 5M --zeros --threads $threads in >/dev/full 2>err && false
        [ "$(cat err)" = "gpuhist: cannot write standard output: No space left on device" ]
    done
}

@test "closed standard output is an error, and no file opened instead of it is touched" {
    cp in before
    for arguments in "--bins 5 in" --help --version info; do
        # shellcheck disable=SC2086
        run --separate-stderr bash -c '"$GPUHIST" "$@" >&-' - $arguments
        assert_failed 1 "cannot write standard output: Bad file descriptor"
    done
    cmp before in
}

@test "closed standard error loses the message, not the status" {
    run bash -c '"$GPUHIST" --bins 5 missing 2>&-'
    [ "$status" -eq 1 ] && [ -z "$output" ]
    run -0 bash -c '"$GPUHIST" --bins 5 in 2>&-'
}

@test "a closed pipe: SIGPIPE ends it, and where that is ignored, an error" {
    for threads in 1 2 16; do
        export threads
        run bash -c '"$GPUHIST" --bins 1M --zeros --threads $threads in | true
            echo "${PIPESTATUS[0]}"'
        [ "$output" = 141 ]
        run bash -c '"$GPUHIST" --bins 1M --zeros --threads $threads in | head -n 1
            echo "${PIPESTATUS[0]}"'
        [ "$output" = $'0\t0\n141' ]
        run bash -c 'trap "" PIPE
            { "$GPUHIST" --bins 1M --zeros --threads $threads in; echo "$?" >&2; } | true'
        [ "$output" = $'gpuhist: cannot write standard output: Broken pipe\n1' ]
    done
}

# bats test_tags=slow,plain
@test "5M bins with --zeros are 5M numbered lines" {
    seq 0 4999999 | awk '{ print $1 "\t" ($1 == 1 ? 1 : $1 == 2 ? 2 : 0) }' >numbered
    for threads in 1 2 16; do
        gpuhist --bins 5M --zeros --threads $threads -o out in
        cmp numbered out
    done
}
