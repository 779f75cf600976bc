#!/usr/bin/env python3
"""Times `gpuhist uniq` on 64-bit integers, compared with other programs that count distinct values.

usage: uniq.py GPUHIST [DIRECTORY [MEBI]]       with the files in DIRECTORY, /dev/shm by default

Makes MEBI * 2^20 (8) int64: all distinct, 2^20 distinct ones, Zipf 1.1 over 2^20, and dense ids.
For DuckDB and Polars, only the query is timed, with the table in memory; for all others, the whole
process. Programs that are not installed are omitted: duckdb, polars and numpy for the Python that
runs this, xan and qsv on the PATH. The commands of a pair alternate; a line has the medians of
gpuhist and of the other, and their ratio.
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

RUNS = 7
TOP = 3
TEXT_LINES = 1 << 20  # for tools that read lines: they need seconds for these


def make_data(mebi):
    """Names and arrays."""
    rng = np.random.default_rng(1)
    count = mebi << 20
    ids = rng.integers(-2**63, 2**63, count)
    yield "all different", ids
    some = ids[:1 << 20]
    yield "1Mi different", rng.choice(some, count)
    weights = np.arange(1, len(some) + 1) ** -1.1
    ranks = np.searchsorted(np.cumsum(weights / weights.sum()), rng.random(count))
    yield "Zipf 1.1 over 1Mi", some[np.minimum(ranks, len(some) - 1)]
    yield "5M dense ids", rng.integers(0, 5_000_000, count)


def seconds(work):
    start = time.monotonic()
    work()
    return time.monotonic() - start


def process(command):
    return lambda: subprocess.run(command, shell=True, stdout=subprocess.DEVNULL, check=True)


def compare(name, ours, other):
    """`other` returns its time, or is timed."""
    pairs = [(seconds(ours), seconds(other)) for _ in range(RUNS + 1)][1:]
    a, b = (statistics.median(times) for times in zip(*pairs))
    print(f"| {name} | {a:.3f} | {b:.3f} | {a / b:.2f} |", flush=True)


def duckdb_query(values, threads):
    try:
        import duckdb
    except ImportError:
        return None
    connection = duckdb.connect()
    connection.execute(f"set threads = {threads}")
    connection.register("source", {"x": values})
    connection.execute("create table t as select x from source")
    query = f"select x, count(*) as n from t group by x order by n desc, x limit {TOP}"
    return lambda: connection.execute(query).fetchall()


def polars_query(values):
    try:
        import polars
    except ImportError:
        return None
    frame = polars.DataFrame({"x": values})
    return lambda: frame.group_by("x").len().top_k(TOP, by="len")


def compare_queries(gpuhist, name, values, threads):
    values.astype("<i8").tofile("ids")
    ours = process(f"{gpuhist} uniq --engine cpu -t i64le --top {TOP} --threads {threads} ids")
    for other, query in (("DuckDB", duckdb_query(values, threads)), ("Polars", polars_query(values))):
        if query:
            compare(f"{name}, {threads} threads, against {other}'s query", ours, query)
    if name == "5M dense ids":
        bins = process(f"{gpuhist} --engine cpu -t i64le --bins 5M --top {TOP} --threads {threads} ids")
        compare(f"{name}, {threads} threads, against --bins 5M", ours, bins)


def compare_lines(gpuhist, name, values):
    np.savetxt("lines", values[:TEXT_LINES], "%d")
    ours = process(f"{gpuhist} uniq --engine cpu --text lines")
    for other, command in (("sort, uniq", "sort -n lines | uniq -c"),
                           ("xan", "xan frequency -n -l 0 lines"),
                           ("qsv", "qsv frequency -n --limit 0 lines")):
        if all(shutil.which(word) for word in other.split(", ")):
            compare(f"{name}, 1Mi lines, against {other}", ours, process(command))


def main():
    gpuhist = os.path.abspath(sys.argv[1])
    place = sys.argv[2] if len(sys.argv) > 2 else "/dev/shm"
    mebi = int(sys.argv[3]) if len(sys.argv) > 3 else 8
    cores = len(os.sched_getaffinity(0))
    os.environ["POLARS_MAX_THREADS"] = str(cores)
    with tempfile.TemporaryDirectory(dir=place) as directory:
        os.chdir(directory)
        print(f"| {mebi}Mi int64 | gpuhist, s | other, s | ratio |\n|---|---|---|---|")
        for name, values in make_data(mebi):
            compare_queries(gpuhist, name, values, cores)
            compare_lines(gpuhist, name, values)
        os.chdir("/")


main()
