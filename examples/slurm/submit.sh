#!/usr/bin/env bash
# Counts many files on the nodes of a Slurm cluster: an array of TASKS jobs, each of which counts its
# share of the files and saves a state, and jobs that merge the states when all of them exist.
# README.md, next to this script, describes the directory and the steps after a failed task.
#
# Usage: submit.sh DIRECTORY TASKS [OPERATION] OPTION... <LIST
#            counts the files in LIST, one per line. DIRECTORY is created; all nodes must see it
#        submit.sh DIRECTORY
#            counts the missing files, after a failure, and merges
# Environment: GPUHIST, the program on the nodes; FAN_IN, the number of states that one job merges (100)
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
fan_in=${FAN_IN:-100}

die() { echo "submit.sh: $*" >&2; exit 1; }

if [ $# -ne 1 ] && { [ $# -lt 3 ] || [[ ! $2 =~ ^[1-9][0-9]*$ ]]; }; then
    echo "usage: submit.sh DIRECTORY [TASKS [OPERATION] OPTION... <LIST]" >&2
    exit 2
fi
[ "$fan_in" -ge 2 ] || die "FAN_IN is less than 2"
work=$(realpath -m -- "$1")

if [ $# -gt 1 ]; then
    mapfile -t files < <(xargs -r -d '\n' realpath -sm --)
    [ "${#files[@]}" -gt 0 ] || die "no files are listed"
    doubled=$(printf '%s\n' "${files[@]}" | sort | uniq -d)
    [ -z "$doubled" ] || die "listed twice: $doubled"
    mkdir "$work" || die "to go on: submit.sh $1"
    mkdir "$work/logs" "$work/level0"
    printf '%s\n' "${files[@]}" >"$work/files"
    printf '%s\n' "${@:3}" >"$work/options"
    echo $(($2 < ${#files[@]} ? $2 : ${#files[@]})) >"$work/tasks" # no task without a file
fi
tasks=$(<"$work/tasks")

# submit TASKS ARG...: an array, with its logs in DIRECTORY/logs; prints the number of the job.
submit() { sbatch --parsable --array="$1" --output="$work/logs/%x.%a" "${@:2}"; }

# Tasks whose state has its list of files are done. The others, as ranges: all of them at first.
missing=$(for ((task = 1; task <= tasks; task++)); do
    [ -e "$work/level0/state.$task.files" ] || echo "$task"
done | awk 'NR == 1 || $1 != last + 1 { if (NR > 1) printf "%d-%d,", first, last; first = $1 }
            { last = $1 } END { if (NR) printf "%d-%d", first, last }')
after=()
if [ -n "$missing" ]; then
    job=$(submit "$missing" "$here/count.sbatch" "$work")
    after=(--dependency="afterok:$job" --kill-on-invalid-dep=yes)
fi

# Level by level, until one state is left.
level=0 states=$tasks
while [ "$level" -eq 0 ] || [ "$states" -gt 1 ]; do
    level=$((level + 1)) merges=$(((states + fan_in - 1) / fan_in))
    mkdir -p "$work/level$level"
    job=$(submit "1-$merges" --job-name="merge$level" "${after[@]}" \
        "$here/merge.sbatch" "$work" "$level" "$states" "$fan_in")
    after=(--dependency="afterok:$job" --kill-on-invalid-dep=yes)
    states=$merges
done
echo "job $job completes the counts; then: gpuhist merge $work/state"
