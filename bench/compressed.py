#!/usr/bin/env python3
"""Times gpuhist on compressed logs, compared with the tools that only decompress them.

usage: compressed.py GPUHIST [DIRECTORY [MB]]        with the files in DIRECTORY, /dev/shm by default

Makes a log of MB megabytes (450), also as 8 files, in every format that has a tool. The
commands of a pair alternate; a line has the two medians and their ratio.
"""
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

RUNS = 7
FIELD = ["--engine", "cpu", "-f", "9", "--bins", "600"]
# File name extension, how to compress standard input, how to decompress a file, whether to time one file too.
FORMATS = (("gz", "gzip", "igzip -dc", True), ("zst", "zstd -q", "zstd -dc", True),
           ("lz4", "lz4 -q", "lz4 -dc", True), ("xz", "xz -1", "xz -dc", False),
           ("bz2", "bzip2", "bzip2 -dc", False))


def make_log(path, megabytes):
    rng = random.Random(1)
    statuses = [200] * 80 + [304] * 8 + [404] * 6 + [301] * 3 + [500] * 2 + [403]
    with open(path, "w", encoding="ascii") as log:
        while log.tell() < megabytes * 1000000:
            log.writelines(
                f"{rng.randrange(1, 255)}.{rng.randrange(256)}.{rng.randrange(256)}.7 - - "
                f"[{rng.randrange(1, 30):02}/Nov/2026:{rng.randrange(24):02}:{rng.randrange(60):02}:07 "
                f'+0000] "GET /api/v1/items/{rng.randrange(100000)} HTTP/1.1" '
                f'{rng.choice(statuses)} {rng.randrange(200, 60000)} "-" "Mozilla/5.0 (X11)"\n'
                for _ in range(10000))


def seconds(command):
    start = time.monotonic()
    subprocess.run(command, shell=True, stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - start


def compare(name, ours, other):
    pairs = [(seconds(ours), seconds(other)) for _ in range(RUNS)]
    a, b = (statistics.median(times) for times in zip(*pairs))
    print(f"{name:24} {a:8.3f} s {b:8.3f} s   {a / b:5.2f} x", flush=True)


def main():
    gpuhist = os.path.abspath(sys.argv[1])
    place = sys.argv[2] if len(sys.argv) > 2 else "/dev/shm"
    megabytes = int(sys.argv[3]) if len(sys.argv) > 3 else 450
    cores = len(os.sched_getaffinity(0))
    ours = " ".join([gpuhist, *FIELD])
    with tempfile.TemporaryDirectory(dir=place) as directory:
        os.chdir(directory)
        make_log("log", megabytes)
        print(f"field 9 of {megabytes} MB of log, {cores} cores: gpuhist, the tool, ratio")
        for ending, pack, unpack, is_one in FORMATS:
            if not shutil.which(pack.split()[0]) or not shutil.which(unpack.split()[0]):
                continue
            seconds(f"split -n l/8 --filter '{pack} -c >$FILE.{ending}' log part_")
            compare(f"8 .{ending}", f"{ours} part_*.{ending}",
                    f"ls part_*.{ending} | xargs -P{cores} -n1 {unpack}")
            if is_one:
                seconds(f"{pack} -c <log >one.{ending}")
                compare(f"1 .{ending}", f"{ours} one.{ending}", f"{unpack} one.{ending}")
        if shutil.which("xz"):
            seconds("xz -1 -T0 --block-size=4MiB -c <log >one.xz")
            compare("1 .xz of blocks", f"{ours} one.xz", f"xz -dc -T{cores} one.xz")


main()
