"""Makes the first, the second, ... call of every function fail, up to the last one of a run without a fault.

usage: faults.py GPUHIST TEST [ENGINE]...

GPUHIST is built with --enable-faults; tests/faults/faults.c describes how to request a
fault. Plain Python computes the expected output.
"""

import array
import bz2
import collections
import concurrent.futures
import copy
import errno
import gzip
import itertools
import lzma
import os
import random
import re
import resource
import select
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

BINS = 1000
OLD = b"what was there before\n"
SHARE = int(os.environ.get("SHARE", "1"))  # one in SHARE calls from a place fails
SECONDS = 60  # only a run that hangs takes longer

# The calls at which a run without a usable GPU ends, before the GPU gets input.
CUDA_STARTS = {"cudaGetDeviceCount", "cudaGetDeviceProperties", "cudaInitDevice",
               "cudaSetDevice", "cudaDeviceGetAttribute", "cudaMalloc", "fault_device_probe",
               "fault_device_prepare", "fault_device_open", "fault_device_consumer_open"}

# The message about a device's failure after which the CPU starts from the beginning.
AGAIN = re.compile(rb"gpuhist: [^\n]+; starting again on the CPU\n")


# --- inputs and expected results -----------------------------------------------------------------

VALUES = random.Random(7).choices(range(BINS), k=40000)
NOISE = random.Random(8).choices(range(-1 << 31, 1 << 31), k=100000)
WANTED = range(0, BINS, 3)
BINARY = array.array("i", VALUES).tobytes()
TEXT = b"".join(b"a %d\n" % value for value in VALUES)


def zstd(data, frames):
    """Returns that many frames, by the zstd program."""
    size = -(-len(data) // frames)
    return b"".join(subprocess.run(["zstd", "-qc"], input=data[i:i + size], check=True,
                                   capture_output=True).stdout for i in range(0, len(data), size))


def lz4(data):
    return subprocess.run(["lz4", "-qc"], input=data, check=True, capture_output=True).stdout


def is_decoded(form):
    """Returns whether this build decodes the format."""
    told = subprocess.run([GPUHIST, "info"], check=True, capture_output=True).stdout
    return b"\n%s: yes" % form.encode() in told


def histogram(values):
    return b"".join(b"%d\t%d\n" % pair for pair in sorted(collections.Counter(values).items()))


def survivors(values):
    kept, purged = [], []
    for value in values:
        (kept if not kept or value >= kept[-1] else purged).append(value)
    return kept, purged


def reduced(values):
    return b"sum\t%d\nmax\t%d\n" % (sum(values), max(values))


def tabled(values):
    """The mode and the median."""
    most = min(collections.Counter(values).items(), key=lambda pair: (-pair[1], pair[0]))
    return b"mode\t%d\nmedian\t%d\n" % (most[0], sorted(values)[(len(values) - 1) // 2])


def counted(values):
    return b"ge 500\t%d\nany-of @wanted\t%d\n" % (
        sum(value >= 500 for value in values), sum(value in WANTED for value in values))


def grouped(values):
    """The sum of the values with each upper byte."""
    sums = collections.Counter()
    for value in values:
        sums[value >> 8] += value
    return b"".join(b"%d\t%d\n" % pair for pair in sorted(sums.items()))


class Case:
    """A command, its files and its output; `written` names its output files."""

    def __init__(self, name, arguments, stdout=b"", files=None, stdin=None, written=None,
                 engine=True, is_stream=False, device=False, fatal=None, links=None,
                 is_long=False):
        self.name = name
        self.arguments = arguments
        self.stdout = stdout
        self.files = files or {}
        self.stdin = stdin
        self.written = written or {}
        self.engine = engine
        self.is_stream = is_stream
        self.device = device  # a device does other work than in all earlier cases
        self.fatal = fatal or {}  # number of calls of a function that must not fail silently
        self.links = links or {}  # in no series
        self.is_long = is_long  # too many calls to try all: the first, 4th, 16th, ... fails
        self.environment = {}

    def with_threads(self, threads):
        """Returns the case with this many threads."""
        threaded = copy.copy(self)
        threaded.name += f", {threads} threads"
        threaded.arguments = [*self.arguments, "--threads", str(threads)]  # the last one counts
        return threaded

    def without_proc(self):
        """Returns the case with temporary file names, as without /proc."""
        named = copy.copy(self)
        named.name += ", temporary names"
        named.environment = {"GPUHIST_FAULT_ALWAYS": "access"}
        files = len(self.written)  # each is tried, and then made
        named.fatal = {"mkostemp": 2 * files, "fsync": 2 * files, "rename": files, "close": files,
                       "dup": files}
        return named


def small(values):
    """Arguments that create work for several threads from little data."""
    return [*values, "--threads", "3", "--chunk-size", "64K"]


def cases():
    kept, purged = survivors(VALUES)
    lines = b"".join(b"%d\n" % value for value in kept)
    gzipped = gzip.compress(TEXT)
    count = collections.Counter(VALUES)
    yield Case("histogram of a file into a file", small(["--bins", str(BINS), "-o", "out", "in"]),
               files={"in": BINARY, "out": OLD}, written={"out": histogram(VALUES)}, device=True,
               fatal={"close": 1, "dup": 1, "fsync": 2, "linkat": 1, "rename": 1})
    yield Case("bins of whatever comes", small(["--width", "100", "in"]), b"".join(
        b"%d\t%d\t%d\n" % (low, low + 100, sum(low <= value < low + 100 for value in VALUES))
        for low in range(0, BINS, 100)), files={"in": BINARY}, device=True)
    yield Case("many bins, from a pipe", small(["--bins", "4M"]), histogram(VALUES),
               stdin=BINARY, device=True)
    yield Case("fields of two files of text",
               small(["--bins", str(BINS), "-f", "2", "--header", "in", "in"]),
               histogram(VALUES * 2), files={"in": b"a name\n" + TEXT}, device=True)
    yield Case("reduce many frames", small(["reduce", "sum,max", "--binary", "in"]),
               reduced(NOISE), files={"in": zstd(array.array("i", NOISE).tobytes(), 12)},
               device=True)
    yield Case("reduce frames from a pipe", small(["reduce", "sum,max", "--binary"]),
               reduced(VALUES), stdin=zstd(BINARY, 3))
    yield Case("count text", small(["count", "--ge", "500", "--any-of", "@wanted", "-f", "2", "in"]),
               counted(VALUES), files={"in": TEXT, "wanted": b"".join(b"%d\n" % w for w in WANTED)},
               device=True)
    yield Case("count gzip from a pipe", small(["count", "--all", "-f", "2"]),
               b"%d\n" % len(VALUES), stdin=gzipped)
    yield Case("stalin-sort of a file", small(["stalin-sort", "--purged", "purged", "in"]),
               array.array("i", kept).tobytes(), files={"in": BINARY}, is_stream=True, device=True,
               written={"purged": array.array("i", purged).tobytes()})
    yield Case("stalin-sort of a file in its place",
               small(["stalin-sort", "--purged", "purged", "-o", "in", "in"]),
               files={"in": BINARY, "purged": OLD},
               written={"in": array.array("i", kept).tobytes(),
                        "purged": array.array("i", purged).tobytes()})
    yield Case("stalin-sort of text from a pipe into a file",
               small(["stalin-sort", "-f", "-1", "-o", "out"]), stdin=TEXT, written={"out": lines},
               device=True)
    yield Case("stalin-sort of frames", small(["stalin-sort", "--text", "in"]), lines,
               files={"in": zstd(b"".join(b"%d\n" % value for value in VALUES), 5)}, is_stream=True)
    yield Case("stalin-sort of gzip from a pipe", small(["stalin-sort", "-f", "2"]), lines,
               stdin=gzipped, is_stream=True)
    yield Case("text in many chunks", small(["reduce", "sum,max", "in"]), reduced(NOISE),
               files={"in": b"".join(b"%d\n" % value for value in NOISE)})
    yield Case("lines longer than a chunk", ["reduce", "sum,max", "--threads", "2", "--chunk-size", "4K", "in"],
               reduced([7, 5, 9]), files={"in": b"7\n" + b"0" * 9000 + b"5\n9\n"})
    yield Case("stalin-sort of a line longer than a chunk, from a pipe",
               ["stalin-sort", "-d", ",", "-f", "2", "--threads", "2", "--chunk-size", "4K"], b"7\n9\n",
               stdin=b"1,7\n" + b"x" * 9000 + b",5\n2,9\n", is_stream=True)
    yield Case("a large result, in parts", small(["--bins", "140K", "--zeros", "-o", "out", "in"]),
               files={"in": BINARY}, written={"out": b"".join(
                   b"%d\t%d\n" % (value, count[value]) for value in range(140000))})
    yield Case("results so far", small(["count", "--all", "--every", "1h", "-o", "/dev/stdout"]),
               b"%d\n" % len(VALUES), stdin=BINARY)
    yield Case("results of a window of time",
               small(["uniq", "--every", "1h", "--window", "2h", "-o", "/dev/stdout"]),
               histogram(VALUES), stdin=BINARY, engine=False)
    # The number of periods depends on the time; the failure may be in any of them.
    yield Case("a window of many periods", ["reduce", "sum,p50", "-f", "1,2", "--every", "1ms",
                                            "--window", "10s", "--threads", "2", "--chunk-size",
                                            "4K", "-o", "/dev/null", "in"],
               files={"in": b"".join(b"%d %d\n" % (value, value % 9) for value in VALUES)},
               engine=False, is_long=True)
    automatic = collections.Counter(value // 20 * 20 for value in VALUES)  # 50 bins
    yield Case("bins chosen to fit, from a pipe", small([]), b"".join(
        b"%d\t%d\t%d\n" % (low, low + 20, automatic[low]) for low in sorted(automatic)), stdin=BINARY)
    apart = NOISE[:40000]  # work for three threads; more values only add calls of mmap
    wide = collections.Counter(value // 5 * 5 for value in apart)  # most bins are in no window
    yield Case("bins of a width, far apart", small(["-w", "5", "-o", "out", "--binary", "in"]),
               files={"in": array.array("i", apart).tobytes()}, written={"out": b"".join(
                   b"%d\t%d\t%d\n" % (low, low + 5, wide[low]) for low in sorted(wide))}, device=True)
    yield Case("different values", small(["uniq", "-o", "out", "in"]),
               files={"in": array.array("i", apart).tobytes()},
               written={"out": histogram(apart)}, device=True)
    yield Case("weights beside values", small(["uniq", "-f", "value", "--weight", "1", "in"]),
               b"".join(b"%d\t%d\n" % (value, 2 * count[value]) for value in sorted(count)),
               files={"in": b"weight value\n" + TEXT.replace(b"a", b"2")})
    yield Case("edges of a file", small(["--edges", "@edges", "in"]),
               b"0\t300\t%d\n300\t1000\t%d\n" % (sum(value < 300 for value in VALUES),
                                                 sum(value >= 300 for value in VALUES)),
               files={"in": BINARY, "edges": b"0 300\n1000\n"}, device=True)
    yield Case("quantiles", small(["--bins", str(BINS), "--quantiles", "0,100", "in"]),
               b"0\t%d\n100\t%d\n" % (min(VALUES), max(VALUES)), files={"in": BINARY})
    top = sorted(count.items(), key=lambda pair: (-pair[1], pair[0]))[:2]
    yield Case("the greatest counts", small(["--bins", str(BINS), "--top", "2", "in"]),
               b"".join(b"%d\t%d\n" % pair for pair in top), files={"in": BINARY})
    yield Case("gzip of a file", small(["--bins", str(BINS), "-f", "2", "in"]), histogram(VALUES),
               files={"in": gzipped})
    kinds = [(b"/%d" % (value % 300), value % 5) for value in VALUES]  # paths, and minutes
    pairs = b"".join(b"2026-11-21T13:%02d:00Z\t%s\t%d\n" % (minute, path, n) for (path, minute), n in
                     sorted(collections.Counter(kinds).items(), key=lambda item: item[0][::-1]))
    rows = b"".join(b'{"at":%d,"of":{"path":"\\u002f%s"}}\n' % (1795266000 + 60 * minute, path[1:])
                    for path, minute in kinds)
    yield Case("texts of JSON lines by time",
               small(["uniq", "--jsonl", "-f", ".of.path:text", "--by", "at:time/1m", "in"]), pairs,
               files={"in": rows}, engine=False)
    yield Case("addresses of CSV with conditions of texts, outside no bin",
               small(["--bins", "1000", "--outside", "abort", "--csv", "-f", "2", "--by", "1:ip",
                      "--where", '3:text^=a"', "in"]),
               b"".join(b"10.0.0.1\t%d\t%d\n" % pair for pair in sorted(count.items())),
               files={"in": b"".join(b'10.0.0.1,%d,"a""b"\n' % value for value in VALUES)}, engine=False)
    least, size = min(VALUES), max(VALUES) + 1 - min(VALUES)
    halves = [least, least + -(-size // 2), max(VALUES) + 1]
    yield Case("two bins of a range that is found", small(["--bins", "2", "--range", "auto", "in"]),
               b"".join(b"%d\t%d\t%d\n" % (low, high, sum(low <= value < high for value in VALUES))
                        for low, high in zip(halves, halves[1:])), files={"in": BINARY})
    sums = collections.defaultdict(int)
    for path, minute in kinds:
        if minute != 2:
            sums[path] += minute
    yield Case("sums of JSON lines by text where a condition holds",
               small(["reduce", "sum", "--jsonl", "-f", "n", "--by", "path:text", "--where",
                      "path:text^=/", "--where", "n!=2", "in"]),
               b"".join(b"%s\t%d\n" % item for item in sorted(sums.items())), engine=False,
               files={"in": b"".join(b'{"path":"%s","n":%d}\n' % pair for pair in kinds)})
    head = struct.pack(">6I", 0, 0, 0, 0, 1, 4)  # an hour ahead, always
    zone = b"".join(b"TZif2" + bytes(15) + head + struct.pack(">iBB", 3600, 0, 0) + b"+01\0" for _ in range(2)) + b"\n<+01>-1\n"
    pages = collections.Counter((minute, path) for path, minute in kinds if path.endswith(b"7"))
    logs = Case("paths of web logs by the minutes of a zone, by a regular expression",
                small(["uniq", "--clf", "-f", "path", "--by", "time:time/1m", "--tz", "zone", "--where", "path:text~7$", "in"]),
                b"".join(b"2026-11-21T14:%02d:00+01:00\t%s\t%d\n" % (*key, pages[key]) for key in sorted(pages)), engine=False,
                files={"zone": zone, "in": b"".join(
                    b'10.0.0.1 - - [21/Nov/2026:13:%02d:00 +0000] "GET %s HTTP/1.1" 200 5\n' % (minute, path)
                    for path, minute in kinds)})
    logs.environment = {"TZDIR": "."}
    yield logs
    yield Case("logfmt without missing values, of a kind that is found",
               small(["reduce", "sum", "--logfmt", "-f", "ms", "--by", "path", "--missing", "skip", "-q", "in"]),
               b"".join(b"%s\t%d\n" % item for item in sorted(
                   (path, sum(minute for other, minute in kinds if other == path)) for path, _ in set(kinds))), engine=False,
               files={"in": b"".join(b'path=%s ms=%d\npath="/\\n"\n' % pair for pair in kinds)})
    heat = ["-w", "50", "--by", "1:int/100", "-f", "2", "--format", "svg"]
    rows = b"".join(b"%d %d\n" % (value, value % 300) for value in VALUES)
    yield Case("a heat map", small([*heat, "-o", "out", "in"]), files={"in": rows}, engine=False,
               written={"out": subprocess.run([GPUHIST, *heat], input=rows, check=True,
                                              capture_output=True).stdout})
    packers = {"bzip2": bz2.compress, "lz4": lz4}
    packed = {form: pack(BINARY) for form, pack in packers.items() if is_decoded(form)}
    values = VALUES * (1 + len(packed))
    if is_decoded("xz"):  # two streams, large enough to be decoded concurrently
        packed["xz"] = b"".join(lzma.compress(array.array("i", NOISE[i:i + 17000]).tobytes())
                                for i in (0, 17000))
        values += NOISE[:34000]
    names = [*reversed(packed), "in"]  # xz first, at the start of the input
    yield Case("files of other formats", small(["reduce", "sum,max", "--binary", *names]),
               reduced(values), files={"in": BINARY, **packed})
    yield Case("small files", ["reduce", "sum,max", "a", "b"], reduced(VALUES[:900]),
               files={"a": BINARY[:2000], "b": BINARY[2000:3600]})


STATES = {
    "histogram": (["--bins", str(BINS)], histogram),
    "bins of a width": (["-w", "1"], histogram),
    "different values": (["uniq"], histogram),
    "edges": (["--edges", "0,1000"], lambda values: b"0\t1000\t%d\n" % len(values)),
    "reductions": (["reduce", "sum,max,mode,median"], lambda values: reduced(values) + tabled(values)),
    "groups": (["reduce", "sum", "--record", "4", "--by", "u8@1"], grouped),
    "counts": (["count", "--ge", "500", "--all"], lambda values: b"ge 500\t%d\nall\t%d\n" % (
        sum(value >= 500 for value in values), len(values))),
}


def saved(arguments, values):
    """Returns the state of a run without a fault."""
    data = (values if isinstance(values, array.array) else array.array("i", values)).tobytes()
    return subprocess.run([GPUHIST, *arguments, "--binary", "--engine", "cpu", "--save", "-"],
                          input=data, check=True, capture_output=True).stdout


def state_cases():
    for name, (arguments, expected) in STATES.items():
        state = saved(arguments, VALUES)
        yield Case(f"save {name}", [*arguments, "--save", "state", "--engine", "cpu", "in"],
                   expected(VALUES), files={"in": BINARY}, written={"state": state}, engine=False)
        yield Case(f"merge {name}", ["merge", "a", "b"], expected(VALUES + VALUES[:900]),
                   files={"a": state, "b": saved(arguments, VALUES[:900])}, engine=False)
    texts = TEXT[:9000 * 4].rpartition(b"\n")[0]
    state = subprocess.run([GPUHIST, "uniq", "-f", "0:text", "--save", "-"], input=texts, check=True,
                           capture_output=True).stdout
    for arguments, printed in wide_jobs(WIDE[:3000]):
        rows = b"".join(b"%s %s %d\n" % row for row in WIDE[:3000])
        wide = subprocess.run([GPUHIST, *arguments, "--save", "-"], input=rows, check=True,
                              capture_output=True).stdout
        yield Case(f"save {shlex.join(arguments)}", [*arguments, "--save", "state", "in"], printed,
                   files={"in": rows}, written={"state": wide}, engine=False)
        yield Case(f"merge {shlex.join(arguments)}", ["merge", "--save", "saved", "state"], printed,
                   files={"state": wide}, written={"saved": wide}, engine=False)
    yield Case("merge texts", ["merge", "a", "a"], b"".join(
        b"%s\t%d\n" % (text, 2 * n) for text, n in sorted(collections.Counter(texts.splitlines()).items())),
               files={"a": state}, engine=False)


# Rows of a string, an IP address and a number, all distinct.
WIDE = [(b"/p/%d" % (i % 97), b"10.%d.%d.%d" % (i >> 16, i >> 8 & 255, i & 255), i * 7919 % 250007)
        for i in range(250000)]
WIDE_ROWS = b"".join(b"%s %s %d\n" % row for row in WIDE)


def wide_jobs(rows):
    """Keys of several words, including strings: the arguments and the output."""
    groups = collections.defaultdict(list)
    for text, _, value in rows:
        if value >= 100:
            groups[text].append(value)
    yield ["uniq", "-f", "1:text", "--by", "2:ip"], \
        b"".join(b"%s\t%s\t1\n" % (address, text) for text, address, _ in rows)
    yield ["reduce", "sum,distinct", "-f", "3", "--by", "1:text", "--where", "3>=100"], \
        b"".join(b"%s\t%d\t%d\n" % (text, sum(values), len(values))
                 for text, values in sorted(groups.items()))


# The functions that are called to count in files.
OF_RUNS = ("malloc", "calloc", "realloc", "mmap", "open", "mkostemp", "write", "pread",
           "pthread_create", "getrandom", "ZSTD_createCCtx")


def file_cases():
    """
    More distinct values than fit in the minimum memory of a thread, so that they spill to disk; and
    the functions to fail.
    """
    values = array.array("Q", (i * 0x9e3779b97f4a7c15 % 2**64 for i in range(700_000)))
    little = ["-t", "u64le", "--threads", "1", "--engine", "cpu", "-S", "1", "-T", "."]
    results = ["--save", "state", "-o", "out", "in"]
    files = {"in": values.tobytes(), "out": OLD, "state": OLD}
    quantiles = ["uniq", *little, "--quantiles", "0,100"]
    ends = b"0\t%d\n100\t%d\n" % (min(values), max(values))
    yield Case("different values in files", [*quantiles, *results], files=files, engine=False,
               is_long=True, written={"out": ends, "state": saved(["uniq", "-t", "u64"], values)}), \
        OF_RUNS
    yield Case("reductions from files", ["reduce", "distinct", *little, *results],
               files=files, engine=False, is_long=True, written={
                   "out": b"%d\n" % len(values),
                   "state": saved(["reduce", "distinct", "-t", "u64"], values)}), ["pread"]
    state = saved(["uniq", "-t", "u64"], values)
    yield Case("merge states in files", ["merge", "--threads", "1", "-S", "1", "-T", ".", "--save",
                                         "saved", "-o", "out", "--quantiles", "0,100", "state",
                                         "empty"], engine=False,
               is_long=True, files={"state": state, "out": OLD, "saved": OLD,
                                    "empty": saved(["uniq", "-t", "u64"], [])},
               written={"out": ends, "saved": state}), \
        ("mmap", "open", "write", "pread")
    for arguments, printed in wide_jobs(WIDE):
        state = subprocess.run([GPUHIST, *arguments, "--save", "-"], input=WIDE_ROWS, check=True,
                               capture_output=True).stdout
        little = ["--threads", "1", "-S", "1M", "-T", "."]
        yield Case(f"{shlex.join(arguments)}, in files", [*arguments, *little, *results],
                   files={**files, "in": WIDE_ROWS}, engine=False, is_long=True,
                   written={"out": printed, "state": state}), OF_RUNS
        yield Case(f"merge {shlex.join(arguments)}, in files",
                   ["merge", *little, "--save", "saved", "-o", "out", "state"], engine=False,
                   is_long=True, files={"state": state, "out": OLD, "saved": OLD},
                   written={"out": printed, "saved": state}), OF_RUNS
    # as on systems without unnamed files
    named = Case("different values in files that had names", quantiles, ends,
                 stdin=values.tobytes(), engine=False, is_long=True, fatal={"mkostemp": 1})
    named.environment = {"GPUHIST_FAULT_ALWAYS": "open"}
    yield named, ["mkostemp"]


def plain_cases():
    for option in ("--help", "--version", "info"):
        yield Case(option, [option], subprocess.run([GPUHIST, option], check=True,
                                                    capture_output=True).stdout, engine=False,
                   fatal={"close": 1, "write": 1})


# --- running them --------------------------------------------------------------------------------

def content(path):
    with open(path, "rb") as file:
        return file.read()


def command(case, engine):
    if not case.engine:
        return [GPUHIST, *case.arguments]
    # With --gpus, a GPU is prepared even for this little input.
    return [GPUHIST, *case.arguments, *(["--gpus", "0"] if engine == "auto" else ["--engine", engine])]


def write_files(case, directory):
    for name, data in case.files.items():
        with open(os.path.join(directory, name), "wb") as file:
            file.write(data)
    for name, target in case.links.items():
        os.symlink(target, os.path.join(directory, name))


def called(case, engine):
    """Returns the calls of each function in a run without a fault, each as its call site."""
    with tempfile.TemporaryDirectory() as directory, tempfile.NamedTemporaryFile() as record:
        write_files(case, directory)
        environment = {**os.environ, **case.environment, "GPUHIST_FAULT": "record",
                       "GPUHIST_FAULT_MARK": record.name}
        subprocess.run(command(case, engine), cwd=directory, env=environment, check=True,
                       input=case.stdin or b"", capture_output=True, timeout=SECONDS)
        calls = array.array("L", content(record.name))
    places = collections.defaultdict(list)
    for function, place in zip(calls[::2], calls[1::2]):
        places[NAMES[function]].append(place)
    return places


class Run:
    """The result of one run of a case with one fault, in a separate directory."""

    def __init__(self, case, engine, function, n, mode):
        self.case = case
        self.engine = engine
        self.function = function
        self.n = n
        self.mode = mode
        self.what = f"{case.name}, engine {engine}, {function}:{n}{mode}"

    def set(self, calls, status, stdout, stderr, directory):
        """`calls`: number of calls of the function in the run."""
        self.struck, self.is_called_again = calls >= self.n, calls > self.n
        self.status, self.stdout, self.stderr = status, stdout, stderr
        paths = {name: os.path.join(directory, name) for name in os.listdir(directory)}
        self.left = {name: os.readlink(path).encode() if os.path.islink(path) else content(path)
                     for name, path in paths.items()}

    def check(self, right, what):
        if not right:
            raise SystemExit(f"{self.what}: {what}; status {self.status}, stdout "
                             f"{self.stdout[:200]!r}, stderr:\n{self.stderr.decode()[:3000]}")

    def check_done(self, again=False):
        """`again`: the run may have restarted from the beginning."""
        told = self.stderr == b"" or (again and AGAIN.fullmatch(self.stderr))
        self.check(self.status == 0 and told, "not done")
        self.check(self.stdout == self.case.stdout, "a wrong result")
        links = {name: target.encode() for name, target in self.case.links.items()}
        self.check(self.left == {**self.case.files, **links, **self.case.written},
                   f"files {list(self.left)}")

    def check_failed(self, statuses, printed):
        """`printed`: the fault comes after the result was written to standard output."""
        case = self.case
        self.check(self.status in statuses, "the status")
        self.check(self.stderr.startswith(b"gpuhist: ") and self.stderr.endswith(b"\n") and
                   self.stderr.count(b"\n") == 1, "not one line")
        self.check(self.stdout == b"" or (printed and self.stdout == case.stdout) or
                   (case.is_stream and case.stdout.startswith(self.stdout)), "a result is printed")
        self.check_left()

    def check_left(self):
        """Checks that each file is the old one or the new one, and that no other exists."""
        for name, data in self.left.items():
            if name in self.case.links:
                self.check(data == self.case.links[name].encode(), f"{name} is another link")
                continue
            self.check(data == self.case.files.get(name) or data == self.case.written.get(name),
                       f"{name} is left as {data[:100]!r}")
        is_replaced = self.left["in"] != self.case.files["in"] if "in" in self.left else False
        self.check(not is_replaced or self.function in AT_THE_END or
                   self.left == {**self.case.files, **self.case.written},
                   "the input is replaced, and what was removed from it is lost")

    def judge(self):
        """Checks the whole result of the run with this fault."""
        if self.struck and self.mode.startswith("k"):
            self.check(self.status == -int(self.mode[1:]) and self.stderr == b"", "not killed")
            self.check_left()
            return
        is_device = is_of_device(self.function)
        can_repeat = is_device and self.engine == "auto" and self.case.stdin is None
        if not self.struck or self.status == 0:
            self.check_done(again=self.struck and can_repeat)
            return
        self.check(self.mode in ("", "+"), "this is no failure")
        self.check(not can_repeat, "the CPU did not do it again")
        starts = self.function in CUDA_STARTS and self.mode == "+" and self.n == 1
        self.check(not (starts and self.engine == "auto"), "the CPU did not do the work")
        statuses = [1] if self.engine != "cuda" else [3] if is_device else [1, 3]
        self.check_failed(statuses, printed=self.function in ("close", "dup"))


class Series:
    """
    The program with a case's arguments, started once for many runs, as tests/faults/faults.c tells
    of GPUHIST_FAULT_SERIES. With engine "cuda", all are in one process, which prepares the GPU
    only once.
    """

    def __init__(self, case, engine):
        self.case = case
        self.engine = engine
        self.number = 0

    def __enter__(self):
        self.files = tempfile.TemporaryDirectory(prefix="faults-series-")
        self.directory = self.files.name
        if self.case.stdin is not None:
            with open(self.path("stdin"), "wb") as file:
                file.write(self.case.stdin)
        environment = {**os.environ, **self.case.environment,
                       "GPUHIST_FAULT_SERIES": self.directory,
                       **({"GPUHIST_FAULT_KEEP": "1"} if self.engine == "cuda" else {})}
        with open(self.path("stderr"), "wb") as stderr:
            self.process = subprocess.Popen(
                command(self.case, self.engine), env=environment, stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=stderr, start_new_session=True)
        return self

    def __exit__(self, kind, *_):
        if kind is not None:
            os.killpg(self.process.pid, signal.SIGKILL)  # also the hanging run
        self.process.stdin.close()
        status = self.process.wait(SECONDS)
        self.process.stdout.close()
        stderr = content(self.path("stderr"))
        self.files.cleanup()
        if kind is None and (status != 0 or stderr):
            raise SystemExit(f"{self.case.name}, engine {self.engine}: the series ends with status "
                             f"{status}, stderr:\n{stderr.decode()[:3000]}")

    def path(self, name):
        return os.path.join(self.directory, name)

    def run(self, function, n, mode):
        """Does one run, in a separate directory."""
        run = Run(self.case, self.engine, function, n, mode)
        self.number += 1
        name = str(self.number)
        os.mkdir(self.path(name))
        write_files(self.case, self.path(name))
        self.process.stdin.write(f"{name} {function}:{n}{mode}\n".encode())
        self.process.stdin.flush()
        told, _, _ = select.select([self.process.stdout], [], [], SECONDS)
        answer = self.process.stdout.readline() if told else b""
        outputs = [self.path(f"{name}.{end}") for end in ("stdout", "stderr")]
        if not answer:
            raise SystemExit(f"{run.what}: it {'ends the series' if told else 'hangs'}; stderr:\n" +
                             (content(outputs[1]) + content(self.path("stderr"))).decode()[:3000])
        run.set(*map(int, answer.split()), *map(content, outputs), self.path(name))
        shutil.rmtree(self.path(name))
        for output in outputs:
            os.unlink(output)
        return run

    def runs(self, function, modes, numbers):
        """
        Makes the calls of these numbers fail, until a run has no such call; uses the second of two
        modes only if it can differ: the function is called again.
        """
        for n in numbers:
            run = self.run(function, n, modes[0])
            yield run
            if len(modes) > 1 and run.is_called_again:
                yield self.run(function, n, modes[1])
            if not run.struck:
                return


def judge_all(case, engine, wanted):
    """
    Does all runs of a case on an engine; `wanted` has the arguments of Series.runs. Returns the numbers
    of failed calls of each function, and of those that ended a run.
    """
    calls, ended = collections.Counter(), collections.Counter()
    with Series(case, engine) as series:
        for arguments in wanted:
            for run in series.runs(*arguments):
                run.judge()
                calls[run.function] += run.struck
                ended[run.case, run.function] += run.struck and run.status != 0
    return calls, ended


def check_fatal(cases, ended, left_out):
    """Calls whose failure loses a result must not fail silently."""
    for case in cases:
        for function, count in case.fatal.items():
            if ended[case, function] < count - left_out[case, function]:
                raise SystemExit(f"{case.name}: {count} calls of {function} must not fail unseen, "
                                 f"only {ended[case, function]} did end in an error")


def numbers(case, places, most, seen):
    """
    Yields the failing calls of a function, from 1: all, or the first `most`; for a long case the first,
    4th, 16th, ... If SHARE is above 1, only the first two calls from one place (in a long case, or from
    16 on, the first), and then one in SHARE. `seen` counts the calls from each place.
    """
    count = min(len(places), most or len(places))
    for n in (4**i for i in itertools.count()) if case.is_long else itertools.count(1):
        if n > count:
            return
        place = places[n - 1]
        seen[place] += 1
        if seen[place] <= (1 if case.is_long or SHARE >= 16 else 2) or seen[place] % SHARE == 0:
            yield n


def count_up_all(units):
    """
    Runs all (case, function, modes, engine[, most]) in which the function is called; returns the
    number of failed calls of each, and by (case, function) the numbers of calls that ended a run, and
    of omitted ones.
    """
    units = list(units)
    calls = collections.Counter({unit[1]: 0 for unit in units})
    ended, left_out = collections.Counter(), collections.Counter()
    wanted = collections.defaultdict(list)
    pairs = list({(unit[0], unit[3]) for unit in units})
    seen = collections.defaultdict(collections.Counter)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        called_by = dict(zip(pairs, pool.map(lambda pair: called(*pair), pairs)))
        for case, function, modes, engine, *most in units:
            places = called_by[case, engine][function]
            chosen = list(numbers(case, places, *most or [None], seen[function, modes, engine]))
            left_out[case, function] += len(places) - len(chosen)
            if chosen:
                wanted[case, engine].append((function, modes, chosen))
        for some_calls, some_ended in pool.map(lambda pair: judge_all(*pair, wanted[pair]), wanted):
            calls.update(some_calls)
            ended.update(some_ended)
    for function, count in calls.items():
        print(f"{function}: {count} faults")
    return calls, ended, left_out


# --- the tests -----------------------------------------------------------------------------------

def is_of_device(function):
    return function.startswith(("cuda", "__cuda", "fault_device"))


def functions(prefix):
    """Returns the function names with this prefix, or, if it is empty, all without a device."""
    if prefix:
        return [name for name in NAMES if name.lstrip("_").startswith(prefix)]
    return [name for name in NAMES if not is_of_device(name)]


def output_cases():
    """Returns the cases that write files which replace others."""
    linked = Case("into what a link names", ["reduce", "sum", "-o", "link", "in"],
                  files={"in": b"1 2\n", "out": OLD}, written={"out": b"3\n"},
                  links={"link": "out"}, engine=False)
    return [linked, *(case for case in [*cases(), *state_cases()] if case.written)]


THREADS = (1, 2, 16)


def threaded(cases):
    """
    Returns, with each number of threads, the cases whose workers write results as they come; and, with
    one of the numbers in turn, those whose results are written after the workers end.
    """
    in_turn = itertools.cycle(THREADS)
    for case in cases:
        is_written_by_workers = "stalin-sort" in case.arguments
        for threads in THREADS if is_written_by_workers else [next(in_turn)]:
            yield case.with_threads(threads)


# A signal may end the program between any two of these calls.
# Calls that can fail after the first of two files is replaced; all others come before.
AT_THE_END = ("rename",)
OF_FILES = ("open", "fcntl", "write", "close", "dup", "stat", "lstat", "fstat", "statx", "access",
            "faccessat", "mkostemp", "fsync", "fchown", "fchmod", "linkat", "rename", "realpath")


FAILS = ("", "+")  # once, and from then on


def test_failed(engines):
    """All functions in all cases; with temporary names, only functions of files."""
    every = [*cases(), *state_cases(), *plain_cases(), output_cases()[0]]
    named = [case.without_proc() for case in threaded(output_cases())]
    long = list(file_cases())
    calls, ended, left_out = count_up_all(
        [*((case, function, FAILS, "cpu") for case in every for function in functions("")),
         *((case, function, FAILS, "cpu") for case in named for function in OF_FILES),
         *((case, function, ("",), "cpu") for case, wanted in long
           for function in wanted)])
    check_fatal([*every, *named, *(case for case, _ in long)], ended, left_out)
    never = [function for function, count in calls.items() if count == 0]
    if never:
        raise SystemExit(f"never called: {never}")


def test_killed(engines):
    count_up_all((each, function, (f"k{signal.SIGTERM:d}",), "cpu")
                 for case in threaded(output_cases()) for each in (case, case.without_proc())
                 for function in OF_FILES)
    for function in ("open", "fsync", "linkat", "mkostemp", "rename"):
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE):
            for threads in THREADS:
                check_killed_at_work(function, number, threads, {})
                check_killed_at_work(function, number, threads, {"GPUHIST_FAULT_ALWAYS": "access"})


def check_killed_at_work(function, number, threads, environment):
    """The signal comes while an intermediate result is written, and other threads exist."""
    if (function == "linkat" and environment) or (function == "mkostemp" and not environment):
        return
    for n in itertools.count(1):
        with tempfile.TemporaryDirectory() as directory:
            environment = {**os.environ, **environment, "GPUHIST_FAULT": f"{function}:{n}k{number}"}
            process = subprocess.Popen(
                [GPUHIST, "count", "--binary", "--all", "--every", "1ms", "-o", "out", "--threads",
                 str(threads)], cwd=directory, env=environment, stdin=subprocess.PIPE,
                preexec_fn=lambda: (resource.setrlimit(resource.RLIMIT_CORE, (0, 0)),
                                    signal.signal(number, signal.SIG_DFL)))
            try:
                os.write(process.stdin.fileno(), BINARY[:4000])
            except BrokenPipeError:
                pass  # it has ended
            try:
                process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                raise SystemExit(f"{function}:{n}k{number} while others work: it hangs")
            process.stdin.close()
            left = {name: content(os.path.join(directory, name)) for name in os.listdir(directory)}
            if process.returncode != -number or not set(left) <= {"out"} or \
                    not re.fullmatch(rb"(\d+\n)?", left.get("out", b"")):
                raise SystemExit(f"{function}:{n}k{number} while others work: status "
                                 f"{process.returncode}, left {left}")
            if left:  # after the first result the same calls come again
                return


def test_harmless(engines):
    """Interrupted calls, and those that move only one byte, change nothing."""
    interrupted = f"e{errno.EINTR}"
    modes = [(function, interrupted) for function in ("read", "pread", "write", "poll", "fsync")]
    modes += [("read", f"e{errno.EAGAIN}")]  # another program made the descriptor non-blocking
    modes += [(function, "s") for function in ("read", "pread", "write")]
    units = [(case, function, (mode,), "cpu") for case in threaded(cases())
             for function, mode in modes]
    units += [(case, function, (mode,), "cpu") for case, _ in file_cases()
              for function, mode in modes if function in ("pread", "write")]
    # A file system that does not support syncing data to the disk.
    units += [(case, "fsync", (f"e{errno.EINVAL}",), "cpu") for case in threaded(output_cases())]
    count_up_all(units)


# The cases in which a GPU fails while the CPU takes part: test_device tries all.
SHARED = ("histogram of a file into a file", "many bins, from a pipe",
          "fields of two files of text", "stalin-sort of a file")


def test_cuda(engines):
    if "cuda" not in engines:
        raise SystemExit("no GPU")
    units = [(case, function, FAILS) for case in cases() if case.device
             for function in functions("cuda")]
    count_up_all([(*unit, "cuda") for unit in units] +
                 [(*unit, "auto", 1) for unit in units if unit[0].name in SHARED])


def test_device(engines):
    """The fake device, which needs no GPU."""
    os.environ["GPUHIST_FAULT_DEVICE"] = "1"
    calls, _, _ = count_up_all((case, function, FAILS, engine) for case in cases()
                               for function in functions("fault_device") for engine in ("cuda", "auto"))
    never = [function for function, count in calls.items()
             if count == 0 and function != "fault_device_consumer_flush"]  # only with a slow writer
    if never:
        raise SystemExit(f"never called: {never}")


def test_cuda_host(engines):
    """Failures on the host while a GPU works."""
    units = [(case, function, FAILS) for case in cases() if case.device
             for function in ("malloc", "calloc", "mmap", "pread", "read", "pthread_create")]
    count_up_all([(*unit, "cuda") for unit in units] + [(*unit, "auto", 2) for unit in units])


GPUHIST = os.path.abspath(sys.argv[1])
NAMES = subprocess.run([GPUHIST], env={**os.environ, "GPUHIST_FAULT": "list"}, check=True,
                       capture_output=True, text=True).stdout.split()
globals()["test_" + sys.argv[2]](sys.argv[3:])
