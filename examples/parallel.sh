#!/usr/bin/env bash
# Counts ids, one per line, in parts, and merges the state files of the parts with gpuhist merge: first
# one process for each file, which saves its state in a file; then one process for each block of the
# whole stream, which writes its state to standard output. Both must give the result of one run. The
# parts can also be counted on other machines: a state is a small file.
#
# GNU parallel starts the processes; if it is not installed, xargs and split do.
#
# Usage: parallel.sh [BINS FILE...]     ids are below BINS; default: three samples
# Environment: GPUHIST
set -euo pipefail

export GPUHIST=${GPUHIST:-gpuhist}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ $# -eq 0 ]; then
    seq 0 9999 | awk '{ print $1 * $1 % 13 }' >"$work/first"
    seq 0 4999 | awk '{ print $1 % 7 * 10 }' >"$work/second"
    seq 90 99 >"$work/third"
    set -- 100 "$work/first" "$work/second" "$work/third"
elif [ $# -eq 1 ]; then
    echo "usage: parallel.sh [BINS FILE...]" >&2
    exit 2
fi
export BINS=$1
shift

# The job, which is the same in all parts: its options define the states.
count() { "$GPUHIST" --text --bins "$BINS" --outside abort --engine cpu --threads 1 "$@"; }
export -f count
export SHELL=$BASH

has_parallel() { parallel --version 2>/dev/null | grep -q '^GNU parallel'; }

# One process for each file.
mkdir "$work/states"
export states=$work/states
if has_parallel; then
    # shellcheck disable=SC2016  # the inner shells expand, here and below
    parallel 'count --save "$states"/{#} -o /dev/null -- {}' ::: "$@"
else
    # shellcheck disable=SC2016
    printf '%s\0' "$@" | xargs -0 -n 1 -P 4 "$BASH" -c 'count --save "$states/$$" -o /dev/null -- "$0"'
fi
"$GPUHIST" merge "$states"/* | tee "$work/by-files"

# One process for each block of 10 kB of lines; their states are concatenated.
if has_parallel; then
    cat -- "$@" | parallel --pipe --block 10k 'count --save -'
else
    cat -- "$@" | split -C 10K --filter 'count --save -'
fi | "$GPUHIST" merge -o "$work/by-blocks"

count -- "$@" | cmp - "$work/by-files"
cmp "$work/by-files" "$work/by-blocks"
echo "the same as one run over $# files"
