#!/usr/bin/env python3
"""One large .gz, which several threads decode like one thread, intact and corrupt.

usage: one_gzip.py GPUHIST SEED DAMAGES

Draws rows, compresses them in ways that deflate allows, and compares gpuhist's output with 8
threads with Python's counts; for corrupt files, with that of one thread, which decodes in order: the
same output, message and status.
"""
import collections
import gzip
import json
import random
import subprocess
import sys
import zlib

GPUHIST, SEED, DAMAGES = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
RNG = random.Random(SEED)
ROWS = 450_000
FILE = "rows.gz"


def run(threads, *arguments, **keys):
    return subprocess.run([GPUHIST, *arguments, "--threads", str(threads)], capture_output=True, check=False,
                          **keys)


def check(holds, *what):
    if not holds:
        sys.exit(f"one_gzip.py: seed {SEED}: {' '.join(map(str, what))}")


def compressed(data, level, strategy=zlib.Z_DEFAULT_STRATEGY, pieces=1, flush=None):
    """data as a member, flushed between pieces."""
    packer = zlib.compressobj(level, zlib.DEFLATED, 31, 8, strategy)
    step = len(data) // pieces + 1
    out = []
    for at in range(0, len(data), step):
        out.append(packer.compress(data[at:at + step]))
        if flush is not None:
            out.append(packer.flush(flush))
    return b"".join(out) + packer.flush()


def members(data, count):
    """Returns data as that many members, which end anywhere in it."""
    cuts = [0, *sorted(RNG.randrange(len(data)) for _ in range(count - 1)), len(data)]
    return b"".join(compressed(data[a:b], 1) for a, b in zip(cuts, cuts[1:]))


def main():
    numbers = [(RNG.getrandbits(40), RNG.randrange(600), RNG.choice("abcd") * RNG.randrange(1, 9))
               for _ in range(ROWS)]
    data = b"".join(b"%d %x %s %d\n" % (a, a * 7, c.encode(), b) for a, b, c in numbers)
    counts = collections.Counter(b for _, b, _ in numbers)
    expected = "".join(f"{b}\t{n}\n" for b, n in sorted(counts.items())).encode()
    total = sum(a for a, _, _ in numbers)
    ways = {
        "level 1": compressed(data, 1),
        "level 6, flushed": compressed(data, 6, pieces=30, flush=zlib.Z_SYNC_FLUSH),
        "stored": compressed(data, 0),
        "fixed codes": compressed(data, 1, zlib.Z_FIXED),
        "two members and NULs": compressed(data[:len(data) // 2], 1) + compressed(data[len(data) // 2:], 9) +
                                bytes(700),
        "many members": members(data, RNG.randrange(50, 3000)),
    }
    for way, file in ways.items():
        check(len(file) > 4 << 20, way, "is too short:", len(file))
        with open(FILE, "wb") as out:
            out.write(file)
        result = run(8, "uniq", "-f", "4", FILE)
        check((result.returncode, result.stdout, result.stderr) == (0, expected, b""), way, result)
    result = run(8, "reduce", "sum", "-f", "1", "--by", "3:text", FILE)
    sums = collections.Counter()
    for a, _, c in numbers:
        sums[c] += a
    got = dict(line.split("\t") for line in result.stdout.decode().splitlines() if line[0] != "#")
    check({c: str(n) for c, n in sums.items()} == got, "sums by text", result)
    with open("small.gz", "wb") as out:
        out.write(gzip.compress(b"1\n2\n"))
    result = run(8, "reduce", "sum", "-f", "1", "small.gz", FILE, "small.gz")
    check(result.stdout.split()[-1].decode() == str(total + 6), "with small files", result)
    elements = data[:len(data) // 8 * 8] # they may extend over any place
    with open(FILE, "wb") as out:
        out.write(compressed(elements, 1))
    result = run(8, "reduce", "sum", "--type", "u64", "--binary", FILE)
    check(result.stdout.split()[-1].decode() == str(sum(memoryview(elements).cast("Q"))), "binary", result)
    statuses = set()
    for _ in range(DAMAGES):
        way = RNG.choice(list(ways))
        file = bytearray(ways[way])
        kind = RNG.randrange(4)
        at = RNG.randrange(len(file))
        if kind == 0:
            del file[at:]
        elif kind == 1:
            file[at] ^= 1 << RNG.randrange(8)
        elif kind == 2:
            file[at:at] = bytes(RNG.randrange(256) for _ in range(RNG.randrange(1, 20)))
        else:
            file += b"junk"
        with open(FILE, "wb") as out:
            out.write(file)
        several, one = (run(threads, "uniq", "-f", "4", FILE) for threads in (8, 1))
        check((several.returncode, several.stdout, several.stderr) == (one.returncode, one.stdout, one.stderr),
              way, "damage", kind, "at", at, several.stderr, one.stderr, several.returncode, one.returncode)
        statuses.add(one.returncode)
    check(DAMAGES == 0 or 1 in statuses, "no damage was found")
    print(json.dumps({way: len(file) for way, file in ways.items()}))


main()
