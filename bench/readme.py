#!/usr/bin/env python3
"""Times the commands of README.md's table of tasks, and prints the table with the new figures.

usage: readme.py GPUHIST DIRECTORY [ROUNDS]

Makes missing files in DIRECTORY from one seed:

    ids.txt, ids.u64   5M ids, uniform among 1M distinct ones
    ids.npy            5M int64, Zipf with s = 1.2, below 2^40
    access.log         1M lines of the common log format with agents and milliseconds: one day, 64Ki
                       clients, 16,000 paths, ten statuses of which six are 200
    access.log.1.gz .. access.log.8.gz   5M such lines
    requests.csv       5M rows: host (a number below 1,000), path, status, ms, bytes
    app.jsonl          1M objects with a status, and http.ms as a quoted number
    app.log            1M lines of logfmt: 2,000 paths, and took in ms
    values.csv         1M rows: took, a duration in ms or s, and value, a float of up to 17 digits

The CPU time is that of all processes of a command, the median of ROUNDS (5) runs; the wall time is the
shortest of them. The commands of a task alternate, so that drifts of the machine's speed affect all. A
command whose program is not installed keeps its figures, which are then marked with a *.
"""
import os
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy

HERE = Path(__file__).resolve().parent
STATUSES = (200, 200, 200, 200, 200, 200, 304, 404, 301, 500)
LOG_LINES, MANY = 1_000_000, 5_000_000
MADE = "made.2"  # exists if the files do


def log_line(draw, i, lines):
    second = i * 86400 // lines
    return (f"10.{draw() % 4}.{draw() % 256}.{draw() % 64} - - "
            f"[21/Nov/2026:{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02} +0000] "
            f'"GET /api/v{draw() % 4}/{("cart", "user")[draw() % 2]}/{draw() % 2000} HTTP/1.1" '
            f"{STATUSES[draw() % 10]} {int(400 * 1.0001 ** (draw() % 60000))} {draw() % 500 + 20} "
            f'"-" "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) '
            f'Chrome/{80 + draw() % 20}.0 Safari/537.36"\n')


def make_files():
    generator = numpy.random.default_rng(1)
    ids = generator.integers(0, 1_000_000, MANY, dtype="u8")
    ids.tofile("ids.u64")
    Path("ids.txt").write_text("\n".join(map(str, ids.tolist())) + "\n")
    numpy.save("ids.npy", numpy.minimum(generator.zipf(1.2, MANY), 2**40).astype("i8"))
    source = random.Random(1)

    def draw():
        return source.getrandbits(30)
    with open("access.log", "w") as log:
        log.writelines(log_line(draw, i, LOG_LINES) for i in range(LOG_LINES))
    lines = Path("access.log").read_text().splitlines(keepends=True)
    for part in range(8):
        piece = [lines[(part * 625_000 + i) % LOG_LINES] for i in range(MANY // 8)]
        subprocess.run(f"gzip -c >access.log.{part + 1}.gz", shell=True, check=True, text=True,
                       input="".join(piece))
    with open("requests.csv", "w") as rows:
        rows.write("host,path,status,ms,bytes\n")
        rows.writelines(f"{draw() % 1000},/api/{draw() % 2000},{STATUSES[draw() % 10]},"
                        f"{int(20 * 1.0001 ** (draw() % 50000))},{draw() % 100000}\n" for _ in range(MANY))
    with open("app.jsonl", "w") as objects:
        objects.writelines(f'{{"ts":"2026-11-21T10:{i // 60 % 60:02}:{i % 60:02}Z","status":'
                           f'{STATUSES[draw() % 10]},"http":{{"method":"GET","ms":"{draw() % 3000}"}},'
                           f'"path":"/api/{draw() % 2000}"}}\n' for i in range(LOG_LINES))
    with open("app.log", "w") as rows:
        rows.writelines(f"ts=2026-11-21T10:{i // 60 % 60:02}:{i % 60:02}Z level=info path=/api/{draw() % 2000} "
                        f"status={STATUSES[draw() % 10]} took={draw() % 3000} msg=done\n" for i in range(LOG_LINES))
    with open("values.csv", "w") as rows:
        rows.write("took,value\n")
        rows.writelines(f"{f'{draw() % 1000}ms' if draw() % 4 else f'{draw() % 5000 / 1000}s'},{draw() / (draw() + 1)}\n"
                        for _ in range(LOG_LINES))
    Path(MADE).touch()


def run(command):
    """Returns the CPU time and the wall time of a command, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    subprocess.run(["bash", "-c", command], stdout=subprocess.DEVNULL, check=True)
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, wall


def runnable(cell):
    """Returns the command of a cell of the table, or None if its program is not installed."""
    code = re.findall(r"`([^`]*)`", cell)
    command = code[0].replace("\\|", "|")
    if command.startswith("v, n = numpy"):
        python = f"import numpy; {command}; n.argsort()[-10:]"
        return f'/usr/bin/python3 -c "{python}"'
    programs = re.findall(r"(?:^|\| )(\w+)", command)
    return command if all(map(shutil.which, programs)) else None


def show(seconds):
    return f"{seconds:.2f}" if seconds < 2 else f"{seconds:.1f}"


def main():
    program, directory = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    readme = (HERE / "README.md").read_text()
    table = readme[readme.index("| task | command | CPU time | wall time |"):]
    table = table[:table.index("\n\n")].splitlines()
    directory.mkdir(exist_ok=True)
    os.chdir(directory)
    if not Path(MADE).exists():
        make_files()
    os.symlink(program, "gpuhist") if not Path("gpuhist").exists() else None
    os.environ["PATH"] = f"{directory.resolve()}:{os.environ['PATH']}"
    print("\n".join(table[:2]))
    tasks = []
    for line in table[2:]:
        cells = re.split(r"(?<!\\)\|", line)[1:-1]
        tasks = tasks + [[]] if cells[0].strip() else tasks
        tasks[-1].append(cells)
    for task in tasks:
        times = {i: [] for i, cells in enumerate(task) if runnable(cells[1])}
        for _ in range(rounds):
            for i in times:
                times[i].append(run(runnable(task[i][1])))
        for i, cells in enumerate(task):
            if i in times:
                bold = "**" if i == 0 else ""
                figures = (statistics.median(cpu for cpu, _ in times[i]), min(wall for _, wall in times[i]))
                cells[2:] = [f" {bold}{show(seconds)} s{bold} " for seconds in figures]
            else:
                cells[2] = cells[2].rstrip() + "* "
            print("|" + "|".join(cells) + "|", flush=True)


main()
