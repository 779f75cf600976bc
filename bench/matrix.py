#!/usr/bin/env python3
"""Times each engine on typical work, from files, pipes and compressed files.

usage: matrix.py GPUHIST [DIRECTORY [RUNS [MB [INPUT...]]]]

INPUT is file, pipe or zst (16 files), all three by default; or law, and formats such as zst gz. Makes files of about MB megabytes
(2000) in DIRECTORY (/dev/shm) and removes them. The engines take turns; a cell has the median of RUNS
(3) whole processes in seconds. The last column is auto's time divided by that of the better engine;
for a pipe, `wc -c` gives the time of the pipe itself. Needs numpy and zstd. Prints a table in Markdown.

law is the law of work: no worker is idle while there is work. For each shape of compressed input, and
for cheap and expensive jobs, the time of a whole command is a bound: the larger of the decoding time of its
longest indivisible part, decoded concurrently with others, and the work of one thread divided by the number of
CPUs. The table has the best of RUNS, and the CPU time relative to that of one thread.
"""
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy

PARTS = 16
ENGINES = ("cpu", "cuda", "auto")
# The work, its options, its input, and the number of times that it is read.
WORK = (("256 bins", "--range 0:5M --bins 256 --binary", "ids", 1),
        ("5M bins", "--bins 5M --binary", "ids", 1),
        ("reduce sum,min,max", "reduce sum,min,max --binary", "ids", 1),
        ("uniq, 5M dense", "uniq --top 3 --binary", "ids", 1),
        ("uniq, 5M dense, 4 x as large", "uniq --top 3 --binary", "ids", 4),
        ("uniq, 1Mi different", "uniq --top 3 -t i64le", "mi", 1),
        ("uniq, 1Mi different, 4 x as large", "uniq --top 3 -t i64le", "mi", 4),
        ("uniq, skewed", "uniq --top 3 -t i64le", "skewed", 1),
        ("uniq, all different", "uniq --top 3 -t i64le", "all", 1),
        ("text, sum", "reduce sum --text", "text", 1),
        ("field 9 of a log", "-f 9 --bins 600", "log", 1))


def make_inputs(megabytes):
    rng = numpy.random.default_rng(1)
    values = megabytes * 1000000 // 4
    rng.integers(0, 5000000, values, dtype="i4").tofile("ids")
    (rng.integers(0, 2 ** 20, values // 2) * 0x9E3779B97F4A7).tofile("mi")
    # Zipf 1.1 over 1Mi values
    weights = numpy.arange(1, 2 ** 20 + 1) ** -1.1
    ranks = numpy.searchsorted(weights.cumsum() / weights.sum(), rng.random(values // 2))
    (ranks * 0x9E3779B97F4A7).tofile("skewed")
    # multiplying by an odd number gives distinct values
    (numpy.arange(values // 4, dtype="u8") * numpy.uint64(0x9E3779B97F4A7C15)).tofile("all")
    numbers = "\n".join(map(str, rng.integers(0, 10 ** 9, 1000000).tolist())) + "\n"
    statuses = rng.choice([200, 304, 404, 301, 500], 100000)
    rest = rng.integers(0, 60000, 100000)
    log = "".join(f'10.0.{n % 256}.7 - - [21/Nov/2026:13:45:02 +0000] "GET /api/v1/items/{n} HTTP/1.1" '
                  f'{status} {n} "-" "Mozilla/5.0 (X11; Linux x86_64)"\n'
                  for status, n in zip(statuses.tolist(), rest.tolist()))
    for name, block in (("text", numbers), ("log", log)):
        block = block.encode()
        with open(name, "wb") as file:
            for _ in range(megabytes * 1000000 // len(block)):
                file.write(block)


def compress(name):
    """Splits it into PARTS files at ends of rows."""
    if name in ("text", "log"):
        split = ["split", "-n", f"l/{PARTS}", name, name + ".part."]
    else:
        size = os.path.getsize(name)
        split = ["split", "-b", str((size // PARTS + 15) // 8 * 8), name, name + ".part."]
    subprocess.run(split, check=True)
    parts = sorted(f for f in os.listdir() if f.startswith(name + ".part."))
    subprocess.run(["xargs", f"-P{os.cpu_count()}", "-n1", "zstd", "-q", "--rm", "-f"], check=True,
                   input="\n".join(parts).encode())


def seconds(command):
    start = time.monotonic()
    subprocess.run(command, shell=True, stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - start


# The decoder of each format, and the jobs of the law.
DECODERS = {"zst": "zstd -dc", "gz": "igzip -dc", "lz4": "lz4 -dc", "xz": "xz -dc"}
LAW_JOBS = (("cheap", "uniq -f 9"), ("medium", "uniq -f 7:text --top 3"),
            ("heavy", "reduce count,p50,p99 -f 10 --by 7:text"))


def law_log(rows):
    """Returns a log of that many rows with random paths, clients and sizes."""
    rng = numpy.random.default_rng(2)
    paths = rng.zipf(1.3, rows) % 20000
    words = rng.integers(0, 2 ** 40, 20000).tolist()
    clients, sizes = rng.integers(0, 2 ** 24, rows).tolist(), rng.integers(0, 60000, rows).tolist()
    statuses = rng.choice([200, 304, 404, 301, 500], rows).tolist()
    return "".join(f'10.{c >> 16}.{c >> 8 & 255}.{c & 255} - - [21/Nov/2026:13:{n // 60 % 60:02}:{n % 60:02} '
                   f'+0000] "GET /api/{words[p]:x}/items/{p} HTTP/1.1" {st} {size} "-" '
                   f'"Mozilla/5.0 (X11; Linux x86_64; rv:{c % 90}.0)"\n'
                   for n, (c, p, st, size) in enumerate(zip(clients, paths.tolist(), statuses, sizes))
                   ).encode()


def law_best(command, runs):
    """Returns the minimum wall time and the minimum CPU time of a command, in seconds."""
    times, processor = [], []
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(seconds(command))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times), min(processor)


def law(gpuhist, runs, megabytes, formats):
    log = law_log(250000)
    packers = {"zst": "zstd -q -f", "gz": "gzip -kf", "lz4": "lz4 -q -f -m", "xz": "xz -0 -T1 -kf"}
    print("| input | job | tool decodes | one thread | bound | whole | ratio | processor |\n"
          "|---|---|---|---|---|---|---|---|")
    for suffix in formats or DECODERS:
        decode = DECODERS[suffix]
        large = megabytes if suffix != "xz" else megabytes // 4
        for name, share in (("large", 1), ("small", 6)):
            with open(name, "wb") as file:
                for _ in range(max(1, large * 1000000 // share // len(log))):
                    file.write(log)
            subprocess.run(f"{packers[suffix]} {name}", shell=True, check=True)
            os.remove(name)
        large, small = f"large.{suffix}", f"small.{suffix}"
        subprocess.run(f"cat {large} {large} >double.{suffix}", shell=True, check=True)
        # The tool's time for that many files at once: concurrent processes are slower than one.
        decoding = {n: min(law_best(f"for i in $(seq {n}); do {decode} {large} {end} >/dev/null & done; wait",
                                    runs)[0] for end in ("", "| cat")) for n in (1, 2, 3, 5)}
        # One thread's time for each file; for several, their sum.
        work = {(job, file): law_best(f"{gpuhist} {options} -q --engine=cpu --threads 1 {file}",
                                      max(1, runs // 2))[1]
                for job, options in LAW_JOBS for file in (large, small)}
        # A shape, its input, its parts, and how many parts are decoded at once; a double .zst or
        # .xz is divided, the others are decoded one part after the other.
        shapes = [("file", large, [large], 1), ("pipe", f"cat {large} |", [large], 1)]
        shapes += [(f"{n} files", " ".join([large] * n), [large] * n, n) for n in (2, 3, 5)]
        shapes += [("one large, six small", " ".join([small] * 6 + [large]), [small] * 6 + [large], 1),
                   ("two frames", f"double.{suffix}", [large] * 2, 1 if suffix in ("gz", "lz4") else 2)]
        for shape, files, parts, abreast in shapes:
            for job, options in LAW_JOBS:
                one = sum(work[job, part] for part in parts)
                whole = decoding[abreast] * (parts.count(large) // abreast)
                bound = max(whole, one / os.cpu_count())
                before, after = (files, "") if files.endswith("|") else ("", files)
                best, processor = law_best(f"{before} {gpuhist} {options} -q --engine=cpu {after}", runs)
                print(f"| .{suffix}, {shape} | {job} | {whole:.3f} | {one:.3f} | {bound:.3f} | "
                      f"{best:.3f} | {(best - 0.02) / bound:.2f} | {processor / one:.2f} |", flush=True)


def main():
    gpuhist = os.path.abspath(sys.argv[1])
    place = sys.argv[2] if len(sys.argv) > 2 else "/dev/shm"
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    megabytes = int(sys.argv[4]) if len(sys.argv) > 4 else 2000
    inputs = sys.argv[5:] or ("file", "pipe", "zst")
    with tempfile.TemporaryDirectory(dir=place) as directory:
        os.chdir(directory)
        if inputs[0] == "law":
            law(gpuhist, runs, megabytes, inputs[1:])
            return
        make_inputs(megabytes)
        if "zst" in inputs:
            for name in ("ids", "mi", "skewed", "all", "text", "log"):
                compress(name)
        print("| work | input | `wc -c` | cpu | cuda | auto | auto / better |\n|---|---|---|---|---|---|---|")
        for work, options, name, over in WORK:
            files, parts = (" ".join([each] * over) for each in (name, name + ".part.*.zst"))
            for kind in inputs:
                command = {"file": f"{gpuhist} {options} %s {files}",
                           "pipe": f"cat {files} | {gpuhist} {options} %s",
                           "zst": f"{gpuhist} {options} %s {parts}"}[kind]
                times = {engine: [] for engine in ENGINES}
                pipe = [seconds(f"cat {files} | wc -c") for _ in range(runs)] if kind == "pipe" else []
                for _ in range(runs):
                    for engine in ENGINES:
                        times[engine].append(seconds(command % ("-q --engine=" + engine)))
                cpu, cuda, auto = (statistics.median(times[engine]) for engine in ENGINES)
                bare = f"{statistics.median(pipe):.3f}" if pipe else ""
                print(f"| {work} | {kind} | {bare} | {cpu:.3f} | {cuda:.3f} | {auto:.3f} | "
                      f"{auto / min(cpu, cuda):.2f} |", flush=True)


if __name__ == "__main__":
    main()
