"""Sends signals to gpuhist while it works.

usage: signals.py GPUHIST TEST ENGINE...

Nothing depends on durations: a test waits until the expected event has happened, and the caller
limits the total time.
"""

import array
import collections
import ctypes
import itertools
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
THREADS = ("1", "2", "16")
OPERATIONS = (["--bins", "1K"], ["reduce"], ["count", "--ge", "5"], ["stalin-sort"])
SHARE = int(os.environ.get("SHARE", "1"))  # the input of a copy is divided by it
VALUES = array.array("i", random.Random(7).choices(range(1000), k=200000))


def check(right, what):
    if not right:
        raise SystemExit(f"wrong: {what}")


def usual_signals():
    """Ignores the signals that a shell's background job ignores."""
    for number in ENDING:
        signal.signal(number, signal.SIG_DFL)


def start(arguments, args=None, **more):
    more = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
            "preexec_fn": usual_signals, **more}
    return subprocess.Popen(args or [GPUHIST, *arguments], bufsize=0, **more)


def counts():
    return "".join(f"{value}\t{count}\n"
                   for value, count in sorted(collections.Counter(VALUES).items())).encode()


def survivors():
    kept = array.array("i")
    for value in VALUES:
        if not kept or value >= kept[-1]:
            kept.append(value)
    return kept.tobytes()


def state(process):
    """Returns the letter of the process's state in /proc."""
    with open(f"/proc/{process.pid}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


def wait_until_blocking_usr1(process):
    """Waits until SIGUSR1 cannot kill it."""
    while True:
        for task in os.listdir(f"/proc/{process.pid}/task"):
            with open(f"/proc/{process.pid}/task/{task}/status") as status:
                for line in status:
                    if line.startswith("SigBlk:") and \
                            int(line.split()[1], 16) >> (signal.SIGUSR1 - 1) & 1:
                        return
        time.sleep(0.001)


def fill(process):
    """Writes until the pipe is full, and returns: the written data is in use or waits."""
    os.set_blocking(process.stdin.fileno(), False)
    for _ in range(1000):
        try:
            os.write(process.stdin.fileno(), bytes(65536))
        except BlockingIOError:
            break
    os.set_blocking(process.stdin.fileno(), True)


# --- the end -------------------------------------------------------------------------------------

def end(process, number, what):
    """It dies of the signal, although its input has not ended, and prints nothing."""
    process.send_signal(number)
    check(process.wait() == -number, f"{what}: status {process.returncode}")
    check(process.stderr.read() == b"", f"{what}: stderr")
    process.stdin.close()
    return process.stdout.read()


def test_end(engine):
    for number, arguments, threads in itertools.product(ENDING, OPERATIONS, THREADS):
        process = start([*arguments, "--engine", engine, "--threads", threads])
        fill(process)
        printed = end(process, number, f"{number!r} for {arguments}, {threads} threads")
        check(printed == b"" or arguments == ["stalin-sort"], f"printed {printed[:99]!r}")


def test_end_at_output(engine):
    """It waits for its reader, which reads nothing."""
    for number, threads in itertools.product(ENDING, THREADS):
        process = start(["stalin-sort", "--engine", engine, "--threads", threads])
        fill(process)
        end(process, number, f"a full output, {threads} threads")
    with tempfile.TemporaryDirectory() as directory:
        os.mkfifo(os.path.join(directory, "out"))
        process = start(["reduce", "sum", "-o", os.path.join(directory, "out")],
                        stdin=subprocess.DEVNULL)
        process.stdin = open(os.devnull)
        end(process, signal.SIGTERM, "a FIFO without a reader")


def test_end_of_file(engine):
    """-o: whenever the run ends, the file is the old one or the new one."""
    complete = counts()
    dice = random.Random(8)
    seen = set()
    with tempfile.TemporaryDirectory() as directory:
        source, out = (os.path.join(directory, name) for name in ("in", "out"))
        with open(source, "wb") as file:
            file.write(VALUES.tobytes())
        longest = 0.05
        for turn in range(60):
            with open(out, "wb") as file:
                file.write(b"old\n")
            begin = time.monotonic()
            process = start(["--bins", "1K", "-o", out, "--engine", engine, "--threads",
                             THREADS[turn % len(THREADS)], source])
            if turn > 0:
                time.sleep(dice.uniform(0, longest))
                process.send_signal(dice.choice(ENDING))
            process.wait()
            longest = max(longest, time.monotonic() - begin) if turn == 0 else longest
            with open(out, "rb") as file:
                found = file.read()
            check(found in (b"old\n", complete), f"the file holds {found[:99]!r}")
            check(process.returncode != 0 or found == complete, "done, but the file is old")
            check(sorted(os.listdir(directory)) == ["in", "out"], f"left {os.listdir(directory)}")
            seen.add(found)
            process.communicate()
    check(complete in seen, "no run was completed")


# All signals that end a process and can be sent to it without harm to the machine.
ENDING_ALL = [number for number in signal.valid_signals() if number not in (
    signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD, signal.SIGCONT, signal.SIGTSTP, signal.SIGTTIN,
    signal.SIGTTOU, signal.SIGURG, signal.SIGWINCH, signal.SIGUSR1, signal.SIGXFSZ)]


def send_to_thread(process, thread, number):
    """Sends a signal like one caused by the thread, such as SIGPIPE."""
    libc = ctypes.CDLL(None, use_errno=True)
    check(libc.tgkill(process.pid, thread, number) == 0, "tgkill")


def wait_for_file(directory, begins, process):
    while not any(name.startswith(begins) for name in os.listdir(directory)):
        check(process.poll() is None, f"ended before there was a file {begins}...")
        time.sleep(0.001)


def usual_and_no_core():
    for number in ENDING_ALL:
        signal.signal(number, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def without_proc(command):
    """Returns the command line without /proc, so that files get temporary names."""
    return ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "-", *command]


def test_end_of_named(engine):
    """Files with temporary names are removed, for any signal that ends the run, sent to any thread."""
    if subprocess.run(without_proc(["true"]), stderr=subprocess.DEVNULL).returncode != 0:
        print("no temporary names without root's rights")
        return
    in_turn = itertools.cycle(THREADS)
    for number in ENDING_ALL:
        for to_thread in (False, True):
            with tempfile.TemporaryDirectory() as directory:
                with open(os.path.join(directory, "out"), "wb") as file:
                    file.write(b"old\n")
                process = start([], preexec_fn=usual_and_no_core, cwd=directory, args=without_proc(
                    [GPUHIST, "stalin-sort", "--threads", next(in_turn), "--purged", "new", "-o",
                     "out", "--engine", engine]))
                fill(process)
                wait_for_file(directory, ".gpuhist.", process)
                while to_thread and len(os.listdir(f"/proc/{process.pid}/task")) < 2:
                    time.sleep(0.001)
                if to_thread:
                    threads = os.listdir(f"/proc/{process.pid}/task")
                    send_to_thread(process, int(max(threads, key=int)), number)
                else:
                    process.send_signal(number)
                process.stdin.close()
                check(process.wait() == -number, f"{number!r}: status {process.returncode}")
                check(os.listdir(directory) == ["out"], f"{number!r} left {os.listdir(directory)}")
                with open(os.path.join(directory, "out"), "rb") as file:
                    check(file.read() == b"old\n", f"{number!r} changed the file")
                process.stdout.close()
                process.stderr.close()


def test_pipe_of_named(engine):
    """SIGPIPE of a thread that writes, while the dropped values have a file with a temporary name."""
    if subprocess.run(without_proc(["true"]), stderr=subprocess.DEVNULL).returncode != 0:
        return
    for threads in THREADS:
        with tempfile.TemporaryDirectory() as directory:
            reader, writer = os.pipe()
            os.close(reader)
            process = start([], stdout=writer, cwd=directory, args=without_proc(
                [GPUHIST, "stalin-sort", "--purged", "new", "--engine", engine, "--threads",
                 threads]))
            os.close(writer)
            _, error = process.communicate(VALUES.tobytes())
            check(process.returncode == -signal.SIGPIPE and error == b"",
                  f"status {process.returncode}, stderr {error!r}")
            check(os.listdir(directory) == [], f"left {os.listdir(directory)}")


def test_ignored(engine):
    """Signals that its parent ignores, like nohup, are ignored."""
    def ignore():
        for number in ENDING:
            signal.signal(number, signal.SIG_IGN)

    for threads in THREADS:
        process = start(["--bins", "1K", "--engine", engine, "--threads", threads],
                        preexec_fn=ignore)
        fill(process)
        for number in ENDING:
            process.send_signal(number)
        process.stdin.close()
        printed = process.stdout.read()
        check(process.wait() == 0 and printed.startswith(b"0\t"),
              f"status {process.returncode}, {threads} threads")


# --- a reader that ends --------------------------------------------------------------------------

def start_without_reader(arguments, is_ignored):
    """Standard output is a pipe without a reader; Python itself ignores SIGPIPE."""
    reader, writer = os.pipe()
    os.close(reader)
    process = start(arguments, stdout=writer, restore_signals=not is_ignored)
    os.close(writer)
    return process


def test_pipe(engine):
    engine_is = ["--engine", engine]
    for arguments in (["--bins", "1K", *engine_is], ["reduce", *engine_is],
                      ["stalin-sort", *engine_is], ["--bins", "1K", "-o", "/dev/stdout", *engine_is],
                      ["stalin-sort", "-o", "/dev/null", "--purged", "-", *engine_is],
                      ["--help"], ["--version"], ["info"]):
        process = start_without_reader(arguments, False)
        _, error = process.communicate(VALUES.tobytes())
        check(process.returncode == -signal.SIGPIPE and error == b"",
              f"{arguments}: status {process.returncode}, stderr {error!r}")
        process = start_without_reader(arguments, True)
        _, error = process.communicate(VALUES.tobytes())
        check(process.returncode == 1 and error.count(b"\n") == 1 and b": Broken pipe" in error,
              f"{arguments}, ignored: status {process.returncode}, stderr {error!r}")


# --- signals that change nothing -----------------------------------------------------------------

def copy(engine, disturb):
    """stalin-sort from a FIFO to a FIFO, repeatedly with the same data, while it is disturbed."""
    with tempfile.TemporaryDirectory() as directory:
        source, out = (os.path.join(directory, name) for name in ("in", "out"))
        os.mkfifo(source)
        os.mkfifo(out)
        process = start(["stalin-sort", "--strict", "--engine", engine, "-o", out, source])
        sent = array.array("i", range(2000000 // SHARE)).tobytes()
        found, error, stop = [], [], threading.Event()

        def read():
            with open(out, "rb") as file:
                found.append(file.read())

        def write():
            with open(source, "wb") as file:
                for i in range(0, len(sent), 5000):  # no whole elements
                    file.write(sent[i:i + 5000])

        wait_until_blocking_usr1(process)
        threads = [threading.Thread(target=read), threading.Thread(target=write),
                   threading.Thread(target=lambda: error.append(process.stderr.read())),
                   threading.Thread(target=disturb, args=(process, stop))]
        for thread in threads:
            thread.start()
        threads[0].join()
        stop.set()
        for thread in threads:
            thread.join()
        check(process.wait() == 0, f"status {process.returncode}, stderr {error[0][:999]!r}")
        check(found[0] == sent, f"{len(found[0])} bytes of {len(sent)}, or others")
        return error[0]


def test_flood(engine):
    def flood(process, stop):
        while not stop.is_set():
            process.send_signal(signal.SIGUSR1)

    error = copy(engine, flood)
    check(all(line.startswith(b"gpuhist: so far: ") for line in error.splitlines()), "stderr")


def test_stop(engine):
    """Stopped and continued, as by Ctrl-Z and fg."""
    stops = []

    def stop_and_go(process, stop):
        while not stop.is_set():
            process.send_signal(signal.SIGSTOP)
            while process.poll() is None and state(process) not in "TZX":
                time.sleep(0.001)
            process.send_signal(signal.SIGCONT)
            stops.append(1)
            time.sleep(0.002)

    check(copy(engine, stop_and_go) == b"" and stops, "stderr")
    process = start(["--bins", "1K", "--every", "1h", "--engine", engine])
    for i in range(20):
        os.write(process.stdin.fileno(), VALUES[i * 10000:(i + 1) * 10000].tobytes())
        process.send_signal(signal.SIGSTOP)
        process.send_signal(signal.SIGCONT)
    printed, error = process.communicate()
    check(process.returncode == 0 and printed == counts() and error == b"", f"printed {printed!r}")


def test_stopped_reader(engine):
    """Ended while it is stopped: it ends when it continues."""
    process = start(["stalin-sort", "--engine", engine])
    fill(process)
    process.send_signal(signal.SIGSTOP)
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGCONT)
    check(process.wait() == -signal.SIGTERM, f"status {process.returncode}")
    process.communicate()


GPUHIST = os.path.abspath(sys.argv[1])
for wanted in sys.argv[3:]:
    globals()["test_" + sys.argv[2]](wanted)
