"""Compares what a GPU counts in tables with numpy, by jobs that are drawn; other engines do the same.

usage: gpu_counts.py GPUHIST TEST ENGINE...

    reductions   those that take a table of the distinct values, with some beside them
"""

import os
import subprocess
import sys
import tempfile

import numpy as np

TYPES = "i8 u8 i16 u16be i32be u32 i64 i64be u64 u64be".split()
COUNT = 400_000  # several chunks of each size below
CHUNKS = ["64K", "100001", "256K", "1M", "4M"]


def dtype_of(type_name):
    """The type in this machine's byte order, and as it is stored."""
    bare = type_name.removesuffix("be")
    dtype = np.dtype(f"{bare[0]}{int(bare[1:]) // 8}")
    return dtype, dtype.newbyteorder(">" if type_name.endswith("be") else "<")


def distributions(dtype, rng, count=COUNT):
    """Names and arrays of values: few and many distinct ones, and those at the ends of the type."""
    info = np.iinfo(dtype)
    low, high = int(info.min), int(info.max)
    ends = np.array([low, low + 1, 0, high - 1, high], dtype)
    wide = np.arange(count, dtype=np.uint64) * np.uint64(0x9e3779b97f4a7c15)
    yield "uniform", rng.integers(low, high, count, dtype=dtype, endpoint=True)
    yield "skewed", np.minimum(rng.zipf(1.3, count).astype(np.uint64), np.uint64(high)).astype(dtype)
    yield "ends", rng.choice(ends, count)
    yield "all equal", np.full(count, low, dtype)
    yield "all different", wide.astype(dtype)  # of narrow types, as often as each other
    yield "one", ends[-1:]
    yield "none", ends[:0]
    yield "sorted", np.sort(rng.integers(0, 100, count).astype(dtype))[::-1]


def settings(rng):
    return ["--threads", str(rng.integers(1, 9)), "--chunk-size", str(rng.choice(CHUNKS))]


def check(words, engines, right, status=0, error=b"", stdin=None):
    """What words print on each engine, from the file or data."""
    for engine in engines:
        command = [GPUHIST, *words, "--engine", engine]
        done = subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=120)
        if done.returncode != status or done.stderr != error or done.stdout != right:
            sys.exit(f"{command}: status {done.returncode}, {done.stderr!r},\n"
                     f"{done.stdout[:500]!r} instead of\n{right[:500]!r}, {error!r}")


def reductions_of(values, rng):
    """Names, drawn, of which one takes a table, and what they are."""
    distinct, counts = np.unique(values, return_counts=True)
    least, most = int(distinct[0]), int(distinct[-1])
    words = distinct.astype(np.int64).view(np.uint64) if values.dtype.kind == "i" else \
        distinct.astype(np.uint64)
    odd = np.bitwise_xor.reduce(words[counts % 2 == 1]) if (counts % 2).any() else 0
    found = {"count": len(values), "sum": sum(map(int, values)), "min": least, "max": most,
             "distinct": len(distinct), "mode": int(distinct[counts.argmax()]),
             "xor": int(np.uint64(odd).astype(np.int64) if values.dtype.kind == "i" else odd)}
    for percent in 0, 12.5, 50, 93.75, 100:  # exact as floating point numbers, so ranks are
        rank = max(int(np.ceil(percent / 100 * len(values))), 1)
        found[f"p{percent}"] = int(distinct[np.searchsorted(counts.cumsum(), rank)])
    found["median"] = found["p50"]
    some = [str(name) for name in rng.permutation(list(found))[:rng.integers(1, 9)]]
    names = some + ["distinct"] * ("distinct" not in some)
    return names, "".join(f"{name}\t{found[name]}\n" for name in names).encode()


def check_reductions(type_name, values, rng, engines):
    stored = dtype_of(type_name)[1]
    values.astype(stored).tofile("in")
    words = ["reduce", "--binary", "-t", type_name, *settings(rng)]
    if len(values) == 0:
        check([*words, "distinct,sum", "in"], engines, b"distinct\t0\nsum\t0\n")
        check([*words, "mode", "in"], engines, b"", 1, b"gpuhist: the input is empty: it has no mode\n")
        return
    names, right = reductions_of(values, rng)
    if len(names) == 1:
        right = right.split(b"\t")[1]
    check([*words, ",".join(names), "in"], engines, right)


def test_reductions(engines):
    rng = np.random.default_rng(1)
    for i, type_name in enumerate(TYPES):
        for k, (_, values) in enumerate(distributions(dtype_of(type_name)[0], rng)):
            if (i + k) % 2 == 0:
                check_reductions(type_name, values, rng, engines)
    # more distinct values than the first table on the device has slots for
    values = np.arange(3_000_000, dtype=np.uint64) * np.uint64(0x9e3779b97f4a7c15)
    check_reductions("u64", np.append(values, values[:1_000_000]), rng, engines)
    # text, of which tokens that are no numbers are skipped
    values = rng.integers(-2000, 2000, COUNT)
    lines = [f"{value}" for value in values]
    lines[7::50_000] = ["x"] * len(lines[7::50_000])
    kept = np.delete(values, np.arange(7, COUNT, 50_000))
    names, right = reductions_of(kept, rng)
    with open("in", "w", encoding="ascii") as file:
        file.write("\n".join(lines))
    words = ["reduce", ",".join(names), "--text", "--invalid", "ignore", "-q", "--chunk-size", "100K", "in"]
    check(words, engines, right if len(names) > 1 else right.split(b"\t")[1])


GPUHIST = os.path.abspath(sys.argv[1])
with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    globals()[f"test_{sys.argv[2]}"](sys.argv[3:])
    os.chdir("/")
