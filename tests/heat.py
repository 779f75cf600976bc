"""Heat maps (--by with --format svg or --plot) against the rows that tsv prints.

usage: heat.py GPUHIST TEST
"""

import fcntl
import os
import pty
import random
import re
import struct
import subprocess
import sys
import termios
import xml.etree.ElementTree as ET
from decimal import Decimal

from pictures import SVG, are_grouped, expect, expect_equal, number, styled

GPUHIST, TEST = sys.argv[1:3]


def gpuhist(arguments, text, **more):
    run = subprocess.run([GPUHIST, *arguments, "-q"], text=True, capture_output=True, timeout=60,
                         input=text, env={**os.environ, "LC_ALL": "C", **more})
    expect_equal((run.stderr, run.returncode), ("", 0), arguments)
    return run.stdout


def side(text):
    """Returns LOW and HIGH (None: a single value) from the name of a side of a cell."""
    low, _, high = text.partition("..")
    return number(low), number(high) if high else None


def contains(side, value):
    low, high = side
    return value == low if high is None else low <= value < high


def rows_of(arguments, text):
    """(group, low of the bin, count) of each row of tsv that is not empty."""
    for line in gpuhist([a for a in arguments if a != "--log-count"], text).splitlines():
        cells = line.split("\t")
        if int(cells[-1]):
            yield Decimal(cells[0]), Decimal(cells[1]), int(cells[-1])


def lightness(colour):
    """L of OKLab, of #rrggbb."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
              for c in (int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5))]
    lms = [sum(a * b for a, b in zip(row, linear)) ** (1 / 3) for row in (
        (0.4122214708, 0.5363325363, 0.0514459929), (0.2119034982, 0.6806995451, 0.1073969566),
        (0.0883024619, 0.2817188376, 0.6299787005))]
    return 0.2104542553 * lms[0] + 0.7936177850 * lms[1] - 0.0040720468 * lms[2]


class Map:
    """The parts of an image."""

    def __init__(self, text):
        self.text = text
        self.root = ET.fromstring(text)
        elements = list(self.root.iter())
        expect_equal({e.tag for e in elements} - {SVG + t for t in (
            "svg", "title", "style", "rect", "text", "g", "path")}, set(), "other elements")
        expect(not re.search(r"href|url\(|@import|script|//(?!www\.w3\.org/2000/svg)", text), "a reference")
        self.width, self.height = map(int, self.root.get("viewBox").split()[2:])
        self.title = self.root.find(SVG + "title").text
        self.words = [e.text or "" for e in self.root.findall(SVG + "text")]
        expect_equal(self.words[0], self.title, "the title that is drawn")
        self.summary, _, self.note = self.words[1].partition("; ")
        self.bins, self.groups = self.words[2], self.words[-1]
        self.legend = self.words[-2]
        self.cells, self.ramp = [], []
        for path in self.root.iter(SVG + "path"):
            shape = re.fullmatch(r"M(\d+) (\d+)h(\d+)v(\d+)H(\d+)z", path.get("d"))
            if not shape:
                continue
            x, y, w, h, back = map(int, shape.groups())
            level = int(re.fullmatch(r"c(\d+)", path.get("class"))[1])
            expect(back == x and w > 0 and h > 0 and x + w <= self.width and y + h <= self.height, shape[0])
            if path.find(SVG + "title") is None:
                self.ramp.append((level, y, y + h))
                continue
            group, bin, count = re.fullmatch(r"(\S+), (\S+): ([0-9,.]+%?)", path.find(SVG + "title").text).groups()
            self.cells.append((side(group), side(bin), number(count), x, y, w, h, level))
        # A tick is a path; the text after it is its label.
        self.below, self.left, self.scale = [], [], []
        labels = []
        for path, label in zip(elements, elements[1:]):
            for pattern, ticks in ((r"M(\d+) \d+v40", self.below), (r"M\d+ (\d+)h-40", self.left),
                                   (r"M\d+ (\d+)h40", self.scale)):
                tick = re.fullmatch(pattern, path.get("d", ""))
                if tick:
                    ticks.append((int(tick[1]), number(label.text)))
                    labels.append((pattern, label.text))
        for pattern in {pattern for pattern, _ in labels if not pattern.endswith(")h40")}:  # values, each axis alike
            texts = [text for of, text in labels if of == pattern]
            expect(are_grouped(texts) or not any("," in text for text in texts) or len(texts) < 3, texts)
            expect(not are_grouped(texts) or texts == [styled(text.replace(",", "")) for text in texts], texts)

    def colours(self, is_dark):
        style = self.root.findall(SVG + "style")[1].text.partition("@media")[2 if is_dark else 0]
        return dict((int(n), c) for n, c in re.findall(r"\.c(\d+)\{fill:(#......)\}", style))


def check_ticks(ticks, cells, picture, arguments):
    """Labels of sides: in the middle of single values, else at their beginning or end."""
    expect_equal(ticks, sorted(ticks, reverse=ticks[0][0] > ticks[-1][0]), arguments)
    values = [value for _, value in ticks]
    expect_equal(values, sorted(set(values)), arguments)
    seen = 0
    for place, value in ticks:
        for (low, high), from_place, to_place in cells:
            wanted = (from_place + to_place) / 2 if high is None else from_place if low == value else None
            if low == value and wanted is not None:
                expect(abs(place - wanted) <= 11, "the label of", low, place, wanted, arguments)
                seen += 1
    expect(seen > 0, "no label of a cell", ticks, arguments)


def is_logarithmic(counts, is_asked):
    """Two decades, or most counts are lost in the lowest eighth."""
    most, low = max(counts), sum(8 * count <= max(counts) for count in counts)
    return most > min(counts) and (is_asked or most >= 100 * min(counts) or 2 * low > len(counts))


def check_numbers(picture, cells, columns, lines, arguments):
    """Counts are in the middle of their cells if all fit, light on dark colours and dark on light ones."""
    numbers = [e for g in picture.root.findall(SVG + "g") if g.get("class") == "counts" for e in g]
    wide = min(to_place - from_place for _, from_place, to_place in columns)
    high = min(to_place - from_place for _, to_place, from_place in lines)
    longest = max(len(styled(str(cell[2]))) for cell in cells)
    space = longest * 80 + 80
    expect(bool(numbers) or wide < space + 2 or high < 152, "no counts", wide, high, arguments)
    expect(not numbers or (wide >= space - 2 and high >= 148), "counts that do not fit", wide, high, arguments)
    if not numbers:
        return
    expect_equal(sorted((int(e.get("x")), int(e.get("y")) - 40, number(e.text)) for e in numbers),
                 sorted((x + w // 2, y + h // 2, count) for _, _, count, x, y, w, h, _ in cells), arguments)
    levels = {(x + w // 2, y + h // 2): level for *_, x, y, w, h, level in cells}
    for e in numbers:
        level = levels[int(e.get("x")), int(e.get("y")) - 40]
        expect_equal(e.get("class"), "middle" + " high" * (32 - level < 13) + " low" * (level < 13))


def check(arguments, text, is_power=False):
    """The cells are the combined rows of tsv; they are in order; colours follow the counts."""
    picture = Map(gpuhist([*arguments, "--format", "svg"], text))
    rows = list(rows_of(arguments, text))
    cells = picture.cells
    rest = {}
    columns = {}
    for i, cell in enumerate(cells):
        columns.setdefault(cell[0], []).append((i, cell[1]))
    of_group = {group: [entry for side, column in columns.items() if contains(side, group) for entry in column]
                for group in {row[0] for row in rows}}
    for group, bin, count in rows:
        home = [i for i, side in of_group[group]
                if contains(side, bin) or (is_power and bin == side[0])]
        expect_equal(len(home), 1, "the cells of", group, bin, arguments)
        rest[home[0]] = rest.get(home[0], 0) + count
    expect_equal([cell[2] for cell in cells], [rest.get(i) for i in range(len(cells))], arguments)
    columns = sorted({(cell[0], cell[3], cell[3] + cell[5]) for cell in cells})
    lines = sorted({(cell[1], cell[4] + cell[6], cell[4]) for cell in cells})
    for sides in columns, [(s, -a, -b) for s, a, b in lines]:
        for (_, _, before), (_, after, _) in zip(sides, sides[1:]):
            expect(before <= after, "cells overlap", sides, arguments)
    if not is_power:
        check_ticks(picture.left, lines, picture, arguments)
    if "rotate" in picture.text:
        expect(not picture.below and len(columns) <= 50, arguments)
    else:
        check_ticks(picture.below, columns, picture, arguments)
    by_count = sorted((cell[2], cell[7]) for cell in cells)
    levels = [level for _, level in by_count]
    expect_equal(levels, sorted(levels), "levels", arguments)
    expect_equal(levels[-1], 32, arguments)
    is_log = is_logarithmic([count for count, _ in by_count], "--log-count" in arguments)
    expect_equal(picture.legend.endswith(" (logarithmic)"), is_log, picture.legend, arguments)
    check_numbers(picture, cells, columns, lines, arguments)
    # The legend gives the colour of a count.
    expect_equal([level for level, _, _ in picture.ramp], list(range(33)))
    for place, value in picture.scale:
        for count, level in by_count:
            if count == value:
                _, top, bottom = picture.ramp[level]
                expect(top - 2 <= place <= bottom + 2, "the tick of", value, place, top, bottom, arguments)
    expect(len(picture.scale) >= 2 or not is_log, picture.scale, arguments)
    return picture


def lines(rows):
    return "".join(" ".join(map(str, row)) + "\n" for row in rows)


def log(n, seed):
    """hour, milliseconds, status, minute, bytes"""
    dice = random.Random(seed)
    statuses = [200] * 90 + [304] * 8 + [404] * 3 + [500]
    return [(h, int(dice.lognormvariate(3 + h / 10, 1)), dice.choice(statuses), i // 3, dice.randrange(9999))
            for i in range(n) for h in [min(23, max(0, round(dice.gauss(12, 5))))]]


def test_cells():
    text = lines(log(6000, 1))
    for bins in (["--bins", "200"], ["--bins", "10", "--range", "-50:1000"], ["--width", "25"], ["--bins", "5M"],
                 ["--edges", "0,3,10,50,51,1000"], ["--width", "7", "--range", "0:500"], ["--zeros", "--bins", "300"]):
        picture = check(["-f", "2", "--by", "1", *bins], text)
        expect_equal((picture.groups, picture.title), ("field 1", "Count by field 2 and field 1"))
        expect_equal(len({cell[3] for cell in picture.cells}), 24, bins)
    expect_equal(picture.left[0][1], 0)
    for bins in ["--log2"], ["--log10"], ["--log2=1"], ["--log2=4"]:
        picture = check(["-f", "2", "--by", "1", *bins], text, is_power=True)
        expect_equal(picture.bins, "field 2 (logarithmic)")
    round_lows = sorted({cell[1][0] for cell in check(
        ["-f", "2", "--by", "1", "--range", "3:503", "--bins", "500"], text).cells})
    expect(all(low % 10 == 0 for low in round_lows[1:]) and round_lows[0] == 3, round_lows)
    outside = check(["-f", "2", "--by", "1", "--range", "10:100", "--bins", "9"], text)
    below = sum(row[1] < 10 for row in log(6000, 1))
    above = sum(row[1] >= 100 for row in log(6000, 1))
    expect_equal(outside.note, f"below the bins: {styled(str(below))}; above the bins: {styled(str(above))}")
    expect_equal(outside.summary, "6,000 values in 24 groups by field 1")
    signed = lines((-h, -ms) for h, ms, *_ in log(3000, 2))
    check(["-f", "2", "--by", "1", "--width", "20"], signed)
    check(["-f", "2", "--by", "1", "--log2"], signed, is_power=True)


def test_axes():
    rows = log(6000, 3)
    # Statuses are far apart: each has a separate cell, on either axis.
    picture = check(["uniq", "-f", "3", "--by", "1"], lines(rows))
    expect_equal([int(v) for _, v in picture.left], [200, 304, 404, 500])
    picture = check(["uniq", "-f", "1", "--by", "3"], lines(rows))
    expect_equal([int(v) for _, v in picture.below], [200, 304, 404, 500])
    # Groups that are missing on a regular grid are empty columns.
    picture = check(["-f", "2", "--by", "1", "--width", "100"],
                    lines((h * 300, ms) for h, ms, *_ in rows if h not in (9, 10, 11)))
    places = sorted({cell[3] for cell in picture.cells})
    steps = [b - a for a, b in zip(places, places[1:])]
    expect(abs(max(steps) - 4 * min(steps)) < 4 * 2, steps)
    # Many groups: equal ranges of their values.
    picture = check(["-f", "2", "--by", "4", "--width", "50"], lines(rows))
    expect("each column combines 10 values of the group" in picture.note, picture.note)
    expect_equal(len({cell[3] for cell in picture.cells}), 200)
    picture = check(["-f", "2", "--by", "4", "--width", "50"],
                    lines((h, ms, s, minute * 60 + 7, b) for h, ms, s, minute, b in rows))
    expect("each column combines 10 neighbouring groups" in picture.note, picture.note)
    expect_equal({cell[0][1] - cell[0][0] for cell in picture.cells}, {600})
    wide = [(int(s), h) for h, s in ((h, (-1) ** h * 2**h * 10**12) for h in range(1, 23))]
    check(["-f", "2", "--by", "1"], lines(wide))
    check(["uniq", "-f", "1", "--by", "2"], lines(wide))
    check(["uniq", "-f", "1", "--by", "2"], lines((v, i % 9) for i in range(7) for v in range(i, 90 * i + 90)))
    for value in 0, -7, 2**63 - 1, -2**63:
        picture = check(["-f", "1", "--by", "2", "--width", "10"], f"{value} {value}\n")
        expect_equal((picture.summary, len(picture.cells)), ("1 value in 1 group by field 2", 1))
    fixed = check(["-f", "1:.2", "--by", "2:.1", "--width", "0.5"],
                  lines((f"{ms / 40:.2f}", f"{h / 2:.1f}") for h, ms, *_ in rows))
    expect_equal([str(value) for _, value in fixed.below[:2]], ["0", "1"])


def test_automatic():
    """The bins are those of the values of all groups."""
    rows = log(4000, 4)
    for scale in 1, 1000, -3:
        values = [ms * scale for _, ms, *_ in rows]
        text = lines((h, v) for (h, *_), v in zip(rows, values))
        picture = Map(gpuhist(["-f", "2", "--by", "1", "--format", "svg"], text))
        bins = {}
        for line in gpuhist(["-f", "2", "--text"], text).splitlines():
            low, high, count = map(int, line.split("\t"))
            bins[(low, high)] = count
        seen = {}
        of_group = {}
        for (h, *_), v in zip(rows, values):
            of_group.setdefault(h, []).append(v)
        for group, bin, count, *_ in picture.cells:
            wanted = sum(bin[0] <= v < bin[1] for v in of_group[group[0]])
            expect_equal(count, wanted, group, bin)
            seen[bin] = seen.get(bin, 0) + count
        expect_equal(seen, bins)
    picture = Map(gpuhist(["-f", "3", "--by", "1", "--format", "svg"], lines(rows)))
    expect_equal([int(v) for _, v in picture.left], [200, 304, 404, 500])


def test_colours():
    picture = Map(gpuhist(["-f", "1", "--by", "2", "--format", "svg"], "1 1\n"))
    for is_dark in False, True:
        lights = [lightness(picture.colours(is_dark)[i]) for i in range(33)]
        steps = [b - a for a, b in zip(lights, lights[1:])]
        steps = steps if is_dark else [-s for s in steps]
        expect(len(steps) == 32 and min(steps) > 0.010 and max(steps) < 0.025, steps)
    same = check(["uniq", "-f", "1", "--by", "2"], "1 1\n2 1\n2 1\n" + 15 * "2 2\n")
    expect_equal(same.legend, "count")
    body = check(["uniq", "-f", "1", "--by", "2"], "1 1\n2 1\n2 1\n" + 16 * "2 2\n")
    expect_equal(body.legend, "count (logarithmic)")
    log = check(["uniq", "-f", "1", "--by", "2"], "1 1\n2 1\n2 1\n" + 100 * "2 2\n")
    expect_equal((log.legend, [int(v) for _, v in log.scale]), ("count (logarithmic)", [1, 10, 100]))
    log = check(["uniq", "-f", "1", "--by", "2", "--log-count"], "1 1\n2 1\n2 1\n" + 9 * "2 2\n")
    expect_equal((log.legend, [int(v) for _, v in log.scale]), ("count (logarithmic)", [1, 2, 5]))
    titled = Map(gpuhist(["-f", "1", "--by", "2", "--title", "<&> \u00e9\x1b", "--label", "\"ms\" <",
                          "--format", "svg"], "1 1\n2 1\n"))
    expect_equal((titled.title, titled.summary, titled.bins),
                 ("<&> \u00e9?", "2 values in 1 group by field 2", "\"ms\" <"))
    plot = gpuhist(["-f", "1", "--by", "2", "--title", "<&> \u00e9\x1b", "--label", "\"ms\" <",
                    "--plot"], "1 1\n2 1\n").splitlines()
    expect_equal(plot[:2], ["<&> \u00e9?", "\"ms\" < by field 2"])
    # --percent: shares of the columns, also of out-of-range values.
    rows = [(1, 1)] * 2 + [(2, 1), (9, 1)] + [(1, 2)] * 3 + [(8, 2)] * 4
    share = Map(gpuhist(["--bins", "5", "-f", "1", "--by", "2", "--percent", "--format", "svg"], lines(rows)))
    expect_equal([(cell[1][0], cell[0][0], str(cell[2])) for cell in share.cells],
                 [(1, 1, "50"), (1, 2, "42.8571"), (2, 1, "25")])
    expect_equal((share.legend, [str(v) for _, v in share.scale]),
                 ("count in percent of its group", ["0", "10", "20", "30", "40", "50"]))
    plot = gpuhist(["--bins", "5", "-f", "1", "--by", "2", "--percent", "--plot"], lines(rows))
    expect(re.fullmatch(r"count in percent of its group( +\S+ [0-9.]+%)+", plot.splitlines()[-1]), plot)
    weighted = check(["uniq", "--csv", "-f", "ms", "--by", "hour", "--weight", "bytes"],
                     "hour,ms,bytes\n1,5,70\n1,6,0\n2,5,30\n2,5,3\n")
    expect_equal((weighted.legend, weighted.title, weighted.summary, weighted.bins, weighted.groups),
                 ("sum of bytes", "Sum of bytes by ms and hour", "103 (sum of bytes) in 2 groups by hour", "ms", "hour"))
    expect_equal(sorted(cell[2] for cell in weighted.cells), [33, 70])
    great = Map(gpuhist(["uniq", "-f", "1", "--by", "2", "--weight", "3", "--format", "svg"],
                        f"1 1 {2**63 - 1}\n1 1 {2**63 - 1}\n2 2 1\n"))
    expect_equal([cell[2] for cell in great.cells], [2**64 - 2, 1])
    name = "<a & \"b\">\x01\u00e9"
    odd = Map(gpuhist(["-d", "|", "-f", name, "--by", "other", "--format", "svg"], f"{name}|other\n5|6\n"))
    expect_equal(odd.bins, "<a & \"b\">?\u00e9")
    for arguments in ["--bins", "5"], [], ["--log2"], ["--edges", "0,1,5"]:
        empty = Map(gpuhist([*arguments, "-f", "1", "--by", "2", "--format", "svg"], ""))
        expect_equal((empty.summary, empty.cells), ("0 values in 0 groups by field 2", []))
    for kind in "time", "time/7h", "int/5", "time/1mo", "time/hour-of-day":
        for output in ["--format", "svg"], ["--plot"], ["--format", "html"]:
            expect(gpuhist(["uniq", "-f", f"1:{kind}", "--by", f"2:{kind}", *output], ""), kind, output)
    only = Map(gpuhist(["--bins", "5", "-f", "1", "--by", "2", "--format", "svg"], "7 1\n8 2\n"))
    expect_equal((only.summary, only.cells, only.note), ("2 values in 2 groups by field 2", [], "above the bins: 2"))


def in_terminal(arguments, text, columns, rows, **environment):
    """Returns the output of a run at a terminal of that size."""
    with open("in", "w") as file:
        file.write(text)
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        for name in "NO_COLOR", "COLORTERM", "COLUMNS", "LINES":
            os.environ.pop(name, None)
        os.environ.update(environment)
        os.execv(GPUHIST, [GPUHIST, *arguments, "in"])
    output = b""
    try:
        while True:
            piece = os.read(terminal, 65536)
            if not piece:
                break
            output += piece
    except OSError:  # the end of a terminal
        pass
    expect_equal(os.waitpid(pid, 0)[1], 0, arguments, output)
    return output.decode().replace("\r\n", "\n")


def grid(text):
    """Returns a terminal's map as characters, a colour as its number; only the lines of bins."""
    result = []
    for line in text.splitlines():
        cells = []
        for code, run in re.findall(r"(?:\033\[48;([0-9;]+)m)?(?:\033\[(?:30|97)m)?([^\033]*)(?:\033\[0m)?", line):
            cells += [code or c for c in run]
        result.append(cells)
    return result


def check_terminal(arguments, text, columns, rows, **environment):
    output = in_terminal([*arguments, "-q"], text, columns, rows, **environment)
    found = grid(output)
    expect(len(found) < rows, "higher than the terminal", len(found), rows)
    expect(max(map(len, found)) <= columns, "wider than the terminal", max(map(len, found)), columns)
    return output, found


def test_terminal():
    rows = log(5000, 5)
    text = lines(rows)
    utf = {"TERM": "xterm", "LC_ALL": "C.UTF-8"}
    # The cells of four groups contain the counts; those of 24 groups do not fit.
    for value, by, has_numbers in (1, 3, True), (3, 1, False):
        arguments = ["uniq", "-f", str(value), "--by", str(by)]
        counts = {(int(g), int(b)): c for g, b, c in rows_of(arguments, text)}
        groups, bins = sorted({g for g, _ in counts}), sorted({b for _, b in counts}, reverse=True)
        for environment, shades in (({**utf, "COLORTERM": "truecolor"}, None), (utf, None),
                                    ({**utf, "NO_COLOR": "1"}, "\u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"),
                                    ({"TERM": "dumb", "LC_ALL": "C"}, ".:-=+*#%@")):
            for plot in ["--log-count"], ["--plot"]:
                output, found = check_terminal([*arguments, *plot], text, 60, 40, **environment)
                plain = re.sub(r"\033\[[0-9;]*m", "", output).splitlines()
                expect_equal(plain[0], f"field {value} by field {by}")
                left = len(str(bins[0])) + 2
                number = len(str(max(counts.values()))) + bool(shades)
                cell = max(number, 3) + 2 if has_numbers else (60 - left) // 24
                if has_numbers:
                    expect_equal(re.findall(r"\S+", plain[1 + len(bins)]), [str(g) for g in groups])
                seen = {}
                for bin, line, shown in zip(bins, found[1:], plain[1:]):
                    expect_equal(shown[:left], str(bin).rjust(left - 2) + "  ", "labels are right")
                    for i, group in enumerate(groups):
                        at = slice(left + cell * i, left + cell * (i + 1))
                        inside, drawn = shown[at], set(line[at])
                        count = counts.get((group, bin))
                        if count is None:
                            expect_equal(inside.strip(), "", group, bin, output)
                            continue
                        expect(has_numbers == (str(count) in inside), inside, count)
                        if shades:
                            drawn -= set("0123456789 ")
                        expect_equal(len(drawn), 1, "the shade of", group, bin, output)
                        seen.setdefault(drawn.pop(), []).append(count)
                ranges = sorted((min(c), max(c)) for c in seen.values())
                expect(len(ranges) >= 6, ranges)
                expect(all(a[1] < b[0] for a, b in zip(ranges, ranges[1:])), ranges)
                legend = plain[2 + len(bins)]
                expect(re.match(r"count  .. 1  ", legend), legend)
                expect(legend.endswith(f" to {max(counts.values())} (logarithmic)"), legend)
                if shades:
                    expect(set(seen) <= set(shades), seen)
                    order = sorted(seen, key=lambda s: min(seen[s]))
                    expect_equal(order, sorted(seen, key=shades.index))
                else:
                    code = "2;\\d+;\\d+;\\d+" if "COLORTERM" in environment else "5;\\d+"
                    expect(all(re.fullmatch(code, shade) for shade in seen), seen)
    arguments = ["uniq", "-f", "1", "--by", "3"]
    # As many rows as the screen has.
    for height in 24, 60, 100:
        output, found = check_terminal(["-f", "2", "--by", "1", "--bins", str(height - 4), "--plot"], text, 200, height, **utf)
        expect_equal(len(found), height - 1)
    # It fits any terminal.
    for columns, height in ((40, 12), (80, 24), (200, 60), (1000, 10)):
        for more in [["-f", "2", "--by", "4", "--width", "3"], ["-f", "2", "--by", "1", "--log2=4"],
                     ["-f", "4", "--by", "2"], ["uniq", "-f", "5", "--by", "4", "--weight", "2"]]:
            check_terminal([*more, "--plot"], text, columns, height, **utf)
    # At a terminal, results without a heat map are tables with the cells of tsv.
    for more in [], ["--top", "2"], ["--cumulative"], ["--by", "1,3"]:
        by = [] if "--by" in more else ["--by", "3"]
        output = in_terminal(["uniq", "-f", "1", *by, *more], text, 80, 24, **utf)
        expect_equal([line.split() for line in output.splitlines()[1:]],
                     [line.split() for line in gpuhist(["uniq", "-f", "1", *by, *more], text).splitlines()], more)
    # Results replace each other.
    output = in_terminal([*arguments, "--every", "1d", "--plot"], text, 60, 40, **utf)
    expect_equal(output.count("field 1 by field 3"), output.count("\033[H\033[J") or 1)


globals()["test_" + TEST]()
