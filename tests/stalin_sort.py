"""Compares gpuhist stalin-sort with its definition, over engines, rules, chunks and distributions.

usage: stalin_sort.py GPUHIST TYPE ENGINE...

The reference walks through Python's integers and shares nothing with gpuhist.
"""

import itertools
import subprocess
import sys
import tempfile

import numpy as np

COUNT = 20011


def distributions(dtype, rng):
    """Names and arrays: what a stream looks like, up to the limits of the type."""
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
    """A mask of the elements that are kept, by the definition."""
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
    gpuhist, type_name, engines = sys.argv[1], sys.argv[2], sys.argv[3:]
    order = ">" if type_name.endswith("be") else "<"
    width = int(type_name[1:].removesuffix("be").removesuffix("le")) // 8
    dtype = np.dtype(f"{type_name[0]}{width}")
    rng = np.random.default_rng(width)
    settings = [(1, "1M"), (4, "4099"), (3, "16K"), (2, "509")]  # taken in turn
    runs = 0
    with tempfile.NamedTemporaryFile() as file, tempfile.NamedTemporaryFile() as removed:
        for (name, values), strict, descending in itertools.product(
                distributions(dtype, rng), (False, True), (False, True)):
            stored = values.astype(dtype.newbyteorder(order))
            kept = survivors(values, strict, descending)
            file.seek(0)
            file.truncate()
            file.write(stored.tobytes())
            file.flush()
            for engine in engines:
                # A GPU's context takes a third of a second: a third of the runs, in turn.
                if engine != "cpu" and runs % 3 != width % 3:
                    continue
                threads, chunk = settings[runs % len(settings)]
                purged = runs % 2 == 0
                command = [gpuhist, "stalin-sort", "--binary", "-t", type_name, "--engine", engine,
                           "--threads", str(threads), "--chunk-size", chunk, file.name]
                command += ["--strict"] * strict + ["--descending"] * descending
                command += ["--purged", removed.name] * purged
                done = subprocess.run(command, capture_output=True, check=False)
                if done.returncode or done.stderr or done.stdout != stored[kept].tobytes():
                    sys.exit(f"{name}: {' '.join(command)}: status {done.returncode}, "
                             f"{len(done.stdout)} bytes, {done.stderr.decode()!r}")
                if purged:
                    with open(removed.name, "rb") as again:
                        if again.read() != stored[~kept].tobytes():
                            sys.exit(f"{name}: {' '.join(command)}: wrong elements purged")
            runs += 1
    print(f"{runs} runs on each of {len(engines)} engines")


main()
