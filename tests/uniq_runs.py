"""Runs gpuhist with less memory than the counts need, so that they spill to disk.

usage: uniq_runs.py GPUHIST TEST

    distributions  the output is numpy.unique, and the files are removed
    options        each output option gives the same as with enough memory
    states         saved and merged with little memory
    so_far         intermediate results (--every), from a pipe
    errors         invalid input and directories that allow no file: one line, no result, no file
    full           the same if a file cannot grow
    signals        the same if a signal ends the run
"""

import functools
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

# A thread has at least 12 MiB: entries of 16 bytes, and 8 bytes for a new value.
COUNT = 700_000  # distinct values: too many after all were read
MANY = 2_000_000  # too many while they are read
TINY = ["-S", "1", "-T", "runs"]
IDS = ["-t", "u64le"]


def ids(count, seed):
    return np.random.default_rng(seed).bytes(8 * count)


@functools.lru_cache(maxsize=2)
def rows(count, seed):
    """Rows of a string, an IP address and a number, all distinct; few strings, which stay in memory."""
    numbers = np.random.default_rng(seed).permutation(count).tolist()
    return b"".join(b"/p/%d 10.%d.%d.%d %d\n" % (n % 97, n >> 16, n >> 8 & 255, n & 255, n) for n in numbers)


# Jobs with keys of one word and of several, and input with this number of distinct keys.
JOBS = (
    (["uniq", *IDS, "-S", "1"], ids),
    (["uniq", "-f", "1:text", "--by", "2:ip", "-S", "1M"], rows),
    (["reduce", "sum,distinct", "-f", "3", "--by", "1:text,2:ip", "-S", "1M"], rows),
)
SHARE = min(4, int(os.environ.get("SHARE", "1")))  # one in SHARE distributions and signals


def run(*arguments, **more):
    return subprocess.run([GPUHIST, *map(str, arguments)], capture_output=True, timeout=120, **more)


def require(holds, *what):
    if not holds:
        raise SystemExit(" ".join(str(w) for w in what))


def require_output(done, output, *what):
    require(done.returncode == 0 and done.stderr == b"", *what, done.returncode, done.stderr)
    require(done.stdout == output, *what, done.stdout[:200], "instead of", output[:200])
    require_none_left(*what)


def require_failed(done, text, *what):
    """One line, no result, no file."""
    require(done.returncode == 1 and done.stdout == b"" and done.stderr.count(b"\n") == 1 and
            done.stderr.startswith(b"gpuhist: ") and text in done.stderr, *what, done)
    require_none_left(*what)


def require_none_left(*what):
    require(os.listdir("runs") == [], *what, "left", os.listdir("runs"))


def require_spilled(*arguments):
    """It needs files: if none can be made, it fails."""
    done = run(*arguments, "-T", "missing")
    text = b"cannot make a temporary file of counts in missing: No such file or directory"
    require(done.returncode == 1 and text in done.stderr and done.stdout == b"", arguments, done)


def store(values, name="in"):
    with open(name, "wb") as file:
        file.write(values.tobytes())
    return name


def records(values):
    """Returns the output of --format raw."""
    unique, counts = np.unique(values, return_counts=True)
    pairs = np.empty((len(unique), 2), "<u8")
    pairs[:, 0], pairs[:, 1] = unique.astype(np.int64 if unique.dtype.kind == "i" else np.uint64) \
        .view(np.uint64), counts
    return pairs.tobytes()


def distributions():
    """Yields names and values, more distinct ones than may fit, and True if they certainly do not fit."""
    rng = np.random.default_rng(3)
    ids = rng.integers(0, 2**64, COUNT, dtype="<u8")
    yield "different", ids, True
    yield "many of them twice", rng.choice(rng.integers(0, 2**64, MANY, dtype="<u8"), MANY), True
    ranks = np.minimum(rng.zipf(1.2, COUNT // 2), 2**40).astype("<u8")
    yield "zipf", np.append(ranks * np.uint64(0x9e3779b97f4a7c15), ids), True
    yield "ascending", np.sort(ids).view("<i8"), True
    yield "descending", np.sort(ids)[::-1], True
    yield "strided", np.arange(COUNT, dtype="<u8") << np.uint64(40), True
    yield "dense", rng.permutation(COUNT).astype("<i8"), False
    yield "dense and far apart", rng.permutation(np.append(np.arange(COUNT, dtype="<i8") - 1000,
                                                           ids.view("<i8"))), True
    yield "few", rng.choice(ids[:1000], COUNT), False
    yield "constant, then different", np.append(np.full(COUNT, 7, "<u8"), ids), True


def test_distributions():
    for i, (name, values, is_large) in enumerate(distributions()):
        if i % SHARE > 0:
            continue
        store(values)
        words = ["uniq", "-t", f"{values.dtype.kind}64le", "--format", "raw", "in"]
        wanted = records(values)
        threads = (1, 2, 5)[i % 3]
        chunk = ("1M", "40K", "100001")[i % 3]
        settings = ["--threads", threads, "--chunk-size", chunk, "--engine", "cpu"]
        require_output(run(*words, *TINY, *settings), wanted, name, settings)
        if is_large:
            require_spilled(*words, "-S", "1", "--threads", 1)


def test_options():
    rng = np.random.default_rng(4)
    values = rng.integers(-2**31, 2**31, COUNT)
    values = np.append(values, rng.choice(values, COUNT // 3))
    store(values.astype("<i4"))
    words = ["uniq", "--binary", "in"]
    require_spilled(*words, "-S", 1, "--threads", 1)
    for threads, options in enumerate((
            [], ["--percent", "--cumulative"], ["--top", 100_000, "--sort", "bin"],
            ["--sort", "count"], ["--format", "csv"], ["--format", "json"], ["--format", "gnuplot"], ["--format", "svg"],
            ["--plot"], ["--quantiles", "0,50,99,100"])):
        little = run(*words, *options, *TINY, "--threads", threads % 2 * 2 + 1)
        require_output(little, run(*words, *options, "-S", "1G").stdout, options)
    unique, counts = np.unique(values, return_counts=True)
    best = np.lexsort((unique, -counts))[:7]
    require_output(run(*words, *TINY, "--top", 7),
                   "".join(f"{unique[i]}\t{counts[i]}\n" for i in best).encode(), "--top 7")
    median = np.percentile(values, 50, method="inverted_cdf")
    require_output(run(*words, *TINY, "--quantiles", 50), b"50\t%d\n" % median, "the median")


def test_states():
    rng = np.random.default_rng(5)
    ids = rng.integers(0, 2**64, COUNT, dtype="<u8")
    parts = {"a": ids[:COUNT // 2], "b": ids[COUNT // 2:], "c": rng.choice(ids, COUNT)}
    for name, values in parts.items():
        memory = TINY if name != "b" else []
        store(values)
        done = run("uniq", *IDS, *memory, "--threads", 1, "--save", f"{name}.state", "-o", os.devnull,
                   "in")
        require_output(done, b"", "save", name)
    done = run("uniq", *IDS, "--save", "whole", "-o", os.devnull, store(parts["c"], "in"))
    require(done.returncode == 0, done)
    require(open("whole", "rb").read() == open("c.state", "rb").read(),
            "a state depends on the memory")
    for names in "ab", "ac", "cba", "aa":
        states = [f"{name}.state" for name in names]
        wanted = records(np.concatenate([parts[name] for name in names]))
        little = [*TINY, "--threads", 3 if names == "cba" else 1]
        for memory in [], little:
            require_output(run("merge", "--format", "raw", *memory, *states), wanted, names, memory)
    require_spilled("merge", "-S", 1, "--threads", 1, "a.state", "b.state", "c.state")
    require_output(run("merge", *TINY, "--save", "merged", "-o", os.devnull, "a.state", "b.state"),
                   b"", "merge --save")
    store(ids)
    done = run("uniq", *IDS, "--save", "-", "in")
    require(done.stdout == open("merged", "rb").read(), "merged states are another state")
    store(rng.permutation(2 * COUNT).astype("<i4")[:COUNT])
    done = run("uniq", "--binary", "--save", "dense.state", "in", "--zeros")
    require_spilled("merge", "-S", 1, "dense.state")
    require_output(run("merge", "--zeros", *TINY, "dense.state"), done.stdout, "empty bins")


def test_so_far():
    rng = np.random.default_rng(6)
    parts = np.array_split(rng.integers(0, 2**64, COUNT, dtype="<u8"), 3)
    command = [GPUHIST, "uniq", *IDS, *TINY, "--threads", "1", "--every", "30ms", "--top", "2"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for i, part in enumerate([*parts, *parts]):
            process.stdin.write(part.tobytes() + bytes(8 * (i + 1)))  # 0 is the most frequent
            process.stdin.flush()
            if i < 5:
                while True:
                    line = process.stdout.readline()
                    if line == b"0\t%d\n" % sum(range(1, i + 2)):
                        break
                    require(line, "the result so far does not come")
        printed = process.communicate(timeout=120)[0]
    least = min(int(part.min()) for part in parts)
    require(process.returncode == 0 and printed.endswith(b"0\t21\n%d\t2\n" % least), printed[-200:])
    require_none_left("--every")


def test_errors():
    data = np.random.default_rng(7).bytes(8 * MANY + 3)
    for threads in 1, 2:
        require_failed(run("uniq", *IDS, *TINY, "--threads", threads, input=data),
                       b"3 bytes left after the last")
        for job, make in JOBS[1:]:
            require_failed(run(*job, "-T", "runs", "--threads", threads, input=make(COUNT, 8) + b"x y z\n"),
                           b"invalid ")
    with open("no-directory", "wb"):
        pass
    for job, make in JOBS:
        with open("in", "wb") as file:
            file.write(make(COUNT, 8))
        words = [*job, "--threads", 1, "in", "-T"]
        for name, text in (("missing", b": No such file or directory"), ("no-directory", b": Not a dir"),
                           ("runs/missing", b"in runs/missing: No such")):
            require_failed(run(*words, name, "--save", "state"), text)
        require_failed(run(*words[:-1], env={**os.environ, "TMPDIR": "missing"}), b"in missing: No such")
        require_failed(run(*words, "runs", "-o", "no-directory/x"), b"Not a dir")
        require(not os.path.exists("state"), "a state is left")
        # A directory that is not needed is not checked.
        require_output(run(*job, "-T", "missing", input=make(1, 8)), run(*job, input=make(1, 8)).stdout,
                       "no files are needed")
        require_output(run(*words[:-1], "--format", "csv",
                           env={**os.environ, "TMPDIR": os.path.abspath("runs")}),
                       run(*words[:-1], "-S", "1G", "--format", "csv").stdout, "TMPDIR")


def test_full():
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

    disk = 'mount -t tmpfs -o "$1" none runs && shift && "$@"; status=$?; ls -A runs >left; exit $status'
    spaces = ["unshare", "-m", "bash", "-c", disk, "-"]
    can_mount = subprocess.run([*spaces[:2], "true"], stderr=subprocess.DEVNULL).returncode == 0
    for job, make in JOBS:
        with open("in", "wb") as file:
            file.write(make(MANY if make is ids else COUNT, 9))
        results = ["-T", "runs", "-o", "out", "--save", "saved", "--threads"]
        words = [*job, "in", *results]
        merge = ["merge", *job[-2:], "state", "state", *results]
        run(*job, "-S", "1G", "in", "--save", "state", "-o", os.devnull)
        for threads in 1, 3:
            for command in words, merge:
                done = run(*command, threads, preexec_fn=limit)
                require_failed(done, b"cannot write a temporary file of counts in runs: File too large")
                require(not os.path.exists("out") and not os.path.exists("saved"), "a result is left")
        for option, text in ("size=2M", b"cannot write a temporary file of counts in runs: No space left on device"), \
                ("ro", b"cannot make a temporary file of counts in runs: Read-only file system"):
            if not can_mount:
                print("no mounts without root's rights")
                break
            done = subprocess.run([*spaces, option, GPUHIST, *words, "2"], capture_output=True, timeout=120)
            require_failed(done, text)
            require(open("left").read() == "" and not os.path.exists("out"), "something is left")


def has_run(process):
    """Returns whether a file in the directory is open, perhaps without a name."""
    directory = f"/proc/{process.pid}/fd"
    for number in os.listdir(directory):
        try:
            if os.readlink(f"{directory}/{number}").startswith(os.path.abspath("runs") + "/"):
                return True
        except FileNotFoundError:
            pass  # closed meanwhile
    return False


def test_signals():
    signals = signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL
    for i, (job, make) in enumerate(JOBS):
        data = make(MANY if make is ids else COUNT, 10)
        for number in signals[i % SHARE :: SHARE]:
            with open("out", "wb") as file:
                file.write(b"old\n")
            process = subprocess.Popen(
                [GPUHIST, *job, "-T", "runs", "--threads", "1", "-o", "out"], stdin=subprocess.PIPE,
                stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
            process.stdin.write(data)  # without its end
            process.stdin.flush()
            while not has_run(process):
                require(process.poll() is None, job, "it has ended", process.returncode)
                time.sleep(0.001)
            process.send_signal(number)
            require(process.wait(60) == -number and process.stderr.read() == b"", number, process)
            process.stdin.close()
            process.stderr.close()
            require_none_left(job, number)
            require(open("out", "rb").read() == b"old\n", "the result is changed")


GPUHIST = os.path.abspath(sys.argv[1])
with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    os.mkdir("runs")
    globals()[f"test_{sys.argv[2]}"]()
    os.chdir("/")
