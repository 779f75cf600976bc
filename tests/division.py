"""A division of the input changes nothing, wherever it is divided and with any number of threads.

usage: division.py GPUHIST bytes|rows|random|reports|damage [SEED [COUNT]]

    bytes    short texts, elements and records, divided at every byte
    rows     COUNT texts with rows of 1 to 3 chunks, divided near them
    random   COUNT runs on longer ones, divided at random places, the first drawn from SEED, the next
             from SEED + 1, ...
    reports  like random, with invalid tokens, which are reported with their lines
    damage   COUNT compressed files with flipped bits, or cut, some also with invalid tokens: messages are
             those of one thread that reads them from a pipe, in the order of the file

Rows are made together with their values, so the expected output is known. The compressed files are
those of frames.py. If SHARE is above 1, one in SHARE cases is run. If it is 0, texts are divided at
every byte in each format, by each operation, which takes minutes for "bytes" and hours for many
"rows". With DIVISION_ALL set, all failures are reported, not only the first.
"""
import collections
import functools
import gzip
import itertools
import lzma
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading

import frames

SHARE = int(os.environ.get("SHARE", "1"))
CHUNK = 4096  # the minimum for text
THREADS = (1, 2, 3, 16)


# --- rows and their contents ---------------------------------------------------------------------

class Line:
    """The bytes of a row, and its items: values, pairs of values, or invalid tokens."""

    def __init__(self, data, *items):
        self.data = data
        self.items = items


def number(rng):
    return rng.choice([rng.randrange(10), rng.randrange(300), rng.randrange(-10**6, 10**6),
                       rng.randrange(-2**62, 2**62)])


def small(rng):
    return rng.choice([rng.randrange(10), rng.randrange(1000)])


def blanks(rng, size=0):
    return b"".join(rng.choices([b" ", b"\t"], k=rng.randrange(1, 3) + size))


def junk(rng, size=0):
    """Returns a cell that is not a value and has no separator."""
    word = rng.choice([b"a", b"-", b"x=1", b"some-name", b"\xc3\xa9", b"17", b"0.5"])
    return word + bytes(rng.choices(b"abcdefgh0123456789", k=size))


class Layout:
    """
    A notation of rows in text. row(rng, token, size[, second]) is a row of a token, with `size` more
    bytes than it needs; write(value) is the token of a value; header: the leading lines. With `between`,
    a line may have several tokens, separated by it.
    """

    def __init__(self, words, row, header=b"", write=b"%d".__mod__, value=number, pair=None,
                 scale=None, between=None):
        self.words = words
        self.row = row
        self.header = header
        self.write = write
        self.value = value
        self.pair = pair  # the option of a second column
        self.scale = scale  # decimals
        self.between = between
        self.filler = b"\n"
        self.filler_item = None
        self.is_text = True

    def line(self, rng, size, invalid=None):
        if invalid:
            return Line(self.row(rng, invalid, size), invalid.decode())
        if self.pair:
            value, second = self.value(rng), rng.randrange(1, 9)
            return Line(self.row(rng, self.write(value), size, second), (value, second))
        values = [self.value(rng) for _ in range(rng.choice([1, 2, 3]) if self.between else 1)]
        rows = [self.row(rng, self.write(value), 0) for value in values[1:]]
        return Line((self.between or b"").join([self.row(rng, self.write(values[0]), size), *rows]),
                    *values)


def row_tokens(rng, token, size):
    """Returns one token, made longer by blanks or zeros."""
    digits = token.lstrip(b"-")
    if size and digits.isdigit() and rng.randrange(2):
        return token[:len(token) - len(digits)] + b"0" * size + digits
    return (blanks(rng, size) if size or rng.randrange(5) == 0 else b"") + token


def row_blanks(rng, token, size):
    before, behind = (size, 0) if rng.randrange(2) else (0, size)
    lead = blanks(rng) if rng.randrange(4) == 0 else b""
    rest = b"".join(blanks(rng) + junk(rng) for _ in range(rng.randrange(3)))
    return lead + junk(rng, before) + blanks(rng) + token + rest + (blanks(rng) + junk(rng, behind)
                                                                     if behind else b"")


def row_named(rng, token, size):
    """Returns a row with a field for each of NAMES."""
    junks = [junk(rng), token, junk(rng), junk(rng)]
    junks[rng.choice([0, 2, 3])] = junk(rng, size)
    return (blanks(rng) if rng.randrange(4) == 0 else b"") + blanks(rng).join(junks)


def row_last(rng, token, size):
    return b"".join([junk(rng, size), *(blanks(rng) + junk(rng) for _ in range(rng.randrange(3))),
                     blanks(rng), token])


def row_commas(rng, token, size):
    sizes = [0, 0, 0]
    sizes[rng.randrange(3)] = size
    cell = rng.choice([b"", b" "]) + token + rng.choice([b"", b" "])
    return b",".join([junk(rng, sizes[0]), b"" if not sizes[1] else junk(rng, sizes[1]), cell,
                      *([junk(rng, sizes[2])] if sizes[2] or rng.randrange(2) else [])])


def row_csv(rng, token, size):
    sizes = [0, 0]
    sizes[rng.randrange(2)] = size
    cells = [b'"%s, ""%s"""' % (junk(rng, s), junk(rng)) if rng.randrange(2) else junk(rng, s)
             for s in sizes]
    return b",".join([cells[0], b'"%s"' % token if rng.randrange(2) else token, cells[1]])


def row_pair(rng, token, size, second):
    return b"%d%s%s%s%s" % (second, blanks(rng), token, blanks(rng), junk(rng, size))


def hexadecimal(value):
    return b"%s%s%x" % (b"-" * (value < 0), b"0x" * (value % 3 == 0), abs(value))


def hundredths(value):
    return b"%s%d.%02d" % (b"-" * (value < 0), abs(value) // 100, abs(value) % 100)


NAMES = b"# a table\nid  size name more\n"
CSV_NAMES = b'"first, column",v"x,"the ""last"""\r\n'.replace(b'v"x', b'"v ""x"""')

LAYOUTS = {
    "tokens": Layout(["--text"], row_tokens, between=b" "),
    "all-commas": Layout(["-d", ","], row_tokens, between=b","),
    "hex": Layout(["--text", "--base", "16"], row_tokens, write=hexadecimal),
    "decimals": Layout(["--text", "--decimals", "2"], row_tokens, write=hundredths, scale=2),
    "blanks": Layout(["-f", "2"], row_blanks),
    "last": Layout(["-f", "-1"], row_last),
    "commas": Layout(["-d", ",", "-f", "3"], row_commas),
    "csv": Layout(["--csv", "-f", "2"], row_csv),
    "named": Layout(["--header=2", "-f", "size"], row_named, NAMES),
    "csv-named": Layout(["--csv", "-f", 'v "x"'], row_csv, CSV_NAMES),
    "weight": Layout(["-f", "2"], row_pair, value=small, pair="--weight"),
    "by": Layout(["-f", "2"], row_pair, pair="--by"),
    "few": Layout(["-f", "2"], row_blanks, value=small),
}


class Binary:
    """Elements, or records with a value at some offset, and perhaps a second column."""

    def __init__(self, words, bits, width=0, offset=0, pair=None):
        self.words = words
        self.bits = bits
        self.bytes = bits // 8
        self.width = width or self.bytes
        self.offset = offset
        self.pair = pair
        self.header = b""
        self.scale = None
        self.filler = bytes(self.width)
        self.filler_item = (0, 0) if pair else 0
        self.is_text = False

    def line(self, rng, _size, _invalid=None):
        value = rng.choice([rng.randrange(10), rng.randrange(-2**(self.bits - 1), 2**(self.bits - 1))])
        data = bytearray(rng.randbytes(self.width))
        data[self.offset:self.offset + self.bytes] = value.to_bytes(self.bytes, "little", signed=True)
        if not self.pair:
            return Line(bytes(data), value)
        data[0] %= 5
        return Line(bytes(data), (value, data[0]))


BINARIES = {
    "i16": Binary(["-t", "i16le"], 16),
    "i32": Binary(["-t", "i32le"], 32),
    "i64": Binary(["-t", "i64le"], 64),
    "record": Binary(["-t", "i32", "--record", "11", "--offset", "5"], 32, 11, 5),
    "record-by": Binary(["-t", "i16", "--record", "5", "--offset", "2", "--by", "u8@0"], 16, 5, 2, "--by"),
}


class Text:
    """Rows as a file has them."""

    def __init__(self, layout, lines, end=b"\n", last_end=None):
        self.layout = layout
        self.lines = lines
        ends = [end] * len(lines) if layout.is_text else [b""] * len(lines)
        if lines and last_end is not None and layout.is_text:
            ends[-1] = last_end
        self.data = layout.header + b"".join(line.data + e for line, e in zip(lines, ends))
        self.header_lines = layout.header.count(b"\n")
        self.invalid_count = sum(isinstance(item, str) for line in lines for item in line.items)

    @functools.cached_property
    def items(self):
        return [item for line in self.lines for item in line.items if not isinstance(item, str)]

    def reports(self, name):
        return [f"{name}:{i}: invalid integer '{item}'"
                for i, line in enumerate(self.lines, self.header_lines + 1)
                for item in line.items if isinstance(item, str)]

    def items_before(self):
        """Returns the items before the first invalid token."""
        return list(itertools.takewhile(lambda item: not isinstance(item, str),
                                        (item for line in self.lines for item in line.items)))

    def ends(self):
        """Returns the end of each row."""
        at, ends = len(self.layout.header), []
        for line in self.lines:
            at += len(line.data) + self.layout.is_text
            ends.append(min(at, len(self.data)))
        return ends


# --- operations ----------------------------------------------------------------------------------

def decimal(value, scale):
    return hundredths(value).decode() if scale else str(value)


def reduce(items, scale):
    xor = 0
    for item in items:
        xor ^= item
    rows = [("count", str(len(items))), ("sum", decimal(sum(items), scale)), ("xor", str(xor))]
    if items:
        rows += [("min", decimal(min(items), scale)), ("max", decimal(max(items), scale))]
    return "".join(f"{name}\t{value}\n" for name, value in rows if not (scale and name == "xor"))


def counts(items, scale):
    return "".join(f"{decimal(value, scale)}\t{count}\n"
                   for value, count in sorted(collections.Counter(items).items()))


def survivors(items, scale):
    kept = []
    for item in items:
        if not kept or item >= kept[-1]:
            kept.append(item)
    return "".join(f"{decimal(item, scale)}\n" for item in kept)


def weights(items, _scale):
    total = collections.Counter()
    for value, weight in items:
        total[value] += weight
    return "".join(f"{value}\t{weight}\n" for value, weight in sorted(total.items()))


def groups(items, _scale):
    by = collections.defaultdict(list)
    for value, group in items:
        by[group].append(value)
    return "".join(f"{group}\t{len(v)}\t{sum(v)}\t{min(v)}\t{max(v)}\n"
                   for group, v in sorted(by.items()))


def operations(layout):
    """The command lines and their expected results."""
    if layout.pair == "--weight":
        return [(["uniq", "--weight", "1"], weights)]
    if layout.pair == "--by":
        return [(["reduce", "count,sum,min,max", *(["--by", "1"] if layout.is_text else [])], groups)]
    if layout.scale:
        return [(["reduce", "count,sum,min,max"], reduce), (["uniq"], counts)]
    done = [(["reduce", "count,sum,xor,min,max"], reduce), (["uniq"], counts)]
    if layout is LAYOUTS["few"]:
        done = [(["--bins", "1000"], counts)]
    if layout.is_text and "16" not in layout.words and layout is not LAYOUTS["few"]:
        done.append((["stalin-sort"], survivors))
    return done


# --- files ---------------------------------------------------------------------------------------

FORMATS = {"zst": frames.zstd_file, "lz4": frames.lz4_file, "bgzf": frames.bgzf_file,
           "xz": frames.xz_streams, "xzb": frames.xz_blocks, "bz2": frames.bz2_streams}
PACKERS = {"gz": gzip.compress}  # formats whose files are not divided
NAMES_OF_FORMATS = {"zst": "zstd", "lz4": "lz4", "bgzf": "gzip", "gz": "gzip", "xz": "xz",
                    "xzb": "xz", "bz2": "bzip2"}


@functools.lru_cache
def decoded(gpuhist):
    """Returns the formats that this build decodes."""
    info = subprocess.run([gpuhist, "info"], stdout=subprocess.PIPE, check=True).stdout.decode()
    return [form for form, name in NAMES_OF_FORMATS.items() if f"\n{name}: yes" in info]


def divided(gpuhist):
    return [form for form in decoded(gpuhist) if form in FORMATS]


def whole_file(gpuhist, data, rng):
    """Returns the bytes of a plain file, of one undivided member, or of frames."""
    form = rng.choice(["plain", *(form for form in decoded(gpuhist) if form in ("gz", "zst"))])
    return {"plain": lambda: [data], "gz": lambda: [gzip.compress(data)],
            "zst": lambda: frames.zstd_file([data], rng)}[form]()


def cut(data, places):
    places = sorted(places)
    return [data[a:b] for a, b in zip([0, *places], [*places, len(data)])]


def write_file(name, text, places, form, rng):
    """Returns the number of filler rows at the end of the file."""
    pieces = cut(text.data, places)
    filler = 0
    if form in ("xz", "xzb"):
        ended = text.data.endswith(b"\n") or not text.layout.is_text
        if form == "xzb": # a part takes a quarter of its bytes
            wanted = len(pieces) << 14
        else:
            wanted = (len(pieces) + 1) << 14
        unit = text.layout.filler
        filler = wanted // len(unit) + 1
        pieces.append(unit * filler)
        assert ended or unit == b"\n"
    frames.write(name, FORMATS[form](pieces, rng))
    return 0 if text.layout.is_text else filler


# --- runs ----------------------------------------------------------------------------------------

class Failed(Exception):
    pass


def run(gpuhist, words, stdin=None):
    command = [gpuhist, *words]
    try:
        done = subprocess.run(command, capture_output=True, timeout=100, check=False, stdin=stdin)
    except subprocess.TimeoutExpired:
        raise Failed(f"{shlex.join(command)[:400]}: hangs") from None
    errors = re.sub(r"(invalid integer '[^'\n]*') \(.*\)$", r"\1", done.stderr.decode(), flags=re.MULTILINE)  # advice
    return done.returncode, done.stdout.decode(), errors


def difference(done, wanted):
    """The first lines that differ."""
    if (done[0], done[2]) != (wanted[0], wanted[2]):
        return f"got    {done[0]} {done[2][:600]!r}\nwanted {wanted[0]} {wanted[2][:600]!r}"
    lines, others = done[1].split("\n"), wanted[1].split("\n")
    differ = [f"got {a!r} wanted {b!r}" for a, b in zip(lines, others) if a != b][:6]
    return f"{len(lines)} lines for {len(others)}; " + "; ".join(differ)


def check(gpuhist, words, wanted, stdin=None):
    done = run(gpuhist, words, stdin)
    if done != wanted:
        raise Failed(shlex.join(["gpuhist", *words])[:600] + "\n" + difference(done, wanted))


def settings(rng):
    chunk = rng.choice([CHUNK, CHUNK, CHUNK + rng.randrange(9), rng.randrange(CHUNK, 1 << 16), 1 << 20])
    return ["--engine", "cpu", "--threads", str(rng.choice(THREADS)), "--chunk-size", str(chunk)]


def check_files(gpuhist, operation, layout, files, rng):
    """
    Checks files {name: items}: all in one run, and if that fails, one by one. If one of them must be
    read again in order, all are, which hides errors of the others.
    """
    (command, expect), more = operation, settings(rng)
    words = [*command, *layout.words, *more]
    try:
        items = [item for some in files.values() for item in some]
        check(gpuhist, [*words, *files], (0, expect(items, layout.scale), ""))
    except Failed as failed:
        for name, some in files.items():
            for _ in range(3 if len(files) > 1 else 0):
                check(gpuhist, [*words, name], (0, expect(some, layout.scale), ""))
        raise failed


# --- divided at every byte -----------------------------------------------------------------------

def short_text(layout, variant, rng):
    lines = [layout.line(rng, 0) for _ in range(3 if layout.is_text else 5)]
    if layout.is_text and variant == 0:
        lines.insert(1, Line(b""))
        lines.insert(rng.randrange(4), Line(rng.choice([b"", b" "])))
        return Text(layout, lines, last_end=b"")
    return Text(layout, lines, b"\r\n")


def long_text(layout, rng):
    """Returns some lines around one or two of about 1 to 3 chunks."""
    def sized():
        size = rng.choice([1, 2, 3]) * CHUNK + rng.randrange(-60, 20)
        return layout.line(rng, rng.choice([size, rng.randrange(1, 3 * CHUNK)]))
    def lines(count):
        return [layout.line(rng, 0) for _ in range(count)]
    return Text(layout, lines(rng.choice([0, 2, 40])) + [sized()] + lines(rng.choice([0, 1, 3])) +
                rng.choice([[], [sized()]]) + lines(rng.choice([2, 40, 600])),
                rng.choice([b"\n", b"\r\n"]), rng.choice([b"", b"\n"]))


def near_ends(text, rng, count):
    """Returns places near the ends of rows, at multiples of chunks from them, and others."""
    ends = [0, len(text.layout.header), *text.ends()]
    places = [rng.choice(ends) + rng.choice([0, 0, 0, 1, 2, 3]) * CHUNK + rng.randrange(-2, 3)
              for _ in range(count)]
    places += [rng.randrange(len(text.data) + 1) for _ in range(count // 3 + 1)]
    places = [min(max(place, 0), len(text.data)) for place in places]
    return rng.sample(places, count)


def check_places(gpuhist, text, form, sets, operation, together, rng):
    """A file for each set of places where the text is divided; up to `together` in one run."""
    for first in range(0, len(sets), together):
        files = {}
        for i, places in enumerate(sets[first:first + together]):
            name = f"{i}.{form}"
            filler = write_file(name, text, places, form, rng)
            files[name] = text.items + [text.layout.filler_item] * filler
        try:
            check_files(gpuhist, operation, text.layout, files, rng)
        except Failed as failed:
            raise Failed(f"{len(text.data)} bytes divided at {sets[first:first + together]}\n{failed}") \
                from None
        for name in files:
            os.unlink(name)


def short_sets(text, rng):
    """Yields each byte, all bytes, and some pairs; first those that may need order."""
    every = range(len(text.data) + 1)
    alone = range(len(text.layout.header) + 1) if text.layout.is_text else \
        [place for place in every if place % text.layout.width]
    return [[place] for place in alone], \
        [*([place] for place in every if place not in alone), [*every], [0, 0, len(text.data)],
         *(rng.choices(every, k=2) for _ in range(9))]


def check_over_files(gpuhist, layout, rng):
    """Three elements that two ends of files cut, at every two bytes; each file in some format."""
    text = Text(layout, [layout.line(rng, 0) for _ in range(3)])
    names = ["0.part", "1.part", "2.part"]
    every = range(len(text.data) + 1)
    for places in [(a, b) for a in every for b in every[a:]][::max(SHARE, 1) * (len(every) // 9 if SHARE else 1) or 1]:
        for name, piece in zip(names, cut(text.data, places)):
            frames.write(name, whole_file(gpuhist, piece, rng))
        command, expect = operations(layout)[0]
        words = [*command, *layout.words, *settings(rng)]
        try:
            check(gpuhist, [*words, *names], (0, expect(text.items, layout.scale), ""))
        except Failed as failed:
            raise Failed(f"divided at {places}\n{failed}") from None


def bytes_checks(gpuhist, seed, _count):
    """Each text in one format, in turn; if SHARE is 0, in each format by each operation."""
    rng = random.Random(seed)
    formats = divided(gpuhist)
    turns = itertools.cycle(form for form in formats if form != "xzb")
    cases = [(name, variant) for name in LAYOUTS for variant in range(2)]
    cases += [(name, 0) for name in BINARIES]
    for name, variant in cases[::max(SHARE, 1)]:
        layout = {**LAYOUTS, **BINARIES}[name]
        text = short_text(layout, variant, rng)
        every = operations(layout)
        for form, operation in itertools.product(formats, every) if SHARE == 0 else \
                [(next(turns), rng.choice(every))]:
            for sets, together in zip(short_sets(text, rng), (1, 200)):
                yield f"{name} {form}", functools.partial(
                    check_places, gpuhist, text, form, sets, operation, together, rng)
    for name, layout in BINARIES.items():
        yield f"{name} over files", functools.partial(check_over_files, gpuhist, layout, rng)


def rows_checks(gpuhist, seed, count):
    rng = random.Random(seed)
    formats = [form for form in divided(gpuhist) if form != "xzb"]
    for i in range(0, count, max(SHARE, 1)):
        name = rng.choice(list(LAYOUTS))
        text = long_text(LAYOUTS[name], rng)
        sets = [*([place] for place in near_ends(text, rng, 6)),
                *(near_ends(text, rng, rng.randrange(2, 5)) for _ in range(3))]
        if SHARE == 0:
            sets = [[place] for place in range(len(text.data) + 1)]
        yield f"{name} {i}", functools.partial(check_places, gpuhist, text, rng.choice(formats), sets,
                                               rng.choice(operations(LAYOUTS[name])), 1, rng)


# --- divided at random places --------------------------------------------------------------------

def random_text(layout, rng, invalid=0):
    """Some rows are long, some empty; up to `invalid` have an invalid token."""
    count = rng.choice([3, 30, 300, 3000, 9000])
    lines = [layout.line(rng, 0) for _ in range(count)]
    if layout.is_text:
        for _ in range(rng.choice([0, 0, 1, 3])):
            lines[rng.randrange(count)] = layout.line(rng, rng.randrange(1, 3 * CHUNK))
        for _ in range(rng.choice([0, count // 9])):
            lines[rng.randrange(count)] = Line(b"")
    for _ in range(min(invalid, count // 2)):
        token = rng.choice([b"x7", b"12z", b"--1", b"+x"])
        lines[rng.randrange(count)] = layout.line(rng, 0, token)
    return Text(layout, lines, rng.choice([b"\n", b"\n", b"\r\n"]), rng.choice([b"\n", b""]))


def random_file(gpuhist, name, text, rng):
    """Writes a file in some format; returns its name and the number of filler rows at its end."""
    places = near_ends(text, rng, rng.randrange(1, 9))
    form = rng.choice(["plain", *decoded(gpuhist), *divided(gpuhist)])
    name = f"{name}.{form}"
    if form in FORMATS:
        return name, write_file(name, text, places, form, rng)
    pieces = cut(text.data, places)
    frames.write(name, pieces if form == "plain" else [PACKERS[form](piece) for piece in pieces])
    return name, 0


def standard_input(way, file, text, rng):
    """Returns the input of a file: standard input, and a thread that writes to it, or None."""
    with open(file, "rb") as data:
        data = data.read()
    if way == "stdin":  # its offset is after the beginning
        with open("stdin", "wb") as other:
            other.write(b"junk\n\0" + data)
        stdin = os.open("stdin", os.O_RDONLY)
        os.lseek(stdin, 6, os.SEEK_SET)
        return stdin, None
    places = near_ends(text, rng, 3) if file.endswith("plain") else \
        rng.choices(range(len(data) + 1), k=3)
    stdin, writing = os.pipe()
    pieces = [piece for piece in cut(data, places) if piece]
    thread = threading.Thread(target=frames.feed, args=(pieces, writing, rng.choice([0, 0, 0.001, 0.03])))
    thread.start()
    return stdin, thread


def elements_over_files(gpuhist, rng):
    """Elements, or records, that the ends of files cut, and the files."""
    layout = rng.choice(list(BINARIES.values()))
    text = random_text(layout, rng)
    places = near_ends(text, rng, rng.randrange(1, 4))
    names = []
    for i, piece in enumerate(cut(text.data, places)):
        names.append(f"{i}.part")
        frames.write(names[-1], whole_file(gpuhist, piece, rng))
    return layout, text.items, names


def random_check(gpuhist, seed, with_reports):
    """One run, drawn from the seed."""
    rng = random.Random(seed)
    choices = ["tokens", "blanks", "last", "named"] if with_reports else [*LAYOUTS, *BINARIES]
    layout = {**LAYOUTS, **BINARIES}[rng.choice(choices)]
    way = rng.choice(["file", "file", "files", "stdin", "pipe"])
    stdin, thread, reports = None, None, []
    if way == "files" and not with_reports and rng.randrange(4) == 0:
        layout, items, names = elements_over_files(gpuhist, rng)
    else:
        items, names = [], []
        for i in range(rng.randrange(2, 5) if way == "files" else 1):
            text = random_text(layout, rng, rng.choice([1, 3, 30]) if with_reports else 0)
            name, filler = random_file(gpuhist, i, text, rng)
            shown = "standard input" if way in ("stdin", "pipe") else name
            names.append(name)
            reports += text.reports(f"gpuhist: {shown}")
            before = items + text.items_before() if len(reports) == text.invalid_count else before
            items = items + text.items + [layout.filler_item] * filler
        if way in ("stdin", "pipe"):
            stdin, thread = standard_input(way, names.pop(), text, rng)
    command, expect = rng.choice(operations(layout))
    words = [*command, *layout.words, *settings(rng)]
    wanted = (0, expect(items, layout.scale), "")
    if with_reports:
        policy = rng.choice(["abort", "fail", "warn", "ignore"])
        words += ["--invalid", policy, *(["-q"] if policy == "ignore" else [])]
        printed = wanted[1]
        if policy == "abort":  # a stream has been printed up to the invalid token
            printed = expect(before, None) if expect is survivors else ""
        wanted = (policy in ("abort", "fail"), printed, told(reports, policy))
    try:
        check(gpuhist, [*words, *names], wanted, stdin)
    finally:
        if stdin is not None:
            os.close(stdin)
        if thread:
            thread.join()


def told(reports, policy):
    """Returns the reports about invalid tokens."""
    lines = {"abort": reports[:1], "ignore": []}.get(policy, reports[:10])
    if len(reports) > len(lines) == 10:
        lines = [*lines, f"gpuhist: {len(reports) - 10} more invalid integers"]
    if policy == "fail" and reports:
        ending = "" if len(reports) == 1 else "s"
        lines = [*lines, f"gpuhist: {len(reports)} invalid integer{ending} in the input"]
    return "".join(line + "\n" for line in lines)


def random_checks(gpuhist, seed, count, with_reports=False):
    for each in range(seed, seed + count, max(SHARE, 1)):
        yield f"seed {each}", functools.partial(random_check, gpuhist, each, with_reports)


# --- corrupt -------------------------------------------------------------------------------------

def damage(segments, rng):
    """Flips some bits of a file, often at the ends of frames, and may cut it; holes stay."""
    segments = list(segments)
    solid = [i for i, segment in enumerate(segments) if not isinstance(segment, int) and segment]
    for _ in range(rng.choice([1, 2, 3, 6])):
        which = rng.choice(solid)
        data = bytearray(segments[which])
        at = rng.choice([rng.randrange(len(data)), rng.randrange(min(len(data), 24)),
                         len(data) - 1 - rng.randrange(min(len(data), 12))])
        data[at] ^= 1 << rng.randrange(8)
        segments[which] = bytes(data)
    if rng.randrange(4) == 0:
        which = rng.choice(solid)
        segments[which:] = [segments[which][:rng.randrange(len(segments[which]))]]
    return segments


TOOLS = {"zst": (["zstd", "-qc"], ["-1", "-9", "--fast=2", "--check", "--no-check", "--no-content-size"]),
         "lz4": (["lz4", "-qc"], ["-1", "-9", "-B4", "-BD", "-BX", "--content-size", "--no-frame-crc"])}


def by_tool(form, pieces, rng):
    """Compressed blocks, by zstd or lz4; each piece is a part."""
    tool, options = TOOLS[form]
    return [segment for piece in pieces for segment in [subprocess.run(
        [*tool, rng.choice(options)], input=piece, stdout=subprocess.PIPE, check=True).stdout,
        *frames.zstd_hole()]]


def damage_check(gpuhist, seed):
    rng = random.Random(seed)
    layout = rng.choice([*LAYOUTS.values(), *BINARIES.values()])
    invalid = rng.choice([0, 0, 1, 3]) if layout.is_text and not layout.pair else 0
    text = random_text(layout, rng, invalid)
    pieces = cut(text.data, near_ends(text, rng, rng.randrange(1, 9)))
    form = rng.choice([*divided(gpuhist), *divided(gpuhist), *decoded(gpuhist)])
    if form in TOOLS and shutil.which(TOOLS[form][0][0]) and rng.randrange(3):
        segments = by_tool(form, pieces, rng)
    elif form in FORMATS:
        segments = FORMATS[form](pieces, rng)
    else:
        segments = [PACKERS[form](piece) for piece in pieces]
    frames.write("damaged", damage(segments, rng))
    command, _ = rng.choice(operations(layout))
    words = [*command, *layout.words, *(["--text"] if layout.is_text else [])]
    with subprocess.Popen(["cat", "damaged"], stdout=subprocess.PIPE) as cat:
        wanted = run(gpuhist, [*words, "--engine", "cpu", "--threads", "1", "--chunk-size", "1M", "-"],
                     cat.stdout)
        cat.stdout.close()  # it may end before the end of its input
    wanted = wanted[0], wanted[1], wanted[2].replace("standard input", "damaged")
    for threads, chunk in itertools.product((1, 2, 16), (CHUNK, 1 << 16, 1 << 20)):
        check(gpuhist, [*words, "--engine", "cpu", "--threads", str(threads), "--chunk-size",
                        str(chunk), "damaged"], wanted)


def lengths_check(gpuhist):
    """
    Files are divided by the lengths in the headers of BGZF members. gzip ignores them, so a file with
    a wrong length is valid, wherever the length is.
    """
    rng = random.Random(1)
    values = rng.choices([number(rng) for _ in range(9999)], k=200000)
    wanted = (0, reduce(values, None), "")
    data = b"".join(b"%d\n" % value for value in values)
    members = [bytearray(frames.bgzf_member(piece)) for piece in cut(data, range(60000, len(data), 60000))]
    assert sum(map(len, members)) > frames.PART_BYTES
    for member in members:
        right = member[17]
        member[17] ^= 1 << rng.randrange(8)  # the upper byte of the length
        frames.write("lengths", members)
        member[17] = right
        check(gpuhist, ["reduce", "count,sum,xor,min,max", "--text", *settings(rng), "lengths"], wanted)


def order_check(gpuhist, form):
    """
    An invalid token precedes corrupt bytes, so that later data cannot be decoded: the token is reported,
    whatever number of blocks a call decodes, also if deflate finds a distance that is too far.
    """
    rng = random.Random(1)
    if form == "gz":
        lines = [b"%d\n" % rng.randrange(1000) for _ in range(7000)]
    else:
        lines = [b"1\n" if byte < 5 else b"0\n" for byte in rng.randbytes(450000)]  # many blocks in few bytes
    at = len(lines) // 4
    lines[at] = b"x\n"
    pack = {"zst": lambda data: by_tool("zst", [data], rng)[0], "lz4": lambda data: subprocess.run(
        ["lz4", "-qc", "-B4"], input=data, stdout=subprocess.PIPE, check=True).stdout,
        "gz": gzip.compress, "xz": lzma.compress}[form]
    packed = pack(b"".join(lines))
    places = range(len(packed) // 2, len(packed) * 9 // 10, len(packed) // 60)  # in later blocks
    for place in places[::max(SHARE, 1)]:
        frames.write("order", [packed[:place], rng.randbytes(4), packed[place + 4:]])
        for chunk in (CHUNK, 1 << 16, 1 << 20):
            check(gpuhist, ["reduce", "--text", "--engine", "cpu", "--threads", "1", "--chunk-size",
                            str(chunk), "order"],
                  (1, "", f"gpuhist: order:{at + 1}: invalid integer 'x'\n"))


def damage_checks(gpuhist, seed, count):
    for form in decoded(gpuhist):
        if form in ("gz", "xz") or (form in TOOLS and shutil.which(TOOLS[form][0][0])):
            yield f"what precedes damage in {form}", functools.partial(order_check, gpuhist, form)
    if "bgzf" in divided(gpuhist):
        yield "lengths of members", functools.partial(lengths_check, gpuhist)
    for each in range(seed, seed + count, max(SHARE, 1)):
        yield f"seed {each}", functools.partial(damage_check, gpuhist, each)


CHECKS = {"damage": damage_checks, "bytes": bytes_checks, "rows": rows_checks, "random": random_checks,
          "reports": functools.partial(random_checks, with_reports=True)}


def main():
    gpuhist, kind = os.path.abspath(sys.argv[1]), sys.argv[2]
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 100
    failures = 0
    for label, one in CHECKS[kind](gpuhist, seed, count):
        with tempfile.TemporaryDirectory() as directory:
            os.chdir(directory)
            try:
                one()
            except Failed as failed:
                print(f"division.py {kind} {seed} {count}, {label}: {failed}", flush=True)
                failures += 1
            os.chdir("/")
        if failures and not os.environ.get("DIVISION_ALL"):
            break
    sys.exit(1 if failures else 0)


main()
