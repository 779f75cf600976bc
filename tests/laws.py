"""The laws of rows (--where, --by, several columns, parts), for random jobs on random tables.

usage: laws.py GPUHIST where|by|columns|sorted|parts|formats|missing|read|saved|found|all [SEED [COUNT]]

    where    --where is the run over the matching rows, which Python finds
    by       --by has the results of its groups, each selected by --where
    columns  reduce and count with -f A,B,C are the runs of A, B and C
    sorted   --sort, --top and --min-count of groups are the lines of all, which Python sorts and selects
    parts    saved and merged parts of the rows are the whole
    formats  uniq and count with --by, parsed from each format, are Python's counts
    missing  --missing skip is the run over the rows without missing values
    read     a value is read whole or rejected, equally by each row scanner, and a printed value reads as itself
    saved    merge reads the state of --save, and prints it in each format
    found    a column without a kind gives the result of one of its possible kinds, or an error

Python's datetime, ipaddress and json read timestamps, IP addresses, strings and lines of JSON; zones.py reads zones of
--tz, logfmt.py logfmt, clf.py web logs, units.py durations and sizes.

COUNT cases of each are drawn from SEED, SEED + 1, ... Each side of a law is a separate command, with its
own threads, chunks and way of reading. A failed case is reported with its seed, and its files stay in the
working directory. If SHARE is above 1, one in SHARE cases is run. soak.py draws cases for a given time, and
shrinks those that fail.
"""
import clf
import collections
import csv
import datetime
import decimal
import functools
import gzip
import html_page
import io
import ipaddress
import json
import logfmt
import os
import random
import re
import shlex
import subprocess
import sys
import units
import zoneinfo
import zones

SHARE = int(os.environ.get("SHARE", "1"))
THREADS = ("1", "2", "16")
CHUNKS = ("4096", "4097", "8192", "65536", "1M")
GROUPED = ("histogram", "uniq", "reduce", "count")  # operations that support --by
SAVED = ("histogram", "uniq", "reduce", "count")
REDUCTIONS = ("count", "sum", "min", "max", "mean", "variance", "stddev", "and", "or", "xor", "distinct",
              "mode", "median", "p0", "p12.5", "p99", "p100")
TYPES = {f"{sign}{bits}": (bits, sign == "i") for sign in "iu" for bits in (8, 16, 32, 64)}
RELATIONS = {"=": lambda a, b: a in b, "==": lambda a, b: a in b, "!=": lambda a, b: a not in b,
             "<": lambda a, b: a < b[0], "<=": lambda a, b: a <= b[0],
             ">": lambda a, b: a > b[0], ">=": lambda a, b: a >= b[0],
             "^=": lambda a, b: a.startswith(b[0]), "*=": lambda a, b: b[0] in a,
             "~": lambda a, b: bool(b[0].search(a)), "!~": lambda a, b: not b[0].search(a)}
OF_TEXTS = ("^=", "*=", "~", "!~")
NEWLINES = b"\n"
GARBAGE = (b"x", b"-", b"1.2.3", b"--7", b"1e5", b"0x", b"99999999999999999999", b"n/a", b"g1")
KINDS = ("time", "localtime", "ip", "text")
DURATIONS = {"s": 0, "ms": 3, "us": 6, "ns": 9}  # the decimals of a second
SIZES = ("bytes", "ibytes")
# Limits that shrink a failing case (soak.py): its rows by number, the number of conditions, the way of reading.
LIMITS = {}
WORDS = (b"", b"a", b"ab", b"b", b"B", b"/index.html", b"/a?x=1&y=2", b"\xff\xfe", b"caf\xc3\xa9", b"\\n", b"a'b", b"-7", b"12",
         b"\xed\xa0\x80", b"\x01", b"null", b"zz", b"\xf0\x9f\x98\x80")
FIXED = rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
TOKENS = {"int": rb"[+-]?[0-9]+|" + FIXED + rb"[eE][+-]?[0-9]+", "hex": rb"[+-]?(?:0[xX])?[0-9a-fA-F]+",
          "fixed": FIXED + rb"(?:[eE][+-]?[0-9]+)?", "round": FIXED + rb"(?:[eE][+-]?[0-9]+)?"}
EXACT = decimal.Context(prec=200)


class Failure(Exception):
    pass


def limits(name):
    bits, is_signed = TYPES[name]
    return (-2**(bits - 1), 2**(bits - 1)) if is_signed else (0, 2**bits)


def floor(value, width):
    return value if width is None else value // width * width


def written(value, decimals):
    """A value in the notation of its column."""
    if decimals == 0:
        return str(value)
    whole, rest = divmod(abs(value), 10**decimals)
    return f"{'-' * (value < 0)}{whole}.{rest:0{decimals}d}"


EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
ZONE = r"(?: ?(Z|z|[+-]\d\d(?::?\d\d)?))?"
TIMES = (rf"\[?(?P<d>\d{{4}}-\d\d-\d\d)(?:[Tt ](?P<t>\d\d:\d\d(?::\d\d)?)(?P<f>[.,]\d+)?(?P<z>{ZONE}))?\]?",
         rf"\[?(?P<c>\d\d/[A-Za-z]{{3}}/\d{{4}}:\d\d:\d\d:\d\d)(?P<f>[.,]\d+)?(?P<z>{ZONE})\]?",
         r"\[?(?P<s>[+-]?(?:\d+\.?\d*|\.\d+))\]?")
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
TIME_WIDTHS = ("1s", "15m", "h", "7h", "1d", "1w", "2w", "1mo", "3mo", "1y", "10y")
CYCLES = {"minute-of-day": lambda time: time.hour * 60 + time.minute, "hour-of-day": lambda time: time.hour,
          "day-of-week": lambda time: time.isoweekday(), "day-of-month": lambda time: time.day,
          "month-of-year": lambda time: time.month}


def read_time(token, kind, digits):
    """Returns a timestamp in units of 10^-digits seconds; None: invalid. For the years in the tables."""
    try:
        text = token.decode("ascii")
    except UnicodeDecodeError:
        return None
    found = next((match for form in TIMES if (match := re.fullmatch(form, text))), None)
    if not found:
        return None
    parts = found.groupdict()
    if parts.get("s"):
        sign = -1 if parts["s"].startswith("-") else 1
        whole, _, rest = parts["s"].lstrip("+-").partition(".")
        if len(whole) not in (9, 10) and parts["s"] != "0":
            return None
        units = sign * int((whole or "0") + rest.ljust(12, "0")[:12])  # of 10^-12 s
        return units // 10**(12 - digits) if abs(units) < 2**33 * 10**12 else None
    try:
        if parts.get("c"):
            time = datetime.datetime.strptime(parts["c"], "%d/%b/%Y:%H:%M:%S")
        else:
            time = datetime.datetime.fromisoformat(parts["d"] + ("T" + parts["t"] if parts["t"] else ""))
        zone = (parts["z"] or "").strip().replace(":", "")
        offset = 0
        if zone and zone not in "Zz" and kind == "time":
            offset = int(zone[0] + "1") * (int(zone[1:3]) * 3600 + int(zone[3:5] or 0) * 60)
    except ValueError:
        return None
    seconds = int((time.replace(tzinfo=datetime.timezone.utc) - EPOCH).total_seconds()) - offset
    return seconds * 10**digits + int(((parts["f"] or ".")[1:] + "0" * 12)[:digits] or 0)


ZONES = ("Europe/Berlin", "America/New_York", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC")


@functools.lru_cache(None)
def zone_of(name):
    """Returns a zone whose changes are some months apart; None if Python does not know it."""
    try:
        return zones.Zone(zoneinfo.ZoneInfo(name))
    except zoneinfo.ZoneInfoNotFoundError:
        return None


@functools.lru_cache(2**16)
def bucket_of(zone, width, seconds):
    """Like zones.bucket, but faster if no change is near the hours that begin at a clock's time."""
    if width in zones.CLOCKS and zone.offset(seconds - 2 * 86400) == zone.offset(seconds):
        return floor_time(zone.local(seconds), width, 0) - zone.offset(seconds)
    return zones.bucket(zone, width, seconds)


def floor_time(value, width, digits, zone=None):
    """Returns the start of the bucket of a timestamp, or its number in a cycle."""
    if zone:
        return bucket_of(zone, width, value // 10**digits) * (1 if width in CYCLES else 10**digits)
    if width in CYCLES:
        return CYCLES[width](EPOCH + datetime.timedelta(seconds=value // 10**digits))
    count, unit = re.fullmatch(r"(\d*)([a-z]+)", width).groups()
    count, scale = int(count or 1), 10**digits
    if unit in UNITS:
        seconds = count * UNITS[unit] * scale
        origin = -3 * 86400 * scale if unit == "w" else 0
        return (value - origin) // seconds * seconds + origin
    date = EPOCH + datetime.timedelta(seconds=value // scale)
    months = count * (12 if unit == "y" else 1)
    year, month = divmod((date.year * 12 + date.month - 1) // months * months, 12)
    return int((datetime.datetime(year, month + 1, 1, tzinfo=datetime.timezone.utc) - EPOCH).total_seconds()) * scale


def write_time(value, kind, digits, zone=None):
    if zone:
        return zones.write_in(zone, value, digits)
    seconds, rest = divmod(value, 10**digits)
    text = (EPOCH + datetime.timedelta(seconds=seconds)).replace(tzinfo=None).isoformat()
    return text + (f".{rest:0{digits}d}" if digits else "") + ("Z" if kind == "time" else "")


def read_address(token):
    """Returns an IP address as its version and its number."""
    text = token.decode("latin-1")
    port = re.fullmatch(r"\[([^]]*)\](?::\d{1,4})?|([^:]*):\d{1,4}", text, re.ASCII)
    try:
        address = ipaddress.ip_address((port[1] or port[2]) if port else text)
    except ValueError:
        return None
    address = getattr(address, "ipv4_mapped", None) or address
    return address.version, int(address)


def floor_address(key, width):
    bits = dict(zip((4, 6), map(int, (width.split("/") * 2)[:2])))[key[0]]
    size = 32 if key[0] == 4 else 128
    shift = size - min(bits, size)
    return key[0], key[1] >> shift << shift


def write_address(key, width):
    address = (ipaddress.IPv4Address if key[0] == 4 else ipaddress.IPv6Address)(key[1])
    bits = dict(zip((4, 6), map(int, (width.split("/") * 2)[:2])))[key[0]] if width else 128
    return f"{address}/{bits}" if bits < address.max_prefixlen else str(address)


def read_token(token, kind, decimals):
    """Returns the value of a token; None: invalid."""
    if kind == "text":
        return token if len(token) <= 65536 else None
    token = token.strip(b" \t")
    if kind in ("time", "localtime"):
        return read_time(token, kind, decimals)
    if kind == "ip":
        return read_address(token)
    if kind in DURATIONS or kind in SIZES:
        text = token.decode("utf-8", "surrogateescape")
        return units.duration(text, kind, decimals) if kind in DURATIONS else units.size(text, kind)
    if not re.fullmatch(TOKENS[kind], token):
        return None
    if kind == "hex":
        return int(token, 16)
    digits, _, exponent = token.decode().lower().partition("e")
    value = EXACT.scaleb(decimal.Decimal(digits), max(-3000, min(3000, int(exponent or 0))) + decimals)
    whole = value.to_integral_value(decimal.ROUND_HALF_EVEN, EXACT)
    return int(whole) if whole == value or kind == "round" else None


# --- tables --------------------------------------------------------------------------------------

class Use:
    """A column as named by an option, and its values in rows."""

    def __init__(self, table, index, text, kind="int", decimals=0, width=None, element="i64"):
        self.table, self.index, self.where = table, index, text
        self.kind, self.decimals, self.width, self.element = kind, decimals, width, element
        suffix = f":.{decimals}" if kind == "fixed" else f":{kind}" + (f".{decimals}" if decimals or kind == "round" else "")
        if width is not None:
            suffix += "/" + (width if kind in KINDS else written(width, decimals))
        elif table.is_binary: # for text without a kind: tests/found_kinds.py
            suffix = ""
        self.text = text + suffix
        self.shown = table.names[index] if table.by_name.get(text) == index else text

    def is_number(self):
        return self.kind not in KINDS

    def is_cycle(self):
        return self.kind in ("time", "localtime") and self.width in CYCLES

    def is_bound(self):
        """Returns whether values have bins, and can be reduced."""
        return self.kind not in ("ip", "text")

    def key(self, row):
        value = self.table.read(row, self)
        if value is None or self.kind == "text":
            return value
        if self.kind == "ip":
            return floor_address(value, self.width) if self.width else value
        if self.kind in KINDS:
            return floor_time(value, self.width, self.decimals, self.table.zone) if self.width else value
        low, high = limits(self.element)
        value = floor(value, self.width) if low <= value < high else None
        return value if value is not None and low <= value < high else None

    def write(self, key):
        """Returns a key as in results, without escapes, and as in conditions and bounds."""
        if self.kind == "text":
            return os.fsdecode(key)
        if self.kind == "ip":
            return write_address(key, self.width)
        if self.is_cycle():
            return str(key)
        if self.kind in KINDS:
            return write_time(key, self.kind, self.decimals, self.table.zone)
        return written(key, self.decimals)

    def write_tsv(self, key):
        text = self.write(key)
        return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n") if self.kind == "text" else text


class Row:
    def __init__(self, cells):
        self.cells = cells
        self.data = b""
        self.is_short = False


class Text:
    """Lines of fields: separated by blanks or by a character, or CSV."""

    is_binary = False

    def __init__(self, rng, form=None):
        self.rng = rng
        self.zone_name = rng.choice(ZONES) if rng.randrange(3) == 0 else ""
        self.zone = zone_of(self.zone_name) if self.zone_name else None
        self.form = form or rng.choice(("blanks", "character", "csv"))
        count = rng.randrange(3, 8)
        self.kinds = [rng.choice((("int", 0), ("int", 0), ("hex", 0), ("fixed", rng.randrange(1, 4)), ("time", 0),
                                  ("ip", 0), ("text", 0), ("duration", 3 * rng.randrange(4)), ("size", 0),
                                  *[("time", 0)] * (8 if self.zone else 0)))
                      for _ in range(count)]
        self.domains = [rng.choice(((0, 5), (0, 40), (-20, 20), (-10**6, 10**6), (-2**49, 2**49), (0, 2**49)))
                        for _ in range(count)]
        self.wide = [self.form == "blanks" and kind == "time" and rng.randrange(2) == 0 for kind, _ in self.kinds]
        self.words = [self.draw_word() for _ in range(rng.choice((2, 20, 200)))]
        self.has_names = rng.randrange(2) == 0
        self.names = [rng.choice(("ms", "status", "v", "x-y")) + str(i) for i in range(count)]
        if self.form == "csv" and self.has_names:
            self.names[rng.randrange(count)] = rng.choice(('a, "b"', "2017", "time:int", "u8@3", "1=2"))
        self.header = self.make_header()
        self.by_name = {}
        self.options = {"blanks": [], "character": ["-d", ";"], "csv": ["--csv"]}.get(self.form)
        if self.form != "json":
            self.options += ["--header"] if self.has_names else []
        self.rows = [Row([self.draw(i) for i in range(count)]) for _ in range(rng.choice((0, 1, 40, 400, 1500)))]
        self.uses = []

    def make_header(self):
        if not self.has_names:
            return b""
        if self.form != "csv":
            names = [name + " zone" * wide for name, wide in zip(self.names, self.wide)]
            return {"blanks": " ", "character": ";"}[self.form].join(names).encode() + b"\n"
        return ",".join('"' + name.replace('"', '""') + '"' for name in self.names).encode() + b"\r\n"

    def draw_word(self):
        """Returns a string that fits a field."""
        rng = self.rng
        word = rng.choice(WORDS) + rng.choice((b"", b"", b"%d" % rng.randrange(100)))
        if self.form == "blanks":
            return word or b"e"
        word += rng.choice((b"", b"", b" x", b"\t"))
        if self.form == "character":
            return word.strip(b" ")
        word += rng.choice((b"", b"", b",", b'"', b'""', b", ", b"\0"))
        return b"w" * rng.choice((65530, 65536)) + word[:0] if rng.randrange(300) == 0 else word

    def draw_time(self, index):
        rng = self.rng
        low, high = self.domains[index]
        seconds = 1.7e9 + rng.randrange(max(low, -10**6), min(high, 10**6)) * rng.choice((1, 60, 3600))
        time = EPOCH + datetime.timedelta(seconds=seconds)
        zone = rng.choice(("Z", "+00:00", "-0730", "+05"))
        fraction = rng.choice(("", "", ".5", ",123", ".999999999", ".0000000001"))
        if self.wide[index]:
            return rng.choice((time.strftime("[%d/%b/%Y:%H:%M:%S +0130]"), time.strftime("%d/%b/%Y:%H:%M:%S -0000"),
                               time.strftime("%Y-%m-%d %H:%M:%S") + fraction + zone)).encode()
        some = [time.strftime("%Y-%m-%dT%H:%M:%S") + fraction + zone, time.strftime("[%d/%b/%Y:%H:%M:%SZ]")]
        if 10**8 <= abs(seconds) < 1.9 * 10**9:  # of 9 or 10 digits, not a date
            some.append(str(int(seconds)) + fraction.replace(",", "."))
        if self.form != "blanks":
            some += [time.strftime("%Y-%m-%d"), time.strftime("%Y-%m-%d %H:%M"), time.strftime("%d/%b/%Y:%H:%M:%S +0200")]
        return rng.choice(some).encode()

    def draw_address(self, index):
        rng = self.rng
        low, high = self.domains[index]
        number = rng.randrange(max(low, 0), high) * rng.choice((1, 1, 2**8 + 1))
        form = rng.randrange(5)
        if form < 3:
            text = str(ipaddress.IPv4Address(number & 0xffffffff))
            return (text + rng.choice(("", "", ":80"))).encode()
        address = ipaddress.IPv6Address(number * 2**rng.choice((0, 16, 80)) % 2**128)
        return rng.choice((str(address), address.exploded, f"[{address}]:443")).encode()

    def draw_duration(self, index, decimals):
        """Returns that many decimals of a second."""
        rng = self.rng
        value = rng.randrange(*self.domains[index]) % 10**8 * rng.choice((1, 1, -1))
        sign, value = "-" * (value < 0), abs(value)
        seconds, rest = divmod(value, 10**decimals)
        fraction = f".{rest:0{decimals}d}" * (decimals > 0)
        blank = rng.choice(("", " ")) if self.form != "blanks" else ""
        unit = rng.choice({0: ("s", "sec"), 3: ("ms",), 6: ("us", "\u00b5s", "\u03bcs"), 9: ("ns",)}[decimals])
        minutes = f"{seconds // 60}{rng.choice(('m', 'min'))}{blank}{seconds % 60}{fraction}s"
        clock = f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction}"
        return (sign + rng.choice((str(value), f"{value}{blank}{unit}", f"{seconds}{fraction}s", minutes, clock))).encode()

    def draw_size(self, index):
        rng = self.rng
        value = rng.randrange(*self.domains[index])
        if abs(value) < 2**20 and rng.randrange(2):
            return (f"{value}{rng.choice(('', '.5'))}{rng.choice(('', ' ')) if self.form != 'blanks' else ''}"
                    f"{rng.choice('kKMG')}{rng.choice(('', 'i'))}{rng.choice(('', 'B'))}").encode()
        return f"{value}{rng.choice(('', 'B'))}".encode()

    def draw(self, index):
        kind, decimals = self.kinds[index]
        if kind == "text":
            return self.rng.choice(self.words)
        if kind == "duration":
            return self.draw_duration(index, decimals)
        if kind == "size":
            return self.draw_size(index)
        if kind in KINDS:
            return (self.draw_time if kind == "time" else self.draw_address)(index)
        value = self.rng.randrange(*self.domains[index])
        sign = "-" if value < 0 else self.rng.choice(("", "", "", "+"))
        if kind == "hex":
            return f"{sign}{self.rng.choice(('', '0x', '0X', '00'))}{abs(value):x}".encode()
        token = written(abs(value), decimals)
        if decimals and self.rng.randrange(2):
            token = token.rstrip("0")
        if kind == "fixed" and self.rng.randrange(8) == 0:
            places = self.rng.randrange(4)
            token = f"{written(abs(value), decimals + places)}{self.rng.choice('eE')}{places}"
        return f"{sign}{'0' * self.rng.choice((0, 0, 0, 3))}{token}".encode()

    def use(self, is_value=False, element="i64", is_bound=False):
        """Draws a column and how it is named. Bound: its values can be reduced."""
        rng = self.rng
        some = [i for i, (kind, _) in enumerate(self.kinds) if not is_bound or kind not in ("ip", "text")]
        if not some:
            self.kinds[0], some = ("int", 0), [0]
            for row in self.rows:
                row.cells[0] = self.draw(0)
            self.wide[0] = False
        index = rng.choice(some)
        kind, decimals = self.kinds[index]
        if kind == "int":
            kind, decimals = rng.choice((("int", 0), ("int", 0), ("hex", 0), ("fixed", rng.randrange(3)), ("round", 0)))
        elif kind == "fixed":
            kind, decimals = rng.choice((("fixed", decimals + rng.randrange(2)), ("round", rng.randrange(decimals + 1))))
        elif kind == "duration":
            kind = rng.choice(list(DURATIONS))
            decimals = max(decimals - DURATIONS[kind], 0) + (rng.randrange(2) if decimals < 9 else 0)
        elif kind == "size":
            kind = rng.choice(SIZES)
        elif kind == "time":
            kind, decimals = rng.choice(("time", "localtime" if not self.zone else "time")), rng.choice((0, 0, 3, 9))
        if not is_bound and rng.randrange(8) == 0 and not self.wide[index] and is_value is False:
            kind, decimals = "text", 0
        text = self.name(index)
        width = rng.choice((None, None, None, 1, 7, 25, 10**decimals))
        if kind in KINDS:
            widths = {"ip": ("24", "16/64", "24/48", "0/0", "32/128"), "text": ()}.get(kind, (*TIME_WIDTHS, *CYCLES))
            width = rng.choice((None, *widths))
            decimals = 0 if width in CYCLES else decimals
        made = Use(self, index, text, kind, decimals, width, element)
        self.uses.append(made)
        return made

    def name(self, index):
        """Returns the option's name of a column."""
        rng = self.rng
        text = str(index + 1 + sum(self.wide[:index])) if rng.randrange(2) else \
            str(index - len(self.kinds) - sum(self.wide[index:]))
        if self.has_names and rng.randrange(3):
            text = self.names[index]
            if not re.fullmatch(r"[a-z]+[-a-z]*\d", text) or rng.randrange(4) == 0:
                text = '"' + text.replace('"', '""') + '"'
            self.by_name[text] = index
        return text

    is_broken = staticmethod(lambda row: False)

    def read(self, row, use):
        return read_token(row.cells[use.index], use.kind, use.decimals) if use.index < len(row.cells) else None

    def garble(self, row, spared):
        """Puts garbage in columns other than those, or omits the last ones."""
        for index in range(len(row.cells)):
            if index not in spared and self.rng.randrange(2):
                row.cells[index] = self.rng.choice(GARBAGE) + b" x" * self.wide[index]
        counted = self.form == "blanks" and any(use.text in self.by_name or use.where in self.by_name
                                                for use in self.uses)
        if not counted and not any(use.where.startswith("-") for use in self.uses) and self.rng.randrange(3) == 0:
            del row.cells[max(spared) + 1:]

    def write(self):
        """Makes the bytes of all rows, with the numbers of their lines."""
        rng = self.rng
        line = 1 + self.header.count(b"\n")
        texts = {use.index for use in self.uses if use.kind == "text"}
        for row in self.rows:
            lead = rng.choice((b"\n", b"  \n")) if rng.randrange(30) == 0 else b""
            junk = bytes(rng.choices(b"abc def,;\"" + NEWLINES, k=rng.choice((0, 3, 10)))) if rng.randrange(20) else b"y" * 5000
            cells = list(row.cells)
            if self.form == "blanks":
                data = (b" " * rng.randrange(2)) + b"".join(
                    cell + rng.choice((b" ", b"\t", b"  ")) for cell in cells)
            elif self.form == "character":
                data = b";".join(rng.choice((b"", b"", b" ")) * (index not in texts) + cell
                                 for index, cell in enumerate(cells))
            else:
                quoted = [b'"%s"' % cell.replace(b'"', b'""')
                          if rng.randrange(3) == 0 or b'"' in cell or b"," in cell or b"\n" in cell else cell
                          for cell in cells]
                data = b",".join(quoted)
                # one more field, unless columns are counted from the end
                if not self.has_names and not row.is_short and len(cells) == len(self.kinds) and \
                        not any(use.where.startswith("-") for use in self.uses):
                    data += b',"' + junk.replace(b'"', b'""') + b'"'
            row.line = line + lead.count(b"\n")
            row.data = lead + data + (b"\r\n" if rng.randrange(5) == 0 else b"\n")
            line += row.data.count(b"\n")


class Json(Text):
    """Lines of JSON objects. A cell is the text between a key and the next one; b"" omits it."""

    form = "json"
    short = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\n": "\\n", "\t": "\\t"}  # escapes

    def __init__(self, rng):
        super().__init__(rng, "json")
        self.paths = [rng.choice((("ms%d",), ("v %d",), ("http", "ms%d"), ("a.b", "c%d"), ("x", "y", "z%d"),
                                  ("l%d", 0), ("l%d", -1), ("l%d", 2, "v"), ("l%d", -2, "b.c")))
                      for _ in self.kinds]
        self.paths = [tuple(part % i if isinstance(part, str) and "%" in part else part for part in path)
                      for i, path in enumerate(self.paths)]
        self.options = ["--jsonl"]

    def make_header(self):
        return b""

    def draw_word(self):
        rng = self.rng
        word = rng.choice((*WORDS, b'"', b"\0", b"\n", b"\t", b"/", b" "))
        return b"w" * 65536 if rng.randrange(300) == 0 else word + rng.choice((b"", b"", b"%d" % rng.randrange(100)))

    def quote(self, data):
        """A string with some escapes."""
        rng, out = self.rng, ""
        for letter in data.decode("utf-8", "surrogateescape"):
            code = ord(letter)
            if 0xdc80 <= code < 0xdd00:  # a byte that is not UTF-8
                out += letter
            elif code < 32 or letter in '"\\' or rng.randrange(10) == 0:
                short = self.short.get(letter)
                out += short if short and rng.randrange(2) else json.dumps(letter)[1:-1] if code > 0xffff else f"\\u{code:04x}"
            else:
                out += letter
        return b'"' + out.encode("utf-8", "surrogateescape") + b'"'

    def draw(self, index):
        kind, _ = self.kinds[index]
        cell = super().draw(index)
        if kind == "text":
            return self.rng.choice((b"[null]", b"true", b"1.50", b"{}", b"[true]")) if self.rng.randrange(20) == 0 else self.quote(cell)
        if re.fullmatch(rb"-?(0|[1-9]\d*)(\.\d+)?", cell) and self.rng.randrange(3):
            return cell
        return self.quote(cell)

    def name(self, index):
        path = self.paths[index]
        text = path[0] if len(path) == 1 else "".join(
            f"[{name}]" if isinstance(name, int) else f'."{name}"' if "." in name else f".{name}" for name in path)
        self.by_name[text] = index
        self.names[index] = text
        return text

    def is_broken(self, row):
        return row.is_short

    def read(self, row, use):
        """The value by the module json."""
        if row.is_short:
            return None
        if not hasattr(row, "object"):
            text = (row.data or self.write_row(row)).decode("utf-8", "surrogateescape")
            row.object = json.loads(text, parse_int=Raw, parse_float=Raw)
        value = row.object
        for name in self.paths[use.index]:
            if not (-len(value) <= name < len(value) if isinstance(name, int) and isinstance(value, list) else
                    isinstance(value, dict) and name in value):
                return None
            value = value[name]
        if not isinstance(value, str):
            if use.kind != "text" or value is None:
                return None
            value = json.dumps(value, separators=(",", ":"))
        return read_token(value.encode("utf-8", "surrogateescape"), use.kind, use.decimals)

    def garble(self, row, spared):
        for index in range(len(row.cells)):
            if index not in spared and self.rng.randrange(2):
                row.cells[index] = self.rng.choice((b"", b"null", b'"x"', b"true", b"{}", b'"1e"', b'"-"', b"[]"))
        vars(row).pop("object", None)

    def spoil(self, row):
        """Makes a row invalid."""
        row.is_short = True

    def put_element(self, tree, path, cell):
        """Puts a cell into an array of its own, or b"" in none."""
        rng, (key, at, *rest) = self.rng, path
        junk = lambda count: [rng.choice((b"17", b'"]"', b"[1,[]]", b"null", b'{"v":["}"]}')) for _ in range(count)]
        before, after = (at, rng.randrange(3)) if at >= 0 else (rng.randrange(3), -1 - at)
        if cell != b"":
            tree[key] = [*junk(before), {rest[0]: cell} if rest else cell, *junk(after)]
        elif rng.randrange(3):
            tree[key] = rng.choice((junk(rng.randrange(at + 1 if at >= 0 else -at)), b"17", {"v": b"5"}))

    def write_row(self, row):
        rng = self.rng
        tree = {}
        for index in rng.sample(range(len(row.cells)), len(row.cells)):
            path = self.paths[index]
            node = tree
            if len(path) > 1 and isinstance(path[1], int):
                self.put_element(tree, path, row.cells[index])
                continue
            for name in path[:-1]:
                node = node.setdefault(name, {})
            if row.cells[index] != b"":
                node[path[-1]] = row.cells[index]
        blank = lambda: rng.choice((b"", b"", b" "))

        def text(node, depth):
            if isinstance(node, list):
                items = (blank() + (item if isinstance(item, bytes) else text(item, depth + 1)) + blank() for item in node)
                return b"[" + b",".join(items) + b"]"
            members = [(self.quote(name.encode()), value if isinstance(value, bytes) else text(value, depth + 1))
                       for name, value in node.items()]
            if members and rng.randrange(8) == 0:  # the last one counts
                members.insert(0, (members[-1][0], rng.choice((b"17", b'"q"', b"{}", b"null"))))
            if rng.randrange(6) == 0:
                members.insert(rng.randrange(len(members) + 1), (b'"o%d"' % depth, rng.choice((b'{"a":[1,{"ms0":2}]}', b'"}{"', b"-0.5e+3"))))
            return b"{" + b",".join(blank() + key + blank() + b":" + blank() + value for key, value in members) + b"}"

        return text(tree, 0)

    @staticmethod
    def broken(data):
        return data[:-1], b"[1]", data + b"x", b'{"a" 1}', b'{"a":"\\ud800"}', b'{"a":nul}'

    def write(self):
        line = 1
        for row in self.rows:
            lead = b"\n" if self.rng.randrange(30) == 0 else b""
            data = self.write_row(row)
            if row.is_short:
                data = self.rng.choice(self.broken(data))
            row.line = line + len(lead)
            row.data = lead + data + (b"\r\n" if self.rng.randrange(5) == 0 else b"\n")
            line += row.data.count(b"\n")
            vars(row).pop("object", None)


class Logfmt(Json):
    """Lines of pairs. A cell is the text after the = of its key; b"" omits the pair."""

    short = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}

    def __init__(self, rng):
        super().__init__(rng)
        self.paths = [(".".join(map(str, path)).replace(" ", "_"),) for path in self.paths]
        self.options = ["--logfmt"]

    def draw(self, index):
        cell = Text.draw(self, index)
        return cell if re.fullmatch(rb'[^ \t\r\n"]+', cell) and self.rng.randrange(3) else self.quote(cell)

    def read(self, row, use):
        """The value by the reader of logfmt.py."""
        if row.is_short:
            return None
        if not hasattr(row, "object"):
            row.object = logfmt.read_line((row.data or self.write_row(row)).strip(b"\r\n"))
        token = row.object.get(self.paths[use.index][0].encode())
        return None if token is None else read_token(token, use.kind, use.decimals)

    def garble(self, row, spared):
        for index in range(len(row.cells)):
            if index not in spared and self.rng.randrange(2):
                row.cells[index] = self.rng.choice((b"", b'""', b"x", b'"- "', b"=", b"1e5"))
        vars(row).pop("object", None)

    def write_row(self, row):
        rng = self.rng
        pairs = [(path[0].encode(), cell) for path, cell in zip(self.paths, row.cells) if cell != b""]
        rng.shuffle(pairs)
        pairs = pairs or [(b"z", b"")]
        if rng.randrange(8) == 0:  # the last one counts
            pairs.insert(0, (pairs[-1][0], rng.choice((b"17", b'"q"', b""))))
        if rng.randrange(6) == 0:
            pairs.insert(rng.randrange(len(pairs) + 1), rng.choice(((b"o", b'"ms0=1 \\" v_1"'), (b"ready", b'""'))))
        texts = [key + (rng.choice((b"", b"=", b'=""')) if cell == b'""' else b"=" + cell) for key, cell in pairs]
        return b" " * rng.randrange(2) + b"".join(text + rng.choice((b" ", b" ", b"\t", b"  ")) for text in texts)

    @staticmethod
    def broken(data):
        return data + b'"', b"=1", data + b'a="', b'a="b"c', b'a=1"', b'"a"=1', b'a="\\/"', b'a="\\ud800"'


class Clf(Logfmt):
    """Lines of web logs. A cell is a field after the named ones."""

    first = 10
    escapes = {b'"': b'\\"', b"\\": b"\\\\", b"\n": b"\\n", b"\t": b"\\t", b"\r": b"\\r"}

    def __init__(self, rng):
        super().__init__(rng)
        self.paths = [(str(self.first + index),) for index in range(len(self.kinds))]
        self.options = ["--clf"]

    def quote(self, data):
        """A field in quotes with some escapes."""
        some = re.compile(rb'["\\\x00-\x1f]' if self.rng.randrange(4) else rb"[^ -!#-Z]")
        return b'"' + some.sub(lambda found: self.escapes.get(found[0], b"\\x%02x" % found[0][0]), data) + b'"'

    def draw(self, index):
        cell = Text.draw(self, index)
        return cell if re.fullmatch(rb'[^ \t\r\n"\[\\]+', cell) and self.rng.randrange(3) else self.quote(cell)

    def read(self, row, use):
        """The value by the reader of clf.py."""
        if row.is_short:
            return None
        if not hasattr(row, "object"):
            row.object = clf.read_line((row.data or self.write_row(row)).strip(b"\r\n"))
        return read_token(row.object[str(self.first + use.index)], use.kind, use.decimals)

    def write_row(self, row):
        rng = self.rng
        fields = [rng.choice((b"10.0.0.1", b"::1")), b"-", rng.choice((b"-", b'a="x y"')),
                  rng.choice((b"[10/Oct/2000:13:55:36 -0700]", b"[]")), rng.choice((b'"GET / HTTP/1.1"', b'"\\""', b'""')),
                  b"200", rng.choice((b"-", b"512")), b'"-"', b'"%s"' % (b"y" * rng.choice((0, 30, 90)))]
        blanks = (b" ",) * 20 + (b"\t", b"  ")
        return b"".join(field + rng.choice(blanks) for field in (*fields, *(cell or b'""' for cell in row.cells)))

    @staticmethod
    def broken(data):
        return data + b'"', b"a - - [t] r 200 1", b'a - - [t "r" 200 1', b'a - - t "r" 200 1', b'a - - [t] "r" 200', b'a - - [t] "r"x 200 1'


class Raw(str):
    """A JSON number as written."""


class Binary:
    """Records with an integer of some type at each of some offsets."""

    is_binary = True
    form = "records"
    zone = None

    def __init__(self, rng):
        self.rng = rng
        self.header = b""
        self.names, self.by_name = [], {}
        self.kinds = [rng.choice(list(TYPES)) + rng.choice(("", "", "be", "le")) for _ in range(rng.randrange(2, 6))]
        self.offsets, end = [], 0
        for kind in self.kinds:
            end += rng.randrange(3)
            self.offsets.append(end)
            end += TYPES[kind.rstrip("bel")][0] // 8
        self.bytes = end + rng.randrange(3)
        self.names = [f"{kind}@{offset}" for kind, offset in zip(self.kinds, self.offsets)]
        self.options = ["--record", str(self.bytes)]
        self.rows = [self.draw() for _ in range(rng.choice((0, 1, 40, 400, 1500, 7000)))]
        self.uses = []

    def draw(self):
        data = bytearray(self.rng.randbytes(self.bytes))
        for kind, offset in zip(self.kinds, self.offsets):
            size = TYPES[kind.rstrip("bel")][0] // 8
            if self.rng.randrange(4):
                data[offset:offset + size] = self.rng.randrange(6).to_bytes(
                    size, "big" if kind.endswith("be") else "little")
        row = Row([])
        row.data = bytes(data)
        return row

    is_broken = staticmethod(lambda row: False)

    def use(self, is_value=False, element="i64", is_bound=False):
        index = self.rng.randrange(len(self.kinds))
        kind = self.kinds[index].rstrip("bel")
        width = self.rng.choice((None, None, 1, 7)) if not is_value else None
        if kind[0] == "i":
            width = None
        made = Use(self, index, self.names[index], width=width, element=kind)
        made.text = self.names[index] + (f":int/{width}" if width else "")
        self.uses.append(made)
        return made

    def read(self, row, use):
        kind = self.kinds[use.index]
        bits, is_signed = TYPES[kind.rstrip("bel")]
        offset = self.offsets[use.index]
        return int.from_bytes(row.data[offset:offset + bits // 8],
                              "big" if kind.endswith("be") else "little", signed=is_signed)

    def garble(self, row, spared):
        pass

    def write(self):
        for number, row in enumerate(self.rows):
            row.line = number


def is_value_of_text(key):
    """Returns whether a condition can contain that text, also in a list."""
    return len(key) > 0 and not set(key) & set(b",\0") and key.strip(b" ") == key


def draw_pattern(rng, text):
    """Returns an extended regular expression that may match that text, and the same for Python."""
    some = re.sub(rb"([][.*+?(){}|^$\\])", rb"\\\1", text[:rng.randrange(1, 6)])
    pattern = rng.choice((b"^%s", b"%s$", b"%s", b"^(%s|b).?$", b"^[^ac]*%s", b"(%s){2}|[[:digit:]]$", b".%s.", b"^(.*)%s\\1$")) % some
    python = re.sub(rb"(?<!\\)((?:\\\\)*)[.]", rb"\1[^\0]", pattern).replace(b"[[:digit:]]", b"[0-9]")
    python = re.sub(rb"(?<!\\)((?:\\\\)*)[$]", rb"\1\\Z", python)
    return [os.fsdecode(pattern)], [re.compile(python, re.DOTALL)]


class Condition:
    def __init__(self, rng, table, rows):
        self.use = table.use()
        is_text = self.use.kind == "text"
        self.relation = rng.choice([name for name in RELATIONS if is_text or name not in OF_TEXTS])
        keys = [key for key in (self.use.key(row) for row in rows[:50]) if key is not None]
        if self.use.kind == "text":
            keys = [key for key in keys if len(key) < 999 and is_value_of_text(key)]
        keys = keys or [{"ip": (4, 9), "text": b"a"}.get(self.use.kind, 0)]
        is_list = self.relation in ("=", "==", "!=")
        self.values = [rng.choice(keys) for _ in range(rng.choice((1, 1, 2, 5)) if is_list else 1)]
        low, high = limits(self.use.element)
        if self.use.is_bound() and (self.use.is_number() or not self.use.width):
            self.values = [min(max(value + rng.choice((0, 0, 0, 1, -1)), low), high - 1) for value in self.values]
        if is_text and not is_list and rng.randrange(2):
            cut = self.values[0][:rng.randrange(1, 4)]
            self.values = [cut] if is_value_of_text(cut) else self.values
        texts = [self.use.write(value) for value in self.values]
        if "~" in self.relation:
            texts, self.values = draw_pattern(rng, self.values[0])
        if self.use.kind == "ip" and not is_list: # the first one of a prefix
            texts = [text.partition("/")[0] for text in texts]
        blank = rng.choice(("", " "))
        self.text = f"{self.use.text}{blank}{self.relation}{blank}" + ",".join(texts)

    is_alternative = False

    def options(self):
        return ["--where", self.text]

    def test(self, row):
        """Returns whether it holds; None: the token is invalid."""
        key = None if self.use.table.is_broken(row) else self.use.key(row)
        return None if key is None else RELATIONS[self.relation](key, self.values)


def judge(conditions, row):
    """Returns whether a row meets an alternative; None: the row or a token that is read is invalid."""
    if conditions and conditions[0].use.table.is_broken(row):
        return None
    holds = True
    for i, condition in enumerate(conditions):
        if condition.is_alternative and holds:
            return True
        holds = condition.test(row) if holds or condition.is_alternative else False
        if holds is None:
            return None
    return holds


# --- commands ------------------------------------------------------------------------------------

class Case:
    """A table, and the commands on its rows."""

    def __init__(self, gpuhist, rng, table):
        self.gpuhist, self.rng, self.table = gpuhist, rng, table
        self.files = 0

    def save(self, data, suffix=""):
        self.files += 1
        name = f"law{self.files}{suffix}"
        with open(name, "wb") as file:
            file.write(data)
        return name

    def feed(self, rows, way=None):
        """Writes the rows as a command's input. Returns its words and its standard input."""
        rng, table = self.rng, self.table
        way = way or rng.choice(("file", "pipe", "files", "gz", "zst", "members"))
        count = rng.randrange(1, 5) if way in ("files", "gz", "zst") else 1
        cuts = sorted(rng.randrange(len(rows) + 1) for _ in range(count - 1))
        parts = [table.header + b"".join(row.data for row in rows[a:b])
                 for a, b in zip([0, *cuts], [*cuts, len(rows)])]
        if way == "pipe":
            return [], parts[0]
        if way == "members":
            cuts = sorted(rng.randrange(len(parts[0]) + 1) for _ in range(3))
            pack = rng.choice((gzip.compress, compress_zstd))
            packed = b"".join(pack(parts[0][a:b]) for a, b in zip([0, *cuts], [*cuts, len(parts[0])]))
            return [self.save(packed)], None
        pack = {"gz": gzip.compress, "zst": compress_zstd}.get(way, bytes)
        return [self.save(pack(part), "." + way) for part in parts], None

    def run(self, words, rows, way=None, status=0):
        """Runs a command over the rows, read in any way. Returns its output and its messages."""
        rng = self.rng
        how = ["--threads", rng.choice(THREADS), "--chunk-size", rng.choice(CHUNKS)]
        how, way = LIMITS.get("how", how), LIMITS.get("way", way)
        names, data = self.feed(rows, way)
        return self.call([*words, *self.options(words), *how, *names], data, status)

    def options(self, words):
        """Returns the options to read the table by a command of these words: with its zone, if it has timestamps."""
        has_times = self.table.zone and any(":time" in word for word in words)
        return [*self.table.options, *(["--tz", self.table.zone_name] if has_times else [])]

    def attempt(self, words, data=None):
        """Runs a command, which may fail."""
        self.last = shlex.join(words)
        try:
            return subprocess.run([self.gpuhist, *words], input=data, stdin=subprocess.DEVNULL if data is None else None,
                                  capture_output=True, timeout=120, check=False)
        except subprocess.TimeoutExpired as error:
            raise Failure(f"{self.last}: takes more than 120 s") from error

    def call(self, words, data=None, status=0):
        command = [self.gpuhist, *words]
        done = self.attempt(words, data)
        self.empty = any(text in done.stderr for text in (b"cannot compute ", b"no values", b"it has no value"))
        if done.returncode != (1 if self.empty else status):
            if data is not None:
                words = [*words, "<", self.save(data)]
            raise Failure(f"{shlex.join(command)}: status {done.returncode}, not {status}: "
                          f"{done.stderr.decode(errors='replace')!r}")
        self.last = shlex.join(words) + (f" <{self.save(data)}" if data is not None else "")
        return done.stdout, done.stderr.decode(errors="replace")


def compress_zstd(data):
    return subprocess.run(["zstd", "-qc", "-1"], input=data, capture_output=True, check=True).stdout


def require(found, wanted, found_by, wanted_by):
    if found != wanted:
        raise Failure(f"{found_by}\n{found[:1500]!r}, but\n{wanted_by}\n{wanted[:1500]!r}")


# --- drawing -------------------------------------------------------------------------------------

def draw_table(rng):
    table = rng.choice((Binary, Clf, Json, Logfmt, Text, Text))(rng)
    if "rows" in LIMITS:
        table.rows = [table.rows[i] for i in LIMITS["rows"] if i < len(table.rows)]
    return table


def draw_value(rng, table, rows, others, is_bound=False):
    """Draws a column of values, with the options of a type that its values fit."""
    use = table.use(is_value=True, is_bound=is_bound)
    if table.is_binary:
        return use, ["-f", use.text]
    if not use.is_number() or use.kind in DURATIONS or use.kind in SIZES:
        return use, ["-f", use.text]
    fitting = [name for name in TYPES if all(fits(use, row, name) for row in rows) and
               (name != "u64" or all(fits(other, row, name) for other in others if other.is_number() for row in rows))]
    use.element = rng.choice(fitting or ["i64"])
    if use.element == "u64":
        for other in others:
            other.element = "u64"
    return use, ["-f", use.text, *([] if use.element == "i64" and rng.randrange(2) else ["-t", use.element])]


def fits(use, row, name):
    value = use.table.read(row, use)
    low, high = limits(name)
    return value is not None and low <= value < high


def draw_bins(rng, use, rows):
    """Draws bins that contain some of the values."""
    keys = [use.key(row) for row in rows[:50]]
    keys = [key for key in keys if key is not None] or [0]
    low, high = min(keys), max(keys) + 1
    lowest, limit = limits(use.element)
    form = rng.randrange(7)
    text = use.write
    if use.width and not use.is_cycle():  # other bins would cut its buckets
        return ["--width", text(use.width * rng.choice((1, 3)))] if use.is_number() and form % 2 else []
    if form == 6:
        return ["--range", "auto", "--bins", rng.choice(("1", "2", "10", "64", "1000"))]
    if use.is_cycle():
        return rng.choice(([], ["--width", rng.choice("157")], ["--bins", "40"], ["--log2"],
                           ["--range", f"{low}:{high}", "--width", "3"], ["--edges", f"{low},{high + 1}"]))
    if not use.is_number():
        width = rng.choice(("15m", "1h", "h", "1d", "90"))
        width = rng.choice((1, 10)) if high - low < 2000 * 10**use.decimals and use.decimals == 0 else width
        widths = [] if use.table.zone else [["--width", f"{width}"], ["--range", f"{text(low)}:{text(high)}", "--width", f"{width}"]]
        return rng.choice((*widths, ["--range", f"{text(low)}:{text(high)}", "--bins", str(min(high - low, rng.choice((1, 3, 64))))],
                           ["--range", f"{text(low)}:{text(high)}"], [],
                           ["--edges", ",".join(map(text, sorted({low, rng.choice(keys), high})))]))
    if form == 0:
        return []
    if form == 1:
        return ["--width", text(rng.choice((1, 3, max(1, (high - low) // 9))))]
    if form == 2:
        return ["--log2"]
    if form == 3:
        edges = sorted(set(min(max(rng.choice(keys) + rng.randrange(-1, 2), lowest), limit - 1) for _ in range(4)))
        return ["--edges", ",".join(map(text, [*edges, min(edges[-1] + 5, limit)]))] \
            if edges[-1] + 5 <= limit else ["--log10"]
    if form == 4 and use.decimals == 0:
        return ["--bins", str(rng.choice((1, 20, 5000)))] if limit > 5000 else ["--bins", "100"]
    return ["--range", f"{text(low)}:{text(high)}", "--bins", str(min(high - low, rng.choice((1, 3, 64))))]


def draw_operation(rng, table, uses, rows, names, may_print=True):
    """Draws the words of an operation on columns of values."""
    use = uses[0]
    name = rng.choice(names if all(use.is_bound() for use in uses) else [n for n in names if n in ("uniq", "reduce")])
    if name == "reduce" and not all(use.is_bound() for use in uses):
        return [name, rng.choice(("distinct", "count", "mode", "distinct,count,mode"))]
    if name == "reduce":
        fitting = [r for r in REDUCTIONS if r not in ("and", "or", "xor") or all(use.kind in ("int", "hex") for use in uses)]
        return [name, ",".join(rng.sample(fitting, rng.randrange(1, len(fitting))))]
    if name == "count":
        keys = [key for key in (use.key(row) for row in rows[:20]) if key is not None] or [0]
        value = lambda: use.write(rng.choice(keys))
        tests = [f"--eq={value()}", f"--ne={value()}", f"--lt={value()}", f"--ge={value()}", "--all",
                 f"--any-of={value()},{value()}"]
        return [name, *rng.sample(tests, rng.randrange(1, 5))]
    if name == "stalin-sort":
        return [name, *(option for option in ("--strict", "--descending") if rng.randrange(2))]
    words = [name]
    if name == "histogram":
        words += draw_bins(rng, use, rows)
        words += rng.choice(([], ["--outside", "clamp"], ["--outside", "ignore"]))
        if len(words) < 3 or "--width" in words or "--log" in words[1]:
            words = [word for word in words if word not in ("--outside", "clamp", "ignore")]
        if words[1:] and words[1] not in ("--width", "--bins") and may_print and rng.randrange(4) == 0:
            words += ["--zeros"]
    if may_print:
        words += rng.choice(([], [], ["--top", "3"], ["--sort", "count"], ["--percent"], ["--cumulative"],
                             ["--min-count", "2"]))
    return words


def draw_weight(rng, table, rows, operation):
    """Draws a column of weights, if all rows have one."""
    if operation not in ("histogram", "uniq") or rng.randrange(3):
        return []
    use = table.use(is_bound=True)
    use.element = "i64" if not table.is_binary else use.element
    keys = [use.key(row) for row in rows]
    if not use.is_number() or any(key is None or not 0 <= key < 2**40 for key in keys):
        table.uses.remove(use)
        return []
    is_alone = not any(other.index == use.index for other in table.uses if other is not use)
    share = rng.choice((0, 2, 9)) if is_alone and not table.is_binary and not table.wide[use.index] else 0
    for row in rows:  # weights of 0, also of whole groups
        if rng.randrange(10) < share and use.index < len(row.cells):
            row.cells[use.index] = b"0"
            vars(row).pop("object", None)
    return ["--weight", use.text]


def draw_conditions(rng, table, least, most):
    """Draws conditions, and puts garbage in rows that do not meet them."""
    conditions = [Condition(rng, table, table.rows) for _ in range(rng.randrange(least, most + 1))]
    if most > 0 and rng.randrange(4) == 0:
        conditions += [Condition(rng, table, table.rows) for _ in range(rng.randrange(3))]
    conditions = conditions[:max(least, LIMITS.get("conditions", len(conditions)))]
    for condition in conditions[1:]:
        condition.is_alternative = rng.randrange(2) == 0
    return conditions


def words_of(conditions, more=()):
    """The options of conditions, and of more in each alternative."""
    words = []
    for condition in conditions:
        words += [*more, "--or"] * condition.is_alternative + condition.options()
    return [*words, *more]


# --- the laws ------------------------------------------------------------------------------------

def check_where(case):
    rng, table = case.rng, case.table
    conditions = draw_conditions(rng, table, 1, 3)
    use, options = draw_value(rng, table, table.rows, [condition.use for condition in conditions])
    operation = draw_operation(rng, table, [use], table.rows, (*GROUPED, "stalin-sort"))
    options += draw_weight(rng, table, table.rows, operation[0])
    counted = {use.index, table.uses[-1].index if "--weight" in options else use.index}
    invalid = not table.is_binary and rng.randrange(4) == 0
    for row in table.rows:
        failing = next((i for i, condition in enumerate(conditions) if condition.test(row) is False), None)
        if any(condition.is_alternative for condition in conditions):
            failing = len(conditions) if judge(conditions, row) is False else None
        if failing is not None and rng.randrange(2):
            table.garble(row, {condition.use.index for condition in conditions[:failing + 1]})
        elif invalid and rng.randrange(10) == 0:
            tested = rng.choice(conditions).use
            garbage = rng.choice(GARBAGE[:4])
            if tested.index in counted and (tested.kind == "text" or any(other.is_alternative for other in conditions)):
                continue  # the row may meet the conditions, but has no value
            if table.form == "json":
                table.spoil(row) if rng.randrange(2) else table.garble(row, set(range(len(row.cells))) - {tested.index})
            else:
                row.cells[tested.index] = garbage + b" x" * table.wide[tested.index]
    table.write()
    verdicts = [judge(conditions, row) for row in table.rows]
    kept = [row for row, verdict in zip(table.rows, verdicts) if verdict]
    wrong = [row for row, verdict in zip(table.rows, verdicts) if verdict is None]
    words = [*operation, *options, *words_of(conditions)]
    if operation[0] != "stalin-sort" and operation[-1] not in ("--percent", "--cumulative"):
        words += rng.choice(([], [], ["--format", "csv"], ["--format", "json"]))
    plain = [word for word in words if word not in words_of(conditions) and word != "--where"]
    if wrong:
        way = rng.choice(("file", "pipe"))
        _, messages = case.run(words, table.rows, way, status=1)
        if f":{wrong[0].line}: " not in messages:
            raise Failure(f"{case.last}\nan error in line {wrong[0].line}, not {messages!r}")
        words += ["--invalid", "warn"]
        found, messages = case.run(words, table.rows, way)
        lines = [int(line) for line in re.findall(r":(\d+): ", messages)]
        more = sum(map(int, re.findall(r"(\d+) more invalid", messages)))
        if lines != [row.line for row in wrong[:10]] or more != max(0, len(wrong) - 10):
            raise Failure(f"{case.last}\ninvalid tokens in {[row.line for row in wrong]}: {messages!r}")
    else:
        found, _ = case.run(words, table.rows)
    found_by = case.last
    wanted, _ = case.run(plain, kept)
    require(found, wanted, found_by, case.last)


def check_by(case):
    rng, table = case.rng, case.table
    groups = [table.use() for _ in range(rng.choice((1, 1, 2, 3)))]
    conditions = draw_conditions(rng, table, 0, 1)
    others = [*groups, *(condition.use for condition in conditions)]
    use, options = draw_value(rng, table, table.rows, others)
    operation = draw_operation(rng, table, [use], table.rows, GROUPED)
    options += draw_weight(rng, table, table.rows, operation[0])
    if "--top" in operation or "--min-count" in operation:
        options += rng.choice(([], ["--other"]))
    table.rows = [row for row in table.rows if all(group.key(row) is not None for group in groups)]
    for row in table.rows:
        if judge(conditions, row) is False and rng.randrange(2):
            table.garble(row, {condition.use.index for condition in conditions})
    table.write()
    keys = {tuple(group.key(row) for group in groups) for row in table.rows if judge(conditions, row)}
    found, _ = case.run([*operation, *options, *words_of(conditions), "--by", ",".join(group.text for group in groups)], table.rows)
    found_by = case.last
    some = set(rng.sample(sorted(keys), min(len(keys), 8)))
    lines = {}
    order = []
    for line in found.decode("utf-8", "surrogateescape").split("\n")[:-1]:
        *key, rest = line.split("\t", len(groups))
        lines.setdefault(tuple(key), []).append(rest)
        if not order or order[-1] != tuple(key):
            order.append(tuple(key))
    shown = [tuple(group.write_tsv(value) for value, group in zip(key, groups)) for key in sorted(keys)]
    has_all = operation[0] in ("reduce", "count")  # others may print nothing for a group
    if order != [key for key in shown if has_all or key in lines]:
        raise Failure(f"{found_by}\ngroups {order}, not {shown}")
    for key in some:
        texts = tuple(group.write_tsv(value) for value, group in zip(key, groups))
        if any(group.kind == "text" and not (is_value_of_text(value) and len(value) < 999) for value, group in zip(key, groups)):
            continue
        wheres = [word for group, value in zip(groups, key) for word in ("--where", f"{group.text}={group.write(value)}")]
        wanted, _ = case.run([*operation, *options, *words_of(conditions, wheres)], table.rows)
        wanted = wanted.decode("utf-8", "surrogateescape").split("\n")[:-1]
        if has_all:
            wanted = ["\t".join(line.split("\t")[-1] for line in wanted)]
        require(lines.get(texts, []), wanted, found_by, case.last)


def check_columns(case):
    rng, table = case.rng, case.table
    conditions = draw_conditions(rng, table, 0, 2)
    groups = [table.use() for _ in range(rng.choice((0, 0, 1, 2)))]
    is_bound = rng.randrange(3) > 0
    values = [table.use(is_value=True, is_bound=is_bound) for _ in range(rng.randrange(2, 6))]
    operation = draw_operation(rng, table, values, table.rows, ("reduce", "count"))
    if operation[0] == "count":
        operation = ["count", "--all", "--gt=0", "--ne=0"]  # a value of every kind
    options = words_of(conditions)
    if groups:
        options += ["--by", ",".join(group.text for group in groups)]
    if not table.is_binary:
        options += ["--invalid", "ignore", "-q"]
        for row in table.rows:
            if rng.randrange(4) == 0:
                table.garble(row, set(range(len(row.cells))) - {rng.randrange(len(row.cells))})
    table.write()
    found, _ = case.run([*operation, "-f", ",".join(value.text for value in values), *options], table.rows)
    found_by = case.last
    wanted = b""
    is_empty = False  # if one column has no result, the others have none
    for value in values:
        single, _ = case.run([*operation, "-f", value.text, *options], table.rows)
        is_empty |= case.empty
        wanted += b"".join(value.shown.encode() + b"\t" + line for line in single.splitlines(True))
    require(found, b"" if is_empty else wanted, found_by, f"the same of each, the last of which is\n{case.last}")


def rank(text):
    """Returns the sort key of a value of a line: a missing value comes first."""
    try:
        return (1, decimal.Decimal(text)) if text else (0,)
    except decimal.InvalidOperation:  # a timestamp or a string
        return (1, text)


def check_sorted(case):
    rng, table = case.rng, case.table
    conditions = draw_conditions(rng, table, 0, 1)
    groups = [table.use() for _ in range(rng.choice((1, 1, 2)))]
    values = [table.use(is_value=True, is_bound=True) for _ in range(rng.choice((1, 1, 3)))]
    command, *names = draw_operation(rng, table, values, table.rows, ("reduce", "count"), False)
    if command == "reduce":
        names = names or ["min,sum"]
        names = sorted({*names[0].split(","), "count"}, key=lambda _: rng.random())
        words = [command, ",".join(names), *rng.choice(([], ["--interpolate"]))]
    else:
        tests = ["--ge=0", "--all"] if len(values) > 1 else list(dict.fromkeys([*names, "--all"]))
        words = [command, *tests]
        names = [test[2:].replace("=", " ", 1) for test in tests]
    words += ["-f", ",".join(value.text for value in values), "--by", ",".join(group.text for group in groups), *words_of(conditions)]
    if not table.is_binary:
        words += ["--invalid", "ignore", "-q"]
        for row in table.rows:
            if rng.randrange(4) == 0:
                table.garble(row, set(range(len(row.cells))) - {rng.randrange(len(row.cells))})
    table.write()
    if len({value.shown for value in values}) < len(values):
        return
    at, column = rng.randrange(len(names)), rng.randrange(len(values))
    least = rng.choice((0, 0, 2, 20))
    top = rng.choice((0, 1, 5))
    has_sort = top > 0 or rng.randrange(3) > 0
    name = rng.choice((names[at], "count"))
    at = names.index("count" if command == "reduce" else "all") if name == "count" else at
    options = ["--sort", (values[column].shown + " ") * (len(values) > 1) + name] if has_sort else []
    options += ["--top", str(top)] * (top > 0) + ["--min-count", str(least)] * (least > 0)
    of_all, _ = case.run(words, table.rows)
    rows = [line.split("\t") for line in of_all.decode("utf-8", "surrogateescape").split("\n")[:-1]]
    width = len(groups) + (len(values) > 1)
    size = names.index("count" if command == "reduce" else "all")
    parts = [[row for row in rows if len(values) == 1 or row[0] == value.shown] for value in values]
    leader = [row for row in parts[column] if int(row[width + size]) >= least]
    if has_sort:
        leader.sort(key=lambda row: rank(row[width + at]), reverse=True)  # keeps the order of equal ones
    leader = [row[width - len(groups):width] for row in (leader[:top] if top else leader)]
    wanted = []
    for part in parts:
        found = {tuple(row[width - len(groups):width]): row for row in part if int(row[width + size]) >= least}
        order = [key for key in map(tuple, leader) if key in found] if has_sort else list(found)
        order += [key for key in found if key not in set(order)] if not top else []
        wanted += ["\t".join(found[key]) for key in order]
    wanted = "".join(line + "\n" for line in wanted).encode("utf-8", "surrogateescape")
    if rng.randrange(3) or len(wanted) > 10**6:
        found, _ = case.run([*words, *options], table.rows)
    else:
        case.run([*words, "--save", "state", "-o", "/dev/null"], table.rows)
        found, _ = case.call(["merge", "state", *options])
    require(found, wanted, case.last, f"sorted lines of {shlex.join(words)}, by {options}")


def check_parts(case):
    rng, table = case.rng, case.table
    conditions = draw_conditions(rng, table, 0, 1)
    groups = [table.use() for _ in range(rng.choice((0, 1, 2)))]
    others = [*groups, *(condition.use for condition in conditions)]
    use, options = draw_value(rng, table, table.rows, others)
    more = [table.use(is_value=True, is_bound=use.is_bound())] if rng.randrange(3) == 0 else []
    operation = draw_operation(rng, table, [use, *more], table.rows, ("reduce",) if more else SAVED,
                               may_print=False)
    options += draw_weight(rng, table, table.rows, operation[0])
    options[1] += "".join("," + value.text for value in more)
    options += words_of(conditions)
    if groups:
        options += ["--by", ",".join(group.text for group in groups)]
    if not table.is_binary:
        options += ["--invalid", "ignore", "-q"]
    table.write()
    whole, _ = case.run([*operation, *options], table.rows)
    found_by = case.last
    count = rng.randrange(2, 5)
    cuts = sorted(rng.randrange(len(table.rows) + 1) for _ in range(count - 1))
    states = []
    for number, (a, b) in enumerate(zip([0, *cuts], [*cuts, len(table.rows)])):
        states.append(f"state{number}")
        case.run([*operation, *options, "--save", states[-1], "-o", os.devnull], table.rows[a:b])
    saved_by = case.last
    rng.shuffle(states)
    if rng.randrange(2): # merged in two steps
        case.call(["merge", "--save", "state", "-o", os.devnull, "-q", *states[1:]])
        states = ["state", states[0]]
    merged, _ = case.call(["merge", "-q", *states])
    require(merged, whole, f"{saved_by}\n{case.last}", found_by)


def cells_of_markdown(line):
    """Returns the cells of a line: the character after a backslash gives its meaning."""
    pieces = re.findall(r"\\.|<br>|[^\\]", line, re.DOTALL)
    cells = "".join("\0" if piece == "|" else "\n" if piece == "<br>" else piece[-1] for piece in pieces).split("\0")
    return tuple(cell[1:-1] for cell in cells[1:-1])


def parse_output(name, output, groups, is_uniq):
    """Returns the rows of a result: group, value and count as strings."""
    text = output.decode("utf-8", "surrogateescape")
    width = len(groups) + is_uniq + 1
    if name == "markdown":
        return [cells_of_markdown(line.replace("\0", "\ufffd")) for line in text.split("\n")[2:-1]]
    if name == "html":
        return [tuple(row) for row in html_page.Page(output.decode()).rows[1:]]
    if name == "tsv":
        rows = [line.split("\t") for line in text.split("\n")[:-1]]
        unescape = lambda cell: re.sub(r"\\(.)", lambda m: {"t": "\t", "n": "\n"}.get(m[1], m[1]), cell)
        return [tuple(map(unescape, row)) for row in rows]
    if name == "csv":
        rows = list(csv.reader(io.StringIO(text, newline="")))
        if len(rows[0]) != width:
            raise Failure(f"header {rows[0]}")
        return [tuple(row) for row in rows[1:]]
    objects = []
    if name == "jsonl":
        objects = [json.loads(line) for line in text.split("\n")[:-1]]
    elif not is_uniq or groups:
        for group in json.loads(text)["groups"]:
            bins = group.pop("bins", [{}])
            objects += [{**{k: v for k, v in group.items() if k not in ("total", "inside", "below", "above")}, **row} for row in bins]
    else:
        objects = json.loads(text)["bins"]
    return [tuple(str(value) for value in row.values()) for row in objects]


def as_json(text):
    """Returns a string in JSON, with bytes that are not UTF-8 replaced."""
    return os.fsencode(text).decode("utf-8", "replace") if any("\udc80" <= c <= "\udcff" for c in text) else text


def as_html(text):
    """Returns a string in HTML, with characters that are invalid there replaced."""
    is_none = lambda code: code < 32 and chr(code) not in "\t\n\r" or 0x7f <= code < 0xa0 or 0xd800 <= code < 0xe000 or \
        0xfdd0 <= code < 0xfdf0 or code & 0xfffe == 0xfffe
    return "".join("\ufffd" if is_none(ord(c)) else c for c in text)


AS = {"json": as_json, "jsonl": as_json, "html": as_html,
      "markdown": lambda text: re.sub(r"\r\n|\r", "\n", text).replace("\0", "\ufffd")}


def check_formats(case):
    rng, table = case.rng, case.table
    if table.is_binary:
        table = case.table = rng.choice((Json, Logfmt, Text, Text))(rng)
    groups = []
    for _ in range(rng.choice((0, 1, 1, 2))):
        group = table.use()
        if all(group.index != other.index for other in groups):
            groups.append(group)
    is_uniq = not groups or rng.randrange(3) > 0
    conditions = draw_conditions(rng, table, 0, 1)
    value = table.use(is_value=True) if is_uniq else None
    if value and any(value.index == group.index for group in groups):
        value = groups.pop() if len(groups) > 1 else value
    table.write()
    words = ["uniq", "-f", value.text] if is_uniq else ["count", *rng.choice(([], ["--all"]))]
    words += words_of(conditions) + (["--by", ",".join(group.text for group in groups)] if groups else [])
    uses = [*groups, *([value] if is_uniq else [])]
    table.rows = [row for row in table.rows if all(use.key(row) is not None for use in uses)]
    counts = collections.Counter(tuple(use.key(row) for use in uses) for row in table.rows if judge(conditions, row))
    exact = [(*(use.write(part) for use, part in zip(uses, key)), str(counts[key])) for key in sorted(counts)]
    if len({group.shown for group in groups} | {"value", "count"}) != len(groups) + 2:
        return
    for name in ("tsv", "csv", "json", "jsonl", "markdown", "html"):
        found, _ = case.run([*words, "--format", name], table.rows)
        wanted = [tuple(map(AS[name], row)) for row in exact] if name in AS else exact
        rows = parse_output(name, found, groups, is_uniq)
        numbers = [use.is_number() and use.decimals > 0 for use in uses] + [False]
        if name.startswith("json"): # floating point here
            wanted = [tuple(str(float(cell)) if is_fixed else cell for cell, is_fixed in zip(row, numbers)) for row in wanted]
            rows = [tuple(str(float(cell)) if is_fixed else cell for cell, is_fixed in zip(row, numbers)) for row in rows]
        if name.startswith("json") and len(set(wanted)) != len(wanted):
            rows.sort()
            wanted.sort()
        if rows != wanted:
            at = next((i for i, (a, b) in enumerate(zip(rows, wanted)) if a != b), min(len(rows), len(wanted)))
            raise Failure(f"{case.last}\nrow {at} of {len(rows)}: {str(rows[at:at+1])[:500]}, not {str(wanted[at:at+1])[:500]} of {len(wanted)}")


def check_missing(case):
    rng, table = case.rng, case.table
    if table.form not in ("character", "csv", "json"):
        table = case.table = rng.choice((Json, Logfmt, lambda rng: Text(rng, "csv"), lambda rng: Text(rng, "character")))(rng)
    conditions = draw_conditions(rng, table, 0, 1)[:1]
    groups = [table.use() for _ in range(rng.choice((0, 1)))]
    others = [*groups, *(condition.use for condition in conditions)]
    use, options = draw_value(rng, table, table.rows, others)
    operation = draw_operation(rng, table, [use], table.rows, GROUPED)
    uses = [use, *others]
    table.rows = [row for row in table.rows if all(used.key(row) is not None for used in uses)]
    missing = set()
    for number, row in enumerate(table.rows):
        for used in uses:
            is_absent = table.form == "json" and not isinstance(table, Clf)  # a string is missing only if absent
            if rng.randrange(10) == 0 and (is_absent or all(other.kind != "text" for other in uses if other.index == used.index)):
                row.cells[used.index] = b""
                missing.add(number)
        vars(row).pop("object", None)
    table.write()
    kept = [row for number, row in enumerate(table.rows) if number not in missing]
    words = [*operation, *options, *words_of(conditions), *(["--by", ",".join(group.text for group in groups)] if groups else [])]
    if not kept:
        return
    found, messages = case.run([*words, "--missing", "skip"], table.rows)
    found_by = case.last
    wanted, _ = case.run(words, kept)
    require(found, wanted, found_by, case.last)
    told = sum(map(int, re.findall(r"(\d+) rows? with (?:a )?missing values? left out", messages)))
    if not conditions and told != len(missing):
        raise Failure(f"{found_by}\n{told} rows left out, not {len(missing)}: {messages!r}")


LETTERS = "0123456789+-.,:/ eExTZsmhdukKMiB[]()"


def draw_token(rng, tokens):
    """A token, most of them with some letters changed."""
    text = rng.choice(tokens)
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(("", rng.choice(LETTERS))) + text[at + rng.randrange(2):]
    return text.strip(" ")


def values_of(case, kind, tokens, form):
    """Returns the printed value of each token of a column of that kind in a row of that form."""
    if form == "csv":
        lines = ["n,a"] + [f'{i},"{token}"' for i, token in enumerate(tokens)]
    elif form == "json":
        lines = [json.dumps({"n": i, "a": token}) for i, token in enumerate(tokens)]
    else:
        lines = [f'n={i} a="{token}"' for i, token in enumerate(tokens)]
    options = {"csv": "--csv", "json": "--jsonl", "logfmt": "--logfmt"}[form]
    done = case.attempt(["uniq", "-f", f"a:{kind}", "--by", "n:int", options, "--invalid", "ignore", "-q",
                         "--chunk-size", case.rng.choice(CHUNKS), case.save("".join(line + "\n" for line in lines).encode())])
    if done.returncode not in (0, 1):
        raise Failure(f"{case.last}: status {done.returncode}: {done.stderr.decode(errors='replace')!r}")
    rows = (line.split("\t") for line in done.stdout.decode().splitlines())
    return {int(number): value for number, value, _ in rows}


def check_read(case):
    rng, table = case.rng, Text(case.rng, "csv")
    kind = rng.choice(("int", "hex", "fixed", "round", *DURATIONS, *SIZES, "time", "localtime", "ip"))
    decimals = 0 if kind in ("int", "hex", "ip", *SIZES) else rng.randrange(kind == "fixed", 10)
    name = {"fixed": f".{decimals}", "round": f"round.{decimals}"}.get(kind, kind + f".{decimals}" * (decimals > 0))
    drawn = {"s": "duration", "ms": "duration", "us": "duration", "ns": "duration", "bytes": "size", "ibytes": "size",
             "localtime": "time", "round": "fixed"}.get(kind, kind)
    table.kinds = [(drawn, 3 * rng.randrange(4) if drawn == "duration" else decimals)] * len(table.kinds)
    some = [table.draw(rng.randrange(len(table.kinds))).decode().replace('"', "").strip() for _ in range(40)]
    tokens = [draw_token(rng, some) for _ in range(60)]
    tokens = [token for i, token in enumerate(tokens) if i in LIMITS.get("rows", range(60))]
    forms = rng.sample(("csv", "json", "logfmt"), 2)
    values = values_of(case, name, tokens, forms[0])
    read_by = case.last
    for number, value in values_of(case, name, tokens, forms[1]).items() ^ values.items():
        raise Failure(f"{read_by}\n{case.last}\n{tokens[number]!r} of kind {name} is {value} only in one of {forms}")
    for number, token in enumerate(tokens):
        wanted = read_token(token.encode(), kind, decimals)
        found = values.get(number)
        is_known = kind not in ("time", "localtime") or (wanted is not None and found is not None)
        if kind == "ip":
            wanted = wanted and write_address(wanted, None)
        elif wanted is not None:
            is_fitting = -2**63 <= wanted < 2**63
            wanted = write_time(wanted, kind, decimals) if kind in KINDS else written(wanted, decimals) if is_fitting else None
        if is_known and wanted != found:
            raise Failure(f"{read_by}\n{token!r} of kind {name} is {found}, not {wanted}")
    numbers = list(values)
    again = values_of(case, "int" if kind == "hex" else name, [values[number] for number in numbers], rng.choice(forms))
    for i, number in enumerate(numbers):
        if again.get(i) != values[number]:
            raise Failure(f"{case.last}\n{tokens[number]!r} of kind {name} is {values[number]}, which is {again.get(i)}")
    longer = values_of(case, name, [rng.choice(("q" + tokens[number], tokens[number] + "q")) for number in numbers], forms[0])
    for i, value in longer.items():
        raise Failure(f"{case.last}\nrow {i} of kind {name} is not read whole: {value}")


def check_saved(case):
    rng, table = case.rng, case.table
    conditions = draw_conditions(rng, table, 0, 1)
    groups = [table.use() for _ in range(rng.choice((0, 1, 1, 2)))]
    use, options = draw_value(rng, table, table.rows, [*groups, *(condition.use for condition in conditions)])
    operation = draw_operation(rng, table, [use], table.rows, SAVED, may_print=False)
    options += draw_weight(rng, table, table.rows, operation[0]) + words_of(conditions)
    is_rows = operation[0] in ("histogram", "uniq")
    printing = [[], ["--format", rng.choice(("tsv", "csv", "json", "jsonl", "markdown", "html"))]][rng.randrange(3) > 0]
    if is_rows:
        printing += rng.choice(([], ["--top", "3"], ["--top", "2", "--other"], ["--sort", "count"], ["--percent"], ["--cumulative"],
                                ["--min-count", "2"], ["--min-count", "3", "--other"], ["--quantiles", "50,99"]))
    elif groups:
        printing += rng.choice(([], ["--sort", "count"], ["--sort", "count", "--top", "2"], ["--min-count", "2"]))
    if groups:
        options += ["--by", ",".join(group.text for group in groups)]
    if not table.is_binary:
        options += ["--invalid", "ignore", "-q"]
    table.write()
    words = [*operation, *options, *printing]
    words += case.options(words)
    names, data = case.feed(table.rows, LIMITS.get("way"))
    done = case.attempt([*words, *names], data)
    if done.returncode != 0:
        if done.returncode not in (1, 2) or done.stdout:
            raise Failure(f"{case.last}: status {done.returncode}: {done.stderr.decode(errors='replace')!r}")
        return  # bins that do not fit the values, or conflicting options
    # Without the command line, and the names of columns that a state does not keep.
    plain = lambda page: re.sub(rb"<(title|h1|pre|p|svg|thead)\b.*?</\1>", b"", page, flags=re.DOTALL)
    wanted, wanted_by = plain(done.stdout), case.last + (f" <{case.save(data)}" if data is not None else "")
    found, _ = case.call([*words, "--save", "state", *names], data)
    require(plain(found), wanted, case.last, wanted_by)
    found, _ = case.call(["merge", "-q", *printing, "state"])
    require(plain(found), wanted, case.last, wanted_by)


def check_found(case):
    rng, table = case.rng, case.table
    if table.is_binary:
        table = case.table = rng.choice((Json, Logfmt, Text, Text))(rng)
    column = table.use()
    while table.wide[column.index]:
        column = table.use()
    other = table.use(is_value=True)
    table.write()
    key = column.key(table.rows[0]) if table.rows else None
    value = None if key is None or column.width or (column.kind == "text" and not is_value_of_text(key)) else column.write(key)
    forms = [lambda text: ["uniq", "-f", text], lambda text: ["reduce", "count,distinct,mode", "-f", text],
             lambda text: ["count", "--by", text], lambda text: ["uniq", "-f", other.text, "--by", text]]
    if value is not None and not set(value) & set(',"@\0'):
        sign = rng.choice(("=", "!=", "<", ">="))
        forms.append(lambda text: ["uniq", "-f", other.text, "--where", f"{text}{sign}{value}"])
    words = rng.choice(forms)
    options = [*table.options, *rng.choice(([], ["--invalid", "ignore"]))]
    names, data = case.feed(table.rows, LIMITS.get("way"))
    found = case.attempt([*words(column.where), *options, *names], data)
    found_by = case.last + (f" <{case.save(data)}" if data is not None else "")
    if found.returncode not in (0, 1, 2) or (found.returncode == 2 and found.stdout):
        raise Failure(f"{found_by}: status {found.returncode}: {found.stderr.decode(errors='replace')!r}")
    if found.returncode or b"in another notation" in found.stderr:
        return  # 12e4, which a typed kind reads, is an error
    kinds = {"int": ["int", "text"], "hex": ["int", "text", "round.0"], "ip": ["ip", "text", "int"], "text": ["text", "int"],
             "size": ["int", "text", ".1"], "duration": ["int", "text", *(f".{n}" for n in range(10))],
             "time": ["time", "localtime", "text", "int", *(f"{name}.{n}" for n in range(1, 10) for name in ("time", "localtime"))],
             "fixed": [*(f".{n}" for n in range(8)), *(f"round.{n}" for n in range(8)), "int", "text"]}[table.kinds[column.index][0]]
    for kind in kinds:
        typed = case.attempt([*words(f"{column.where}:{kind}"), *options, *names], data)
        if (typed.returncode, typed.stdout) == (0, found.stdout):
            return
    raise Failure(f"{found_by}\n{found.stdout[:1500]!r}, but of none of the kinds {kinds}")


CHECKS = {"where": check_where, "by": check_by, "columns": check_columns, "sorted": check_sorted, "parts": check_parts, "formats": check_formats,
          "missing": check_missing, "read": check_read, "saved": check_saved, "found": check_found}


def run_case(gpuhist, law, number):
    """Tries a law in the case of that number."""
    rng = random.Random(f"{law} {number}")
    CHECKS[law](Case(gpuhist, rng, draw_table(rng)))


def main():
    gpuhist, which = sys.argv[1:3]
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 100
    failures = 0
    for law in CHECKS:
        for number in range(seed, seed + count, SHARE) if which in (law, "all") else ():
            try:
                run_case(gpuhist, law, number)
            except Failure as failure:
                failures += 1
                print(f"laws.py {law} {number} 1:\n{failure}\n", flush=True)
                if "LAWS_ALL" not in os.environ:
                    sys.exit(1)
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
