#!/usr/bin/env python3
"""Measures each kind of bins on the CPU against plain bins, as many of them.

usage: binnings.py THREADS ROUNDS GPUHIST...

Runs the programs one after the other, each with the bins of a row and with `--bins N` of values
below N. Prints the medians of the processor time of the whole process, their ratio, and the ratio
of the medians of the wall time. A ratio above its target is marked `ABOVE`: 1.3 for equal parts,
widths and powers of 2, 2 for powers of 10 and up to 1000 edges, or 3 without AVX-512.

  BENCH_DIR=/dev/shm       where the input is made (a file or two at a time, removed after a row)
  BENCH_VALUES=67108864    how many elements of up to 4 bytes; of 8 half as many
  ONLY='log2|i64 width'    the rows whose names have one of these
  GPUHIST_ISA=avx2         as gpuhist understands it
"""

import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np


def bits(kind):
    return int(kind[1:])


def limits(kind):
    half = 2 ** (bits(kind) - 1)
    return (-half, half) if kind[0] == "i" else (0, 2 * half)


def uniform(kind, low=None, high=None):
    """Returns values low <= v < high, or of the whole type."""
    least, limit = limits(kind)
    low, high = least if low is None else low, limit if high is None else high
    return lambda rng, n: rng.integers(low, high - 1, n, dtype=dtype(kind), endpoint=True)


def skewed(kind, both_sides=False):
    """Returns equally many values between any two powers of 2."""
    def make(rng, n):
        values = 2.0 ** rng.uniform(0, bits(kind) - 2, n)
        return (values * rng.choice([-1.0, 1.0], n) if both_sides else values).astype(dtype(kind))
    return make


def normal(kind):
    return lambda rng, n: (rng.normal(0, 2.0 ** (bits(kind) - 4), n)).astype(dtype(kind))


def dtype(kind):
    return np.dtype(kind[0] + str(bits(kind) // 8))


def random_edges(kind, bins, whole=True):
    low, high = limits(kind)
    inner = {random.randrange(low, high) for _ in range(bins - 1 if whole else bins + 1)}
    return inner | {low, high} if whole else inner


def equal_edges(kind, bins):
    low, high = limits(kind)
    return {low + i * (high - low) // bins for i in range(bins + 1)}


def growing_edges(bins, limit, both_sides=False):
    """From 0 to the limit, each as much greater than the last one as the next; on both sides."""
    edges = {0} | {int(limit ** (i / bins)) for i in range(bins + 1)}
    return edges | {-edge for edge in edges} if both_sides else edges


def normal_edges(kind, bins):
    return {int(random.gauss(0, 2.0 ** (bits(kind) - 4))) for _ in range(bins + 1)}


def rows():
    """(name, type, a list of arguments or a set of edges, values, plain bins)"""
    for kind in ("i32", "i64"):
        top = 2 ** (bits(kind) - 2)
        for bins in (100, 300, 999, 2000, 5000, 20000):
            yield f"{bins} random edges", kind, random_edges(kind, bins), uniform(kind), bins
        edges = random_edges(kind, 999, False)
        yield "999 random edges, some outside", kind, edges, uniform(kind), 999
        yield "999 equal edges", kind, equal_edges(kind, 999), uniform(kind), 999
        yield "999 normal edges", kind, normal_edges(kind, 999), normal(kind), 999
        for bins in (12, 25, 58, 100, 200, 500):
            edges = growing_edges(bins, top)
            yield f"{bins} skewed edges", kind, edges, skewed(kind), len(edges) - 1
        edges = growing_edges(50, top, True)
        yield "edges on both sides", kind, edges, skewed(kind, True), len(edges) - 1
        yield "log10", kind, ["--log10"], skewed(kind, True), 2 * len(str(top)) + 1
        yield "log2", kind, ["--log2"], skewed(kind, True), 2 * bits(kind) - 2
        yield "automatic, below 5M", kind, [], uniform(kind, 0, 5000000), 50
        yield "automatic, any", kind, [], uniform(kind), 50
        yield "width 1000, below 5M", kind, ["--width", "1000"], uniform(kind, 0, 5000000), 5000
        yield "width 1, below 5M", kind, ["--width", "1"], uniform(kind, 0, 5000000), 5000000
    for kind, low, high, option, bins in (
            ("i32", 0, 2**30, "--bins=77", 77), ("i32", 0, 2**30, "--bins=256", 256),
            ("i32", 0, 2**30, "--bins=999", 999), ("i64", 0, 10**12, "--bins=300", 300),
            ("i64", 0, 10**12, "--bins=999", 999), ("i64", 0, 10**12, "--bins=4000", 4000),
            ("i64", 0, 10**12, "--width=1000000000", 1000), ("i64", 0, 2**40, "--width=1Gi", 1024),
            ("i64", -2**63, 2**63 - 1, "--bins=1000", 1000), ("i16", -30000, 30000, "--bins=77", 77)):
        args = [f"--range={low}:{high}", option]
        yield " ".join(args), kind, args, uniform(kind, low, high), bins
    yield "299 random edges", "i16", random_edges("i16", 299), uniform("i16"), 299
    for powers in ("log2", "log10"):
        yield powers, "i16", ["--" + powers], skewed("i16", True), 30
        yield powers, "u32", ["--" + powers], skewed("u32"), 30
        yield powers, "u64", ["--" + powers], skewed("u64"), 60
    yield "automatic", "i16", [], uniform("i16"), 50


def seconds(command):
    """Returns the CPU time and the wall time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    clock = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, clock


def has_avx512():
    """Returns whether gpuhist uses AVX-512 here."""
    isa = os.environ.get("GPUHIST_ISA", "avx512")
    with open("/proc/cpuinfo", encoding="ascii") as file:
        return isa.startswith("avx512") and "avx512dq" in file.read()


def target(how, bins):
    """Returns the maximum allowed ratio, or None."""
    if isinstance(how, set) and bins > 1000:
        return None
    return 1.3 if not isinstance(how, set) and how != ["--log10"] else 2 if has_avx512() else 3


def measure(program, common, args, plain, rounds):
    """Returns the medians of both CPU times, and of both wall times."""
    runs = [[seconds([program, *common, *how]) for how in (args, plain)] for _ in range(rounds)]
    return [statistics.median(run[i][j] for run in runs) for j in (0, 1) for i in (0, 1)]


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    threads, rounds, programs = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    values = int(os.environ.get("BENCH_VALUES", 64 << 20))
    only = os.environ.get("ONLY", "").split("|")
    random.seed(1)
    for name, kind, how, make, bins in rows():
        name = f"{kind} {name}"
        most = target(how, bins)
        if not any(word in name for word in only):
            continue
        rng = np.random.default_rng(1)
        n = values // 2 if bits(kind) == 64 else values
        with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR", "/dev/shm")) as directory:
            ours, theirs, edges = (os.path.join(directory, file) for file in ("a", "b", "edges"))
            make(rng, n).tofile(ours)
            uniform(kind, 0, bins)(rng, n).tofile(theirs)
            if isinstance(how, set):
                with open(edges, "w", encoding="ascii") as file:
                    file.writelines(f"{edge}\n" for edge in sorted(how))
                how = ["--edges", "@" + edges]
            common = ["--binary", "-t", kind, "--engine", "cpu", "--threads", threads,
                      "--format", "raw"]
            told = []
            for program in programs:
                cpu, plain, clock, plain_clock = measure(
                    program, common, [*how, ours], ["--bins", str(bins), theirs], rounds)
                is_above = most is not None and cpu / plain > most
                told.append(f"{cpu:.4f} {plain:.4f} {cpu / plain:.2f} x, "
                            f"wall {clock / plain_clock:.2f} x{' ABOVE' if is_above else ''}")
            print(f"{name:46}", " | ".join(told), flush=True)


if __name__ == "__main__":
    main()
