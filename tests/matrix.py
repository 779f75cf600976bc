"""Compares gpuhist with numpy over engines, threads, chunk sizes, distributions and binnings.

usage: matrix.py GPUHIST TYPE ENGINE...

The reference bins with Python's integers and numpy's searchsorted, and shares nothing with gpuhist.
"""

import functools
import sys
import tempfile

import numpy as np

from engine_runs import EngineRuns, run

COUNT = 70001


def distributions(dtype, rng):
    """Names and arrays: typical values of a histogram and its limits."""
    info = np.iinfo(dtype)
    low, high = int(info.min), int(info.max)
    small = min(high, 99)
    uniform = rng.integers(low, high, COUNT, dtype=dtype, endpoint=True)
    yield "uniform", uniform
    yield "sorted", np.sort(uniform)
    yield "small", rng.integers(0, small, COUNT, dtype=dtype, endpoint=True)
    yield "equal", np.full(COUNT, small, dtype)
    yield "skewed", np.minimum(rng.zipf(1.3, COUNT), small).astype(dtype)
    yield "extremes", np.array([low, high], dtype)[rng.integers(0, 2, COUNT)]
    yield "one", np.array([1], dtype)


def binnings(dtype):
    """(bins, low, high) over this type: unit and scaled, narrow and wide, with values outside."""
    info = np.iinfo(dtype)
    low, limit = int(info.min), int(info.max) + 1
    around_zero = -100 if low < 0 else 0
    yield 100, 0, 100
    yield 200, around_zero, around_zero + 200
    yield 7, 0, 100
    yield 251, low, limit
    if info.bits > 8:
        yield 1000, low, limit
        yield 60000, max(low, -30000), max(low, -30000) + 60000
    if info.bits > 16:
        yield 300000, low // 3, limit // 3
        yield 700001, 0, 700001


@functools.lru_cache(maxsize=None)
def edges_of(dtype, bins, low, high):
    """Returns the smallest value of each bin that the type reaches."""
    bottom, top = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    edges = [low + (b * (high - low) + bins - 1) // bins for b in range(bins)]
    return np.array([max(e, bottom) for e in edges if e <= top], dtype)


def expected(values, bins, low, high):
    """Returns the counts of the bins, and of the values below and above."""
    bottom, top = int(np.iinfo(values.dtype).min), int(np.iinfo(values.dtype).max)
    # Compared within the type: numpy would make floats of numbers beyond it.
    below = values < low if low > bottom else np.zeros(len(values), bool)
    above = values >= high if high <= top else np.zeros(len(values), bool)
    edges = edges_of(values.dtype, bins, low, high)
    inside = np.searchsorted(edges, values[~(below | above)], side="right") - 1
    counts = np.bincount(inside, minlength=bins).astype("<u8")
    return counts, int(below.sum()), int(above.sum())


def main():
    runs = EngineRuns(sys.argv, [(1, "1M"), (3, "4099"), (8, "64K")])
    with tempfile.NamedTemporaryFile() as file:
        for name, values in distributions(runs.dtype, runs.rng):
            runs.store(file, values)
            for bins, low, high in binnings(runs.dtype):
                commands = runs.commands("--bins", str(bins), "--range", f"{low}:{high}",
                                         "--format", "raw", file.name)
                if not commands:
                    continue
                counts, below, above = expected(values, bins, low, high)
                advice = " (try --outside)" if counts.any() else " (try --width or uniq)"
                if low == 0 and bins == high:
                    advice = " (try --range auto)"
                report = (f"gpuhist: values out of range: {below} below, {above} above{advice}\n"
                          if below + above else "")
                for command in commands:
                    done = run(command)
                    got = np.frombuffer(done.stdout, "<u8")
                    if done.returncode or done.stderr.decode() != report or \
                            not np.array_equal(got, counts):
                        sys.exit(f"{name}: {' '.join(command)}: status {done.returncode}, "
                                 f"{done.stderr.decode()!r} instead of {report!r}")
    print(runs.summary())


main()
