"""Runs all operations in small cgroups with many threads: each gives a result or one line, and the peak
of resident memory stays below the limit.

usage: limits.py GPUHIST MIB[,MIB]... THREADS[,THREADS]...
       limits.py GPUHIST hostile MIB THREADS[,THREADS]...   the same with hostile files

The cgroups are fake: in its own mount namespace, the program finds limits under /sys/fs/cgroup that
the kernel does not enforce, and no memory in use. So the kernel's peak is compared, and no job
requests free memory late in a run (--sort count). Results are compared with those without a limit.
Files are in the current directory.
"""

import array
import bz2
import filecmp
import gzip
import lzma
import os
import re
import subprocess
import sys

SHARE = int(os.environ.get("SHARE", "1"))
PART = 15 / 16  # of the limit: the rest is the kernel's, for threads and pipes
# In both versions; the process's cgroup is below the root.
GROUP = """mount -t tmpfs none /sys/fs/cgroup && mkdir -p /sys/fs/cgroup/memory || exit 99
echo $LIMIT >/sys/fs/cgroup/memory.max; echo 0 >/sys/fs/cgroup/memory.current
echo $LIMIT >/sys/fs/cgroup/memory/memory.limit_in_bytes
echo 0 >/sys/fs/cgroup/memory/memory.usage_in_bytes
exec "$@" """


def run(arguments, mib=None):
    """Returns the status, the peak in MiB, and standard error."""
    command = arguments
    if mib:
        command = ["unshare", "-rm", "sh", "-c", GROUP, "sh"] + arguments
    pid = os.posix_spawnp(
        command[0],
        command,
        dict(os.environ, LIMIT=str((mib or 0) << 20), TMPDIR=os.getcwd()),
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, "out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
            (os.POSIX_SPAWN_OPEN, 2, "err", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
        ],
    )
    _, status, usage = os.wait4(pid, 0)
    with open("err") as file:
        return os.waitstatus_to_exitcode(status), usage.ru_maxrss / 1024, file.read()


def in_child(work):
    """Does some work in another process: the peak of a run starts at this process's memory."""
    sys.stdout.flush()
    if os.fork() == 0:
        work()
        os._exit(0)
    if os.wait()[1] != 0:
        sys.exit("a file could not be made")


def write(name, pieces):
    """Writes a file."""
    with open(name, "wb") as file:
        file.writelines(pieces)


def make_inputs():
    """Values all over 5M bins, distinct ones, strings, groups; many compressed pieces."""
    n = 8_000_000 // SHARE
    with open("bins", "wb") as file:
        array.array("i", (i * 2654435761 % 4999999 for i in range(n))).tofile(file)
    with open("ids", "wb") as file:
        array.array("q", (i * 2654435761987654321 % (2**63 - 25) for i in range(n // 2))).tofile(file)
    with open("rows", "w") as file:
        file.write("k,v\n")
        file.writelines(f"user{i * 2654435761 % 999979},{i % 99991}\n" for i in range(n // 8))
    with open("numbers", "w") as file:
        file.writelines(f"{i * 2654435761 % 4999999}\n" for i in range(n // 2))
    with open("numbers", "rb") as file:
        pieces = file.read().splitlines(keepends=True)
    step = len(pieces) // 32 + 1
    pieces = [b"".join(pieces[i : i + step]) for i in range(0, len(pieces), step)]
    for name, compress in (("gz", gzip.compress), ("xz", lzma.compress), ("bz2", bz2.compress)):
        with open("numbers." + name, "wb") as file:
            file.writelines(compress(piece) for piece in (pieces if name == "gz" else pieces[:8]))


JOBS = [
    "--bins 100 bins",
    "--bins 5M bins",
    "--bins 5M numbers",
    "bins",
    "uniq -t i64 --binary ids",
    "uniq --binary bins",
    "uniq -f k:text --csv rows",
    "reduce median bins",
    "reduce sum,min,max,mean bins",
    "reduce p50,max -t i64 ids",
    "count --ge 500 bins",
    "stalin-sort bins",
    "stalin-sort numbers.gz",
    "reduce sum,max --csv -f v --by k:text rows",
    "uniq --csv -f v --by k:text rows",
    "--bins 5M numbers.gz",
    "--bins 5M numbers.xz",
    "reduce median numbers.bz2",
    "merge bins.state bins.state bins.state bins.state bins.state bins.state bins.state bins.state",
    "merge ids.state ids.state ids.state ids.state ids.state ids.state ids.state ids.state",
]


MIB = 1 << 20
# Hostile files: name, pieces, commands and the message (an expression) or output of each.
HOSTILE = [
    ("text", lambda: [b"q" * MIB] * 140, [
        ("reduce sum", r"text:1: not enough memory for a line of more than \d+ bytes$"),
        ("uniq -f 1:text", r"text:1: not enough memory for a line of more than \d+ bytes$"),
        ("stalin-sort --text", r"text:1: not enough memory for a line of more than \d+ bytes$")]),
    ("json", lambda: [b'{"a":"', *[b"q" * MIB] * 140, b'"}\n'], [
        ("uniq --jsonl -f a:text", r"json:1: not enough memory for a line of more than \d+ bytes$")]),
    ("deep", lambda: [b'{"a":' * 100000, b"1", b"}" * 100000, b'\n{"a":1}\n'], [
        ("reduce sum --jsonl -f a", "nested too deep")]),
    ("lists", lambda: [b'{"a":', b"[" * 100000, b"]" * 100000, b',"b":3}\n'], [
        ("reduce sum --jsonl -f b", "nested too deep")]),
    ("quote", lambda: [b'1,2\n"1\n1",3\n"1\n2","2\n', *[b"1,2\n" * (MIB // 4)] * 140], [
        ("reduce sum --csv -f 2", r"quote:4: not enough memory .* than \d+ bytes: the quote in line 5 is not closed$")]),
    ("columns", lambda: [b",".join(b"%d" % i for i in range(MIB)), b"\n"], [
        ("reduce sum -d , -f 1048576", "1048575\n"),
        ("reduce sum --csv -f 524289", "524288\n"),
        ("reduce sum --csv -f name", "its header line is longer than 1 MiB")]),
    ("header", lambda: [b"a" * (16 * MIB), b",b\n1,2\n"], [
        ("reduce sum --csv -f b", "its header line is longer than 1 MiB")]),
    ("members.gz", lambda: [gzip.compress(b"1") * 100000], [("reduce count,sum -t u8le", "count\t100000\nsum\t4900000\n")]),
    ("members.xz", lambda: [lzma.compress(b"1") * 100000], [("reduce count,sum -t u8le", "count\t100000\nsum\t4900000\n")]),
    ("members.bz2", lambda: [bz2.compress(b"1") * 100000], [("reduce count,sum -t u8le", "count\t100000\nsum\t4900000\n")]),
]


def run_hostile(gpuhist, mib, threads):
    """Returns the number of these jobs that end otherwise, or exceed the limit."""
    failures = 0

    for name, pieces, jobs in HOSTILE:
        in_child(lambda: write(name, pieces()))
        for job, wanted in jobs:
            for count in threads:
                status, peak, errors = run([gpuhist, *job.split(), name, "--threads", count], mib)
                with open("out") as file:
                    text = errors if status else file.read(100)
                if "was built without" in text:
                    continue
                is_right = (status == 1 and len(text.splitlines()) == 1 and re.search(wanted, text)) or text == wanted
                if peak > PART * mib or not is_right:
                    print(f"{job} {name}: {mib} MiB, {count} threads: status {status}, {peak:.1f} MiB, {text[:200]}")
                    failures += 1
        os.remove(name)
    return failures


def main():
    gpuhist = sys.argv[1]
    if sys.argv[2] == "hostile":
        return 77 if run(["true"], 64)[0] != 0 else run_hostile(gpuhist, int(sys.argv[3]), sys.argv[4].split(",")[::SHARE]) > 0
    limits = [int(mib) for mib in sys.argv[2].split(",")]
    threads = sys.argv[3].split(",")
    failures = 0

    in_child(make_inputs)
    for state, job in (("bins", "--bins 5M bins"), ("ids", "uniq -t i64 --binary ids")):
        subprocess.run([gpuhist] + job.split() + ["--save", state + ".state", "-o", "/dev/null", "-q"], check=True)
    if run(["true"], 64)[0] != 0:
        print("no namespaces")
        return 77
    for job in JOBS:
        arguments = [gpuhist] + job.split()
        expected = run(arguments)
        if "was built without" in expected[2]:
            continue
        os.replace("out", "expected")
        for mib in limits:
            for count in threads:
                status, peak, errors = run(arguments + ["--threads", count], mib)
                is_same = filecmp.cmp("out", "expected", shallow=False)
                is_line = status == 1 and len(errors.splitlines()) == 1 and "gpuhist: " in errors
                if peak > PART * mib or not (is_line or status == expected[0] and is_same):
                    print(f"{job}: {mib} MiB, {count} threads: status {status}, {peak:.1f} MiB, {errors[:200]}")
                    failures += 1
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
