"""Compares gpuhist uniq with numpy.unique, on values of a type and its other byte order.

usage: uniq.py GPUHIST TYPE ENGINE...
"""

import sys
import tempfile

import numpy as np

from engine_runs import EngineRuns, run

COUNT = 30011
SETTINGS = [(1, "1M"), (2, "4099"), (5, "16K"), (16, "64K")]


def zipf(dtype, rng):
    """Ranks of Zipf's law, spread over the type by an odd factor."""
    ranks = np.minimum(rng.zipf(1.1, COUNT), 1 << 20).astype(np.uint64)
    return (ranks * np.uint64(0x9e3779b97f4a7c15)).astype(dtype)


def arrays(dtype, rng):
    """Names and arrays: distributions, orders, extremes, and keys with equal bits."""
    info = np.iinfo(dtype)
    low, high, bits = int(info.min), int(info.max), info.bits
    uniform = rng.integers(low, high, COUNT, dtype=dtype, endpoint=True)
    dense = rng.integers(max(low, -50), min(high, 20000), COUNT, dtype=dtype, endpoint=True)
    every = np.arange(COUNT).astype(np.uint64)
    extremes = np.array([low, low + 1, 0, high - 1, high] + [-1] * (low < 0), dtype)
    yield "nothing", np.array([], dtype)
    yield "least", np.array([low], dtype)
    yield "greatest", np.full(5, high, dtype)
    yield "extremes", rng.choice(extremes, COUNT)
    yield "zero", np.zeros(COUNT, dtype)
    yield "uniform", uniform
    yield "different", (every * np.uint64(0xd1342543de82ef95)).astype(dtype)
    yield "few", rng.choice(uniform[:7], COUNT)
    yield "zipf", zipf(dtype, rng)
    yield "dense", dense
    yield "dense, outliers last", np.append(dense, extremes)
    yield "dense, outliers first", np.append(extremes, dense)
    yield "dense and sparse", np.where(rng.integers(0, 2, COUNT) == 0, dense, uniform)
    yield "ascending", np.sort(uniform)
    yield "descending", np.sort(dense)[::-1]
    yield "clusters", (rng.choice([low, 3 * (high // 4)], COUNT) + rng.integers(0, 30, COUNT)) \
        .astype(dtype)
    yield "equal lower bits", (every << np.uint64(bits // 2)).astype(dtype)
    yield "equal upper bits", (every & np.uint64((1 << bits // 2) - 1)).astype(dtype)
    yield "multiples of a page", (every << np.uint64(12)).astype(dtype)
    yield "powers of two", (np.uint64(1) << every % np.uint64(bits)).astype(dtype)
    if bits >= 32:
        # The frequent keys change: others replace those that a thread counts by itself.
        yield "changing", np.concatenate([
            np.repeat(uniform[:20], 5000), rng.integers(low, high, 400000, dtype=dtype),
            np.repeat(uniform[20:24], 20000), np.arange(100000, dtype=dtype)])


def expected(values):
    unique, counts = np.unique(values, return_counts=True)
    return "".join(f"{v}\t{c}\n" for v, c in zip(unique.tolist(), counts.tolist())).encode()


def compare(runs, file, name, array):
    """One run on each engine, with varying memory for counts."""
    memory = ([], ["-S", "1"], ["-S", "100M"])[runs.runs % 3]
    is_piped = runs.runs % 2
    commands = runs.commands("uniq", *memory, *([] if is_piped else [file.name]))
    text = expected(array) if commands else b""
    runs.store(file, array)
    for command in commands:
        with open(file.name, "rb") as data:
            done = run(command, data.read() if is_piped else None)
        if done.returncode or done.stderr or done.stdout != text:
            sys.exit(f"{name}: {' '.join(command)}: status {done.returncode}, "
                     f"{done.stderr.decode()!r}\n{done.stdout[:500]!r} instead of\n{text[:500]!r}")


def main():
    orders = ["", "be"] if sys.argv[2][1:] != "8" else [""]
    runs = [EngineRuns([*sys.argv[:2], sys.argv[2] + order, *sys.argv[3:]], SETTINGS)
            for order in orders]
    with tempfile.NamedTemporaryFile() as file:
        for i, (name, array) in enumerate(arrays(runs[0].dtype, runs[0].rng)):
            compare(runs[i % len(runs)], file, name, array)
    print(*(each.summary() for each in runs))


main()
