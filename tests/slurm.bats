#!/usr/bin/env bats
# bats file_tags=plain
# examples/slurm on Slurm itself: a controller and two nodes on ports of the loopback address, run by
# the user of the tests. Nothing is left of them after the last test.

load helpers

setup_file() {
    export PATH=$PATH:/usr/sbin:/sbin SLURM_CONF=$BATS_FILE_TMPDIR/slurm.conf
    cd "$BATS_FILE_TMPDIR"
    export LACK=
    local program
    for program in munged slurmctld slurmd sbatch; do
        command -v "$program" >/dev/null || LACK=$program
    done
    if [ -n "$LACK" ]; then return; fi
    mkdir -m 755 munge
    head -c 128 /dev/urandom >munge/key
    chmod 600 munge/key
    ln -s /dev/null gpu0 # a node has two GPUs, for which Slurm requires a device
    ln -s /dev/zero gpu1
    echo "Name=gpu File=$PWD/gpu[0-1]" >gres.conf
    slurm_conf >slurm.conf
    start munged --foreground --force --key-file munge/key --socket "$PWD/munge/socket" \
        --pid-file "$PWD/munge/pid" --log-file "$PWD/munge/log" --seed-file "$PWD/munge/seed"
    eventually test -S munge/socket
    start slurmctld -D
    start slurmd -D -N node1
    start slurmd -D -N node2
    eventually nodes_are_up || { cat daemons.log; return 1; }
}

# start COMMAND...: starts a daemon in the background; teardown_file ends it.
start() {
    "$@" >>daemons.log 2>&1 </dev/null 3>&- &
    echo $! >>daemons
}

# free_port: prints an unused port, below those of outgoing connections.
free_port() {
    local port
    while port=$((20000 + RANDOM % 10000)) && (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
    echo "$port"
}

slurm_conf() {
    cat <<EOF
ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$PWD/munge/socket
StateSaveLocation=$PWD
SlurmdSpoolDir=$PWD/%n
SlurmctldPidFile=$PWD/slurmctld.pid
SlurmdPidFile=$PWD/%n.pid
MailProg=/bin/true
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0,bf_interval=1
SlurmdParameters=config_overrides
GresTypes=gpu
NodeName=node1 NodeHostname=localhost NodeAddr=127.0.0.1 Port=$(free_port) CPUs=32 Gres=gpu:2
NodeName=node2 NodeHostname=localhost NodeAddr=127.0.0.1 Port=$(free_port) CPUs=32 Gres=gpu:2
PartitionName=all Nodes=ALL Default=YES
EOF
}

nodes_are_up() { [ "$(sinfo -h -o '%T %D' 2>/dev/null)" = 'idle 2' ]; }

# jobs_are_over: succeeds if no job is left. An update makes the scheduler check at once, not once per second.
jobs_are_over() {
    scontrol update PartitionName=all State=UP
    [ -z "$(squeue -h)" ]
}
is_pending() { [ "$(squeue -h -j "$1" -o %T)" = PENDING ]; }

# eventually COMMAND...: waits until it succeeds, half a minute at most.
eventually() {
    local end=$((SECONDS + 30))
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || return
        sleep 0.05
    done
}

teardown_file() {
    if [ -n "$LACK" ]; then return; fi
    cd "$BATS_FILE_TMPDIR"
    timeout 10 scancel -u "$(id -un)" && eventually jobs_are_over
    local daemons name step
    mapfile -t daemons <daemons
    kill "${daemons[@]}"
    wait "${daemons[@]}" || :
    # A step may wait for a daemon that has ended; it is in the directory in which its job was submitted.
    grep -lx slurmstepd /proc/[0-9]*/comm 2>/dev/null | while read -r name; do
        step=${name//[!0-9]/}
        [[ $(readlink "/proc/$step/cwd") != "$BATS_RUN_TMPDIR"/* ]] || kill -9 "$step"
    done
}

# Seven files of numbers, one with a name of two words, and gpuhist on PATH, as on a cluster.
setup() {
    [ -z "$LACK" ] || skip "no $LACK"
    cd "$BATS_TEST_TMPDIR"
    local i
    for i in 1 2 3 4 5 6; do
        seq "$i" 900 | awk -v i="$i" '{ print $1 * $1 * i % 1009 }' >"part.$i"
    done
    seq 990 1020 >'part seven'
    printf '%s\n' part* >list
    cat part* | sort -n | uniq -c | awk '{ print $2 "\t" $1 }' >right
    mkdir bin
    ln -s "$GPUHIST" bin/gpuhist
    PATH=$PWD/bin:$PATH
    cp "$srcdir"/examples/slurm/*.s* .
}

# assert_right: asserts that the state in run/ gives the result of sort and uniq, and that of one run.
assert_right() {
    "$GPUHIST" merge run/state -o merged
    cmp right merged
    "$GPUHIST" --bins 2K part* | cmp - merged
}

@test "slurm: an array of tasks with a GPU each and a tree of merges give the result of one run" {
    # The wrapper prints Slurm's assignment to the task, which is all that a fake GPU can show.
    printf '#!/bin/sh\n%s\nexec "%s" "$@"\n' \
        'echo "$SLURMD_NODENAME gpu $CUDA_VISIBLE_DEVICES: $*"' "$GPUHIST" >bin/wrapper
    chmod +x bin/wrapper
    sed -i 's/^##SBATCH --gres/#SBATCH --gres/' count.sbatch
    GPUHIST=$PWD/bin/wrapper FAN_IN=2 run -0 ./submit.sh run 4 --bins 2K <list
    [[ $output == "job "*"; then: gpuhist merge $PWD/run/state" ]]
    eventually jobs_are_over
    cat run/logs/*
    assert_right
    grep -ho '^node. gpu .' run/logs/count.* | sort | diff - \
        <(printf 'node%s\n' '1 gpu 0' '1 gpu 1' '2 gpu 0' '2 gpu 1')
    [ "$(grep -c -- "--bins 2K --threads 2 --save" run/logs/count.1)" -eq 1 ]
    [ "$(find run/level[1-9] -name 'state.?.files' | sort | xargs)" = \
        'run/level1/state.1.files run/level1/state.2.files run/level2/state.1.files' ]
    [ "$(wc -l <run/level0/state.1.files)" -eq 2 ]
}

@test "slurm: a task that fails leaves no state, is not merged, and can be run again" {
    mv 'part seven' elsewhere
    cp part.3 good
    echo x7 >>part.3
    run -0 ./submit.sh run 99 --bins 2K <list # one task for each file
    eventually jobs_are_over # the merge is cancelled and does not wait forever
    grep "part.3:899: invalid integer 'x7'" run/logs/count.*
    grep 'part seven: No such file' run/logs/count.*
    [ ! -e run/state ]
    [ "$(find run/level0 -name '*.files' | wc -l)" -eq 5 ]
    [ "$(find run/level0 -type f | wc -l)" -eq 10 ] # nothing half-written
    [ -z "$(find run/level1 -type f)" ]

    mv elsewhere 'part seven'
    cp good part.3
    touch before
    run -1 ./submit.sh run 7 --bins 2K <list
    [[ $output == *"submit.sh: to go on: submit.sh run" ]]
    run -0 ./submit.sh run
    eventually jobs_are_over
    assert_right
    [ "$(find run/level0 -name 'state.?' -newer before | wc -l)" -eq 2 ] # only the missing states
}

@test "slurm: a task that Slurm runs again, in the middle of its work, counts once" {
    # The first time, the node is lost after the state is written, but before its list.
    cat >bin/mv <<'EOF'
#!/bin/sh
if [ -z "$SLURM_RESTART_COUNT" ] && [ "$SLURM_ARRAY_TASK_ID" = 2 ]; then
    echo "$SLURM_JOB_ID" >lost
    exec sleep 60
fi
exec /bin/mv "$@"
EOF
    chmod +x bin/mv
    run -0 ./submit.sh run 3 --bins 2K <list
    eventually test -s lost
    scontrol requeue "$(cat lost)"
    eventually is_pending "$(cat lost)"
    # Before two minutes, but after the second in which the node has ended the job.
    scontrol update JobId="$(cat lost)" StartTime=now+1
    eventually jobs_are_over
    assert_right
}

# The merge is a script, which needs no Slurm.
@test "slurm: a state that is missing and one that is there twice are found" {
    mkdir -p run/logs run/level0 run/level1
    printf '%s\n' part.1 part.2 part.3 | tee run/files |
        awk '{ print >("run/level0/state." NR ".files") }'
    local i
    for i in 1 2 3; do gpuhist --bins 2K --save "run/level0/state.$i" -o /dev/null "part.$i"; done
    export SLURM_ARRAY_TASK_ID=1
    mv run/level0/state.2 kept
    run -1 bash merge.sbatch run 1 3 100
    [ "$output" = "gpuhist: run/level0/state.2: No such file or directory" ]
    cp run/level0/state.1 run/level0/state.2
    cp run/level0/state.1.files run/level0/state.2.files
    run -1 bash merge.sbatch run 1 3 100
    [[ ${lines[*]} == *"< part.2 "*"> part.1 these files are missing (<) or counted twice (>)" ]]
    [ ! -e run/state ]
    mv kept run/level0/state.2
    echo part.2 >run/level0/state.2.files
    bash merge.sbatch run 1 3 100
    cmp <(gpuhist merge run/state) <(gpuhist --bins 2K part.[123])
}

@test "slurm: a list without files or with one twice, no TASKS, no options, and merges of one state are errors" {
    run -1 ./submit.sh run 2 --bins 2K </dev/null
    [ "$output" = "submit.sh: no files are listed" ]
    run -1 ./submit.sh run 2 --bins 2K < <(printf '%s\n' part.1 part.2 ./part.1)
    [ "$output" = "submit.sh: listed twice: $PWD/part.1" ]
    run -2 ./submit.sh run 2 <list
    run -2 ./submit.sh run --bins 2K <list
    [[ $output == "usage: "* ]]
    FAN_IN=1 run -1 ./submit.sh run 2 --bins 2K <list
    [ "$output" = "submit.sh: FAN_IN is less than 2" ]
    [ ! -e run ]
}

# The warning in README.md there.
@test "slurm: tasks that share one output give the right result or an error, never a wrong one" {
    srun -n 4 gpuhist --bins 2K --save - part.1 >shared
    run gpuhist merge shared
    [[ $status -eq 1 && $output == "gpuhist: shared: "* ]] ||
        cmp <(echo "$output") <(gpuhist --bins 2K part.1 part.1 part.1 part.1)
    run -0 srun -n 1 -o mixed sh -c 'echo module loaded >&2; sleep 0.1; gpuhist --bins 2K --save - part.1'
    run -1 gpuhist merge mixed
    [ "$output" = "gpuhist: mixed: not a state that --save wrote" ]
}
