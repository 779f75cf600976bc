#!/usr/bin/env bash
# Counts files on the hosts that have them, with GNU parallel and ssh, and merges: only the states,
# which are small, cross the network. Each returns over standard output, to a separate file.
#
# If a host fails, nothing is merged; the same command again counts only the files whose counting
# failed or has not begun.
#
# Usage: ssh.sh DIRECTORY [OPERATION] OPTION... <LIST
#            LIST: lines of FILE@HOST, with HOST a name in ~/.ssh/config or of the network, or ":"
#            for this machine. DIRECTORY gets the states. Default: three samples on this machine
# Environment: GPUHIST, the program on the hosts and here; PARALLEL_SSH, such as "ssh -F FILE"
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}

die() { echo "ssh.sh: $*" >&2; exit 1; }

parallel --version 2>/dev/null | grep -q '^GNU parallel' || {
    echo "ssh.sh: GNU parallel is not installed" >&2
    exit 77
}

if [ $# -eq 0 ]; then
    samples=$(mktemp -d)
    trap 'rm -rf "$samples"' EXIT
    for i in 1 2 3; do seq "$i" "$i" 19 >"$samples/part $i"; done
    printf '%s@:\n' "$samples"/part* >"$samples/list"
    exec <"$samples/list"
    set -- "$samples/states" --range 0:20 --width 5
elif [ $# -eq 1 ]; then
    echo "usage: ssh.sh [DIRECTORY [OPERATION] OPTION... <LIST]" >&2
    exit 2
fi
work=$1
shift

# The command for each host, followed by a file: quoted for the shell there.
printf -v command '%q ' "$gpuhist" "$@" --save - --
list=$(cat)
[ -n "$list" ] || die "no files are listed"
doubled=$(sort <<<"$list" | uniq -d)
[ -z "$doubled" ] || die "listed twice: $doubled"
! grep -vE '^[^@]+@[^@]+$' <<<"$list" >&2 || die "these are not FILE@HOST"

# A job is identified by its number, so resuming requires the same command and list.
mkdir -p "$work"
[ ! -e "$work/job" ] || cmp -s "$work/job" <<<"$command"$'\n'"$list" || die "$work holds another job"
cat >"$work/job" <<<"$command"$'\n'"$list"

# Each host is a separate group, in which "FILE@HOST" runs; one run at a time uses all its CPUs.
logins=$(awk -F @ '{ print "@" $2 "/" $2 }' <<<"$list" | sort -u | paste -sd ,)
if ! parallel --hostgroups --sshlogin "$logins" --jobs 1 --joblog "$work/log" --resume-failed \
    --results "$work/state.{#}" "$command {}" <<<"$list" >/dev/null; then
    grep -H '' "$work"/*.err >&2 || :
    die "not all files are counted; $work/log lists the exit status of each"
fi

# Every state is named, so that a missing one is an error.
mapfile -t states < <(seq -f "$work/state.%.0f" "$(wc -l <<<"$list")")
"$gpuhist" merge -- "${states[@]}"
