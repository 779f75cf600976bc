"""Blocks of bzip2 streams start at any bit and are decoded concurrently: the result is that of the
plain text, and corruption is reported as for a pipe, which is read in order.

usage: blocks.py GPUHIST [SEED [COUNT]]

Draws the text of COUNT files, with rows of up to several blocks, and compresses it to one or several
streams of blocks of 100 to 900 kB. Python counts their rows.
"""
import bz2
import os
import random
import subprocess
import sys
import tempfile

THREADS = (1, 2, 16)


def draw_text(rng):
    """Rows of a number and of a word that may be longer than blocks."""
    rows = []
    size = 0
    lengths = rng.choice([[0, 3], [0, 100], [3, 3000], [10, 3000, 700000]])
    most = rng.choice([1, 5, 8]) * 1000000  # a part holds 3.6 MB
    while size < most:
        word = rng.randbytes(max(rng.choice(lengths) // 2, 1) + 1000).hex().encode()
        for _ in range(2000 if len(lengths) < 3 and lengths[1] < 3000 else 1):
            at = rng.randrange(1000)
            row = b"%d %s" % (rng.randrange(10 ** rng.randrange(1, 9)),
                              word[at:at + max(rng.choice(lengths), 1)])
            rows.append(row)
            size += len(row) + 1
    return b"\n".join(rows) + (b"\n" if rng.randrange(2) else b"")


def pack(text, rng):
    """Streams, cut anywhere; most often there is one."""
    places = sorted(rng.randrange(len(text)) for _ in range(rng.choice([0, 0, 0, 1, 5])))
    pieces = [text[a:b] for a, b in zip([0, *places], [*places, len(text)])]
    return b"".join(bz2.compress(piece, rng.choice([1, 1, 2, 9])) for piece in pieces)


def pack_magic(text, rng):
    """A stream of one block that has the magic of a block, or also of an end, among selectors it does not use."""
    bits = "".join(f"{byte:08b}" for byte in bz2.compress(text, 9))
    at = 32 + 48 + 32 + 1 + 24  # position of the 16-bit map of used symbols
    at += 16 + 16 * bits[at:at + 16].count("1")
    tables, selectors = int(bits[at:at + 3], 2), int(bits[at + 3:at + 18], 2)
    assert tables > 2
    end = at + 18
    for _ in range(selectors):  # each is some ones and a zero
        end = bits.index("0", end) + 1
    more = f"{0x314159265359:048b}0" + rng.choice(("", f"{0x177245385090:048b}0"))
    bits = bits[:at + 3] + f"{selectors + more.count('0'):015b}" + bits[at + 18:end] + more + bits[end:]
    bits = bits[:bits.rindex(f"{0x177245385090:048b}") + 48 + 32]
    bits += "0" * (-len(bits) % 8)
    return int(bits, 2).to_bytes(len(bits) // 8, "big")


def damage(packed, rng):
    packed = bytearray(packed)
    kind = rng.randrange(4)
    if kind == 0:
        return bytes(packed[:rng.randrange(len(packed))]), "cut"
    if kind == 1:
        return bytes(packed + rng.randbytes(rng.randrange(1, 20))), "junk"
    if kind == 2:
        packed[-1 - rng.randrange(5)] ^= 1 << rng.randrange(8)  # the checksum of the stream
        return bytes(packed), "end"
    for _ in range(rng.choice([1, 3])):
        packed[rng.randrange(len(packed))] ^= 1 << rng.randrange(8)
    return bytes(packed), "flip"


def run(command, stdin=None):
    done = subprocess.run(command, capture_output=True, check=False, timeout=100, stdin=stdin)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def check(gpuhist, seed):
    rng = random.Random(seed)
    text = draw_text(rng)
    packed = pack(text, rng)
    values = [int(line.split()[0]) for line in text.splitlines()]
    wanted = 0, f"count\t{len(values)}\nsum\t{sum(values)}\nmin\t{min(values)}\nmax\t{max(values)}\n", ""
    words = [gpuhist, "reduce", "count,sum,min,max", "-f", "1", "--engine", "cpu"]
    with open("whole.bz2", "wb") as file:
        file.write(packed)
    rows = text.split(b"\n")
    wrong = rng.randrange(len(values) * 3 // 4, len(values))  # most often not in the first part
    rows[wrong] = b"x" + rows[wrong]
    token = rows[wrong].split()[0].decode()
    with open("wrong.bz2", "wb") as file:
        file.write(bz2.compress(b"\n".join(rows), rng.choice([1, 9])))
    short = text[:400000].rpartition(b"\n")[0]
    inner = pack_magic(short, rng)
    assert bz2.decompress(inner) == short
    with open("magic.bz2", "wb") as file:
        file.write(inner)
    with open("plain", "wb") as file:
        file.write(short)
    same = run([*words, "plain"])
    damaged, kind = damage(packed, rng)
    with open("damaged.bz2", "wb") as file:
        file.write(damaged)
    with subprocess.Popen(["cat", "damaged.bz2"], stdout=subprocess.PIPE) as cat:
        told = run([*words, "--threads", "1"], cat.stdout)
        cat.stdout.close()
    told = told[0], told[1], told[2].replace("standard input", "damaged.bz2")
    for threads in THREADS:
        more = ["--threads", str(threads), "--chunk-size", rng.choice(["64K", "1M", "3M"])]
        report = 1, "", f"gpuhist: wrong.bz2:{wrong + 1}: invalid integer '{token}'"
        for name, expected in (("whole.bz2", wanted), ("damaged.bz2", told), ("wrong.bz2", report),
                               ("magic.bz2", same)):
            done = run([*words, *more, name])
            if name == "wrong.bz2":
                done = *done[:2], done[2].split(" (")[0].rstrip("\n")  # without advice
            if done != expected:
                sys.exit(f"blocks.py, seed {seed}: {' '.join(more)} {name} ({kind}):\n{done}\n"
                         f"wanted {expected}")


def main():
    gpuhist = os.path.abspath(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        for each in range(seed, seed + count):
            check(gpuhist, each)
        os.chdir("/")


main()
