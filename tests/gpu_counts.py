"""Compares a GPU's counts in tables with numpy, for random jobs, which other engines do too.

usage: gpu_counts.py GPUHIST TEST ENGINE...

    reductions   those that need a table of the distinct values, together with others
    records      sums of weights, in bins and of distinct values, of records; invalid weights
    text         the same for text, in fields of any order, with blank and invalid lines
    beside       uniq of dense values, with some far away, on a GPU and the CPU: as on the CPU only
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
    """Returns the type in this machine's byte order, and as stored."""
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
    yield "all different", wide.astype(dtype)  # of narrow types, with equal counts
    yield "one", ends[-1:]
    yield "none", ends[:0]
    yield "sorted", np.sort(rng.integers(0, 100, count).astype(dtype))[::-1]


def settings(rng):
    return ["--threads", str(rng.integers(1, 9)), "--chunk-size", str(rng.choice(CHUNKS))]


def check(words, engines, right, status=0, error=b"", stdin=None):
    """Returns the output of words on each engine, from the file or data."""
    for engine in engines:
        command = [GPUHIST, *words, "--engine", engine]
        done = subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=120)
        if done.returncode != status or done.stderr != error or done.stdout != right:
            sys.exit(f"{command}: status {done.returncode}, {done.stderr!r},\n"
                     f"{done.stdout[:500]!r} instead of\n{right[:500]!r}, {error!r}")


def reductions_of(values, rng):
    """Returns random names, one of which needs a table, and their values."""
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
        check([*words, "mode", "in"], engines, b"", 1, b"gpuhist: cannot compute mode: empty input\n")
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
    # text, with skipped tokens that are not numbers
    values = rng.integers(-2000, 2000, COUNT)
    lines = [f"{value}" for value in values]
    lines[7::50_000] = ["x"] * len(lines[7::50_000])
    kept = np.delete(values, np.arange(7, COUNT, 50_000))
    names, right = reductions_of(kept, rng)
    with open("in", "w", encoding="ascii") as file:
        file.write("\n".join(lines))
    words = ["reduce", ",".join(names), "--text", "--invalid", "ignore", "-q", "--chunk-size", "100K", "in"]
    check(words, engines, right if len(names) > 1 else right.split(b"\t")[1])


def weights_of(count, dtype, rng):
    """Arrays of weights of a type, whose sum is below 2^64."""
    most = min(int(np.iinfo(dtype).max), (2**64 - 1) // max(count, 1), 2**63 - 1)
    yield rng.integers(0, min(most, 7), count, dtype=np.uint64, endpoint=True)
    yield rng.integers(0, most, count, dtype=np.uint64, endpoint=True)
    yield np.where(rng.random(count) < 0.999, 0, most).astype(np.uint64)
    yield np.zeros(count, np.uint64)
    yield np.full(count, most, np.uint64)


def lines(rows):
    return "".join("\t".join(map(str, row)) + "\n" for row in rows).encode()


def sums_by(keys, weights):
    """Returns each key, a Python integer or of a numpy type, with the sum of its weights."""
    distinct, indexes = np.unique(keys, return_inverse=True)
    sums = np.zeros(len(distinct), np.uint64)
    np.add.at(sums, indexes, weights)
    return [(int(key), int(total)) for key, total in zip(distinct, sums)]


def automatic(values, weights):
    """The width of automatic bins, and the number of the bin of each value."""
    held = values[weights > 0]
    if len(held) == 0:
        return 1, values
    least, most = int(held.min()), int(held.max())
    widths = (factor * 10**power for power in range(20) for factor in (1, 2, 5))
    width = next(width for width in widths if most // width - least // width < 64)
    return width, np.floor_divide(values, values.dtype.type(width)) if width <= np.iinfo(
        values.dtype).max else np.array([value // width for value in map(int, values)], object)


def weighted_jobs(values, weights, rng):
    """Words and their output, for jobs with weights."""
    small = values[np.isin(values, np.arange(0, 100, dtype=values.dtype))]
    kept = np.isin(values, np.arange(0, 100, dtype=values.dtype))
    yield ["uniq"], lines(sums_by(values, weights))
    yield ["--bins", "100", "--outside", "ignore"], lines(
        row for row in sums_by(small, weights[kept]) if row[1] > 0)
    width = int(rng.integers(2, 60))
    if width <= np.iinfo(values.dtype).max:
        bins = sums_by(np.floor_divide(values, values.dtype.type(width)), weights)
        yield ["--width", str(width)], lines(
            (key * width, (key + 1) * width, total) for key, total in bins if total > 0)
    ranged = sums_by(small // values.dtype.type(4), weights[kept])
    yield ["--width", "4", "--range", "0:100", "--outside", "ignore"], lines(
        (4 * key, 4 * key + 4, total) for key, total in ranged if total > 0)
    edges = np.array([0, 1, 3, 50, 100], values.dtype)
    between = sums_by(np.searchsorted(edges, small, side="right"), weights[kept])
    yield ["--edges", "0,1,3,50,100", "--outside", "ignore"], lines(
        (edges[k - 1], edges[k], total) for k, total in between if total > 0)
    logs = {}
    for value, total in sums_by(values, weights):
        bits = abs(value).bit_length()  # 2^(bits - 1) to 2^bits - 1
        low, high = (2**bits // 2, 2**bits) if bits > 0 else (0, 1)
        bounds = (1 - high, 1 - low) if value < 0 else (low, high)
        logs[bounds] = logs.get(bounds, 0) + total
    yield ["--log2"], lines((*bounds, total) for bounds, total in sorted(logs.items()) if total > 0)
    width, keys = automatic(values, weights)
    rows = [row for row in sums_by(keys, weights) if row[1] > 0]
    yield ["--format", "tsv"], lines(rows if width == 1 else [
        (key * width, (key + 1) * width, total) for key, total in rows])
    if len(values) > 0:
        total, least = int(weights.sum()), [row for row in sums_by(values, weights) if row[1] > 0]
        if total > 0:
            ranks, found = np.cumsum(np.array([row[1] for row in least], object)), []
            for percent, rank in (0, 1), (50, (total + 1) // 2), (100, total):
                found.append((percent, least[int(np.searchsorted(ranks, rank))][0]))
            yield ["uniq", "--quantiles", "0,50,100"], lines(found)


def store_records(name, values, stored, weights, weight_type, rng):
    """Records of values and weights at random offsets, described by --record and other options."""
    gap, behind = int(rng.integers(0, 4)), int(rng.integers(0, 5))
    weight_stored = dtype_of(weight_type)[1]
    fields = {"names": ["value", "weight"], "formats": [stored, weight_stored],
              "offsets": [gap, gap + stored.itemsize + behind],
              "itemsize": gap + stored.itemsize + behind + weight_stored.itemsize}
    records = np.zeros(len(values), np.dtype(fields))
    records["value"], records["weight"] = values, weights
    records.tofile(name)
    return ["--binary", "--record", str(records.itemsize), "--offset", str(gap), "--weight",
            f"{weight_type}@{fields['offsets'][1]}"]


def test_records(engines):
    rng = np.random.default_rng(2)
    for type_name in TYPES:
        dtype, stored = dtype_of(type_name)
        for _, values in distributions(dtype, rng, COUNT // 4):
            weight_type = str(rng.choice(TYPES))
            several = list(weights_of(len(values), dtype_of(weight_type)[0], rng))
            weights = several[rng.integers(len(several))]
            words = store_records("in", values, stored, weights, weight_type, rng)
            jobs = list(weighted_jobs(values, weights, rng))
            job, right = jobs[rng.integers(len(jobs))]
            check([*job, "-t", type_name, *words, *settings(rng), "in"], engines, right)
    # more distinct values than the first table on the device has slots for; many weights add up to 0
    values = np.arange(3_000_000, dtype=np.uint64) * np.uint64(0x9e3779b97f4a7c15)
    weights = rng.integers(0, 3, len(values), dtype=np.uint64)
    words = store_records("in", values, np.dtype("<u8"), weights, "u8", rng)
    check(["uniq", "-t", "u64", *words, "in"], engines, lines(sums_by(values, weights)))
    check_bad_weights(rng, engines)


def check_bad_weights(rng, engines):
    """Sums that do not fit, invalid weights, and out-of-range values that count or do not."""
    values = rng.integers(0, 100, COUNT // 4).astype("<i4")
    weights = np.zeros(len(values), np.int64)
    weights[[5, 70_000]] = 2**63 - 1
    weights[99_999] = 1
    jobs = ["uniq"], ["--bins", "100"], ["--width", "7"], ["--format", "tsv"]
    for job in jobs:
        words = [*job, "-t", "i32", *store_records("in", values, values.dtype, weights, "i64", rng)]
        right = lines(row for row in sums_by(values, weights.astype(np.uint64)) if row[1] > 0)
        if job[0] == "--bins":
            check([*words, "in"], engines, right)
        over = weights.copy()
        over[1] = 1
        words = [*job, "-t", "i32", *store_records("in", values, values.dtype, over, "i64be", rng)]
        check([*words, *settings(rng), "in"], engines, b"", 1,
              b"gpuhist: the weights add up to more than 2^64 - 1\n")
        over[:60_000] = 0
        over[60_000:] = -3  # each chunk from there on has some
        words = [*job, "-t", "i32", *store_records("in", values, values.dtype, over, "i16", rng)]
        offset = int(words[-1].split("@")[1]) + 60_000 * int(words[words.index("--record") + 1])
        check([*words, "--threads", "1", "in"], engines, b"", 1,
              f"gpuhist: weight -3 at byte {offset} of the input is not from 0 to 2^63 - 1\n".encode())
    values[[7, 50_000, 90_000]] = 100, 100, -1
    weights[:] = 1
    weights[7] = 0
    words = store_records("in", values, values.dtype, weights, "u64", rng)
    offset = 50_000 * int(words[2]) + int(words[4])
    check(["--bins", "100", "--outside", "abort", "-t", "i32", *words, "--threads", "1", "in"], engines,
          b"", 1, f"gpuhist: value 100 at byte {offset} of the input is out of range\n".encode())
    inside = (values >= 0) & (values < 100)
    check(["--bins", "100", "-t", "i32", *words, *settings(rng), "in"], engines,
          lines(sums_by(values[inside], weights[inside].astype(np.uint64))), 0,
          b"gpuhist: weight out of range: 1 below, 1 above (try --range auto)\n")


def run_beside(words, engines):
    """Returns the output of words on a GPU and one CPU thread, which is slow; both must have counted."""
    command = [GPUHIST, *words, "--threads", "1", "--stats", "-o", "out"]
    command += ["--gpus", "0"] if "cuda" in engines else []
    done = subprocess.run(command, capture_output=True, check=False, timeout=300)
    stats = done.stderr.decode()
    if done.returncode != 0 or not all(f"gpuhist: {engine}: " in stats for engine in engines):
        sys.exit(f"{command}: status {done.returncode}, {stats}")
    with open("out", "rb") as file:
        return file.read()


def test_beside(engines):
    rng = np.random.default_rng(4)
    values = rng.integers(0, 3_000_000, 128_000_000, dtype=np.int32)
    values[::997] = rng.integers(-2**31, 2**31, len(values[::997]), dtype=np.int64)
    values.astype("<i4").tofile("in")
    weighted = ["--record", "8", "-t", "i32", "--weight", "u8@4"]  # of the next value: many are 0
    values[1::2] &= 3
    values.astype("<i4").tofile("records")
    every = ["--every", "0.2"]
    for words, others in (["--binary", "in"], [[], ["-S", "24M"], every]), \
            (["--top", "30000", "--binary", "in"], [[]]), ([*weighted, "records"], [[], every]):
        command = [GPUHIST, "uniq", *words, "--engine", "cpu"]
        right = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=300).stdout
        for other in others:
            if run_beside(["uniq", *words, *other], engines) != right:
                sys.exit(f"{words} {other}: not what engine cpu prints")


def store_text(name, values, weights, bad, rng):
    """
    Returns lines with the values and weights in random fields, or named by a header, and the options
    for them. bad[] gives the error of a line: 0 none, 1 its value, 2 its weight, 3 too few fields.
    """
    columns = int(rng.integers(2, 6))
    value_at, weight_at = (int(i) for i in rng.permutation(columns)[:2])
    delimiter = [None, ",", ";", "\t"][rng.integers(4)]
    glue = delimiter or "  "
    newline = ["\n", "\r\n"][rng.integers(2)]
    beside = ["7", "x-y", "0", "-1"]
    wrong = "x", "-1", "1.5", str(2**64)
    text = []
    has_names = bool(rng.integers(2))
    names = [f"c{i}" for i in range(columns)]
    if has_names:
        text.append(glue.join(names))
    for value, weight, fault in zip(values.tolist(), weights.tolist(), bad.tolist()):
        fields = [beside[(value + i) % 4] for i in range(columns)]
        fields[value_at] = str(value) if fault != 1 else "x" + str(value)
        fields[weight_at] = str(weight) if fault != 2 else wrong[value % len(wrong)]
        text.append(glue.join(fields[:max(value_at, weight_at)] if fault == 3 else fields))
        if value % 97 == 5:
            text.append("" if value % 2 else " ")
    with open(name, "w", encoding="ascii", newline="") as file:
        file.write(newline.join(text) + newline * bool(rng.integers(2)))
    place = (lambda at: names[at]) if has_names else (
        lambda at: str(at + 1 if rng.integers(2) or (bad == 3).any() else at - columns))
    return (["--text", "-f", place(value_at), "--weight", place(weight_at)] +
            (["-d", delimiter] if delimiter else []))


def test_text(engines):
    rng = np.random.default_rng(3)
    for turn in range(60):
        type_name = str(rng.choice([name for name in TYPES if "be" not in name] + ["i64", "i32"]))
        drawn = list(distributions(dtype_of(type_name)[0], rng, COUNT // 16))
        values = drawn[rng.integers(len(drawn))][1]
        several = list(weights_of(len(values), np.dtype(np.int64), rng))
        weights = several[rng.integers(len(several))]
        share = [0, 0, 1e-4, 0.3][turn % 4]
        bad = np.where(rng.random(len(values)) < share, rng.integers(1, 4, len(values)), 0)
        words = store_text("in", values, weights, bad, rng)
        jobs = list(weighted_jobs(values[bad == 0], weights[bad == 0], rng))
        job, right = jobs[rng.integers(len(jobs))]
        skips = ["--invalid", "ignore", "-q"] if share > 0 else []
        if bad.all() and len(bad) > 0:
            continue  # all lines are invalid, which is reported
        check([*job, "-t", type_name, *words, *skips, *settings(rng), "in"], engines, right)
    check_bad_text(rng, engines)


def check_bad_text(rng, engines):
    """Errors: the first invalid token, sums that do not fit, and values outside the bins."""
    values = rng.integers(0, 100, COUNT // 8)
    weights = rng.integers(0, 9, COUNT // 8).astype(np.uint64)
    rows = [f"{value} {weight}" for value, weight in zip(values, weights)]
    jobs = ["uniq"], ["--bins", "100"], ["--width", "7"], ["--format", "tsv"]
    for line, row, reason in (
            (40_001, "5 -3", "invalid weight '-3', no integer from 0 to 2^63 - 1"),
            (17, "5 x", "invalid weight 'x', no integer from 0 to 2^63 - 1"),
            (49_999, "5", "missing field 2: the line has 1")):
        changed = rows.copy()
        changed[line - 1] = row
        with open("in", "w", encoding="ascii") as file:
            file.write("\n".join(changed) + "\n")
        for job in jobs:
            check([*job, "-f", "1", "--weight", "2", "--threads", "1", "in"], engines, b"", 1,
                  f"gpuhist: in:{line}: {reason}\n".encode())
    for over, status, error in ((1, 0, b""), (2, 1, b"gpuhist: the weights add up to more than 2^64 - 1\n")):
        changed = [f"{value} 0" for value in values]
        changed[3] = changed[40_000] = f"3 {2**63 - 1}"
        changed[20_000] = f"4 {over}"
        with open("in", "w", encoding="ascii") as file:
            file.write("\n".join(changed) + "\n")
        right = lines([(3, 2**64 - 2), (4, 1)]) if over == 1 else b""
        check(["--bins", "100", "-f", "1", "--weight", "2", *settings(rng), "in"], engines, right, status, error)
    rows[7], rows[30_000] = "100 0", "100 1"
    with open("in", "w", encoding="ascii") as file:
        file.write("\n".join(rows) + "\n")
    check(["--bins", "100", "--outside", "abort", "-f", "1", "--weight", "2", "--threads", "1", "in"],
          engines, b"", 1, b"gpuhist: in:30001: value 100 is out of range\n")


GPUHIST = os.path.abspath(sys.argv[1])
with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    globals()[f"test_{sys.argv[2]}"](sys.argv[3:])
    os.chdir("/")
