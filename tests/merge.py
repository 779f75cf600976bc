"""Saved states and gpuhist merge, against one run over the same input.

usage: merge.py GPUHIST TEST [ARG]...

    equal TYPE    inputs in parts, cut in several ways, by every operation and binning
    format        the states of a few inputs, decoded by zstd and the documented format, and made
    runs          counts in runs, made and decoded here
    damage        states cut at every byte, and with flipped bits, in one state all bits
    overflow      states that together have 2^64 elements and more
"""

import functools
import os
import random
import re
import subprocess
import sys
import tempfile

import numpy as np


SHARE = int(os.environ.get("SHARE", "1"))  # one in SHARE runs is made


def run(*arguments, stdin=b""):
    return subprocess.run(arguments, input=stdin, capture_output=True, timeout=120)


def outcome(done):
    return done.returncode, done.stdout, done.stderr


# A run's advice for out-of-range values; merge does not give it, because it does not support the options.
ADVICE = re.compile(rb" \(try (--range auto|--width or uniq)\)$", re.MULTILINE)


def outcome_of_merge(done):
    """Returns the outcome of a merge with the output of this run."""
    return done.returncode, done.stdout, ADVICE.sub(b" (try --outside)", done.stderr)


def require(holds, *what):
    if not holds:
        raise SystemExit(" ".join(str(w) for w in what))


# --- equal ------------------------------------------------------------------------------------

def jobs(info, options):
    """Command lines for values of that type; without those whose options this build lacks."""
    low, limit = int(info.min), int(info.max) + 1
    yield ["--bins", "100"]
    yield ["--bins", "100", "--outside", "clamp", "--zeros"]
    yield ["--bins", "100", "--outside", "ignore", "--format", "raw"]
    yield ["--bins", "7", "--range", f"{low}:{limit}"]
    yield ["--bins", "1", "--range", f"{low}:{limit}"]
    yield ["--bins", "50", "--range", f"{low}:{low + 50}", "--outside", "report"]
    if info.bits > 8:
        yield ["--bins", "20011", "--range", f"{low // 2}:{limit // 2}"]
    for job, needs in ((["--width", "7", "--range", f"{low}:{limit - 2}"], "--width"),
                       (["--width", str(limit // 3), "--range", f"{low}:{limit}"], "--width"),
                       (["--log2"], "--log2"), (["--log10", "--zeros"], "--log10"),
                       (["--edges", f"{low},0,1,5,100,{limit - 1}" if low else "0,1,5,100"],
                        "--edges")):
        if needs in options and (info.bits < 32 or job[0] != "--width" or job[1] != "7"):
            yield job
    yield []
    yield ["--quantiles", "50,99"]
    yield ["--width", "10"]
    yield ["--width", "1", "--top", "5", "--min-count", "2", "--other"]
    yield ["--width", str(limit // 3)]
    yield ["uniq"]
    yield ["uniq", "--quantiles", "0,50,99"]
    yield ["uniq", "--top", "5"]
    yield ["reduce"]
    yield ["reduce", "stddev,min", "--format", "json"]
    yield ["reduce", "count"]
    yield ["reduce", "xor,p99.9,or,mode,and,distinct,sum,median,max"]
    yield ["count", "--ge", "50", "--ne", "3", "--in", "10:60", "--all", "--lt", "-1000"]
    yield ["count", "--any-of", "1,2,3,70,99", "--eq", "5", "--any-of", ""]
    yield ["count", "--le", "1K", "--format", "csv"]


def cut(values, parts, rng):
    """Returns the values in that many parts: pieces, in turn, by size, or all in one and others empty."""
    way = rng.randrange(4)
    if way == 0:
        edges = sorted(rng.randrange(len(values) + 1) for _ in range(parts - 1))
        return np.split(values, edges)
    if way == 1:
        return [values[i::parts] for i in range(parts)]
    if way == 2:
        return np.array_split(np.sort(values), parts)
    return [values if i == parts // 2 else values[:0] for i in range(parts)]


def merge_in_steps(gpuhist, names, rng):
    """Merges some of the states to a new one, and so on until there is one."""
    names = list(names)
    while len(names) > 1:
        rng.shuffle(names)
        n = rng.randrange(2, len(names) + 1)
        made = f"{names[0]}+"
        done = run(gpuhist, "merge", "--save", made, "-q", "-o", os.devnull, *names[:n])
        require(done.returncode in (0, 1) and not done.stdout, done.stderr)
        names[:n] = [made]
    return names[0]


# Options that merge also supports; all except the first two have a value.
PRINTING = ["--zeros", "--other", "--format", "--quantiles", "--top", "--min-count"]


def check_job(gpuhist, job, common, dtype, values, rng):
    options = [o for i, o in enumerate(job) if o in PRINTING or i and job[i - 1] in PRINTING[2:]]
    parts = cut(values, rng.randrange(1, 6), rng)
    names = [f"part{i}" for i in range(len(parts))]
    run_once = functools.cache(lambda data: run(gpuhist, *job, *common, stdin=data))
    whole = run_once(values.astype(dtype).tobytes())
    for name, part in zip(names, parts):
        data = part.astype(dtype).tobytes()
        done = run(gpuhist, *job, *common, "--save", name, stdin=data)
        require(outcome(done) == outcome(run_once(data)), "--save changes the result of", job, done)
    rng.shuffle(names)
    for merged in (run(gpuhist, "merge", *options, *names),
                   run(gpuhist, "merge", *options,
                       stdin=b"".join(open(name, "rb").read() for name in names)),
                   run(gpuhist, "merge", *options, merge_in_steps(gpuhist, names, rng))):
        require(outcome(merged) == outcome_of_merge(whole), job, common, len(parts), "parts:\n", merged,
                "\nin one run:\n", whole)


def test_equal(gpuhist, type_name):
    order = ">" if type_name.endswith("be") else "<"
    bare = type_name.removesuffix("be").removesuffix("le")
    dtype = np.dtype(f"{order}{bare[0]}{int(bare[1:]) // 8}")
    info = np.iinfo(dtype)
    rng = random.Random(type_name)
    numbers = np.random.default_rng(len(type_name))
    options = run(gpuhist, "--help").stdout.decode().replace(",", " ").split()
    count = 0
    for job in jobs(info, options):
        for n in (0, 1, 30000):
            count += 1
            if rng.randrange(SHARE) > 0:
                continue
            values = numbers.integers(info.min, info.max, n, dtype=dtype.newbyteorder("="),
                                      endpoint=True)
            small = numbers.integers(0, 100, n // 2)
            values[:n // 2] = small
            check_job(gpuhist, job, ["--binary", "-t", type_name], dtype, values, rng)
    require(count >= 48, "only", count, "runs")


# --- format -----------------------------------------------------------------------------------

def leb128(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def read_leb128(data):
    numbers = []
    number = shift = 0
    for byte in data:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(number)
            number = shift = 0
    require(shift == 0, "a number that does not end")
    return numbers


def make(options, numbers, version=5):
    """A state with those options and those numbers."""
    content = f"gpuhist state {version}\n{options}\n".encode() + b"".join(leb128(n) for n in numbers)
    return subprocess.run(["zstd", "-q", "-c"], input=content, capture_output=True,
                          check=True).stdout


def decoded(gpuhist, *arguments, stdin):
    state = run(gpuhist, *arguments, "--save", "-", stdin=stdin)
    require(state.returncode == 0, state.stderr)
    content = subprocess.run(["zstd", "-dcq"], input=state.stdout, capture_output=True,
                             check=True).stdout
    version, options, numbers = content.split(b"\n", 2)
    require(version == b"gpuhist state 5", version)
    return options.decode(), read_leb128(numbers)


FOREIGN = "not a state that --save wrote"
UNIQ = "histogram --type=i8 --width=10"
UNITS = "histogram --type=i64 --bins=10 --outside=report"
GOOD = [7, 0, 1, 3, 7, 3, 2, 0, 0, 0, 0, 0, 1, 0]
MANY = UNITS.replace("10", "2000")
TABLE = "reduce distinct,p50 --type=u8"


def encode(counts):
    """The counts as runs of any length up to 1024, with zeros in between."""
    numbers, behind, i = [], 0, 0
    while i < len(counts):
        n = min(1024, len(counts) - i, 1 + i % 1500)
        run = np.trim_zeros(counts[i:i + n])
        if len(run) > 0:
            first = i + int(np.flatnonzero(counts[i:i + n])[0])
            numbers += [len(run), first - behind] + [int(count) for count in run]
            behind = first + len(run)
        i += n
    return numbers + [0]


def decode(numbers, bins):
    """Returns the counts of runs as written: gaps of up to 8 bins are within a run."""
    counts, at, i = np.zeros(bins, "u8"), 0, 0
    while numbers[i] > 0:
        n, skipped = numbers[i:i + 2]
        require(n <= 1024 and (at == 0 or skipped > 8 or last + skipped + 1 > 1024), "short run", at)
        at += skipped
        counts[at:at + n] = numbers[i + 2:i + 2 + n]
        require(b"\0" * 9 not in (counts[at:at + n] > 0).tobytes(), "a gap in the run at", at)
        at, last, i = at + n, n, i + 2 + n
    require(i == len(numbers) - 1, "numbers behind the end")
    return counts


def test_runs(gpuhist):
    """Counts of one byte and of more, in runs of every length, with gaps of every length."""
    rng = np.random.default_rng(3)
    bins = 20000
    options = UNITS.replace("10", str(bins))
    for share, most in ((1, 100), (0.999, 130), (0.7, 127), (0.3, 1000), (0.1, 2), (0.9, 2**40)):
        counts = rng.integers(1, most, bins, dtype="u8") * (rng.random(bins) < share)
        counts[5000:5100] = rng.integers(0, 2**33, 100)
        made = make(options, [int(counts.sum()), 0, 0, 0] + encode(counts))
        done = run(gpuhist, "merge", "--format", "raw", stdin=made * 2)
        require(done.stdout == (2 * counts).tobytes(), share, most, done.stderr)
        saved = run(gpuhist, "merge", "--save", "-", stdin=made).stdout
        content = subprocess.run(["zstd", "-dcq"], input=saved, capture_output=True, check=True).stdout
        numbers = read_leb128(content.split(b"\n", 2)[2])
        require(numbers[:4] == [int(counts.sum()), 0, 0, 0], numbers[:4])
        require((decode(numbers[4:], bins) == counts).all(), "saved otherwise")


def test_format(gpuhist):
    for words, stdin, options, numbers in (
            ("--bins 10", b"3 3 9 -1 10 11 300", UNITS, GOOD),
            ("--range 0:10 --width 1", b"3 3 9 -1 10 11 300", UNITS, GOOD),
            ("uniq -t i16", b"3 3 9 -32768 32767", "uniq --type=i16",
             [5, 1, 0, 1, 7, 32770, 2, 0, 0, 0, 0, 0, 1, 1, 32757, 1, 0]),
            ("--width 1 -t i16", b"3", "uniq --type=i16", [1, 1, 32771, 1, 0]),
            ("--edges 5,1K --outside clamp", b"5", "histogram --type=i64 --edges=5,1000 --outside=clamp",
             [1, 0, 0, 0, 1, 0, 1, 0]),
            ("--bins 2 --range -4:0.5 --decimals 1", b"0", "histogram --type=i64 --decimals=1 "
             "--bins=2 --range=-4.0:0.5 --outside=report", [1, 0, 0, 0, 1, 1, 1, 0]),
            ("--bins 2 --range -4:0.4 --decimals 1", b"0", "histogram --type=i64 --decimals=1 "
             "--range=-4.0:0.4 --width=2.2 --outside=report", [1, 0, 0, 0, 1, 1, 1, 0]),
            ("--log2 --weight 2 -f 1", b"5 3", "histogram --type=i64 --weight=1 --log2 --outside=report",
             [3, 0, 0, 0, 1, 67, 3, 0]),
            ("reduce max,variance -t i16", b"3 -300 4", "reduce max,variance --type=i16",
             [3, 2**64 - 293, 2**64 - 1, 90025, 0, 0, 4]),
            ("reduce mode,sum,p099.50 -t i16", b"3 -300 4 3", "reduce mode,sum,p99.50 --type=i16",
             [4, 2**64 - 290, 2**64 - 1, 1, 32468, 1, 2, 302, 2, 1, 0]),
            ("reduce sum -f 2 --by 1", b"7 3\n8 4", "reduce sum --type=i64 --by=1:i64",
             [2, 1, 0, 14, 3, 0, 1, 0, 0, 4, 0, 0]),
            # the group, then the value, which equals its difference from the previous one in a group
            ("uniq -f 3 --by 1,2", b"-2 7 5\n-2 7 8\n-2 9 1\n0 0 -1", "uniq --type=i64 --by=1:i64,2:i64",
             [4, 1, 0, 3, 14, 10, 1, 2, 2, 1, 1, 1, 2, 1, 0, 1, 0, 1, 0]),
            ("reduce sum,max -f b:.1,c --by a:int/5", b"a b c\n7 .5 2",
             'reduce sum,max --field="b":i64.1,"c":i64 --by="a":i64/5',
             [2, 1, 1, 0, 10, 5, 0, 5, 0, 1, 1, 0, 10, 2, 0, 2, 0])):
        found = decoded(gpuhist, *words.split(), stdin=stdin)
        require(found == (options, numbers), words, found)
    with open("list", "w") as file:
        file.write("9 1 9")
    options, numbers = decoded(gpuhist, "count", "-t", "u8", "--ge", "4", "--all", "--any-of",
                               "3,\t1", "--any-of", "@list", "--lt", "0", stdin=b"3 5 5")
    require(re.fullmatch(r"count --type=u8 --ge=4 --all --any-of=3,\\0111 "
                         "--any-of=@list:2:[0-9a-f]{16} --lt=0", options), options)
    require(numbers == [3, 1, 0, 1, 0, 0], numbers)

    def merged(state):
        return run(gpuhist, "merge", stdin=state)

    ends = merged(make(UNIQ, [5, 1, 0, 3, 1, 24, 2, 0]))
    require(ends.stdout == b"-130\t-120\t3\n120\t130\t2\n", ends)
    good = make(UNITS, GOOD)
    require(merged(good).stdout == b"3\t2\n9\t1\n", merged(good))
    for state, words in (
            (make(UNITS, GOOD, 1), "a state of version 1: this gpuhist reads version 5\n"),
            (make(UNITS, GOOD, 2), "a state of version 2: this gpuhist reads version 5\n"),
            (make(UNITS, GOOD, 3), "a state of version 3: this gpuhist reads version 5\n"),
            (make(UNITS, GOOD, 4), "a state of version 4: this gpuhist reads version 5\n"),
            (good[3::-1] + good[4:], FOREIGN),  # the other byte order
            (make(UNITS, [6] + GOOD[1:]), "the counts exceed"),
            (make(UNITS, [8] + GOOD[1:]), "not all was counted"),
            (make(MANY, [99, 0, 0, 0, 100, 0] + [1] * 100 + [0]), "the counts exceed"),
            (make(MANY, [101, 0, 0, 0, 100, 0] + [1] * 100 + [0]), "not all was counted"),
            (make(MANY, [2000, 0, 0, 0, 1025, 0] + [1] * 1025 + [0]), "a run is too long"),
            (make(MANY, [7, 0, 1, 3, 2, 3, 0, 3, 0]), "begins or ends with an empty bin"),
            (make(MANY, [7, 0, 1, 3, 2, 3, 3, 0, 0]), "begins or ends with an empty bin"),
            # counts that make one element modulo 2^64
            (make(UNITS, [1, 2**64 - 1, 2, 0, 0]), "the counts exceed"),
            (make(UNITS, [1, 0, 2**64 - 1, 2, 0]), "the counts exceed"),
            (make(UNITS, [1, 0, 2, 2**64 - 1, 0]), "the counts exceed"),
            (make(UNITS, [1, 0, 0, 2**64 - 1, 2, 3, 0]), "the counts exceed"),
            (make(UNITS, [7, 0, 1, 3, 1, 3, 2, 1, 6, 1, 0]), "it counts in a bin that does not exist"),
            (make(UNITS, [5, 0, 0, 0, 2, 9, 2, 3, 0]), "it counts in a bin that does not exist"),
            (make(UNITS, [3, 0, 0, 0, 1, 2**128 - 1, 3, 0]),
             "it counts in a bin that does not exist"),
            (make(UNITS, [3, 0, 0, 0, 2**64, 0, 0]), "a number is too long"),
            (make(UNITS, [3, 0, 0, 0, 1, 0, 2**64, 0]), "a number is too long"),
            (make(UNITS, GOOD[:-1]), "it ends too early"),
            (make(UNITS, GOOD + [0]), "its length is wrong"),
            *((make(options, [0] * 5), "its options are invalid") for options in (
                UNITS + " --more=1", UNITS + " ", UNITS + " --", UNITS + " FILE", "help",
                UNITS.replace("10", "010"), UNITS.replace("10", "4294967295"),
                UNITS.replace("10", "0"), UNITS.replace("--bins=10", "--bins 10"),
                UNITS + " --output=made", UNITS.replace("--bins=10", "--range=10:0 --width=1"),
                UNITS.replace("--bins=10", "--range=0:10 --width=1"),
                UNITS.replace("--bins=10", "--edges=@/etc/passwd"),
                UNITS.replace("--bins=10", "--edges=5"), UNITS.replace("report", "Report"),
                UNITS.replace(" --outside=report", ""), "--help", "merge", "info", "stalin-sort",
                "stalin-sort --type=i32", "reduce --type=i8", "reduce sum --type=i7", "reduce sum",
                "histogram --type=i8 --width=0", "histogram --type=i8 --width=1", "uniq",
                "uniq --type=i8be", "uniq --type=i8 --decimals=0", "uniq --type=i8 --weight=2",
                "uniq --type=i64 --by=2:i64", "uniq --type=i64 --by=1", "uniq --type=i8 --top=3", "uniq --type=i8 --save=made",
                TABLE.replace("50", "050"), TABLE.replace("p50", "p50,p101"),
                "uniq --type=i64 --by=1:int", "reduce sum --type=i64 --by=1:i64,", "reduce sum --type=i64 --by=1:i64,2", "uniq --type=i64 --where=1=2",
                "uniq --type=i64 --field=1:i64", "reduce sum --type=i64 --field=1:i64,2:i64", "reduce sum --type=i8 --by=i8@1:i8", "reduce sum --type=i8 --by=1:i8le", "count --type=i8",
                "count --type=i8 --ge=x", "count --type=i8 --any-of=@list",
                "count --type=i8 --any-of=@list:2:3", "count --type=i8 --any-of=@-:x:0123456789abcdef",
                "count --type=i8 --any-of=1,\t2", r"count --type=i8 --any-of=1,\0532")),
            # bins of 10 begin at -130, and the last of them at 120
            (make(UNIQ, [1, 1, 26, 1, 0]), "it counts in a bin that does not exist"),
            (make(UNIQ, [2, 1, 25, 1, 1, 0, 1, 0]), "it counts in a bin that does not exist"),
            (make(UNIQ, [2, 1, 0, 3, 0]), "the counts exceed"),
            (make(UNIQ, [1, 2, 0, 2**64 - 1, 2, 0]), "the counts exceed"),
            (make(UNIQ, [4, 1, 0, 3, 0]), "not all was counted"),
            (make(UNIQ, [3, 1, 0, 3]), "it ends too early"),
            (make("reduce sum --type=i8", [2, 255, 0]),
             "its values contradict each other"),
            (make("reduce min,max --type=i8", [2, 5, 4]),
             "its values contradict each other"),
            (make("reduce sum,min --type=u8", [2, 9, 0, 5]),
             "its values contradict each other"),
            (make("reduce sum,max --type=i8",
                  [2, 2**64 - 3, 2**64 - 1, 2**64 - 2]),
             "its values contradict each other"),
            (make("reduce variance --type=u8", [2, 4, 0, 7, 0, 0]),
             "its values contradict each other"),
            (make("reduce or --type=u8", [1, 256]),
             "its values contradict each other"),
            (make(TABLE, [3, 1, 255, 1, 1, 0, 2, 0]), "it counts in a bin that does not exist"),
            (make(TABLE, [3, 2, 3, 1, 1, 0]), "not all was counted"),
            (make(TABLE, [3, 2, 3, 1, 3, 0]), "the counts exceed"),
            (make("count --type=u8 --ge=4", [3, 4]), "its values contradict each other"),
            (make("", [0]), "it has no options"),
            (make("uniq\0--type=i8", [0]), "its options are not text"),
            (good + good[:10], "it is cut off"),
            (good + b"\n", "other data follow it"),
            (good[:3], FOREIGN),
            (subprocess.run(["zstd", "-qc"], input=b"gpuhist stats", capture_output=True).stdout,
             FOREIGN),
            (subprocess.run(["zstd", "-qc", "--no-check"], input=b"gpuhist state 5\n",
                            capture_output=True).stdout, FOREIGN),
            (b"", FOREIGN), (b"3\t2\n9\t1\n", FOREIGN)):
        done = merged(state)
        require(done.returncode == 1 and not done.stdout and words in done.stderr.decode() and
                done.stderr.startswith(b"gpuhist: standard input: ") and
                done.stderr.count(b"\n") == 1, words, done)


# --- corruption -------------------------------------------------------------------------------

def require_refused_or_same(done, whole, what):
    if outcome(done) == outcome(whole):
        return 1
    require(done.returncode == 1 and not done.stdout and done.stderr.count(b"\n") == 1 and
            done.stderr.startswith(b"gpuhist: standard input: "), what, done)
    return 0


def test_damage(gpuhist):
    for job in (["--bins", "10", "-q"], ["uniq"], ["reduce"], ["count", "--ge", "3", "--any-of", "1,5"],
                ["uniq", "-f", "0:text", "--by", "1:time/1h"]):
        state = run(gpuhist, *job, "--save", "-",
                    stdin=b"1700000003 x" if "--by" in job else b"3 3 9 7 -1 10 11 300").stdout
        whole = run(gpuhist, "merge", "-q", stdin=state)
        require(whole.returncode == 0 and whole.stdout, whole)
        for n in range(0, len(state), SHARE):
            done = run(gpuhist, "merge", "-q", stdin=state[:n])
            require(not require_refused_or_same(done, whole, f"cut at {n}"), "cut at", n)
        same = 0
        every = SHARE * (3 if job[0] == "--bins" else 11)  # tests/unit/state flips all bits of all
        for bit in range(0, 8 * len(state), every):
            flipped = bytearray(state)
            flipped[bit // 8] ^= 1 << bit % 8
            same += require_refused_or_same(
                run(gpuhist, "merge", "-q", stdin=bytes(flipped)), whole, f"bit {bit}")
        require(same <= 16, same, "flips of", 8 * len(state), "made no difference")
        for text in (b"\n", b"\0", state[:4], b"\x50\x2a\x4d\x18\0\0\0\0"):
            done = run(gpuhist, "merge", "-q", stdin=state + text)
            require(not require_refused_or_same(done, whole, "trailing"), "trailing", text)


# --- overflow ---------------------------------------------------------------------------------

def test_overflow(gpuhist):
    most = 2**64 - 1
    count = "count --type=u8 --eq=4"
    reduce = "reduce count,sum,max,stddev --type=u64"
    square = most**3
    words = [square & most, square >> 64 & most, square >> 128]
    ranks = "reduce mode,p50,p99.999999999999999,p100 --type=u64"
    for options, numbers, small, shown in (
            (ranks, [most, 1, 9, most - 184, 1, 2**64 - 11, 184, 0], [1, 1, 0, 1, 0],
             f"mode\t9\np50\t9\np99.999999999999999\t9\np100\t{most}\n"),
            (ranks, [most, 2, 9, most - 185, 185, 0], [1, 1, 0, 1, 0],
             "mode\t9\np50\t9\np99.999999999999999\t10\np100\t10\n"),
            (UNITS, [most, 0, 0, 0, 1, 3, most, 0], [1, 0, 0, 0, 1, 3, 1, 0], f"3\t{most}\n"),
            (UNITS, [most, most, 0, 0, 0], [1, 1, 0, 0, 0], ""),
            (UNITS, [most, 0, 0, 0, 2, 3, most - 1, 1, 0], [1, 0, 1, 0, 0],
             f"3\t{most - 1}\n4\t1\n"),
            (UNIQ, [most, 1, 0, 1, 1, 12, most - 1, 0], [1, 1, 12, 1, 0],
             f"-130\t-120\t1\n0\t10\t{most - 1}\n"),
            (count, [most, most], [1, 0], f"{most}\n"),
            (reduce, [most, 1, most - 1] + words + [most], [1, 1, 0, 1, 0, 0, 1],
             f"count\t{most}\nsum\t{most * most}\nmax\t{most}\nstddev\t0\n")):
        large, one = make(options, numbers), make(options, small)
        done = run(gpuhist, "merge", stdin=large)
        require(done.returncode == 0 and done.stdout.decode() == shown, done)
        for state in (large + one, one + large, large + large):
            done = run(gpuhist, "merge", stdin=state)
            require(done.returncode == 1 and not done.stdout and
                    b"more than 2^64 - 1 elements" in done.stderr, done)
        for name, state in (("large", large), ("one", one)):
            with open(name, "wb") as file:
                file.write(state)
        for names in (["large", "one"], ["one", "large"], ["large"] * 9):
            done = run(gpuhist, "merge", "--threads", "2", *names)
            require(outcome(done) == (
                1, b"", b"gpuhist: the states have more than 2^64 - 1 elements\n"), done)


def main():
    gpuhist, test = os.path.abspath(sys.argv[1]), globals()[f"test_{sys.argv[2]}"]
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        test(gpuhist, *sys.argv[3:])
        os.chdir("/")


main()
