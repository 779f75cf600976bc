"""Compressed files that are divided among threads: gpuhist's output and messages against the expected ones.

usage: divided.py GPUHIST text|binary RUNS SEED

Files are of one member or frame, of many zstd frames, of BGZF, of xz blocks, or plain; a part has at least
1 MiB of compressed bytes, so that some files have several. The sum and the number of the integers, and
the report of each invalid token with its file and line, are computed here.
"""
import array
import gzip
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

THREADS = ("1", "2", "3", "16")
# Invalid tokens and their advice.
FOREIGN = " (try man gpuhist-formats, UNSUPPORTED NUMBERS)"
INVALID = {"+x": "", "--1": "", "1e5": " (try --decimals 0)",
           "12z": FOREIGN}


def zstd(data, _):
    return subprocess.run(["zstd", "-q", "-c", "-1"], input=data, stdout=subprocess.PIPE,
                          check=True).stdout


def frames(data, rng):
    cuts = sorted(rng.randrange(len(data) + 1) for _ in range(rng.randrange(1, 9)))
    return b"".join(zstd(data[a:b], rng) for a, b in zip([0] + cuts, cuts + [len(data)]))


def bgzf(data, _):
    """Members of BGZF: the SAM/BAM format specification, 4.1."""
    members = []
    for i in range(0, len(data) + 1, 65280):
        piece = data[i:i + 65280]
        deflate = zlib.compressobj(1, zlib.DEFLATED, -15)
        body = deflate.compress(piece) + deflate.flush()
        head = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff" + struct.pack("<H2sHH", 6, b"BC", 2,
                                                                    len(body) + 25)
        members.append(head + body + struct.pack("<LL", zlib.crc32(piece), len(piece)))
    return b"".join(members)


def xz(data, rng):
    """Streams of blocks with sizes (-T2) or without, and NULs between the streams."""
    cut = rng.randrange(len(data) + 1)
    size = rng.choice([150000, 1000000, 4000000])
    return b"".join(subprocess.run(
        ["xz", "-0", "-c", rng.choice(["-T1", "-T2"]), f"--block-size={size}",
         "--check=" + rng.choice(["none", "crc32", "crc64", "sha256"])],
        input=piece, stdout=subprocess.PIPE, check=True).stdout + bytes(rng.choice([0, 4]))
                    for piece in (data[:cut], data[cut:]))


PACKERS = {"plain": lambda data, _: data, "gz": lambda data, _: gzip.compress(data, 1),
           "zst": zstd, "frames": frames, "bgzf": bgzf, "xz": xz}


def packers(gpuhist):
    """Returns the formats that this build decodes and that have a tool."""
    info = subprocess.run([gpuhist, "info"], stdout=subprocess.PIPE, check=True).stdout
    has_xz = b"\nxz: yes" in info and shutil.which("xz") is not None
    return [name for name in PACKERS if name == "plain" or
            (b"\ngzip: yes" in info if name in ("gz", "bgzf") else name != "xz" or has_xz)]


def make_text(rng):
    """Returns lines, their values, and (line, token) of invalid ones."""
    count = rng.choice([3, 1000, 300000, 700000])
    words = array.array("I", rng.randbytes(4 * count)) # half of them of 3 bits, half of 30
    values = [(word & (0x3fffffff if word >> 31 else 7)) - 500 for word in words]
    lines = list(map(str, values))
    share = rng.choice([0, 0, 1e-5, 1e-4])
    places = sorted(rng.sample(range(count), round(share * count)))
    for place in places:
        lines[place] = rng.choice(list(INVALID))
    for place in reversed(places):
        del values[place]
    text = "\n".join(lines) + rng.choice(["\n", ""])
    return text.encode(), values, [(place + 1, lines[place]) for place in places]


def check(case, done, wanted):
    if done != wanted:
        sys.exit(f"{case}\ngot    {str(done)[:600]}\nwanted {str(wanted)[:600]}")


def run(gpuhist, names, words, threads):
    command = [gpuhist, "reduce", "count,sum", *words, "--engine", "cpu", "--threads", threads, *names]
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    return command, (done.returncode, done.stdout.decode(), done.stderr.decode())


def result(values):
    return f"count\t{len(values)}\nsum\t{sum(values)}\n"


def numbers_among(reports):
    """Returns the note about the tokens 1e5, because only these are numbers."""
    numbers = sum("'1e5'" in report for report in reports)
    if numbers == 0:
        return ""
    which = "a number" if len(reports) == 1 else "all of them numbers" if numbers == len(reports) else \
        f"{numbers} of them {'a number' if numbers == 1 else 'numbers'}"
    return f", {which} in another notation, such as 1e6 or 1,234"


def check_text(gpuhist, rng, formats):
    names, values, reports = [], [], []
    for i in range(rng.randrange(1, 5)):
        text, some, invalid = make_text(rng)
        form = rng.choice(formats)
        names.append(f"{i}.{form}")
        with open(names[-1], "wb") as file:
            file.write(PACKERS[form](text, rng))
        values += some
        reports += [f"gpuhist: {names[-1]}:{line}: invalid integer '{token}'{INVALID[token]}\n"
                    for line, token in invalid]
    policy = rng.choice(["abort", "fail", "warn", "ignore"])
    for threads in THREADS:
        command, done = run(gpuhist, names, ["--text", "--invalid", policy], threads)
        told = "".join(reports[:10])
        if len(reports) > 10:
            told += f"gpuhist: {len(reports) - 10} more invalid integers{numbers_among(reports[10:])}\n"
        if not reports:
            wanted = (0, result(values), "")
        elif policy == "ignore":
            ending = "" if len(reports) == 1 else "s"
            no_number = ", none of them a number" if ending else ", not a number"
            wanted = (0, result(values), f"gpuhist: note: skipped {len(reports)} invalid value{ending}"
                      f"{numbers_among(reports) or no_number}\n")
        elif policy == "abort":
            wanted = (1, "", reports[0])
        elif policy == "warn":
            wanted = (0, result(values), told)
        else:
            ending = "" if len(reports) == 1 else "s"
            wanted = (1, result(values),
                      told + f"gpuhist: {len(reports)} invalid integer{ending} in the input\n")
        check(command, done, wanted)


def check_binary(gpuhist, rng, formats):
    names, whole = [], b""
    for i in range(rng.randrange(1, 5)):
        data = rng.randbytes(rng.choice([0, 5, 4000, 1000000, 5000000]) + rng.choice([0, 0, 0, 1, 2]))
        form = rng.choice(formats)
        names.append(f"{i}.{form}")
        with open(names[-1], "wb") as file:
            file.write(PACKERS[form](data, rng))
        whole += data
    left = len(whole) % 4
    for threads in THREADS:
        command, done = run(gpuhist, names, ["--binary", "-t", "i32"], threads)
        if left:
            check(command, (done[0], done[1], f": {left} byte" in done[2]), (1, "", True))
        elif whole:
            check(command, done, (0, result(struct.unpack(f"<{len(whole) // 4}i", whole)), ""))


def main():
    gpuhist, kind, runs, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    rng = random.Random(seed)
    formats = packers(gpuhist)
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as directory:
            os.chdir(directory)
            (check_text if kind == "text" else check_binary)(gpuhist, rng, formats)
            os.chdir("/")


main()
