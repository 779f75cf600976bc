"""What the screen shows: bins of times, tables and pictures, against plain Python.

usage: screen.py GPUHIST TEST
"""

import collections
import datetime
import os
import random
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

from pictures import SVG, expect, expect_equal

GPUHIST, TEST = sys.argv[1:3]
PLAIN = {k: v for k, v in os.environ.items()
         if k not in ("COLUMNS", "LINES", "TERM", "NO_COLOR", "LANG") and not k.startswith("LC_")}


def gpuhist(arguments, text, **environment):
    run = subprocess.run([GPUHIST, *arguments, "-q"], text=True, capture_output=True, timeout=60,
                         input=text, env={**PLAIN, "LC_ALL": "C.UTF-8", **environment})
    expect_equal((run.stderr, run.returncode), ("", 0), arguments)
    return run.stdout


# --- times ---------------------------------------------------------------------------------------

EPOCH = datetime.datetime(1970, 1, 1)
SECOND = datetime.timedelta(seconds=1)
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
STEPS = ["1s", "2s", "5s", "10s", "15s", "30s", "1m", "2m", "5m", "10m", "15m", "30m", "1h", "2h", "3h", "6h",
         "12h", "1d", "2d", "1w", "1mo", "3mo", "1y", "2y", "5y", "10y", "20y", "50y", "100y", "200y", "500y"]


def step_of(text):
    """(count, unit) of 15m."""
    count, unit = re.fullmatch(r"(\d*)(\w+)", text).groups()
    return int(count or 1), unit


def begin_of(time, step):
    """Where the bucket of a time begins."""
    count, unit = step
    if unit in ("mo", "y"):
        count *= 12 if unit == "y" else 1
        month = (time.year * 12 + time.month - 1) // count * count
        return datetime.datetime(max(month // 12, 1), month % 12 + 1, 1)
    since = datetime.datetime(1969, 12, 29) if unit == "w" else EPOCH
    width = count * UNITS[unit]
    return since + (time - since) // (width * SECOND) * width * SECOND


def consists(step, unit):
    """Whether a bucket consists of whole ones of another."""
    (count, name), (of_count, of_name) = step, unit
    months = count * {"mo": 1, "y": 12}.get(name, 0)
    of_months = of_count * {"mo": 1, "y": 12}.get(of_name, 0)
    if of_months:
        return months > 0 and months % of_months == 0
    if months:
        return of_name != "w" and 86400 % (of_count * UNITS[of_name]) == 0
    if of_name == "w" and name != "w":
        return False
    if name == "w" and of_name != "w":
        return 86400 % (of_count * UNITS[of_name]) == 0
    return count * UNITS[name] % (of_count * UNITS[of_name]) == 0


def round_bins(times, unit, most):
    """The counts of the narrowest round buckets of whole units that are at most `most`."""
    for step in [unit, *(s for s in map(step_of, STEPS) if consists(s, unit))]:
        bins = collections.Counter(begin_of(time, step) for time in times)
        low, high = min(bins), max(bins)
        count, edge = 0, low
        while edge <= high and count <= most:
            count += 1
            ahead = {"mo": 32 * step[0], "y": 367 * step[0]}.get(step[1])
            edge = begin_of(edge + datetime.timedelta(days=ahead), step) if ahead else (
                edge + step[0] * UNITS[step[1]] * SECOND)
        if count <= most:
            return bins
    raise AssertionError("no step")


def written(time):
    return time.isoformat() + "Z"


def drawn_times(dice):
    for span in 40, 400, 4000, 40000, 400000, 4 * 10**6, 4 * 10**7, 4 * 10**8, 4 * 10**9:
        for _ in range(2):
            begin = EPOCH + dice.randrange(-10**9, 3 * 10**9) * SECOND
            length = dice.randrange(span // 4, span)
            yield [begin + dice.randrange(length) * SECOND for _ in range(dice.choice((2, 40, 300)))]


def test_times():
    """Automatic bins of times are of round widths, and begin at multiples of these."""
    dice = random.Random(1)
    for times in drawn_times(dice):
        text = "".join(written(t) + "\n" for t in times)
        for unit in "1s", dice.choice(("5s", "1m", "15m", "1h", "1d", "1mo")):
            bins = round_bins(times, step_of(unit), 64)
            kind = "1:time" + (f"/{unit}" if unit != "1s" else "")
            got = [line.split("\t") for line in gpuhist(["-f", kind], text).splitlines()]
            expect_equal([(cells[0], int(cells[-1])) for cells in got],
                         [(written(t), n) for t, n in sorted(bins.items())], kind)
        # In the terminal as many as it has lines; the label is the beginning, the date where it changes.
        bins = sorted(round_bins(times, (1, "s"), 20).items())
        lines = [line for line in gpuhist(["-f", "1:time", "--plot"], text, LINES="24").splitlines()
                 if " 0" != line[-2:] and "..." not in line]
        is_day = all(b.time() == datetime.time() for b, _ in bins)
        date = None
        for (begin, count), line in zip(bins, lines):
            label = re.split(r"  +\d+  ", line)[0].strip()
            shown = begin.isoformat(" ") if begin.date() != date else str(begin.time())
            expect(shown.startswith(label) and len(label) >= (4 if is_day else 5), label, shown)
            expect(len(label) > 9 or begin.date() == date or is_day, label)
            expect(f"  {count}  " in line, line, count)
            date = begin.date()


def test_time_units():
    """Any width of a column; several widths of bins; ranges."""
    times = [datetime.datetime(2026, 3, 1) + i * 1013 * SECOND for i in range(1000)]
    text = "".join(written(t) + "\n" for t in times)
    # None of the round widths is a multiple of 7 minutes.
    lows = [line.split("\t")[0] for line in gpuhist(["-f", "1:time/7m"], text).splitlines()]
    places = [(datetime.datetime.fromisoformat(low[:-1]) - EPOCH) // (7 * 60 * SECOND) for low in lows]
    expect({b - a for a, b in zip(places, places[1:])} <= {50}, places)
    # A range without a width is cut at its ends.
    lines = gpuhist(["-f", "1:time", "--range", "2026-03-02T05:00:00Z:2026-03-04T09:30:00Z"], text).splitlines()
    expect_equal([line.split("\t")[0] for line in lines[:2]], ["2026-03-02T05:00:00Z", "2026-03-02T06:00:00Z"])
    expect_equal(lines[-1].split("\t")[:2], ["2026-03-04T09:00:00Z", "2026-03-04T09:30:00Z"])
    # Many buckets share lines of a round width, and the picture says so.
    plot = gpuhist(["uniq", "-f", "1:time/1m", "--plot"], text, LINES="24").splitlines()
    expect_equal(plot[0], "each line combines 1d")
    expect_equal([line.split()[0] for line in plot[1:3]], ["2026-03-01", "2026-03-02"])
    plot = gpuhist(["-f", "1:time", "--width", "10m", "--plot"], text, LINES="30").splitlines()
    expect_equal(plot[0], "each line combines 12h")
    expect_equal([line.strip().split("  ")[0] for line in plot[1:3]], ["2026-03-01 00:00", "12:00"])
    fine = gpuhist(["-f", "1:time.3", "--plot"], "".join(f"2026-03-01T10:00:00.{i:03}Z\n" for i in range(40)),
                   LINES="24").splitlines()
    expect_equal([line.strip().split("  ")[0] for line in fine[:2]],
                 ["2026-03-01 10:00:00.000", "10:00:00.002"])


def ticks_of(picture):
    """The labels below the axis, and the dates below these."""
    texts = [e for e in ET.fromstring(picture).iter(SVG + "text") if e.get("class") == "middle"]
    lowest = max(int(e.get("y")) for e in texts)
    first = min(int(e.get("y")) for e in texts if int(e.get("y")) > lowest - 160)
    return ([e.text for e in texts if int(e.get("y")) == first],
            [(e.get("x"), e.text) for e in texts if int(e.get("y")) == lowest != first])


def test_time_ticks():
    """Ticks at round times; the date once where it changes; nothing slanted."""
    begin = datetime.datetime(2026, 11, 21, 20, 7, 31)
    for seconds, wanted, dates in (
            (3, ["20:10", "20:15", "20:20", "20:25", "20:30", "20:35", "20:40", "20:45", "20:50", "20:55"][:9],
             ["2026-11-21"]),
            (30, ["21:00", "22:00", "23:00", "00:00", "01:00", "02:00", "03:00", "04:00"],
             ["2026-11-21", "2026-11-22"]),
            (700, ["2026-11-23", "2026-11-25", "2026-11-27", "2026-11-29"], []),
            (90000, ["2027", "2028", "2029"], [])):
        times = [begin + i * seconds * SECOND for i in range(1000)]
        text = "".join(f"{written(t)} {i % 7}\n" for i, t in enumerate(times))
        for arguments in ["-f", "1:time"], ["uniq", "-f", "1:time"], ["-f", "2", "--by", "1:time"], [
                "-f", "1:time", "--width", "1m"]:
            picture = gpuhist([*arguments, "--format", "svg"], text)
            labels, shown = ticks_of(picture)
            expect("rotate" not in picture, "slanted labels", arguments)
            expect({*wanted} & {*labels} and len(labels) <= 10, labels, wanted, arguments)
            expect_equal([date for _, date in shown], dates, arguments, labels)


globals()["test_" + TEST]()
