"""Output at a terminal and in images: bins of timestamps, tables and images, against plain Python.

usage: screen.py GPUHIST TEST
"""

import bisect
import collections
import datetime
import fcntl
import os
import pty
import random
import re
import struct
import subprocess
import sys
import termios
import unicodedata
import xml.etree.ElementTree as ET
from decimal import Decimal
from fractions import Fraction

from pictures import SVG, expect, expect_equal

GPUHIST, TEST = sys.argv[1:3]
PLAIN = {k: v for k, v in os.environ.items()
         if k not in ("COLUMNS", "LINES", "TERM", "NO_COLOR", "LANG") and not k.startswith("LC_")}


def gpuhist(arguments, text, **environment):
    run = subprocess.run([GPUHIST, *arguments, "-q"], text=True, capture_output=True, timeout=60,
                         input=text, env={**PLAIN, "LC_ALL": "C.UTF-8", **environment})
    expect_equal((run.stderr, run.returncode), ("", 0), arguments)
    return run.stdout


def at_terminal(arguments, text, columns, lines=24, **environment):
    """Returns the output at a terminal of that size, without colours."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    with open("in", "w") as file:
        file.write(text)
    process = subprocess.Popen([GPUHIST, *arguments, "-q", "in"], stdout=slave, stdin=subprocess.DEVNULL,
                               env={**PLAIN, "LC_ALL": "C.UTF-8", **environment})
    os.close(slave)
    out = b""
    while True:
        try:
            block = os.read(master, 65536)
        except OSError:  # the other end is closed
            block = b""
        if not block:
            break
        out += block
    os.close(master)
    expect_equal(process.wait(), 0, arguments)
    return re.sub(r"\033\[\d*m", "", out.decode().replace("\r\n", "\n"))


# --- tables --------------------------------------------------------------------------------------

BLOCKS = {chr(0x2590 - eighths): eighths for eighths in range(1, 9)}


def width_of(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in text)


def check_bars(rows, wanted):
    """Rows (count, bar, percent) against counts: bars are proportional, percentages have one decimal place."""
    most = max(wanted)
    longest = max(sum(BLOCKS[c] for c in bar) for _, bar, _ in rows)
    for (count, bar, percent), value in zip(rows, wanted):
        expect_equal(int(count), value)
        eighths = sum(BLOCKS[c] for c in bar)
        expect(abs(eighths - value / most * longest) <= 0.5 or eighths == 1, "the bar of", value, bar)
        share = 100 * value / sum(wanted)
        expect(percent == "<0.1%" if 0 < share < 0.05 else abs(float(percent[:-1]) - share) < 0.051 and percent[-1] == "%",
               percent, value)


def test_tables():
    """uniq at a terminal: each value with its count, its bar and its share, in aligned columns."""
    dice = random.Random(2)
    for kind, draw in (("int", lambda: str(dice.randrange(-50, 200) ** 3)),
                       (".2", lambda: f"{dice.gauss(5, 4):.2f}"),
                       ("text", lambda: "/" + "\u4e2da\u0301/x"[: dice.randrange(6)] + "y" * dice.randrange(99)),
                       ("ip", lambda: f"10.{dice.randrange(3)}.0.{dice.randrange(256)}"),
                       ("time/1h", lambda: written(EPOCH + dice.randrange(9**7) * SECOND))):
        values = [draw() for _ in range(dice.choice((9, 400)))]
        text = "".join(v + "\n" for v in values)
        rows = [line.rsplit("\t", 1) for line in gpuhist(["uniq", "-f", f"1:{kind}"], text).splitlines()]
        for columns in 80, 200, 60:
            head, *lines = at_terminal(["uniq", "-f", f"1:{kind}"], text, columns).splitlines()
            expect_equal(head.split()[-2:], ["count", "percent"])
            expect_equal(len(lines), len(rows))
            expect(max(map(width_of, lines)) <= columns, "too wide", columns, lines[0])
            ends = {width_of(line) for line in lines} | {width_of(head)}
            expect_equal(len(ends), 1, "the columns line up", kind)
            cells = [re.fullmatch(r"( *)(\S.*?) +(\d+)  ([\u2588-\u258f]+) +(\S+%)", line) for line in lines]
            check_bars([cell.groups()[2:] for cell in cells], [int(count) for _, count in rows])
            for cell, (value, _) in zip(cells, rows):
                shown = cell[2].split("\u2026")
                expect(shown[0] == value or len(shown) == 2 and value.startswith(shown[0])
                       and value.endswith(shown[1]), cell[2], value)
                expect(kind in ("int", ".2") or not cell[1], "strings are left", cell[0])
            expect(columns < 100 or "\u2026" not in "".join(lines), "cut without need", columns)
        # Without a bar; other outputs do not depend on the terminal.
        table = at_terminal(["uniq", "-f", f"1:{kind}", "--no-plot"], text, 200).splitlines()
        expect_equal([line.split() for line in table[1:]], [[*value.split(), count] for value, count in rows])
        tsv = gpuhist(["uniq", "-f", f"1:{kind}"], text)
        expect_equal(at_terminal(["uniq", "-f", f"1:{kind}", "--format", "tsv"], text, 80).expandtabs(), tsv.expandtabs())
        expect_equal(gpuhist(["uniq", "-f", f"1:{kind}", "--no-plot"], text), tsv)
        expect_equal(at_terminal(["uniq", "-f", f"1:{kind}", "-o", "out"], text, 80), "")
        with open("out") as file:
            expect_equal(file.read(), tsv)


    rare = at_terminal(["uniq", "-f", "1", "--top", "2", "--other"], "1\n" * 4000000 + "2\n", 80).splitlines()
    expect_equal([line.split()[-1] for line in rare], ["percent", "100.0%", "<0.1%", "0.0%"])


def test_results():
    """Other results at a terminal: the cells of tsv with names, aligned."""
    dice = random.Random(3)
    text = "".join(f"{dice.choice(('a', 'bb', 'c c'))},{dice.randrange(5)},{dice.gauss(9, 3):.1f}\n" for _ in range(99))
    for arguments in (["reduce", "-f", "3"], ["reduce", "count,p99", "-f", "2,3", "--by", "1"], ["reduce", "-f", "2,3"],
                      ["count", "--ge", "3", "--all", "-f", "2", "--by", "1"], ["uniq", "-f", "2", "--by", "1"],
                      ["uniq", "-f", "3", "--quantiles", "50,99"], ["--bins", "3", "-f", "2", "--by", "1,3", "--top", "2"],
                      ["reduce", "sum", "--by", "1", "-f", "3"], ["count", "--eq", "3", "-f", "2,3"],
                      ["uniq", "-f", "1", "--percent", "--cumulative", "--no-plot"], ["--width", "2", "-f", "2", "--no-plot"]):
        arguments = ["-d", ",", *arguments] if arguments[0].startswith("-") else [arguments[0], "-d", ",", *arguments[1:]]
        wanted = [line.split("\t") for line in gpuhist([*arguments, "--header-out"], text).splitlines()]
        lines = at_terminal(arguments, text, 120).splitlines()
        expect_equal(len(lines), len(wanted), arguments, *lines)
        for line, cells in zip(lines[1:], wanted[1:]):
            expect_equal(line.replace("%", "").split(), " ".join(cells).split(), arguments)
        starts = [[m.start() for m in re.finditer(r"(?<!\S)\S(?:\S| \S)*", line)] for line in lines[1:]]
        ends = [[m.end() for m in re.finditer(r"(?<!\S)\S(?:\S| \S)*", line)] for line in lines[1:]]
        for column in range(len(starts[0])):
            sides = len({row[column] for row in starts}), len({row[column] for row in ends})
            expect(1 in sides, "a column that does not line up", arguments, *lines)
        expect_equal(at_terminal([*arguments, "--header-out"], text, 120).splitlines(), lines)
    # Groups and values have their names, or their numbers.
    for arguments, names in (
            (["uniq", "-d", ",", "-f", "2", "--by", "1", "--no-plot"], ["field 1", "field 2", "count"]),
            (["reduce", "sum", "-d", ",", "-f", "2,3", "--by", "1,3"], ["column", "field 1", "field 3", "sum"]),
            (["uniq", "--csv", "-f", "n", "--header"], ["n", "count", "percent"]),
            (["uniq", "-f", "0:text", "--no-plot"], ["line", "count"])):
        head = at_terminal(arguments, "k,n,x\n" * ("n" in arguments) + text, 120).splitlines()[0]
        expect_equal(re.split("  +", head.strip()), names, arguments)
    # A single number is unchanged; so are results to a pipe.
    expect_equal(at_terminal(["reduce", "sum", "-d", ",", "-f", "2"], "a,5,1\n", 80), "5\n")
    # No input that could change the terminal reaches it.
    odd = at_terminal(["uniq", "-f", "0:text"], "a\x1b[2J\tb\u202e\n", 80)
    expect("\x1b" not in odd and "\u202e" not in odd and "a?[2J" in odd, repr(odd))
    picture = at_terminal(["uniq", "-f", "1:text", "--title", "T", "--label", "the label", "--log-count"], "a b\nc\nc\n", 80)
    expect_equal([line.split()[:2] for line in picture.splitlines()],
                 [["T"], ["the", "label"], ["a", "1"], ["c", "2"]])
    plot = gpuhist(["uniq", "-f", "1:text", "--plot", "--top", "1", "--other"], "a b\nc\nc\n").splitlines()
    expect_equal([line.split() for line in plot[1:]], [["c", "2", "\u2588" * 55, "66.7%"], ["other", "1", "33.3%"]])


# --- timestamps ----------------------------------------------------------------------------------

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
    """Returns the start of the bucket of a timestamp."""
    count, unit = step
    if unit in ("mo", "y"):
        count *= 12 if unit == "y" else 1
        month = (time.year * 12 + time.month - 1) // count * count
        return datetime.datetime(max(month // 12, 1), month % 12 + 1, 1)
    since = datetime.datetime(1969, 12, 29) if unit == "w" else EPOCH
    width = count * UNITS[unit]
    return since + (time - since) // (width * SECOND) * width * SECOND


def consists(step, unit):
    """Returns whether a bucket consists of whole buckets of another width."""
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
    """Returns the counts of the narrowest round buckets of whole units, at most `most` buckets."""
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
    """Automatic bins of timestamps have round widths, and begin at multiples of these."""
    dice = random.Random(1)
    for times in drawn_times(dice):
        text = "".join(written(t) + "\n" for t in times)
        for unit in "1s", dice.choice(("5s", "1m", "15m", "1h", "1d", "1mo")):
            bins = round_bins(times, step_of(unit), 64)
            kind = "1:time" + (f"/{unit}" if unit != "1s" else "")
            got = [line.split("\t") for line in gpuhist(["-f", kind], text).splitlines()]
            expect_equal([(cells[0], int(cells[-1])) for cells in got],
                         [(written(t), n) for t, n in sorted(bins.items())], kind)
        # The terminal shows as many as it has lines; labels have the start, and the date where it changes.
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
    # Many buckets share lines of a round width, and the image says so.
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
            if "--by" in arguments and seconds > 1000:  # cells of a week, none of which starts a year
                continue
            picture = gpuhist([*arguments, "--format", "svg"], text)
            labels, shown = ticks_of(picture)
            expect("rotate" not in picture, "slanted labels", arguments)
            expect({*wanted} & {*labels} and len(labels) <= 10, labels, wanted, arguments)
            expect_equal([date for _, date in shown], dates, arguments, labels)


# --- powers --------------------------------------------------------------------------------------


def power_edges(decimals, parts, most):
    """Units of 10^-decimals: powers of two of the values, rounded up, and the parts between them."""
    one, edges, power = 10**decimals, [0], -80
    while edges[-1] <= most:
        for part in range(2**parts):
            edge = -(-Fraction(one) * Fraction(2) ** power * (2**parts + part) // 2**parts)
            if edge > edges[-1]:
                edges.append(edge)
        power += 1
    return sorted({*edges, *(1 - edge for edge in edges)})


def test_powers():
    """--log2 of decimals: 1, 2, 4, ... and 1/2, 1/4, ... of the printed unit, for any number of decimals."""
    dice = random.Random(4)
    for decimals in 1, 2, 3, 6, 9, 15, 18:
        for parts in 0, 1, 3:
            values = [round(dice.choice((1, 1, -1)) * 2 ** dice.uniform(-3.4 * decimals, 60 - 3.4 * decimals) * 10**decimals)
                      for _ in range(300)] + [0, 1, -1, 10**decimals, 10**decimals - 1]
            values = [v for v in values if abs(v) < 2**62]
            edges = power_edges(decimals, parts, max(map(abs, values)))
            wanted = collections.Counter(bisect.bisect(edges, v) - 1 for v in values)
            text = "".join(f"{Decimal(v).scaleb(-decimals):.{decimals}f}\n" for v in values)
            got = [line.split("\t") for line in gpuhist([f"--log2={parts}", "-f", f"1:.{decimals}"], text).splitlines()]
            expect_equal([[Decimal(low).scaleb(decimals), Decimal(high).scaleb(decimals), int(n)] for low, high, n in got],
                         [[edges[i], edges[i + 1], n] for i, n in sorted(wanted.items())], decimals, parts)
    expect_equal(gpuhist(["--log2", "-f", "1:.2"], "0.25\n3\n5\n-1.5\n"),
                 gpuhist(["--log2=0", "--decimals", "2"], "0.25\n3\n5\n-1.5\n"))
    # Lines that combine bins do not extend below 0 if no value does, and are labelled.
    plot = gpuhist(["--log2", "-f", "1", "--plot"], "".join(f"{2**i}\n" for i in range(40)) + "0\n", LINES="24").splitlines()
    expect_equal(plot[0], "each line combines 4 bins")
    expect(plot[1].split()[0] == "0..1" and plot[2].split()[0] == "1..16", plot)
    plot = gpuhist(["--width", "0.5", "-f", "1:.2", "--plot"], "".join(f"{i / 4:.2f}\n" for i in range(400)), LINES="54").splitlines()
    expect_equal(plot[0], "each line combines 4 bins")
    expect(plot[1].split()[0] == "0..2", plot)


def test_labels():
    """Labels of a plot have as many decimals as one of them needs."""
    dice = random.Random(5)
    for _ in range(40):
        decimals = dice.randrange(1, 7)
        zeros = dice.randrange(decimals + 1)
        values = [dice.randrange(-400, 400) * 10**zeros for _ in range(30)]
        text = "".join(f"{Decimal(v).scaleb(-decimals):.{decimals}f} 7\n" for v in values)
        width = f"{Decimal(dice.choice((1, 2, 5, 25, 100)) * 10**zeros).scaleb(-decimals):f}"
        for arguments in (["-f", f"1:.{decimals}", "--width", width], ["uniq", "-f", f"1:.{decimals}"],
                          ["-f", f"1:.{decimals}"], ["-f", f"1:.{decimals}", "--by", "2", "--width", width]):
            plot = gpuhist([*arguments, "--plot"], text, LINES="1000").splitlines()
            lines = plot[1:-2] if "--by" in arguments else [line for line in plot if "..." not in line and "each" not in line]
            labels = [line.split()[0] for line in lines]
            edges = [edge for label in labels for edge in label.split("..")]
            most = max(len(f"{Decimal(edge).normalize():f}".partition(".")[2]) for edge in edges)
            expect_equal({len(edge.partition(".")[2]) for edge in edges}, {most}, arguments, edges)
            if "--by" not in arguments and len(labels) < 60 and "uniq" not in arguments and "--width" in arguments and ".." in labels[0]:
                wanted = {tuple(map(Decimal, line.split("\t")[:2])): line.split("\t")[2] for line in gpuhist(arguments, text).splitlines()}
                got = {tuple(map(Decimal, line.split()[0].split(".."))): line.split()[1] for line in lines if line.split()[1] != "0"}
                expect(got == wanted or "each" in plot[0], got, wanted, arguments)


def test_zone_ticks():
    """With --tz, ticks are at the starts of the zone's days, also if a day has 25 hours."""
    if not os.path.exists("/usr/share/zoneinfo/America/New_York"):
        return
    begin = datetime.datetime(2026, 10, 28, 3, 17)
    text = "".join(f"{written(begin + i * 420 * SECOND)} {i % 7}\n" for i in range(2000))
    for arguments in ["uniq", "-f", "1:time/1h"], ["-f", "2", "--by", "1:time/1h"], ["-f", "1:time"]:
        picture = gpuhist([*arguments, "--tz", "America/New_York", "--format", "svg"], text)
        labels, _ = ticks_of(picture)
        expect_equal(labels, ["2026-10-28", "2026-10-30", "2026-11-01", "2026-11-03", "2026-11-05"], arguments)
        places = [int(x) for x in re.findall(r'd="M(\d+) \d+v40"', picture)][:5]
        steps = [b - a for a, b in zip(places, places[1:])]
        if arguments[0] == "uniq":  # others have a cell or bar for each day
            expect_equal([round(step * 48 / steps[0], 1) for step in steps], [48, 48, 49, 48], arguments, steps)


# --- messages ------------------------------------------------------------------------------------


def messages_at_terminal(arguments, columns):
    """Returns standard error as shown by a terminal of that width."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    subprocess.run([GPUHIST, *arguments], stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, stderr=slave, env=PLAIN)
    os.close(slave)
    out = b""
    try:
        while block := os.read(master, 65536):
            out += block
    except OSError:  # the other end is closed
        pass
    os.close(master)
    return out.decode().replace("\r\n", "\n")


def test_messages():
    """Messages wrap at words at a terminal, and are one line elsewhere."""
    words = "\u4e2d\u6587 a\u0301b \u00e9t\u00e9 /a/rather/long/path/of/a/file " * 3
    for arguments in (["--clf", "-f", "9", "in"], ["reduce", "no such " + words], ["uniq", "no/file " + words],
                      ["uniq", "x" * 300], ["uniq", "--bims", "5"]):
        plain = subprocess.run([GPUHIST, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, env=PLAIN).stderr
        expect(plain.startswith("gpuhist: ") and plain.count("\n") == plain.count("gpuhist: "), plain)
        for columns in 1, 19, 20, 33, 80, 200, 1000:
            shown = messages_at_terminal(arguments, columns)
            expect_equal(re.sub("\n  ", " ", shown), plain, columns)
            if columns < 20:
                expect_equal(shown, plain)
                continue
            lines = shown.splitlines()
            for line, after in zip(lines, lines[1:] + [""]):
                expect(width_of(line) <= columns or " " not in line.strip(), "too wide", columns, line)
                first = after[2:].split(" ")[0]
                expect(not after.startswith("  ") or width_of(line + " " + first) > columns, "too short", columns, line, after)


globals()["test_" + TEST]()
