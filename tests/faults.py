"""Lets the first, the second, ... call of every function fail, until one run has no such call.

usage: faults.py GPUHIST TEST [ENGINE]...

GPUHIST is built with --enable-faults; src/faults.c tells how a fault is asked for, and what for. What
must be printed is computed here by plain Python.
"""

import array
import collections
import concurrent.futures
import errno
import gzip
import os
import random
import re
import subprocess
import sys
import tempfile

BINS = 1000
OLD = b"what was there before\n"
SECONDS = 60  # only a run that hangs takes longer

# Where a run without a usable GPU ends before the GPU has been given anything.
CUDA_STARTS = {"cudaGetDeviceCount", "cudaGetDeviceProperties", "cudaInitDevice",
               "cudaSetDevice", "cudaDeviceGetAttribute", "cudaMalloc", "fault_device_probe",
               "fault_device_prepare", "fault_device_open", "fault_device_worker_open"}

# What a device's failure is told with where the CPU then does all from the beginning.
AGAIN = re.compile(rb"gpuhist: [^\n]+; starting again on the CPU\n")


# --- inputs, and what must come of them ----------------------------------------------------------

VALUES = random.Random(7).choices(range(BINS), k=40000)
NOISE = random.Random(8).choices(range(-1 << 31, 1 << 31), k=100000)
WANTED = range(0, BINS, 3)
BINARY = array.array("i", VALUES).tobytes()
TEXT = b"".join(b"a %d\n" % value for value in VALUES)


def zstd(data, frames):
    """So many frames, by the zstd program."""
    size = -(-len(data) // frames)
    return b"".join(subprocess.run(["zstd", "-qc"], input=data[i:i + size], check=True,
                                   capture_output=True).stdout for i in range(0, len(data), size))


def histogram(values):
    return b"".join(b"%d\t%d\n" % pair for pair in sorted(collections.Counter(values).items()))


def survivors(values):
    kept, purged = [], []
    for value in values:
        (kept if not kept or value >= kept[-1] else purged).append(value)
    return kept, purged


def reduced(values):
    return b"sum\t%d\nmax\t%d\n" % (sum(values), max(values))


def counted(values):
    return b"ge 500\t%d\nany-of @wanted\t%d\n" % (
        sum(value >= 500 for value in values), sum(value in WANTED for value in values))


class Case:
    """A command, its files, what it prints; those that it writes are named there."""

    def __init__(self, name, arguments, stdout=b"", files=None, stdin=None, written=None,
                 engine=True, is_stream=False, device=False):
        self.name = name
        self.arguments = arguments
        self.stdout = stdout
        self.files = files or {}
        self.stdin = stdin
        self.written = written or {}
        self.engine = engine
        self.is_stream = is_stream
        self.device = device  # a device has other work to do than in any case before


def small(values):
    """Arguments that make work for several threads of little data."""
    return [*values, "--threads", "3", "--chunk-size", "64K"]


def cases():
    kept, purged = survivors(VALUES)
    lines = b"".join(b"%d\n" % value for value in kept)
    gzipped = gzip.compress(TEXT)
    count = collections.Counter(VALUES)
    yield Case("histogram of a file into a file", small(["--bins", str(BINS), "-o", "out", "in"]),
               files={"in": BINARY, "out": OLD}, written={"out": histogram(VALUES)}, device=True)
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
    yield Case("stalin-sort of text from a pipe into a file",
               small(["stalin-sort", "-f", "-1", "-o", "out"]), stdin=TEXT, written={"out": lines},
               device=True)
    yield Case("text in many chunks", small(["reduce", "sum,max", "in"]), reduced(NOISE),
               files={"in": b"".join(b"%d\n" % value for value in NOISE)})
    yield Case("a large result, in parts", small(["--bins", "200K", "--zeros", "-o", "out", "in"]),
               files={"in": BINARY}, written={"out": b"".join(
                   b"%d\t%d\n" % (value, count[value]) for value in range(200000))})
    yield Case("results so far", small(["count", "--all", "--every", "1h", "-o", "/dev/stdout"]),
               b"%d\n" % len(VALUES), stdin=BINARY)
    automatic = collections.Counter(value // 20 * 20 for value in VALUES)  # 50 bins
    yield Case("bins chosen to fit, from a pipe", small([]), b"".join(
        b"%d\t%d\t%d\n" % (low, low + 20, automatic[low]) for low in sorted(automatic)), stdin=BINARY)
    apart = NOISE[:40000]  # work for three threads; more only makes more of the same calls of mmap
    wide = collections.Counter(value // 5 * 5 for value in apart)  # most of them in no window
    yield Case("bins of a width, far apart", small(["-w", "5", "-o", "out", "--binary", "in"]),
               files={"in": array.array("i", apart).tobytes()}, written={"out": b"".join(
                   b"%d\t%d\t%d\n" % (low, low + 5, wide[low]) for low in sorted(wide))}, device=True)
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
    yield Case("small files", ["reduce", "sum,max", "a", "b"], reduced(VALUES[:900]),
               files={"a": BINARY[:2000], "b": BINARY[2000:3600]})


STATES = {
    "histogram": (["--bins", str(BINS)], histogram),
    "bins of a width": (["-w", "1"], histogram),
    "edges": (["--edges", "0,1000"], lambda values: b"0\t1000\t%d\n" % len(values)),
    "reductions": (["reduce", "sum,max"], reduced),
    "counts": (["count", "--ge", "500", "--all"], lambda values: b"ge 500\t%d\nall\t%d\n" % (
        sum(value >= 500 for value in values), len(values))),
}


def saved(arguments, values):
    """The state that a run without a fault leaves."""
    data = array.array("i", values).tobytes()
    return subprocess.run([GPUHIST, *arguments, "--binary", "--engine", "cpu", "--save", "-"],
                          input=data, check=True, capture_output=True).stdout


def state_cases():
    for name, (arguments, expected) in STATES.items():
        state = saved(arguments, VALUES)
        yield Case(f"save {name}", [*arguments, "--save", "state", "--engine", "cpu", "in"],
                   expected(VALUES), files={"in": BINARY}, written={"state": state}, engine=False)
        yield Case(f"merge {name}", ["merge", "a", "b"], expected(VALUES + VALUES[:900]),
                   files={"a": state, "b": saved(arguments, VALUES[:900])}, engine=False)


def plain_cases():
    for option in ("--help", "--version", "info"):
        yield Case(option, [option], subprocess.run([GPUHIST, option], check=True,
                                                    capture_output=True).stdout, engine=False)


# --- running them --------------------------------------------------------------------------------

def content(path):
    with open(path, "rb") as file:
        return file.read()


def command(case, engine):
    if not case.engine:
        return [GPUHIST, *case.arguments]
    # With --gpus a GPU is got ready even for so little.
    return [GPUHIST, *case.arguments, *(["--gpus", "0"] if engine == "auto" else ["--engine", engine])]


def write_files(case, directory):
    for name, data in case.files.items():
        with open(os.path.join(directory, name), "wb") as file:
            file.write(data)


def called(case, engine):
    """The functions that a run without a fault calls."""
    with tempfile.TemporaryDirectory() as directory, tempfile.NamedTemporaryFile() as record:
        write_files(case, directory)
        environment = {**os.environ, "GPUHIST_FAULT": "record", "GPUHIST_FAULT_MARK": record.name}
        subprocess.run(command(case, engine), cwd=directory, env=environment, check=True,
                       input=case.stdin or b"", capture_output=True, timeout=SECONDS)
        calls = array.array("L", content(record.name))
    return {name for name, count in zip(NAMES, calls) if count > 0}


class Run:
    """One run of a case with one fault, in a directory of its own."""

    def __init__(self, case, fault, engine):
        self.case = case
        self.what = f"{case.name}, engine {engine}, {fault}"
        with tempfile.TemporaryDirectory() as directory, \
                tempfile.NamedTemporaryFile(prefix="faults-mark-") as mark:
            os.unlink(mark.name)
            write_files(case, directory)
            environment = {**os.environ, "GPUHIST_FAULT": fault, "GPUHIST_FAULT_MARK": mark.name}
            try:
                done = subprocess.run(command(case, engine), cwd=directory, env=environment,
                                      input=case.stdin or b"", capture_output=True,
                                      timeout=SECONDS)
            except subprocess.TimeoutExpired:
                raise SystemExit(f"{self.what}: it hangs")
            self.struck = os.path.exists(mark.name)
            if not self.struck:
                open(mark.name, "w").close()
            self.status, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr
            self.left = {name: content(os.path.join(directory, name))
                         for name in os.listdir(directory)}

    def check(self, right, what):
        if not right:
            raise SystemExit(f"{self.what}: {what}; status {self.status}, stdout "
                             f"{self.stdout[:200]!r}, stderr:\n{self.stderr.decode()[:3000]}")

    def check_done(self, again=False):
        """`again`: it may have been done again from the beginning."""
        told = self.stderr == b"" or (again and AGAIN.fullmatch(self.stderr))
        self.check(self.status == 0 and told, "not done")
        self.check(self.stdout == self.case.stdout, "a wrong result")
        self.check(self.left == {**self.case.files, **self.case.written}, f"files {list(self.left)}")

    def check_failed(self, statuses, printed):
        """`printed`: the fault comes after the result was written to standard output."""
        case = self.case
        self.check(self.status in statuses, "the status")
        self.check(self.stderr.startswith(b"gpuhist: ") and self.stderr.endswith(b"\n") and
                   self.stderr.count(b"\n") == 1, "not one line")
        self.check(self.stdout == b"" or (printed and self.stdout == case.stdout) or
                   (case.is_stream and case.stdout.startswith(self.stdout)), "a result is printed")
        for name, data in self.left.items():
            self.check(data == case.files.get(name) or data == case.written.get(name),
                       f"{name} is left as {data[:100]!r}")


def count_up(case, function, mode, engine, most=None):
    """Lets one call after the other fail, or the first `most`; returns how many there were."""
    n = 1
    is_device = is_of_device(function)
    can_repeat = is_device and engine == "auto" and case.stdin is None
    while True:
        run = Run(case, f"{function}:{n}{mode}", engine)
        if not run.struck or run.status == 0:
            run.check_done(again=run.struck and can_repeat)
        else:
            run.check(mode in ("", "+"), "this is no failure")
            run.check(not can_repeat, "the CPU did not do it again")
            starts = function in CUDA_STARTS and mode == "+" and n == 1
            run.check(not (starts and engine == "auto"), "the CPU did not do the work")
            statuses = [1] if engine != "cuda" else [3] if is_device else [1, 3]
            run.check_failed(statuses, printed=function in ("close", "dup"))
        if not run.struck or n == most:
            return n if run.struck else n - 1
        n += 1


def count_up_all(units):
    """
    Runs all (case, function, mode, engine[, most]) in which the function is called; returns how
    many calls of each failed.
    """
    units = list(units)
    calls = {unit[1]: 0 for unit in units}
    runs = list({(unit[0], unit[3]) for unit in units})
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        names = dict(zip(runs, pool.map(lambda run: called(*run), runs)))
        units = [unit for unit in units if unit[1] in names[unit[0], unit[3]]]
        for unit, count in zip(units, pool.map(lambda unit: count_up(*unit), units)):
            calls[unit[1]] += count
    for function, count in calls.items():
        print(f"{function}: {count} faults")
    return calls


# --- the tests -----------------------------------------------------------------------------------

def is_of_device(function):
    return function.startswith(("cuda", "__cuda", "fault_device"))


def functions(prefix):
    """The names of those that begin so, or if it is empty of those that are of no device."""
    if prefix:
        return [name for name in NAMES if name.lstrip("_").startswith(prefix)]
    return [name for name in NAMES if not is_of_device(name)]


def test_once(engines):
    every = [*cases(), *state_cases(), *plain_cases()]
    calls = count_up_all((case, function, "", "cpu") for case in every
                         for function in functions(""))
    never = [function for function, count in calls.items() if count == 0]
    if never:
        raise SystemExit(f"never called: {never}")


def test_on(engines):
    every = [*cases(), *state_cases(), *plain_cases()]
    count_up_all((case, function, "+", "cpu") for case in every for function in functions(""))


def test_harmless(engines):
    """Interrupted calls, and those that move a byte instead of all, change nothing."""
    interrupted = f"e{errno.EINTR}"
    modes = [(function, interrupted) for function in ("read", "pread", "write", "poll")]
    modes += [("read", f"e{errno.EAGAIN}")]  # somebody made the descriptor non-blocking
    modes += [(function, "s") for function in ("read", "pread", "write")]
    units = [(case, *mode, "cpu") for case in cases() for mode in modes]
    # A file that may be written, but not replaced.
    units += [(case, "rename", f"e{errno.EPERM}", "cpu") for case in cases() if "out" in case.files]
    count_up_all(units)


def test_cuda(engines):
    if "cuda" not in engines:
        raise SystemExit("no GPU")
    units = [(case, function) for case in cases() if case.device for function in functions("cuda")]
    # Where the CPU then does all, it matters less what else does not work any more.
    count_up_all([(*unit, mode, "cuda") for unit in units for mode in ("", "+")] +
                 [(*unit, "", "auto") for unit in units] +
                 [(*unit, "+", "auto", 1) for unit in units])


def test_device(engines):
    """The device made for tests: it needs no GPU."""
    os.environ["GPUHIST_FAULT_DEVICE"] = "1"
    calls = count_up_all((case, function, mode, engine) for case in cases()
                         for function in functions("fault_device") for mode in ("", "+")
                         for engine in ("cuda", "auto"))
    never = [function for function, count in calls.items()
             if count == 0 and function != "fault_device_worker_flush"]  # where the writer is slow
    if never:
        raise SystemExit(f"never called: {never}")


def test_cuda_host(engines):
    """What fails on the host while a GPU works."""
    count_up_all((case, function, mode, engine) for case in cases() if case.device
                 for function in ("malloc", "calloc", "mmap", "pread", "read", "pthread_create")
                 for mode in ("", "+") for engine in ("cuda", "auto"))


GPUHIST = os.path.abspath(sys.argv[1])
NAMES = subprocess.run([GPUHIST], env={**os.environ, "GPUHIST_FAULT": "list"}, check=True,
                       capture_output=True, text=True).stdout.split()
globals()["test_" + sys.argv[2]](sys.argv[3:])
