"""Tests gpuhist while it runs: intermediate results (--every), SIGUSR1 and the progress line.

usage: progress.py GPUHIST TEST ENGINE...

Plain Python computes the expected output. Nothing depends on durations: a test waits until the
expected output appears, and the caller limits the total time.
"""

import array
import fcntl
import glob
import gzip
import lzma
import os
import pty
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

BINS = 50
SHARE = int(os.environ.get("SHARE", "1"))  # much input is divided by it
SO_FAR = re.compile(rb"gpuhist: so far: (\d+) elements, (\d+) bytes in [\d.]+ s: [\d.]+ GB/s, engine (\w+)")
SHOWN = re.compile(rb"gpuhist: [\d.]+ [kMGTPE]?B in \d+:\d\d, [\d.]+ [kMGTPE]?B/s(, \d+%, (\d+:\d\d|\?) left)?")


# --- expected output of the operations -----------------------------------------------------------

def histogram(values, inside=lambda value: [value] if 0 <= value < BINS else []):
    counts = {}
    for value in values:
        for binned in inside(value):
            counts[binned] = counts.get(binned, 0) + 1
    return "".join(f"{value}\t{counts[value]}\n" for value in sorted(counts))


def clamped(values):
    return histogram(values, lambda value: [min(max(value, 0), BINS - 1)])


def raw(values):
    return b"".join(struct.pack("<Q", values.count(value)) for value in range(BINS))


def reduced(values):
    lines = [f"count\t{len(values)}", f"sum\t{sum(values)}"]
    if values:
        bits = 0
        for value in values:
            bits ^= value
        lines += [f"min\t{min(values)}", f"max\t{max(values)}", f"xor\t{bits}"]
    return "".join(line + "\n" for line in lines)


def counted(values):
    return (f"ge 25\t{sum(value >= 25 for value in values)}\n"
            f"ne 3\t{sum(value != 3 for value in values)}\n"
            f"any-of 1,-2\t{sum(value in (1, -2) for value in values)}\n"
            f"all\t{len(values)}\n")


OPERATIONS = [
    (["--bins", str(BINS), "-q"], histogram),
    (["--bins", str(BINS), "--outside", "clamp"], clamped),
    (["--bins", str(BINS), "--outside", "ignore"], histogram),
    (["--bins", "1M", "--outside", "ignore"],
     lambda values: histogram(values, lambda value: [value] if value >= 0 else [])),
    (["reduce", "count,sum,min,max,xor"], reduced),
    (["count", "--ge", "25", "--ne", "3", "--any-of", "1,-2", "--all"], counted),
]


# --- running it ----------------------------------------------------------------------------------

def check(right, what):
    if not right:
        raise SystemExit(f"wrong: {what}")


def encode(values):
    return array.array("i", values).tobytes()


def start(arguments, **more):
    more = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    return subprocess.Popen([GPUHIST, *arguments], bufsize=0, **more)


def finish(process, status=0):
    """Ends the input; returns the remaining output, and checks the status."""
    process.stdin.close()
    rest = process.stdout.read() if process.stdout else b""
    error = process.stderr.read() if process.stderr else b""
    check(process.wait() == status, f"status {process.returncode}, stderr {error!r}")
    return rest, error


def feed(process, data):
    view = memoryview(data)
    while view:
        view = view[process.stdin.write(view):]


def batches():
    """Elements in portions that a pipe accepts whole, so that no reader sees a part of one."""
    numbers = random.Random(7)
    return [[numbers.randint(-5, BINS + 5) for _ in range(1000)] for _ in range(4)]


def wait_until_blocked(process):
    """Waits until SIGUSR1 cannot kill it any more: a thread that waits for the signal does not block it."""
    while True:
        for path in glob.glob(f"/proc/{process.pid}/task/*/status"):
            with open(path) as status:
                mask = re.search(r"SigBlk:\s*(\w+)", status.read()).group(1)
            if int(mask, 16) >> (signal.SIGUSR1 - 1) & 1:
                return
        time.sleep(0.001)


# --- intermediate results ------------------------------------------------------------------------

class Results:
    """The results in a stream of them, each but the last followed by an empty line."""

    def __init__(self, file):
        self.file = file
        self.text = b""

    def next(self):
        """Returns the next result; None at the end, with the rest in self.text."""
        while True:
            # An empty result is only an empty line.
            if self.text.startswith(b"\n"):
                self.text = self.text[1:]
                return ""
            end = self.text.find(b"\n\n")
            if end >= 0:
                result, self.text = self.text[:end + 1], self.text[end + 2:]
                return result.decode()
            more = self.file.read(65536)
            if not more:
                return None
            self.text += more


def slow_operation(arguments, expect, engine):
    process = start([*arguments, "--engine", engine, "--every", "20ms", "--threads", "3"])
    results = Results(process.stdout)
    given = []
    for batch in batches():
        before, given = expect(given), given + batch
        feed(process, encode(batch))
        while (result := results.next()) != expect(given):
            check(result == before, f"{arguments}: {result!r} is no prefix's")
    _, error = finish_results(process, results, expect(given))
    check(error == b"", f"stderr {error!r}")


def finish_results(process, results, expected):
    """The last results, which are all the same, then the final one."""
    process.stdin.close()
    while (result := results.next()) is not None:
        check(result == expected, f"{result!r} after all was given")
    check(results.text.decode() == expected, f"the final result is {results.text!r}")
    return finish(process)


def test_slow(engine):
    for arguments, expect in OPERATIONS:
        slow_operation(arguments, expect, engine)


def test_raw(engine):
    process = start(["--bins", str(BINS), "-q", "--format", "raw", "--every", "20ms", "--engine",
                     engine])
    given = []
    for batch in batches():
        before, given = raw(given), given + batch
        feed(process, encode(batch))
        while (result := read_exactly(process.stdout, 8 * BINS)) != raw(given):
            check(result == before, "a result in raw is no prefix's")
    process.stdin.close()
    rest = process.stdout.read()
    check(rest and rest == raw(given) * (len(rest) // (8 * BINS)), "the rest in raw")
    finish(process)


def read_exactly(file, size):
    data = b""
    while len(data) < size:
        more = file.read(size - len(data))
        check(more, "the output ended")
        data += more
    return data


def pump(process, data, stop):
    """Writes the data repeatedly until told to stop; returns the number of times."""
    times = 0
    while not stop.is_set():
        feed(process, data)
        times += 1
    return times


def fast(arguments, engine, data, results_wanted, look):
    """Pumps until there were enough results, with `look` at each; returns the number of times and the last result."""
    process = start([*arguments, "--engine", engine, "--every", "2ms", "--threads", "4"])
    results = Results(process.stdout)
    stop = threading.Event()
    times = []
    feeder = threading.Thread(target=lambda: times.append(pump(process, data, stop)))
    feeder.start()
    for _ in range(results_wanted):
        look(results.next())
    stop.set()
    while feeder.is_alive():
        look(results.next())
    process.stdin.close()
    while (result := results.next()) is not None:
        look(result)
    look(results.text.decode())
    last = results.text.decode()
    _, error = finish(process)
    check(error == b"", f"stderr {error!r}")
    return times[0], last


def numbers(text):
    return [int(line.split("\t")[1]) for line in text.splitlines()]


def test_fast(engine):
    data = encode([7] * 100000)
    seen = [0, 0]

    def look_at_sum(text):
        count, total = numbers(text)
        check(total == 7 * count and count >= seen[0], f"{text!r} after {seen}")
        seen[0] = count

    times, last = fast(["reduce", "count,sum"], engine, data, 30, look_at_sum)
    check(numbers(last) == [times * 100000, times * 700000], f"at the end {last!r}")

    def look_at_hits(text):
        equal, other, all_of_them = numbers(text)
        check(equal + other == all_of_them and all_of_them >= seen[1], f"{text!r} after {seen}")
        seen[1] = all_of_them

    times, last = fast(["count", "--eq", "3", "--ne", "3", "--all"], engine,
                       encode([3, 4, 5, 6] * 25000), 30, look_at_hits)
    check(numbers(last) == [times * 25000, times * 75000, times * 100000], f"at the end {last!r}")


def test_fast_histogram(engine):
    values = [0, 1, 1, 2, 2, 2, 700000, 700001, 700001, 999999] * 10000
    expected = {0: 1, 1: 2, 2: 3, 700000: 1, 700001: 2, 999999: 1}
    for bins in ("1M", "1000000"):
        before = {}

        def look(text):
            # gpuhist has checked that each adds up to the elements read at that moment.
            now = dict(map(int, line.split("\t")) for line in text.splitlines())
            for value, count in now.items():
                check(value in expected and count >= before.get(value, 0), f"{value}: {count}")
            before.update(now)

        times, last = fast(["--bins", bins], engine, encode(values), 20, look)
        check(last == "".join(f"{value}\t{count * times * 10000}\n"
                              for value, count in expected.items()), f"at the end {last!r}")


def test_file(engine):
    """A file that several workers read at once."""
    size = (1 << 28) // min(SHARE, 4)
    with tempfile.NamedTemporaryFile() as sparse:
        sparse.truncate(size)
        process = start(["reduce", "count,sum,max", "-t", "u16", "--engine", engine, "--every",
                         "1ms", "--threads", "8", sparse.name])
        results = Results(process.stdout)
        before = 0
        while (result := results.next()) is not None:
            count = numbers(result)[0]
            check(count >= before and numbers(result)[1:] in ([0], [0, 0]), f"{result!r}")
            before = count
        check(results.text.decode() == f"count\t{size // 2}\nsum\t0\nmax\t0\n", f"{results.text!r}")
        check(before > 0, "no result so far")
        finish(process)


def test_output(engine):
    """-o FILE: any reader finds a complete result."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "out")
        process = start(["--bins", str(BINS), "-q", "-o", path, "--every", "5ms", "--engine",
                         engine])
        given, complete = [], {""}
        for batch in batches():
            given = given + batch
            complete.add(histogram(given))
            feed(process, encode(batch))
            while (found := content(path)) != histogram(given):
                check(found in complete, f"the file held {found!r}")
                time.sleep(0.001)
        finish(process)
        check(content(path) == histogram(given), "the file at the end")
        check(os.listdir(directory) == ["out"], "other files are left")


def content(path):
    try:
        with open(path) as file:
            return file.read()
    except FileNotFoundError:
        return ""


def test_fault(engine):
    """Input that is invalid after an intermediate result: an error, and no more results."""
    process = start(["--bins", str(BINS), "--every", "20ms", "--engine", engine])
    results = Results(process.stdout)
    feed(process, encode([1, 2, 2]))
    while results.next() != "1\t1\n2\t2\n":
        pass
    feed(process, b"xyz")
    rest, error = finish(process, 1)
    check(b"3 bytes left after" in error, f"stderr {error!r}")
    for result in (results.text + rest).decode().split("\n\n"):
        check(result.strip("\n") in ("", "1\t1\n2\t2"), f"printed {result!r}")
    check((results.text + rest).endswith(b"\n\n") or not results.text + rest, "the end is cut off")

    process = start(["--bins", str(BINS), "--every", "20ms", "--engine", engine, "--outside",
                     "abort"])
    results = Results(process.stdout)
    feed(process, encode([1]))
    while results.next() != "1\t1\n":
        pass
    feed(process, encode([2, 99]))
    # It ends before the input does, at the latest with the next result.
    error = process.stderr.read()
    check(process.wait() == 1 and b"99" in error and error.count(b"\n") == 1, f"stderr {error!r}")


def test_full(engine):
    """An intermediate result that cannot be written ends the run."""
    with open("/dev/full", "wb") as full:
        process = start(["--bins", "5", "--every", "10ms", "--engine", engine], stdout=full)
        feed(process, encode([1]))
        error = process.stderr.read()
        check(process.wait() == 1 and b"No space left" in error, f"stderr {error!r}")
    process = start(["--bins", "5", "--every", "10ms", "--engine", engine])
    process.stdout.close()
    feed(process, encode([1]))
    check(process.wait() == -signal.SIGPIPE, f"status {process.returncode}")


def start_ending(arguments, handler=signal.SIG_DFL, **more):
    """Signals are as a shell leaves them in the foreground, or ignored."""
    def set_signals():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, handler)
    return start(arguments, preexec_fn=set_signals, **more)


def wait_until_counted(process, size):
    """Waits until that many bytes were counted."""
    told = None
    while not told or int(told.group(2)) < size:
        process.send_signal(signal.SIGUSR1)
        told = SO_FAR.fullmatch(process.stderr.readline().rstrip(b"\n"))
        check(told, "no statistics")


def test_end(engine):
    """SIGINT and SIGTERM: a last result of all counted values, then death by the signal."""
    values = [1, 2, 2, 99]
    for number in (signal.SIGINT, signal.SIGTERM):
        for arguments, expected in (
                (["--bins", "5"], b"1\t1\n2\t2\n"),
                (["--bins", "5", "--format", "raw"], struct.pack("<5Q", 0, 1, 2, 0, 0)),
                (["--width", "1"], b"1\t1\n2\t2\n99\t1\n"),
                (["reduce", "count,sum"], b"count\t4\nsum\t104\n"),
                (["count", "--ge", "2"], b"3\n")):
            for every in "1h", "5ms":
                process = start_ending([*arguments, "--every", every, "--engine", engine])
                wait_until_blocked(process)
                feed(process, encode(values))
                wait_until_counted(process, 16)
                process.send_signal(number)
                printed = process.stdout.read()
                error = process.stderr.read()
                check(process.wait() == -number, f"{arguments}: status {process.returncode}")
                check(printed == expected if every == "1h" else printed.endswith(expected),
                      f"{arguments} --every {every}: printed {printed!r}")
                outside = b"gpuhist: values out of range: 0 below, 1 above (try --range auto)\n"
                error = b"".join(line for line in error.splitlines(True) if b"so far" not in line)
                check(error == (outside if "5" in arguments else b""), f"stderr {error!r}")
                process.stdin.close()


def test_end_files(engine):
    """The files of the last result are complete; an ignored signal stays ignored."""
    with tempfile.TemporaryDirectory() as directory:
        out, state = (os.path.join(directory, name) for name in ("out", "state"))
        process = start_ending(["reduce", "sum", "--every", "1h", "-o", out, "--save", state,
                                "--engine", engine])
        wait_until_blocked(process)
        feed(process, encode([30, 12]))
        wait_until_counted(process, 8)
        process.send_signal(signal.SIGTERM)
        check(process.wait() == -signal.SIGTERM, f"status {process.returncode}")
        check(content(out) == "42\n", f"the file holds {content(out)!r}")
        merged = subprocess.run([GPUHIST, "merge", state], capture_output=True, check=True).stdout
        check(merged == b"42\n", f"the state holds {merged!r}")
        check(sorted(os.listdir(directory)) == ["out", "state"], "other files are left")
        process.communicate()
    process = start_ending(["reduce", "sum", "--every", "1h", "--engine", engine], signal.SIG_IGN)
    wait_until_blocked(process)
    feed(process, encode([30]))
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    feed(process, encode([12]))
    printed, error = finish(process)
    check(printed == b"42\n" and error == b"", f"printed {printed!r}, {error!r}")


def test_end_twice(engine):
    """Its result has no reader: the second signal ends it at once."""
    for every in "1ms", "1h":
        process = start_ending(["--bins", "200K", "--zeros", "--every", every, "--engine", engine])
        wait_until_blocked(process)
        feed(process, encode([1]))
        check(process.stdout.read(1) == b"0" if every == "1ms" else True, "a result")
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            time.sleep(0.01)
        check(process.returncode == -signal.SIGINT, f"status {process.returncode}")
        process.communicate()


def test_redrawn(engine):
    """At a terminal, each result replaces the previous one."""
    clear = b"\x1b[H\x1b[J"
    for term in "xterm", "dumb":
        terminal = Terminal()
        process = start(["--bins", "5", "--format", "tsv", "--every", "10ms", "--engine", engine],
                        stdout=terminal.slave, env={**os.environ, "TERM": term})
        feed(process, encode([1]))
        while b"1\t1" not in terminal.text:
            terminal.read()
        feed(process, encode([2, 2]))
        while b"2\t2" not in terminal.text:
            terminal.read()
        finish(process)
        text = terminal.read_to_end().replace(b"\r\n", b"\n")
        between = clear if term == "xterm" else b"\n"
        results = text.split(clear) if term == "xterm" else text.split(b"\n\n")
        if term == "xterm":
            check(results.pop(0) == b"", "the terminal is cleared before the first")
        results = [result.strip(b"\n") for result in results]
        check(set(results) <= {b"", b"1\t1", b"1\t1\n2\t1", b"1\t1\n2\t2"} and
              results[-1] == b"1\t1\n2\t2", f"{term}: {text!r}")
        check((clear in text) == (term == "xterm") and between in text, f"{term}: {text!r}")


# --- SIGUSR1 -------------------------------------------------------------------------------------

def test_signal(engine):
    """One signal, one line, and the run continues."""
    process = start(["--bins", "5", "--engine", engine])
    wait_until_blocked(process)
    feed(process, encode([1, 2, 2]))
    counted_so_far = None
    for _ in range(1000):
        process.send_signal(signal.SIGUSR1)
        told = SO_FAR.fullmatch(process.stderr.readline().rstrip(b"\n"))
        check(told and told.group(3).decode() == engine, "no statistics")
        counted_so_far = (int(told.group(1)), int(told.group(2)))
        if counted_so_far == (3, 12):
            break
        time.sleep(0.01)
    check(counted_so_far == (3, 12), f"statistics tell {counted_so_far}")
    output, error = finish(process)
    check(output == b"1\t1\n2\t2\n" and error == b"", f"then {output!r}, {error!r}")


def flood(process, stop):
    while not stop.is_set():
        for _ in range(100):
            process.send_signal(signal.SIGUSR1)


def test_flood(engine):
    """Thousands of signals while it works: nothing is lost, whatever the operation."""
    sent, times = encode(range(100000)), -(-500 // SHARE)
    for arguments, expected in (
            (["--bins", "100K"], "".join(f"{i}\t{times}\n" for i in range(100000))),
            (["reduce", "count,sum"], f"count\t{times * 100000}\nsum\t{times * 99999 * 50000}\n"),
            (["stalin-sort", "--strict"], sent)):
        process = start([*arguments, "--engine", engine], stderr=subprocess.PIPE)
        wait_until_blocked(process)
        output, error, stop = [], [], threading.Event()
        threads = [threading.Thread(target=lambda: output.append(process.stdout.read())),
                   threading.Thread(target=lambda: error.append(process.stderr.read())),
                   threading.Thread(target=flood, args=(process, stop))]
        for thread in threads:
            thread.start()
        for _ in range(times):
            feed(process, sent)
        stop.set()
        threads[2].join()
        process.stdin.close()
        for thread in threads:
            thread.join()
        check(process.wait() == 0, f"status {process.returncode}")
        check(output[0] == (expected if isinstance(expected, bytes) else expected.encode()),
              f"{arguments}: the result")
        lines = error[0].splitlines()
        reports = [SO_FAR.fullmatch(line) for line in lines]
        check(reports and all(reports), f"stderr {lines[:3]}")
        bytes_told = [int(report.group(2)) for report in reports]
        check(bytes_told == sorted(bytes_told), "the statistics go back")


# --- the progress line ---------------------------------------------------------------------------

class Terminal:
    """A terminal for standard error, of some columns."""

    def __init__(self, columns=80):
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.text = b""

    def read(self):
        """Reads more output; False if no process can write any more."""
        try:
            more = os.read(self.master, 65536)
        except OSError:
            more = b""
        self.text += more
        return bool(more)

    def read_to_end(self):
        os.close(self.slave)
        while self.read():
            pass
        return self.text


def start_on(terminal, arguments, term="xterm"):
    return start(arguments, stderr=terminal.slave, env={**os.environ, "TERM": term})


def test_terminal(engine):
    """Drawn in place, cut to the width, and cleared before anything else."""
    for columns, drawn in ((80, b"\r\x1b[Kgpuhist: 12 B in 0:"), (12, b"\r\x1b[Kgpuhist: 12\r\x1b[K")):
        terminal = Terminal(columns)
        process = start_on(terminal, ["--bins", "2", "--progress", "--engine", engine])
        feed(process, encode([1, 1, 5]))
        while drawn not in terminal.text:
            terminal.read()
        process.send_signal(signal.SIGUSR1)
        while b"\x1b[K" not in terminal.text.partition(b"so far")[2]:
            terminal.read()
        output, _ = finish(process)
        check(output == b"1\t2\n", f"the result {output!r}")
        text = terminal.read_to_end()
        *drawings, last = text.replace(b"\r\n", b"\n").split(b"\r\x1b[K")
        check(last.replace(b"\n  ", b" ") ==
              b"gpuhist: values out of range: 0 below, 1 above (try --range auto)\n",
              f"last {last!r}")
        for line in drawings:
            check(line == b"" or SO_FAR.match(line) or len(line) < columns and b"\n" not in line,
                  f"drawn {line!r}")


def test_default(engine):
    """Without --progress: at a terminal, after a second; else, and with -q, nothing."""
    terminals = [Terminal() for _ in range(4)]
    common = ["--bins", "5", "--engine", engine]
    quiet = [start_on(terminals[0], [*common, "-q"]),
             start_on(terminals[1], [*common, "--no-progress"]),
             start_on(terminals[2], common, term="dumb"),
             start(common)]
    shown = start_on(terminals[3], common)
    for process in [*quiet, shown]:
        feed(process, encode([1]))
    while not re.search(rb"gpuhist: 4 B in 0:\d\d", terminals[3].text):
        terminals[3].read()
    time.sleep(1.5)
    for process in [*quiet, shown]:
        output, error = finish(process)
        check(output == b"1\t1\n" and error == b"", f"{output!r}, {error!r}")
    for terminal in terminals[:3]:
        check(terminal.read_to_end() == b"", f"drawn {terminal.text!r}")
    check(terminals[3].read_to_end().endswith(b"\r\x1b[K"), "the line is not cleared")


def test_lines(engine):
    """--progress without a terminal: lines, the last of which has the totals."""
    for term in ("xterm", "dumb"):
        process = start(["--bins", "5", "--progress", "--engine", engine],
                        env={**os.environ, "TERM": term})
        feed(process, encode([1]))
        first = process.stderr.readline().rstrip(b"\n")
        check(SHOWN.fullmatch(first), f"shown {first!r}")
        feed(process, encode([2] * 999))
        output, error = finish(process)
        last = error.splitlines()[-1]
        check(output == b"1\t1\n2\t999\n", f"the result {output!r}")
        check(SHOWN.fullmatch(last) and last.startswith(b"gpuhist: 4.00 kB in "), f"last {last!r}")
    with tempfile.NamedTemporaryFile() as file:
        file.truncate(1 << 20)
        process = start(["reduce", "sum", "--progress", "-q", "--engine", engine, file.name])
        output, error = finish(process)
        check(output == b"0\n" and SHOWN.fullmatch(error.splitlines()[-1]) and
              b"gpuhist: 1.05 MB in 0:" in error and b", 100%, 0:00 left" in error,
              f"{output!r}, {error!r}")


def test_stages(engine):
    """Progress continues while runs are merged, and while the result is printed."""
    shown = b""
    for mebibytes in (64, 128, 256):  # until merging is slow enough
        with tempfile.NamedTemporaryFile() as file:
            for _ in range(mebibytes):
                file.write(os.urandom(1 << 20))
            file.flush()
            terminal = Terminal()
            process = start_on(terminal, ["uniq", "-t", "u64", "-S", "8M", "--progress", "--engine", engine,
                                          file.name])
            while b"printing" not in terminal.text:  # because the result has no reader
                terminal.read()
            output, _ = finish(process)
            shown = terminal.read_to_end()
        check(len(output.splitlines()) == mebibytes << 17, "the result")
        check(shown.endswith(b"\r\x1b[K"), "the line is not cleared")
        if b"merging" in shown:
            break
    check(re.search(rb"\r\x1b\[Kgpuhist: merging \d+%\r\x1b\[K", shown), f"shown {shown!r}")
    # A terminal that gets the result has no progress line.
    terminal = Terminal()
    process = subprocess.Popen([GPUHIST, "--progress", "--bins", "9", "--format", "tsv", "--engine", engine],
                               stdin=subprocess.PIPE, stdout=terminal.slave, stderr=terminal.slave)
    process.stdin.write(encode([1]))
    process.stdin.close()
    check(process.wait() == 0, "the status")
    check(b"printing" not in terminal.read_to_end(), "drawn over the result")


def test_compressed(engine):
    """The bytes of compressed files are counted in compressed form."""
    with tempfile.TemporaryDirectory() as directory:
        names = [os.path.join(directory, name) for name in ("one.gz", "two.gz", "plain")]
        for name in names[:2]:
            with open(name, "wb") as file:
                file.write(gzip.compress(bytes(100000)))
        with open(names[2], "wb") as file:
            file.write(bytes(400))
        for count in (1, 2, 3):
            size = sum(os.path.getsize(name) for name in names[:count])
            process = start(["reduce", "count", "--progress", "--engine", engine, *names[:count]])
            output, error = finish(process)
            check(int(output) == [0, 25000, 50000, 50100][count], f"the result {output!r}")
            check(b"gpuhist: %d B in 0:" % size in error and b"B/s (compressed), 100%, 0:00 left" in error,
                  f"{size} B, {error!r}")
        # Headers and ranges of plain files are counted, too.
        with open(names[0], "wb") as file:
            file.write(gzip.compress(b"name\n" + b"1\n" * 100))
        with open(names[2], "wb") as file:
            file.write(b"name\n" + b"1\n" * 200000)
        process = start(["reduce", "count", "--text", "--header", "--progress", "--chunk-size", "64K",
                         "--engine", engine, names[0], names[2]])
        output, error = finish(process)
        check(output == b"200100\n" and b"gpuhist: 400 kB in 0:" in error and
              b", 100%, 0:00 left" in error, f"{output!r}, {error!r}")
        if b"\nxz: yes" not in subprocess.run([GPUHIST, "info"], capture_output=True).stdout:
            return
        # Two streams that are decoded concurrently, of a file that is read from a later offset. A second
        # line of the first second would show that this failed, and all was read again.
        with open(names[0], "w+b") as file:
            file.write(bytes(1000) + 2 * lzma.compress(random.randbytes(70000)))
            file.flush()
            os.lseek(file.fileno(), 1000, os.SEEK_SET)
            done = subprocess.run([GPUHIST, "reduce", "count", "--progress", "--engine", engine],
                                  stdin=file, capture_output=True, timeout=60)
        check(done.stdout == b"35000\n" and b"gpuhist: 140 kB in 0:" in done.stderr and
              b", 100%, 0:00 left\n" in done.stderr and done.stderr.count(b" in 0:00, ") < 2,
              f"{done.stdout!r}, {done.stderr!r}")


if __name__ == "__main__":
    GPUHIST = sys.argv[1]
    for name in sys.argv[3:]:
        globals()[f"test_{sys.argv[2]}"](name)
