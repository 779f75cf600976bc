"""Compares gpuhist stalin-sort with its definition, over engines, rules, chunks and distributions.

usage: stalin_sort.py GPUHIST TYPE ENGINE...

The reference walks through Python's integers and shares nothing with gpuhist.
"""

import itertools
import sys
import tempfile

import numpy as np

from engine_runs import EngineRuns, run

COUNT = 20011


def distributions(dtype, rng):
    """Names and arrays: kinds of streams, up to the limits of the type."""
    info = np.iinfo(dtype)
    low, high = int(info.min), int(info.max)
    uniform = rng.integers(low, high, COUNT, dtype=dtype, endpoint=True)
    ascending = np.sort(uniform)
    nearly = ascending.copy()
    nearly[rng.integers(0, COUNT, COUNT // 40)] = uniform[:COUNT // 40]
    yield "uniform", uniform
    yield "sorted", ascending
    yield "reversed", ascending[::-1]
    yield "nearly sorted", nearly
    yield "nearly reversed", nearly[::-1]
    yield "steps", np.sort(rng.integers(0, 100, COUNT).astype(dtype))
    yield "equal", np.full(COUNT, high, dtype)
    yield "smallest", np.full(COUNT, low, dtype)
    yield "alternating", np.array([low, high], dtype)[np.arange(COUNT) % 2]
    yield "one", np.array([low], dtype)
    yield "empty", np.array([], dtype)


def survivors(values, strict, descending):
    """Returns a mask of the kept elements, by the definition."""
    kept = np.zeros(len(values), bool)
    last = None
    for i, value in enumerate(values.tolist()):
        if descending:
            passes = last is None or (value < last if strict else value <= last)
        else:
            passes = last is None or (value > last if strict else value >= last)
        if passes:
            kept[i] = True
            last = value
    return kept


def main():
    runs = EngineRuns(sys.argv, [(1, "1M"), (4, "4099"), (3, "16K"), (2, "509")])
    with tempfile.NamedTemporaryFile() as file, tempfile.NamedTemporaryFile() as removed:
        for (name, values), strict, descending in itertools.product(
                distributions(runs.dtype, runs.rng), (False, True), (False, True)):
            stored = values.astype(runs.stored)
            runs.store(file, values)
            purged = runs.runs % 2 == 0
            words = ["--strict"] * strict + ["--descending"] * descending
            words += ["--purged", removed.name] * purged
            commands = runs.commands("stalin-sort", *words, file.name)
            kept = survivors(values, strict, descending) if commands else None
            for command in commands:
                done = run(command)
                if done.returncode or done.stderr or done.stdout != stored[kept].tobytes():
                    sys.exit(f"{name}: {' '.join(command)}: status {done.returncode}, "
                             f"{len(done.stdout)} bytes, {done.stderr.decode()!r}")
                if purged:
                    with open(removed.name, "rb") as again:
                        if again.read() != stored[~kept].tobytes():
                            sys.exit(f"{name}: {' '.join(command)}: wrong elements purged")
    print(runs.summary())


main()
