#!/usr/bin/env bats
# bats file_tags=plain
# examples/ssh.sh with GNU parallel and ssh to two "hosts": OpenSSH servers on ports of the loopback
# address, run by the user of the tests, with separate keys.

load helpers

setup_file() {
    cd "$BATS_FILE_TMPDIR"
    export LACK=
    sshd=$(PATH=$PATH:/usr/sbin:/sbin command -v sshd) || LACK=sshd # it requires its full path
    [[ $(getent passwd "$(id -u)") == *sh ]] || LACK="shell to log in"
    parallel --version 2>/dev/null | grep -q '^GNU parallel' || LACK="GNU parallel"
    if [ -n "$LACK" ]; then return; fi
    export HOME=$PWD PARALLEL_SSH="ssh -F $PWD/ssh_config" ON_HOST=$PWD/gpuhist
    # A host has only its own files: it does not count those of the other one.
    cat >gpuhist <<EOF
#!/bin/sh
case "\$1 \$*" in
merge* | *"/\$THIS_HOST/"*) exec "$GPUHIST" "\$@" ;;
esac
echo "not on host \$THIS_HOST: \$*" >&2
exit 1
EOF
    chmod +x gpuhist
    ssh-keygen -q -t ed25519 -N '' -f key
    # As root, sshd requires a directory that a system makes when it boots.
    if [ "$(id -u)" = 0 ] && mkdir /run/sshd 2>/dev/null; then touch made; fi
    local host
    for host in one two; do start_host "$host"; done
    for host in one two; do
        eventually ssh -F ssh_config "$host" true || { cat sshd.log; return 1; }
    done
}

# start_host NAME: starts a server for the name.
start_host() {
    local port
    while port=$((20000 + RANDOM % 10000)) && (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
    cat >>ssh_config <<EOF
Host $1
    HostName 127.0.0.1
    Port $port
    User $(id -un)
    IdentityFile $PWD/key
    IdentitiesOnly yes
    BatchMode yes
    KexAlgorithms curve25519-sha256
    HostKeyAlias here
    UserKnownHostsFile $PWD/known_hosts
    StrictHostKeyChecking accept-new
EOF
    cat >"sshd_config.$1" <<EOF
ListenAddress 127.0.0.1:$port
HostKey $PWD/key
AuthorizedKeysFile $PWD/key.pub
PidFile none
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
SetEnv THIS_HOST=$1 HOME=$PWD
EOF
    "$sshd" -D -e -f "sshd_config.$1" >>sshd.log 2>&1 </dev/null 3>&- &
    echo $! >>daemons
}

# eventually COMMAND...: waits until it succeeds, ten seconds at most.
eventually() {
    local end=$((SECONDS + 10))
    until "$@" 2>/dev/null; do
        [ "$SECONDS" -lt "$end" ] || return
        sleep 0.1
    done
}

teardown_file() {
    if [ -n "$LACK" ]; then return; fi
    cd "$BATS_FILE_TMPDIR"
    local daemons
    mapfile -t daemons <daemons
    kill "${daemons[@]}"
    wait "${daemons[@]}" || :
    if [ -e made ]; then rmdir /run/sshd; fi
}

setup() {
    [ -z "$LACK" ] || skip "no $LACK"
    cd "$BATS_TEST_TMPDIR"
    mkdir one two
    seq 500 >one/first
    seq 7 7 900 >'one/second part'
    seq 9 9 900 >two/first
    printf '%s\n' "$PWD/one/first@one" "$PWD/one/second part@one" "$PWD/two/first@two" >list
}

count() { GPUHIST=$ON_HOST bash "$srcdir/examples/ssh.sh" "$@"; }

@test "ssh: each host counts its own files, and the states are merged to the result of one run" {
    count states --bins 1K <list >out
    cat one/* two/* | sort -n | uniq -c | awk '{ print $2 "\t" $1 }' | cmp - out
    gpuhist --bins 1K one/* two/* | cmp - out
    [ "$(find states -name 'state.?' | wc -l)" -eq 3 ]
    awk 'NR > 1 { print $2 }' states/log | sort | xargs | grep -x 'one one two'

    run -1 count states --bins 2K <list
    [ "$output" = "ssh.sh: states holds another job" ]
}

@test "ssh: a file that cannot be counted is named, and the same command again counts only that" {
    echo 17x >>two/first
    run -1 --separate-stderr count states reduce sum,max <list
    [ -z "$output" ]
    [[ $stderr == *"two/first:101: invalid integer '17x'"* ]]
    [[ $stderr == *"ssh.sh: not all files are counted; states/log lists"* ]]
    sed -i '$d' two/first
    touch before
    run -0 --separate-stderr count states reduce sum,max <list
    [ "$output" = "$(cat one/* two/* | awk '{ sum += $1; if ($1 > max) max = $1 } END { print "sum\t" sum "\nmax\t" max }')" ]
    [ "$(find states -name 'state.?' -newer before)" = states/state.3 ]
}

@test "ssh: a list with a file twice or without hosts is an error" {
    run -1 count other --bins 10 < <(cat list list)
    [[ $output == "ssh.sh: listed twice: $PWD/one/first@one"* ]]
    run -1 count other --bins 10 <<<"$PWD/one/first"
    [ "${lines[1]}" = "ssh.sh: these are not FILE@HOST" ]
    [ ! -e other ]
}
