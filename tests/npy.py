"""NumPy files: reading and writing by gpuhist, against numpy.

usage: npy.py GPUHIST read|damage|write RUNS SEED
"""
import bz2
import gzip
import io
import os
import random
import subprocess
import sys
import tempfile

import numpy as np
from numpy.lib import format as npy_format

DTYPES = [order + kind + width for kind in "iu" for width in "1248" for order in "<>"]


def run(gpuhist, *words, data=None):
    return subprocess.run([gpuhist, *map(str, words)], input=data, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)


def saved(values, version):
    """The bytes of a file of this version of the format."""
    file = io.BytesIO()
    npy_format.write_array(file, values, version=version)
    return file.getvalue()


def draw(rng, dtype, shape):
    info = np.iinfo(dtype)
    low, high = rng.choice([(info.min, info.max), (0, 100), (max(info.min, -9), 9)])
    generator = np.random.default_rng(rng.randrange(1 << 60))
    return generator.integers(low, high, size=shape, dtype=np.dtype(dtype).newbyteorder("="),
                              endpoint=True).astype(dtype)


def settings(rng):
    words = ["--threads", rng.choice([1, 2, 3, 8])]
    if rng.randrange(2):
        words += ["--chunk-size", rng.choice([64, 1000, 4096, 65536])]
    return words


def table(lines):
    return [tuple(map(int, line.split())) for line in lines.decode().splitlines()]


def unique(values):
    return [(int(value), int(count)) for value, count in zip(*np.unique(values, return_counts=True))]


def check_read(gpuhist, folder, rng):
    """One job over 1 to 3 files that differ only in their rows, read in any way."""
    dtype = rng.choice(DTYPES)
    columns = rng.choice([None, None, 1, 2, 3, 7])
    order = rng.choice("CF")
    arrays, names = [], []
    packers = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress,
               ".zst": lambda data: run("zstd", "-qc", data=data).stdout}
    info = run(gpuhist, "info").stdout
    packers = {name: pack for name, pack in packers.items()
               if (name != ".gz" or b"\ngzip: yes" in info) and
               (name != ".bz2" or b"\nbzip2: yes" in info)}
    for i in range(rng.choice([1, 1, 2, 3])):
        rows = rng.choice([0, 1, 2, 50, 5000, 40000])
        if order == "F" and i == 0:
            rows = max(rows, 2) # with one row, both orders are the same
        values = draw(rng, dtype, rows if columns is None else (rows, columns))
        arrays.append(np.asfortranarray(values) if order == "F" else values)
        suffix = rng.choice(list(packers)) if rng.randrange(3) == 0 else ""
        names.append(os.path.join(folder, f"{i}.npy{suffix}"))
        with open(names[-1], "wb") as file:
            file.write(packers[suffix](saved(arrays[-1], rng.choice([(1, 0), (2, 0), (3, 0)]))))
    values = np.concatenate(arrays)
    words, data = settings(rng), None
    if columns is None:
        words += rng.choice([[], [], ["-f", 1], ["-f", -1]])
        if rng.randrange(3) == 0:
            words += ["-t", f"{dtype[1]}{8 * int(dtype[2])}"]
        wanted = values
    else:
        column = rng.randrange(columns)
        words += ["-f", rng.choice([column + 1, column - columns])]
        wanted = values[:, column]
    if len(names) == 1 and rng.randrange(2):
        with open(names[0], "rb") as file:
            data = file.read()
        names = rng.choice([[], ["-"]])
    result = run(gpuhist, "uniq", *words, *names, data=data)
    assert result.returncode == 0 and not result.stderr, (words, names, result.stderr)
    assert table(result.stdout) == unique(wanted), (dtype, order, words, names)

    if columns is None or columns < 2 or order == "F" or len(values) == 0:
        return
    a, b, c = (rng.randrange(columns) for _ in range(3))
    limit = int(rng.choice(values[:, c].tolist()))
    chosen = values[values[:, c] >= limit]
    result = run(gpuhist, "reduce", "sum,max", "-f", f"{a + 1},{b + 1}", "--where",
                 f"{c + 1}>={limit}", *settings(rng), *names, data=data)
    expected = "".join(f"{name + 1}\t{word}\t{function(map(int, chosen[:, name]))}\n"
                       for name in (a, b) for word, function in (("sum", sum), ("max", max)))
    assert result.stdout.decode() == expected, (result, expected)
    keys = values[:, b] % 4 if rng.randrange(2) else values[:, b]
    values[:, b] = keys
    if data is None and len(names) == 1 and names[0].endswith(".npy"):
        np.save(names[0], values)
        result = run(gpuhist, "uniq", "-f", a + 1, "--by", b + 1, *settings(rng), names[0])
        pairs = [(int(key),) + row for key in np.unique(keys)
                 for row in unique(values[:, a][keys == key])]
        assert table(result.stdout) == pairs or a == b, (result.stderr, words)


def check_damage(gpuhist, folder, rng):
    """A corrupt file is an error, or has numpy's result: never another result or a crash."""
    shape = rng.choice([(5,), (3, 2), (0,)])
    good = saved(draw(rng, rng.choice(DTYPES), shape), rng.choice([(1, 0), (2, 0), (3, 0)]))
    data = bytearray(good)
    end = len(good.rstrip(b"\n")) if shape == (0,) else good.index(b"}") + 3
    for _ in range(rng.choice([1, 1, 2, 4])):
        place = rng.randrange(6, min(end, len(data)))
        how = rng.randrange(5)
        if how == 0:
            data[place] ^= 1 << rng.randrange(8)
        elif how == 1:
            data[place] = rng.choice(b"0123456789'\"(){}[],:<>|=iuL TrueFalse\0\n\xff\\")
        elif how == 2:
            del data[place]
        elif how == 3:
            data.insert(place, rng.randrange(256))
        else:
            del data[rng.randrange(6, len(data)):]
            data += bytes(rng.choice([0, 0, 1, 10]))
        if len(data) < 8:
            break
    data = bytes(data)
    words = ["uniq"] + (["-f", 1] if len(shape) == 2 else [])
    name = os.path.join(folder, "damaged.npy")
    with open(name, "wb") as file:
        file.write(data)
    for result in (run(gpuhist, *words, name), run(gpuhist, *words, data=data)):
        if result.returncode != 0:
            assert result.returncode == 1 and result.stdout == b"", (data, result)
            assert result.stderr.count(b"\n") == 1, (data, result)
            assert result.stderr.startswith(b"gpuhist: "), (data, result)
            assert data != good, result
            continue
        values = np.load(io.BytesIO(data), allow_pickle=False)
        if len(values.shape) == 2:
            values = values[:, 0]
        assert values.dtype.kind in "iu" and table(result.stdout) == unique(values), (data, result)


def check_write(gpuhist, folder, rng):
    """--format npy writes numpy's counts, and gpuhist reads them back."""
    dtype = rng.choice(DTYPES)
    values = draw(rng, dtype, rng.choice([0, 1, 100, 3000, 200000]))
    name, out = os.path.join(folder, "in.npy"), os.path.join(folder, "out.npy")
    np.save(name, values)
    how = rng.choice(["uniq", "bins", "width", "automatic", "merge"])
    expected, width = unique(values), 1
    if how == "uniq":
        words = ["uniq"] + rng.choice([[], ["-S", "8M"]])
    elif how == "bins":
        words = ["-b", rng.choice([1, 7, 100, 70000]), "-q"]
    elif how == "width":
        width = rng.choice([2, 10, 1000])
        words = ["-w", width]
    elif how == "automatic":
        words = ["-q"]
    else:
        state = os.path.join(folder, "state")
        run(gpuhist, "uniq", "--save", state, name)
        words, name = ["merge"], state
    words += ["--format", "npy", "--threads", rng.choice([1, 2, 8])]
    if rng.randrange(2):
        result = run(gpuhist, *words, name)
        with open(out, "wb") as file:
            file.write(result.stdout)
    else:
        result = run(gpuhist, *words, "-o", out, name)
    assert result.returncode == 0 and result.stderr == b"", (words, result.stderr)
    found = np.load(out)
    with open(out, "rb") as file:
        data = file.read()
    assert data.index(b"\n") % 64 == 63 and saved(found, (1, 0)) == data, words
    if how == "bins":
        counts = [0] * words[1]
        for value, count in expected:
            if 0 <= value < words[1]:
                counts[value] += count
        assert found.dtype == "<u8" and found.tolist() == counts, words
        again = run(gpuhist, "reduce", "sum", out)
        assert int(again.stdout) == sum(counts)
        return
    first = found.dtype.names[0]
    kind = "<i8" if dtype[1] == "i" else "<u8"
    assert found.dtype == [(first, kind), ("count", "<u8")], (words, found.dtype)
    if how == "automatic":
        lines = table(run(gpuhist, "-q", "--format", "tsv", name).stdout)
        low = np.iinfo(dtype).min
        assert first == ("value" if not lines or len(lines[0]) == 2 else "low"), words
        assert found.tolist() == [(max(line[0], low), line[-1]) for line in lines], words
        return
    bins = {}
    for value, count in expected:
        low = max(value // width * width, np.iinfo(dtype).min)
        bins[low] = bins.get(low, 0) + count
    assert first == ("value" if width == 1 else "low"), words
    assert found.tolist() == list(bins.items()), words


def main():
    gpuhist, what, runs, seed = sys.argv[1:]
    check = {"read": check_read, "damage": check_damage, "write": check_write}[what]
    for i in range(int(runs)):
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(gpuhist, folder, random.Random(f"{what} {seed} {i}"))
            except BaseException:
                print(f"run {i} of {what}, seed {seed}", file=sys.stderr)
                raise


main()
