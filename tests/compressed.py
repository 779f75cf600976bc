"""Corrupts files of many frames or members, and checks gpuhist's output.

usage: compressed.py GPUHIST FORMAT SEED ENGINE...        FORMAT is a key of PACKERS

Frames are made by zstd(1), by lz4(1) and by Python's gzip, lzma, bz2 and zlib; a file has hundreds,
of every size, so that many threads decode it. The ends of frames determine the data before the
corruption.
"""
import bz2
import gzip
import itertools
import lzma
import os
import random
import struct
import subprocess
import sys
import tempfile
import zlib

SHARE = int(os.environ.get("SHARE", "1"))  # makes one in SHARE files
LINES = b"".join(b"%d\n" % n for n in range(70000))


def pack_zstd(piece, rng):
    level = rng.choice(["-1", "-3", "--fast=2", "-9"])
    return subprocess.run(["zstd", "-q", "-c", "--check", level], input=piece,
                          stdout=subprocess.PIPE, check=True).stdout


def pack_gzip(piece, rng):
    return gzip.compress(piece, rng.choice([1, 6, 9]))


def pack_bgzf(piece, rng):
    """A member of BGZF: the SAM/BAM format specification, 4.1."""
    deflate = zlib.compressobj(rng.choice([1, 6, 9]), zlib.DEFLATED, -15)
    data = deflate.compress(piece) + deflate.flush()
    head = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff" + struct.pack("<H2sHH", 6, b"BC", 2, len(data) + 25)
    return head + data + struct.pack("<LL", zlib.crc32(piece), len(piece))


def pack_xz(piece, rng):
    check = rng.choice([lzma.CHECK_CRC32, lzma.CHECK_CRC64, lzma.CHECK_SHA256])
    return lzma.compress(piece, check=check, preset=rng.choice([0, 1]))


def pack_bzip2(piece, rng):
    return bz2.compress(piece, rng.choice([1, 3]))


def pack_lz4(piece, rng):
    return subprocess.run(["lz4", "-q", "-c", rng.choice(["-1", "-9", "-B4", "-BD", "-BX"])],
                          input=piece, stdout=subprocess.PIPE, check=True).stdout


# The last item is True if skippable frames may lie between.
PACKERS = {"zstd": (pack_zstd, True), "gzip": (pack_gzip, False), "bgzf": (pack_bgzf, False),
           "xz": (pack_xz, False), "bzip2": (pack_bzip2, False), "lz4": (pack_lz4, True)}


def make_frames(pack, may_skip, rng):
    """Returns the file, and pairs (end of a frame, length of LINES up to it)."""
    packed, ends, at = b"", [(0, 0)], 0
    while at < len(LINES):
        size = rng.choice([0, 1, 100, 2000, 3000, 5000, 20000])
        packed += pack(LINES[at:at + size], rng)
        at += size
        ends.append((len(packed), min(at, len(LINES))))
        if may_skip and rng.random() < 0.1:
            content = rng.randbytes(rng.choice([0, 3, 5000]))
            packed += struct.pack("<II", 0x184D2A50 + rng.randrange(16), len(content)) + content
            ends.append((len(packed), min(at, len(LINES))))
    return packed, ends


def run(gpuhist, operation, data, how, name, rng, engine):
    """Returns the status, output and errors of gpuhist on the data."""
    with open(name, "wb") as file:
        file.write(data)
    # Wrong data may be read before the checksum, and look binary.
    command = [gpuhist, *operation, "--text", "--engine", engine, "--threads", rng.choice("1248"),
               "--chunk-size", rng.choice(["4K", "64K", "1M"])]
    if how == "file":
        done = subprocess.run([*command, name], capture_output=True, timeout=60, check=False)
    elif how == "stdin":
        with open(name, "rb") as file:
            done = subprocess.run(command, stdin=file, capture_output=True, timeout=60, check=False)
    else:
        done = subprocess.run(command, input=data, capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def expect(plain):
    values = [int(line) for line in plain.split()]
    return b"count\t%d\nsum\t%d\n" % (len(values), sum(values))


def is_refused(done):
    return done[0] == 1 and not done[1] and done[2].startswith(b"gpuhist: ") and \
        done[2].count(b"\n") == 1


def is_prefix(done, whole, is_flipped):
    """
    Checks a stalin-sort: it prints the complete lines of all frames before the corrupt one, and nothing
    of a frame before its checksum is verified. A flipped bit may also remove the checksum flag, so that
    the error is later; but the output may contain only original data.
    """
    lines = LINES[:whole].rfind(b"\n") + 1
    return done[0] == 1 and done[2].count(b"\n") == 1 and done[1][:lines] == LINES[:lines] and \
        (done[1] == LINES[:lines] or (is_flipped and LINES.startswith(done[1])))


def damages(packed, ends, rng):
    """Yields (description, data, length of the valid data before it, True if it must be rejected)."""
    inside = sorted(rng.sample(ends[1:-1], 12)) + ends[-3:]
    for end, whole in inside:
        yield f"cut at {end}", packed[:end], whole, False
        for offset in (-1, -4, 1, 3, 6):
            cut = end + offset
            if any(cut == other for other, _ in ends) or not 0 < cut < len(packed):
                continue
            before = max(plain for other, plain in ends if other < cut)
            yield f"cut at {cut}", packed[:cut], before, True
        junk = rng.choice([b"junk", b"\x28", b"\x1f", b"\x28\xb5\x2f\xfe", b"12\n"])
        yield f"{junk} at {end}", packed[:end] + junk + packed[end:], whole, True
    for _ in range(40):
        at, bit = rng.randrange(len(packed)), 1 << rng.randrange(8)
        before = max(plain for other, plain in ends if other <= at)
        flipped = bytearray(packed)
        flipped[at] ^= bit
        yield f"bit {bit} of byte {at} flipped", bytes(flipped), before, None


def main():
    gpuhist, form, seed, engines = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
    rng = random.Random(seed)
    packed, ends = make_frames(*PACKERS[form], rng)
    runs = 0
    with tempfile.TemporaryDirectory() as directory:
        name = os.path.join(directory, "damaged")
        cases = itertools.islice(damages(packed, ends, rng), 0, None, SHARE)
        for what, data, whole, refused in cases:
            how, engine = ("file", "stdin", "pipe")[runs % 3], rng.choice(engines)
            sums = run(gpuhist, ["reduce", "count,sum"], data, how, name, rng, engine)
            good = sums == (0, expect(LINES[:whole] if refused is False else LINES), b"")
            if not (good if refused is False else is_refused(sums) or (refused is None and good)):
                sys.exit(f"seed {seed}, {how}: {what}: {sums}")
            if is_refused(sums):
                done = run(gpuhist, ["stalin-sort"], data, how, name, rng, engine)
                if not is_prefix(done, whole, refused is None):
                    sys.exit(f"seed {seed}, {how}, stalin-sort: {what}: status {done[0]}, "
                             f"{len(done[1])} bytes for {whole} or more, {done[2]}")
            runs += 1
    print(f"{runs} runs, {len(packed)} bytes, {len(ends)} frames")


main()
