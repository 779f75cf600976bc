"""The tasks of the documents: each command of their tables, unchanged, prints Python's result.

usage: tasks.py GPUHIST DOCUMENT...

The commands run in a directory with the files that they name, with random rows. A task without an
answer here is an error, and so is an answer without a task.
"""
import collections
import csv
import datetime
import gzip
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import numpy

MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
NOW = int(datetime.datetime(2026, 11, 21, 14, tzinfo=datetime.timezone.utc).timestamp())
LOGS = 9  # a current one, and eight older ones, compressed

Request = collections.namedtuple("Request", "client at path status bytes ms price")


# --- the files -----------------------------------------------------------------------------------

def draw_requests(rng, now, count):
    """Requests of the last days, half of them of the last hour, but none near its begin."""
    for _ in range(count):
        age = rng.randrange(60, 3300) if rng.randrange(2) else rng.randrange(4000, 5 * 86400)
        yield Request(f"10.{rng.randrange(2)}.0.{int(rng.paretovariate(1)) % 200}", now - age,
                      rng.choice(["/", "/a", "/b?q=1", "/img/c.png"]),
                      rng.choice([200, 200, 200, 304, 404, 500, 503]),
                      rng.choice([None, rng.randrange(30000)]),
                      min(3000, 20 + int(rng.paretovariate(1.5) * 30)), rng.randrange(10000))


def log_line(request):
    at = datetime.datetime.fromtimestamp(request.at, datetime.timezone.utc)
    size = "-" if request.bytes is None else request.bytes
    return (f"{request.client} - - [{at.day:02}/{MONTHS[at.month - 1]}/{at:%Y:%H:%M:%S} +0000] "
            f"\"GET {request.path} HTTP/1.1\" {request.status} {size} {request.ms}\n")


def instant(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Files:
    """Makes the files in the working directory, and keeps their contents."""

    def __init__(self, rng):
        self.logs = [list(draw_requests(rng, NOW, 300)) for _ in range(LOGS)]
        self.log = self.logs[0]
        with open("access.log", "w", encoding="ascii") as file:
            file.writelines(map(log_line, self.log))
        for i in range(1, LOGS):
            with gzip.open(f"access.log.{i}.gz", "wt", encoding="ascii") as file:
                file.writelines(map(log_line, self.logs[i]))
        with open("requests.csv", "w", encoding="ascii", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["at", "path", "status", "ms", "bytes", "price"])
            for row in self.log:
                writer.writerow([instant(row.at), row.path + ", again", row.status, row.ms, row.bytes or 0,
                                 f"{row.price / 100:.2f}"])
        with open("app.jsonl", "w", encoding="ascii") as file:
            for row in self.log:
                file.write(json.dumps({"http": {"ms": row.ms, "path": row.path}, "status": row.status}) + "\n")
        with open("app.log", "w", encoding="ascii") as file:
            for row in self.log:
                file.write(f'level=info ready path={json.dumps(row.path + " x")} dur={row.ms}ms\n')
        self.times = [int(rng.paretovariate(1) * 40) % 5000 - 100 for _ in range(1000)]
        with open("latencies.txt", "w", encoding="ascii") as file:
            file.writelines(f"{value}\n" for value in self.times)
        self.ids = [rng.choice([7, 2**63, 2**64 - 1, rng.randrange(2**64), rng.randrange(20)]) for _ in range(2000)]
        numpy.array(self.ids, "<u8").tofile("ids.u64")
        self.array = numpy.array([rng.randrange(-50, 50) for _ in range(3000)], "<i4")
        numpy.save("ids.npy", self.array)


# --- expected results ----------------------------------------------------------------------------

def lines(rows):
    return "".join("\t".join(map(str, row)) + "\n" for row in rows)


def counts(values, key=None):
    return lines(sorted(collections.Counter(values).items(), key=key and (lambda item: key(item[0]))))


def top(values, key=None):
    found = collections.Counter(values).items()
    return lines(sorted(found, key=lambda item: (-item[1], key(item[0]) if key else item[0]))[:10])


def quantile(values, percent):
    """By nearest rank."""
    return sorted(values)[max(1, math.ceil(percent * len(values) / 100)) - 1]


def groups(rows, key, value):
    found = collections.defaultdict(list)
    for row in rows:
        found[key(row)].append(value(row))
    return sorted(found.items())


def bin_of(value):
    """Returns the bin, of eight sub-bins per power of 2."""
    width = max(1, 1 << (value.bit_length() - 4))
    return value // width * width, value // width * width + width


def equal_bins(values, count):
    """From the smallest to the largest: a bin holds the integers from its edge up to the next one."""
    first, span = min(values), max(values) + 1 - min(values)
    edges = [first - (-i * span // count) for i in range(count + 1)]
    found = collections.Counter((value - first) * count // span for value in values)
    return lines((edges[i], edges[i + 1], number) for i, number in sorted(found.items()))


def floored(request, seconds):
    return instant(request.at // seconds * seconds)


def svg_cells(name):
    """The cells of a heat map that are not empty, by their tooltips."""
    cells = {}
    for title in xml.etree.ElementTree.parse(name).iter("{http://www.w3.org/2000/svg}title"):
        found = re.fullmatch(r"(\S+Z), (\d+)\.\.(\d+): (\d+)", title.text.replace(",", "").replace("Z ", "Z, "))
        if found:
            cells[found[1], (int(found[2]), int(found[3]))] = int(found[4])
    return cells


def check_array(files):
    found = numpy.load("counts.npy")
    values, number = numpy.unique(files.array, return_counts=True)
    return "" if (found["value"] == values).all() and (found["count"] == number).all() else f"{values}: {number}"


def check_map(files):
    wanted = collections.Counter((floored(row, 3600), bin_of(row.ms)) for row in files.log)
    return "" if svg_cells("map.svg") == wanted else str(wanted)


# The task, and the output of its command: nothing if it writes a correct file.
ANSWERS = {
    "count each HTTP status in all logs, rotated or not":
        lambda files: counts(row.status for log in files.logs for row in log),
    "the 10 most requested paths, without their queries":
        lambda files: top(row.path.partition("?")[0] for row in files.log),
    "bytes sent per status, without rows whose size is `-`":
        lambda files: lines((status, sum(sent)) for status, sent in
                            groups((row for row in files.log if row.bytes is not None),
                                   lambda row: row.status, lambda row: row.bytes)),
    "requests per minute": lambda files: counts(floored(row, 60) for row in files.log),
    "99th percentile of the response time per status":
        lambda files: lines((status, quantile(ms, 99)) for status, ms in
                            groups(files.log, lambda row: row.status, lambda row: row.ms)),
    "the same from JSON Lines, without incomplete rows":
        lambda files: lines((status, quantile(ms, 99)) for status, ms in
                            groups(files.log, lambda row: row.status, lambda row: row.ms)),
    "the five paths with the highest 99th percentile, from logfmt":
        lambda files: lines(sorted(((path, quantile(ms, 99)) for path, ms in
                                    groups(files.log, lambda row: row.path + " x", lambda row: row.ms)),
                                   key=lambda row: -row[1])[:5]),
    "statuses since 13:00 UTC, from eight .gz files":
        lambda files: counts(row.status for log in files.logs[1:] for row in log if row.at >= NOW - 3600),
    "statuses per hour":
        lambda files: lines((*pair, number) for pair, number in
                            sorted(collections.Counter((floored(row, 3600), row.status) for row in files.log).items())),
    "distinct clients per day, in the server's time":
        lambda files: lines((day.rstrip("Z"), len(set(clients))) for day, clients in
                            groups(files.log, lambda row: floored(row, 86400), lambda row: row.client)),
    "the most frequent paths": lambda files: top(row.path for row in files.log),
    "bytes sent for each status":
        lambda files: lines((status, sum(sizes)) for status, sizes in
                            groups((row for row in files.log if row.bytes is not None),
                                   lambda row: row.status, lambda row: row.bytes)),
    "failed requests that took longer than 100 ms":
        lambda files: f"{sum(row.status >= 500 and row.ms > 100 for row in files.log)}\n",
    "failed requests": lambda files: f"{sum(row.status >= 500 for row in files.log)}\n",
    "sums of three columns of a CSV file":
        lambda files: lines([("ms", sum(row.ms for row in files.log)),
                             ("bytes", sum(row.bytes or 0 for row in files.log)),
                             ("price", f"{sum(row.price for row in files.log) / 100:.2f}")]),
    "median and 99th percentile of a column":
        lambda files: lines((percent, quantile([row.ms for row in files.log], percent)) for percent in (50, 99)),
    "histogram of latencies from JSON Lines":
        lambda files: lines((*edges, number) for edges, number in
                            sorted(collections.Counter(bin_of(row.ms) for row in files.log).items())),
    "ten equal-width bins over all values": lambda files: equal_bins(files.times, 10),
    "the most frequent 64-bit ids": lambda files: top(files.ids),
    "a NumPy array in, one out": check_array,
    "an SVG image for a report": check_map,
}


# --- the documents -------------------------------------------------------------------------------

def tasks_of(document):
    """The rows of the tables with only these two columns."""
    inside = False
    with open(document, encoding="utf-8") as file:
        for line in file:
            inside = line.startswith("|") and (inside or line == "| task | command |\n")
            found = re.fullmatch(r"\| (.+?) \| `(.+)` \|\n", line) if inside else None
            if found:
                yield found[1], found[2].replace("\\|", "|")


def check_task(gpuhist, files, task, command):
    path = os.environ["PATH"]
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False,
                          env={**os.environ, "PATH": f"{os.path.dirname(gpuhist)}:{path}"})
    notes = [line for line in done.stderr.splitlines() if not line.startswith("gpuhist: note: ")]
    if done.returncode != 0 or notes:
        sys.exit(f"{task}: {command}: status {done.returncode}: {done.stderr}")
    answer = ANSWERS[task](files)
    if done.stdout != answer:
        sys.exit(f"{task}: {command}\n{done.stdout[:800]}\nbut Python has\n{answer[:800]}")


def main():
    gpuhist, *documents = map(os.path.abspath, sys.argv[1:])
    tasks = [task for document in documents for task in tasks_of(document)]
    if sorted(task for task, _ in tasks) != sorted(ANSWERS):
        sys.exit(f"tasks with no answer, or answers with no task: {set(ANSWERS) ^ {task for task, _ in tasks}}")
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        seed = random.randrange(1 << 30)
        print(f"seed {seed}")
        files = Files(random.Random(seed))
        for task, command in tasks:
            check_task(gpuhist, files, task, command)
        os.chdir("/")
    print(f"{len(tasks)} tasks")


main()
