"""A timestamp is read whole or rejected: the right value, or an error, and never another value.

usage: times.py GPUHIST SEED [MANUAL]

Draws dates, separators, times of day, offsets and tails, each with the value that a person reads in
it. They are in fields divided by blanks, with -d ' ', and in cells of --csv, -d , and --jsonl, and are
read as time and localtime. Words of other fields are drawn, too. The rows of the manual's table are
read as documented.
"""
import datetime
import json
import os
import random
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

COUNT = 900 // int(os.environ.get("SHARE", "1"))
UTC = datetime.timezone.utc
MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
PLACES = {"words": [], "blank": ["-d", " "], "csv": ["--csv"], "comma": ["-d", ";"], "jsonl": ["--jsonl"]}

# The input and its value: a timestamp, or None for invalid. `w` words, `c` cells, `*` both.
TABLE = [
    # lines of logs that were misread
    ("w", "2012-07-02 10:22:40,672:DEBUG:x", "2012-07-02T10:22:40"),
    ("w", "2024-01-01 9:05:00 x", "2024-01-01T09:05:00"),
    ("w", "2019-12-04\t21:02:31\t9", "2019-12-04T21:02:31"),
    ("w", "2019-12-04  21:02:31  9", "2019-12-04T21:02:31"),
    ("w", "2023-07-01 11:31:36.741 -03 [7]", "2023-07-01T14:31:36"),
    ("*", "2024-01-01 03:30:00 PM", "2024-01-01T15:30:00"),
    ("*", "20140601", "2014-06-01T00:00:00"),
    # dates
    ("*", "2024-02-29", "2024-02-29T00:00:00"), ("*", "2024/02/29", "2024-02-29T00:00:00"),
    ("*", "29-Feb-2024", "2024-02-29T00:00:00"), ("*", "29/Feb/2024", "2024-02-29T00:00:00"),
    ("*", "2024-02-30", None), ("*", "2024-2-9", None), ("*", "2024-W05-1", None), ("*", "18991231", None),
    ("w", "2024-01-01 7", "2024-01-01T00:00:00"), ("w", "2024-01-01 -7.5 x", "2024-01-01T00:00:00"),
    ("w", "2024-01-01 10.0.0.1", "2024-01-01T00:00:00"), ("w", "2024-01-01 2024-01-02", "2024-01-01T00:00:00"),
    ("w", "2024-01-01 INFO", "2024-01-01T00:00:00"), ("w", "2024-01-01: x", "2024-01-01T00:00:00"),
    ("*", "2024-01-01 10.22.40", None), ("*", "2024-01-01 10-22-40", None), ("*", "2024-01-01 1022", None),
    ("*", "2024-01-01 102240", None), ("*", "2024-01-01;10:22:40", None), ("*", "2024-01-01,10:22:40", None),
    ("*", "2024-01-01+02:00", None), ("*", "2024-01-01Z", None), ("*", "2024-01-01, 10:22:40", None),
    # times of day
    ("*", "2024-01-01T9:05", "2024-01-01T09:05:00"), ("*", "20240101T0905", "2024-01-01T09:05:00"),
    ("*", "20240101T090507.5Z", "2024-01-01T09:05:07"), ("*", "2024-01-01T090507", None),
    ("*", "2024-01-01 24:00:00", None), ("*", "2024-01-01 10:60:00", None),
    ("*", "2024-01-01 10:59:60", "2024-01-01T11:00:00"), ("*", "2024-01-01 10:58:60", None),
    ("*", "2024-01-01 12:00:00 a.m.", "2024-01-01T00:00:00"), ("*", "2024-01-01T12:30pm", "2024-01-01T12:30:00"),
    ("*", "2024-01-01T03:30:00 pm", "2024-01-01T15:30:00"), ("*", "2024-01-01 13:00 PM", None),
    ("w", "2024-01-01 10:00:00 PM: suspend", "2024-01-01T10:00:00"),
    ("*", "2024-01-01 10:00:00 PM +02:00", "2024-01-01T20:00:00"), ("*", "2024-01-01 10:22:40:7", None),
    ("*", "2024-01-01 10:22:40x", None), ("*", "[2024-01-01 10:00:00]", "2024-01-01T10:00:00"),
    ("*", "(2024-01-01 10:00:00)", "2024-01-01T10:00:00"), ("w", "[2024-01-01 10:00:00]: x", "2024-01-01T10:00:00"),
    ("c", "2024-01-01 10:00:00]", None), ("c", "2024-01-01 10:00:00 x", None),
    # offsets and zones
    ("*", "2024-01-01T10:00:00+02", "2024-01-01T08:00:00"), ("*", "2024-01-01 10:00:00 +0200", "2024-01-01T08:00:00"),
    ("*", "2024-01-01 10:00:00+02:00", "2024-01-01T08:00:00"), ("*", "2024-01-01 10:00:00 UTC", "2024-01-01T10:00:00"),
    ("w", "2024-01-01 10:00:00 +0200]", "2024-01-01T08:00:00"), ("w", "2024-01-01 10:00:00 -03:10.0.0.1", "2024-01-01T13:00:00"),
    ("w", "2024-01-01 10:00:00 -10", None), ("c", "2024-01-01 10:00:00 -10", "2024-01-01T20:00:00"),
    ("w", "2024-01-01 10:00:00 -1100", None), ("c", "2024-01-01 10:00:00 -1100", "2024-01-01T21:00:00"),
    ("w", "2024-01-01 10:00:00 -7", "2024-01-01T10:00:00"), ("w", "2024-01-01 10:00:00 -1.5", "2024-01-01T10:00:00"),
    ("w", "2024-01-01T10:00:00 -1200", None), ("w", "2024-01-01T10:00:00 +02:00", None), ("w", "2024-01-01T10:00:00 EST", None),
    ("w", "2024-01-01T10:00:00 -12", "2024-01-01T10:00:00"), ("w", "2024-01-01T10:00:00 7", "2024-01-01T10:00:00"),
    ("*", "[10/Oct/2000:13:55:36 -0700]", "2000-10-10T20:55:36"), ("*", "10/Oct/2000:13:55:36 -1100", "2000-10-11T00:55:36"),
    ("*", "2024-01-01 10:00:00 EST", None), ("*", "2024-01-01 10:00:00EST", None), ("*", "2024-01-01 10:00:00 (CEST)", None),
    ("w", "2024-01-01 10:00:00 EST:10.0.0.1", None), ("*", "2024-01-01 10:00:00 GMT+3", None),
    ("c", "2024-01-01 10:00:00 -0500 EST", "2024-01-01T15:00:00"), ("c", "2024-01-01 10:00:00 +0000 UTC", "2024-01-01T10:00:00"),
    # numbers
    ("*", "0", "1970-01-01T00:00:00"), ("*", "1700000000", "2023-11-14T22:13:20"), ("*", "1700000000.75", "2023-11-14T22:13:20"),
    ("*", "1700000000123", "2023-11-14T22:13:20"), ("*", "1700000000123456", "2023-11-14T22:13:20"),
    ("*", "1700000000123456789", "2023-11-14T22:13:20"), ("*", "-1700000000", "1916-02-18T01:46:40"),
    ("*", "20231114221320", "2023-11-14T22:13:20"), ("*", "20231114221320123", "2023-11-14T22:13:20"),
    ("*", "20231114221320+0200", "2023-11-14T20:13:20"), ("w", "20231114221320 +0200", None),
    ("*", "7", None), ("*", "12345678901", None), ("*", "170000000012345678", None), ("*", "2024010112", None),
    ("*", "202401011230", None), ("*", "240101123000", None), ("*", "2024010112300099", None), ("*", "1e9", None),
]


def print_of(gpuhist, place, kind, text):
    """Returns gpuhist's timestamp, or None for an error."""
    line = {"csv": '"' + text.replace('"', '""') + '"', "jsonl": json.dumps({"a": text})}.get(place, text)
    column = "a" if place == "jsonl" else "1"
    run = subprocess.run([gpuhist, "uniq", "--threads", "1", *PLACES[place], "-f", f"{column}:{kind}"],
                         input=(line + "\n").encode(), capture_output=True, check=False)
    if run.returncode == 1 and not run.stdout and b"invalid time" in run.stderr:
        return None
    if run.returncode:
        sys.exit(f"{place} {kind} {text!r}: status {run.returncode}\n{run.stderr.decode()}")
    return run.stdout.decode().split("\t")[0].removesuffix("Z")


def draw(rng):
    """Draws a string, its clock time and the offset in minutes, or None without an offset."""
    date = datetime.datetime(rng.randrange(1950, 2090), rng.randrange(1, 13), rng.randrange(1, 29))
    hour, minute, second = rng.randrange(24), rng.randrange(60), rng.randrange(60)
    name = MONTHS[date.month - 1]
    form = rng.randrange(5)
    shown = [f"{date:%Y-%m-%d}", f"{date:%Y/%m/%d}", f"{date:%Y%m%d}", f"{date:%d}-{name}-{date:%Y}",
             f"{date:%d}/{name}/{date:%Y}"][form]
    separator = rng.choice(["T", " ", " ", "  ", "\t", ":" if form > 2 else " "])
    loose = None  # the hour as shown, if AM or PM may be the beginning of another word
    has_half, has_seconds = rng.random() < .3, rng.random() < .8
    clock = hour % 12 or 12 if has_half else hour
    shown += separator + rng.choice([f"{clock:02}", f"{clock}"]) + f":{minute:02}"
    if has_seconds:
        shown += f":{second:02}" + rng.choice(["", "", ".5", ",672", ".123456789"])
    else:
        second = 0
    if has_half:
        half = rng.choice(["am", "AM", "a.m.", "A.M."]).replace("a", "p" if hour > 11 else "a")
        shown += rng.choice(["", " "]) + half.replace("A", "P" if hour > 11 else "A")
        loose = clock if shown.split()[-1].lower()[:1] in "ap" else None
    minutes = rng.choice([None, None, 0, 60, 120, -180, -600, -660, -720, 330, -570, 840])
    if minutes is not None:
        sign, size = "-" if minutes < 0 else "+", abs(minutes)
        whole = [f"{sign}{size // 60:02}"] if size % 60 == 0 else []
        texts = whole + [f"{sign}{size // 60:02}{size % 60:02}", f"{sign}{size // 60:02}:{size % 60:02}"]
        zones = ["Z", "UTC", "GMT"] if minutes == 0 else ["GMT" + texts[0]]
        shown += rng.choice(["", " "]) + rng.choice(texts + zones)
    elif rng.random() < .2:
        shown += rng.choice(["", " "]) + rng.choice(["EST", "CEST", "(MSK)", "NZDT", "ChST"])
        minutes = "zone"
    return shown, date.replace(hour=hour, minute=minute, second=second), minutes, has_half, loose


# Tails of a timestamp: text, and True if it could belong to the timestamp (then only an error is right).
TAILS = ["", "", "", " 7", " INFO x", "]: x", ", x", ": x", ":DEBUG", ";9", "|x", ":7", ",9", "x", ".", " -7", " 10:00:00", "-", " [7]",
         " am", " PM", " -5:30", " +02", " -0300", " -10", " -1200"]


def check_drawn(gpuhist, rng, pool):
    """Any form with any tail, everywhere: the right value, or an error."""
    jobs, wanted = [], []
    for _ in range(COUNT):
        text, clock, minutes, has_half, loose = draw(rng)
        tail = rng.choice(TAILS)
        place, kind = rng.choice(list(PLACES)), rng.choice(["time", "localtime"])
        could_add = tail[:2] in (" +", " -") and minutes is None
        allowed = set()
        if kind == "localtime" or minutes is None:
            allowed.add(clock)
        if kind == "time" and minutes not in (None, "zone"):
            allowed.add(clock - datetime.timedelta(minutes=minutes))
        if loose is not None and (tail[:1] in (":", "x", "-") or text[-1] not in "mM."):
            allowed.add(clock.replace(hour=loose))  # another word than AM, and no offset is expected
        # a word that is not an offset is another field; so is +HH after T and the common log format
        last = text.split()[-1]
        is_far = "T" in text or (text[2] in "-/" and text[11:12] == ":")
        if minutes == "zone" and last.strip("()")[0].isalpha() and tail == "x":
            allowed.add(clock)
        if kind == "time" and len(text.split()) > 1 and last[0] in "+-" and \
                (tail in ("x", "-") or (is_far and len(last) == 3)):
            allowed.add(clock)
        # a word with a sign after a time without offset is an offset
        if could_add and kind == "time":
            offset = {" +02": 120, " -0300": -180, " -10": -600, " -1200": -720}.get(tail)
            is_field = tail == " -7" or (is_far and tail in (" +02", " -10"))
            allowed = ({clock} if is_field else set()) | \
                ({clock - datetime.timedelta(minutes=offset)} if offset is not None else set())
        if tail in (" am", " PM") and not has_half:
            half = clock.replace(hour=clock.hour % 12 + (12 if tail == " PM" else 0))
            allowed = {half} if minutes is None and 1 <= clock.hour <= 12 else set() if minutes is None else allowed
        jobs.append((place, kind, text + tail))
        wanted.append({time.isoformat() for time in allowed})
    read = 0
    for (place, kind, text), found, allowed in zip(jobs, pool.map(lambda job: print_of(gpuhist, *job), jobs), wanted):
        if found is not None and found not in allowed:
            sys.exit(f"{place} {kind} {text!r}: {found}, not one of {sorted(allowed)}")
        read += found is not None
    if read < COUNT // 8:
        sys.exit(f"only {read} of {COUNT} drawn times are read")


def check_table(gpuhist, pool):
    """Each form of the manual, and rejected strings."""
    jobs = [(place, text, wanted) for where, text, wanted in TABLE for place in PLACES
            if where == "*" or (where == "w") == (place in ("words", "blank"))
            if not (place == "comma" and ";" in text) and not (place == "blank" and text[:1] == '"')]
    for (place, text, wanted), found in zip(jobs, pool.map(lambda job: print_of(gpuhist, job[0], "time", job[1]), jobs)):
        if found != wanted:
            sys.exit(f"{place} {text!r}: {found}, wanted {wanted}")


def check_manual(gpuhist, manual):
    """The examples in the manual."""
    with open(manual, encoding="utf-8") as file:
        rows = re.search(r"Rows of tests/times.py.*?\n(.*?)\.\\\" End", file.read(), re.S)[1]
    for row in rows.splitlines():
        text, wanted = row.replace("\\-", "-").removeprefix("\\&").split("  =  ")
        found = print_of(gpuhist, "words", "time", text)
        if found != (None if wanted == "invalid" else wanted.removesuffix("Z")):
            sys.exit(f"the manual has {row}: found {found}")


def main():
    """Runs all checks."""
    rng = random.Random(int(sys.argv[2]))
    with ThreadPoolExecutor(4) as pool:
        check_table(sys.argv[1], pool)
        if len(sys.argv) > 3:
            check_manual(sys.argv[1], sys.argv[3])
        check_drawn(sys.argv[1], rng, pool)


if __name__ == "__main__":
    main()
