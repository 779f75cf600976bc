"""Results of a sliding window (--every with --window) against runs over the lines of each window.

usage: window.py GPUHIST TEST [THREADS]...

Nothing depends on durations. Only the results show the ends of periods: the window of a result starts
at the end of the period one window earlier, and must have exactly the lines from there to the end of
the newest period.
"""

import array
import collections
import functools
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading

import progress
from progress import Results, check, feed

PERIODS = 3
EVERY = ["--every", "10ms", "--window", f"{PERIODS}0ms"]
BATCH = 100  # lines per write; a pipe accepts them whole
BATCHES = 5
TIMES = 10  # number of repetitions of much input
# Divides the size of much input; above 1, only the last of several numbers of threads is tried.
SHARE = int(os.environ.get("SHARE", "1"))

NUMBERS = random.Random(11)
ROWS = [(number, NUMBERS.randrange(7), NUMBERS.randint(-900, 3000))
        for number in range(BATCH * BATCHES)]

OF_TEXT = [
    ["--bins", "1000", "-f", "1"],
    ["-f", "3"],
    ["--width", "100", "-f", "3"],
    ["--width", "100", "--range", "0:1000", "-f", "3", "--outside", "clamp"],
    ["--log2=2", "-f", "3"],
    ["--log10", "-f", "3", "--format", "json"],
    ["--edges", "-900,0,50,3001", "-f", "3"],
    ["-f", "3", "--by", "2"],
    ["--bins", "1000", "-f", "1", "--quantiles", "0,50,100"],
    ["--bins", "7", "--range", "auto", "-f", "3"],
    ["uniq", "-f", "3"],
    ["uniq", "-f", "1", "--top", "1000"],
    ["uniq", "-f", "2", "--weight", "1"],
    ["uniq", "-f", "3", "--by", "2", "--where", "1!=55"],
    ["reduce", "-f", "3"],
    ["reduce", "count,min,max,p10,median,p99.9,mode,distinct", "-f", "1", "-S", "1M"],
    ["reduce", "distinct", "-f", "1"],
    ["reduce", "count,sum,stddev,q1", "-f", "1,3", "--format", "csv"],
    ["reduce", "count,max,p50", "-f", "3", "--by", "2"],
    ["count", "--all", "--ge", "500", "--any-of", "1,2,3", "-f", "1"],
    ["count", "--all", "--lt", "0", "-f", "1,3", "--where", "2>0"],
    ["count", "--all", "--lt", "0", "-f", "3", "--by", "2"],
]
OF_RECORDS = [
    ["--record", "12", "--width", "10"],
    ["reduce", "count,sum,median", "--record", "12", "-f", "i32@8", "--by", "u32@4"],
    ["uniq", "--record", "12", "--offset", "8", "--weight", "u32@0"],
]


# The output of a window without lines for which a run without lines prints only an error.
OF_NO_LINES = {
    "-f 3": "count\t0\nsum\t0\n",
    "count,min,max,p10,median,p99.9,mode,distinct -f 1 -S 1M": "count\t0\ndistinct\t0\n",
    "count,sum,stddev,q1 -f 1,3 --format csv": "column,count,sum,stddev,q1\n1,0,0,,\n3,0,0,,\n",
    "sum,p50 -f 1": "sum\t0\n",
}


def encode(is_text, begin, end):
    if is_text:
        return b"".join(b"%d %d %d\n" % row for row in ROWS[begin:end])
    return array.array("i", [value for row in ROWS[begin:end] for value in row]).tobytes()


@functools.lru_cache(maxsize=None)
def batch(arguments, is_text, begin, end):
    """Returns the output of a run over these lines. Without lines, reduce and percentiles are errors."""
    of_none = OF_NO_LINES.get(" ".join(arguments[1:])) if arguments[0] == "reduce" else None
    if begin == end and of_none:
        return of_none
    done = subprocess.run([GPUHIST, *arguments, "-q"], input=encode(is_text, begin, end),
                          capture_output=True)
    check(done.returncode == 0 or begin == end, f"{arguments}: {done.stderr!r}")
    return done.stdout.decode()


def start(arguments, threads, **more):
    more = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    return subprocess.Popen([GPUHIST, *arguments, "-q", "--threads", threads], bufsize=0, **more)


# --- a slow writer -------------------------------------------------------------------------------

class Windows:
    """The results of a run, each checked when read."""

    def __init__(self, arguments, is_text, process):
        self.arguments, self.is_text = tuple(arguments), is_text
        self.results = Results(process.stdout)
        self.ends = [0]  # the line that ends each period, the first is before the run

    def check(self, result, fed):
        """Finds the end of the period that this result ends: here or, if lines were fed, there."""
        if "json" in self.arguments:
            result, times = re.subn(r'^{"reported":"[-0-9T:.]*Z",', "{", result)
            check(times == 1, f"{self.arguments}: {result!r} has no time")
        begin = self.ends[-PERIODS] if len(self.ends) >= PERIODS else 0
        ends = sorted({self.ends[-1], fed})
        expected = [batch(self.arguments, self.is_text, begin, end) for end in ends]
        check(len(set(expected)) == len(expected), f"{self.arguments}: lines {ends} are alike")
        check(result in expected, f"{self.arguments}: {result!r} is not of lines {begin} to {ends}")
        self.ends.append(ends[expected.index(result)])

    def next(self, fed):
        result = self.results.next()
        if result is None:
            return False
        self.check(result, fed)
        return True


def slow_operation(arguments, is_text, threads):
    process = start([*arguments, *EVERY, "--stats"], threads)
    windows = Windows(arguments, is_text, process)
    fed = 0
    for number in range(BATCHES):
        feed(process, encode(is_text, fed, fed + BATCH))
        fed += BATCH
        while windows.ends[-1] < fed:
            check(windows.next(fed), f"{arguments}: the results end")
        # The windows after these have several batches, one, or at last none.
        for _ in range((0, 1, PERIODS + 1)[number % 3]):
            check(windows.next(fed), f"{arguments}: the results end")
    process.stdin.close()
    while windows.next(fed):
        pass
    windows.check(windows.results.text.decode(), fed)
    stderr = process.stderr.read()
    check(process.wait() == 0, f"{arguments}: status {process.returncode}, stderr {stderr!r}")
    # The statistics count the whole run.
    size = len(encode(is_text, 0, fed))
    check(re.match(rb"gpuhist: \d+ elements, %d bytes in " % size, stderr),
          f"{arguments}: stderr {stderr!r}")


def test_text(threads):
    for arguments in OF_TEXT:
        slow_operation(arguments, True, threads)


def test_records(threads):
    for arguments in OF_RECORDS:
        slow_operation([*arguments, "--binary"], False, threads)


# --- a fast writer -------------------------------------------------------------------------------

def all_results(process):
    """All results of a run, in a stream of them."""
    results = Results(process.stdout)
    found = []
    while (result := results.next()) is not None:
        found.append(result)
    stderr = process.stderr.read()
    check(process.wait() == 0, f"status {process.returncode}, stderr {stderr!r}")
    return [*found, results.text.decode()]


def counts(result):
    return collections.Counter({int(value): int(count) for value, count in
                                (line.split("\t") for line in result.splitlines())})


def check_windows(results, total, periods, what):
    """
    A window is the previous one plus the newest period, minus the oldest period. So the windows
    determine the periods, whose sum must be the input, without negative counts.
    """
    found = []
    before = collections.Counter()
    for result in results:
        window = counts(result)
        period = window.copy()
        period.subtract(before)
        if len(found) >= periods:
            period.update(found[-periods])
        check(min(period.values(), default=0) >= 0, f"{what}: a period with {-period!r} taken away")
        found.append(period)
        before = window
    check(sum(found, collections.Counter()) == total, f"{what}: not all is in one period each")


def test_fast(threads):
    values = random.Random(12).choices(range(-20, 20), k=80000 // SHARE)
    total = collections.Counter()
    weighted = collections.Counter()
    for i, value in enumerate(values):
        total[value] += TIMES
        weighted[value] += TIMES * (i % 3)
    data = TIMES * b"".join(b"%d %d\n" % (value, i % 3) for i, value in enumerate(values))
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        for every, window, periods in (("1ms", "1ms", 1), ("2ms", "4ms", 2), ("1ms", "7ms", 7),
                                       ("1ms", "10s", 10000)):
            for options, expected in ((["uniq"], total), (["-w", "1"], total),
                                      (["uniq", "--weight", "2"], weighted)):
                arguments = [*options, "-f", "1", "--every", every, "--window", window,
                             "--chunk-size", "4K"]
                process = start(arguments, threads)
                writer = threading.Thread(target=lambda: (feed(process, data),
                                                          process.stdin.close()))
                writer.start()
                check_windows(all_results(process), expected, periods, f"{arguments}, a pipe")
                writer.join()
                process = start([*arguments, file.name], threads, stdin=subprocess.DEVNULL)
                check_windows(all_results(process), expected, periods, f"{arguments}, a file")


# --- the rest ------------------------------------------------------------------------------------

def test_save(threads):
    """The state is that of the last window."""
    with tempfile.TemporaryDirectory() as directory:
        state = os.path.join(directory, "state")
        for arguments in (["uniq", "-f", "3"], ["-f", "3"], ["reduce", "sum,p50", "-f", "1"]):
            process = start([*arguments, *EVERY, "--save", state], threads)
            windows = Windows(arguments, True, process)
            feed(process, encode(True, 0, BATCH))
            while windows.ends[-PERIODS:] != [BATCH] * PERIODS:
                windows.next(BATCH)
            process.send_signal(signal.SIGSTOP)  # until the rest and the end are written
            feed(process, encode(True, BATCH, 2 * BATCH))
            process.stdin.close()
            process.send_signal(signal.SIGCONT)
            while windows.next(2 * BATCH):
                pass
            last = windows.results.text.decode()
            windows.check(last, 2 * BATCH)
            check(process.wait() == 0, process.stderr.read())
            process.stderr.close()
            merged = subprocess.run([GPUHIST, "merge", "-q", state], capture_output=True)
            check(merged.stdout.decode() == last, f"{arguments}: saved {merged.stdout!r}")


def test_end(threads):
    """SIGINT ends it after a last window, here an empty one."""
    arguments = ["uniq", "-f", "1"]
    process = start([*arguments, *EVERY], threads)
    windows = Windows(arguments, True, process)
    feed(process, encode(True, 0, BATCH))
    while windows.ends[-PERIODS:] != [BATCH] * PERIODS:
        windows.next(BATCH)
    process.send_signal(signal.SIGINT)
    while windows.next(BATCH):
        pass
    check(windows.results.text == b"" and process.wait() == -signal.SIGINT,
          f"status {process.wait()}, a last result {windows.results.text!r}")


def test_reports(threads):
    """Out-of-range values are those of the last window, invalid tokens those of the whole run."""
    process = subprocess.Popen([GPUHIST, "--bins", "10", *EVERY, "--invalid", "warn", "--threads",
                                threads], bufsize=0, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    results = Results(process.stdout)
    feed(process, b"1\nx\n70\n70\n")
    while results.next() != "1\t1\n":
        pass
    while results.next() != "":
        pass
    process.stdin.close()
    while results.next() is not None:
        pass
    stderr = process.stderr.read()
    check(process.wait() == 0 and results.text == b"", f"{stderr!r}")
    check(stderr.startswith(b"gpuhist: standard input:2: invalid integer 'x'\n") and
          b"outside" not in stderr, f"stderr {stderr!r}")


if __name__ == "__main__":
    GPUHIST = progress.GPUHIST = sys.argv[1]
    for argument in sys.argv[3:] if SHARE == 1 else sys.argv[-1:]:
        globals()[f"test_{sys.argv[2]}"](argument)
