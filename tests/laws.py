"""The laws of rows (--where, --by, several columns, parts), for random jobs on random tables.

usage: laws.py GPUHIST where|by|columns|parts|all [SEED [COUNT]]

    where    --where is the run over the rows that meet it, which Python finds
    by       --by is the runs of its groups, each found by --where
    columns  reduce and count with -f A,B,C are the runs of A, B and C
    parts    parts of the rows that are saved and merged are the whole

COUNT cases of each are drawn from SEED, SEED + 1, ... Each side of a law is a command of its own, with its
own threads, chunks and way of reading. A case that fails is told with its seed, and its files are left in
the working directory. If SHARE is above 1, one in so many cases is tried.
"""
import gzip
import os
import random
import re
import shlex
import subprocess
import sys

SHARE = int(os.environ.get("SHARE", "1"))
THREADS = ("1", "2", "16")
CHUNKS = ("4096", "4097", "8192", "65536", "1M")
GROUPED = ("histogram", "uniq", "reduce", "count")  # what --by goes with
SAVED = ("histogram", "uniq", "reduce", "count")
REDUCTIONS = ("count", "sum", "min", "max", "mean", "variance", "stddev", "and", "or", "xor", "distinct",
              "mode", "median", "p0", "p12.5", "p99", "p100")
TYPES = {f"{sign}{bits}": (bits, sign == "i") for sign in "iu" for bits in (8, 16, 32, 64)}
RELATIONS = {"=": lambda a, b: a in b, "==": lambda a, b: a in b, "!=": lambda a, b: a not in b,
             "<": lambda a, b: a < b[0], "<=": lambda a, b: a <= b[0],
             ">": lambda a, b: a > b[0], ">=": lambda a, b: a >= b[0]}
NEWLINES = b""  # b"\n" when chunks are cut between rows of CSV, not at newlines in quotes
GARBAGE = (b"x", b"-", b"1.2.3", b"--7", b"1e5", b"0x", b"99999999999999999999", b"n/a", b"g1")
TOKENS = {"int": rb"[+-]?[0-9]+", "hex": rb"[+-]?(?:0[xX])?[0-9a-fA-F]+",
          "fixed": rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)"}


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


def read_token(token, kind, decimals):
    """The value of a token; None: it is invalid."""
    token = token.strip(b" \t")
    if not re.fullmatch(TOKENS[kind], token):
        return None
    if kind != "fixed":
        return int(token, 16 if kind == "hex" else 10)
    sign = -1 if token.startswith(b"-") else 1
    whole, _, rest = token.lstrip(b"+-").partition(b".")
    if rest[decimals:].strip(b"0"):
        return None
    return sign * int((whole or b"0") + rest[:decimals].ljust(decimals, b"0"))


# --- tables --------------------------------------------------------------------------------------

class Use:
    """A column as an option names it, and what it finds in a row."""

    def __init__(self, table, index, text, kind="int", decimals=0, width=None, element="i64"):
        self.table, self.index, self.where = table, index, text
        self.kind, self.decimals, self.width, self.element = kind, decimals, width, element
        suffix = {"int": ":int", "hex": ":hex", "fixed": f":.{decimals}"}[kind]
        if width is not None:
            suffix += "/" + written(width, decimals)
        elif kind == "int" and table.rng.randrange(2) or table.is_binary:
            suffix = ""
        self.text = text + suffix
        self.shown = table.names[index] if table.by_name.get(text) == index else text

    def key(self, row):
        value = self.table.read(row, self)
        if value is None:
            return None
        low, high = limits(self.element)
        value = floor(value, self.width) if low <= value < high else None
        return value if value is not None and low <= value < high else None


class Row:
    def __init__(self, cells):
        self.cells = cells
        self.data = b""
        self.is_short = False


class Text:
    """Lines of fields: separated by blanks or by a character, or CSV."""

    is_binary = False

    def __init__(self, rng):
        self.rng = rng
        self.form = rng.choice(("blanks", "character", "csv"))
        count = rng.randrange(3, 8)
        self.kinds = [rng.choice((("int", 0), ("int", 0), ("hex", 0), ("fixed", rng.randrange(1, 4))))
                      for _ in range(count)]
        self.domains = [rng.choice(((0, 5), (0, 40), (-20, 20), (-10**6, 10**6), (-2**49, 2**49), (0, 2**49)))
                        for _ in range(count)]
        self.has_names = rng.randrange(2) == 0
        self.names = [rng.choice(("ms", "status", "v", "x-y")) + str(i) for i in range(count)]
        if self.form == "csv" and self.has_names:
            self.names[rng.randrange(count)] = rng.choice(('a, "b"', "2017", "time:int", "u8@3", "1=2"))
        self.header = self.make_header()
        self.by_name = {}
        self.options = {"blanks": [], "character": ["-d", ";"], "csv": ["--csv"]}[self.form]
        self.options += ["--header"] if self.has_names else []
        self.rows = [Row([self.draw(i) for i in range(count)]) for _ in range(rng.choice((0, 1, 40, 400, 1500)))]
        self.uses = []

    def make_header(self):
        if not self.has_names:
            return b""
        if self.form != "csv":
            return {"blanks": " ", "character": ";"}[self.form].join(self.names).encode() + b"\n"
        return ",".join('"' + name.replace('"', '""') + '"' for name in self.names).encode() + b"\r\n"

    def draw(self, index):
        kind, decimals = self.kinds[index]
        value = self.rng.randrange(*self.domains[index])
        sign = "-" if value < 0 else self.rng.choice(("", "", "", "+"))
        if kind == "hex":
            return f"{sign}{self.rng.choice(('', '0x', '0X', '00'))}{abs(value):x}".encode()
        token = written(abs(value), decimals)
        if decimals and self.rng.randrange(2):
            token = token.rstrip("0")
        return f"{sign}{'0' * self.rng.choice((0, 0, 0, 3))}{token}".encode()

    def use(self, is_value=False, element="i64"):
        """Draws a column and how it is named."""
        index = self.rng.randrange(len(self.kinds))
        kind, decimals = self.kinds[index]
        if kind == "int":
            kind, decimals = self.rng.choice((("int", 0), ("int", 0), ("hex", 0), ("fixed", self.rng.randrange(3))))
        elif kind == "fixed":
            decimals += self.rng.randrange(2)
        text = str(index + 1) if self.rng.randrange(2) else str(index - len(self.kinds))
        if self.has_names and self.rng.randrange(3):
            text = self.names[index]
            if not re.fullmatch(r"[a-z]+[-a-z]*\d", text) or self.rng.randrange(4) == 0:
                text = '"' + text.replace('"', '""') + '"'
            self.by_name[text] = index
        width = self.rng.choice((None, None, None, 1, 7, 25, 10**decimals)) if not is_value else None
        made = Use(self, index, text, kind, decimals, width, element)
        self.uses.append(made)
        return made

    def read(self, row, use):
        return read_token(row.cells[use.index], use.kind, use.decimals) if use.index < len(row.cells) else None

    def garble(self, row, spared):
        """Puts garbage in columns other than those, or leaves out the last ones."""
        for index in range(len(row.cells)):
            if index not in spared and self.rng.randrange(2):
                row.cells[index] = self.rng.choice(GARBAGE)
        counted = self.form == "blanks" and any(use.text in self.by_name or use.where in self.by_name
                                                for use in self.uses)
        if not counted and not any(use.where.startswith("-") for use in self.uses) and self.rng.randrange(3) == 0:
            del row.cells[max(spared) + 1:]

    def write(self):
        """Makes the bytes of all rows, with the numbers of their lines."""
        rng = self.rng
        line = 1 + self.header.count(b"\n")
        for row in self.rows:
            lead = rng.choice((b"\n", b"  \n")) if rng.randrange(30) == 0 else b""
            junk = bytes(rng.choices(b"abc def,;\"" + NEWLINES, k=rng.choice((0, 3, 10)))) if rng.randrange(20) else b"y" * 5000
            cells = list(row.cells)
            if self.form == "blanks":
                data = (b" " * rng.randrange(2)) + b"".join(
                    cell + rng.choice((b" ", b"\t", b"  ")) for cell in cells)
            elif self.form == "character":
                data = b";".join(rng.choice((b"", b"", b" ")) + cell for cell in cells)
            else:
                quoted = [b'"%s"' % cell if rng.randrange(3) == 0 else cell for cell in cells]
                data = b",".join(quoted)
                # one more field, unless columns are counted from the end
                if not self.has_names and not row.is_short and len(cells) == len(self.kinds) and \
                        not any(use.where.startswith("-") for use in self.uses):
                    data += b',"' + junk.replace(b'"', b'""') + b'"'
            row.line = line + lead.count(b"\n")
            row.data = lead + data + (b"\r\n" if rng.randrange(5) == 0 else b"\n")
            line += row.data.count(b"\n")


class Binary:
    """Records with an integer of some type at each of some offsets."""

    is_binary = True
    form = "records"

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
        self.rows = [self.draw() for _ in range(rng.choice((0, 1, 40, 400, 1500)))]
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

    def use(self, is_value=False, element="i64"):
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


class Condition:
    def __init__(self, rng, table, rows):
        self.use = table.use()
        self.relation = rng.choice(list(RELATIONS))
        keys = [key for key in (self.use.key(row) for row in rows[:50]) if key is not None] or [0, 1]
        is_list = self.relation in ("=", "==", "!=")
        self.values = [rng.choice(keys) + rng.choice((0, 0, 0, 1, -1))
                       for _ in range(rng.choice((1, 1, 2, 5)) if is_list else 1)]
        low, high = limits(self.use.element)
        self.values = [min(max(value, low), high - 1) for value in self.values]
        blank = rng.choice(("", " "))
        self.text = f"{self.use.text}{blank}{self.relation}{blank}" + ",".join(
            written(value, self.use.decimals) for value in self.values)

    def options(self):
        return ["--where", self.text]

    def test(self, row):
        """Whether it holds; None: the token is invalid."""
        key = self.use.key(row)
        return None if key is None else RELATIONS[self.relation](key, self.values)


def judge(conditions, row):
    """Whether a row meets all conditions; None: a token of one is invalid before one fails."""
    for condition in conditions:
        holds = condition.test(row)
        if not holds:
            return holds
    return True


# --- commands ------------------------------------------------------------------------------------

class Case:
    """A table, and the commands that are run on its rows."""

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
        """Puts the rows where a command reads them. Returns its words, and its standard input."""
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
        """Runs a command over the rows, any way. Returns what it prints, and its messages."""
        rng = self.rng
        how = ["--threads", rng.choice(THREADS), "--chunk-size", rng.choice(CHUNKS)]
        names, data = self.feed(rows, way)
        return self.call([*words, *self.table.options, *how, *names], data, status)

    def call(self, words, data=None, status=0):
        command = [self.gpuhist, *words]
        done = subprocess.run(command, input=data, stdin=subprocess.DEVNULL if data is None else None,
                              capture_output=True, timeout=120, check=False)
        self.empty = b"input is empty" in done.stderr or b"no row meets" in done.stderr or b"no values" in done.stderr
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


# --- what is drawn -------------------------------------------------------------------------------

def draw_table(rng):
    return (Binary if rng.randrange(4) == 0 else Text)(rng)


def draw_value(rng, table, rows, others):
    """A column of values, with the options of its type, into which its values fit."""
    use = table.use(is_value=True)
    if table.is_binary:
        return use, ["-f", use.text]
    fitting = [name for name in TYPES if all(fits(use, row, name) for row in rows) and
               (name != "u64" or all(fits(other, row, name) for other in others for row in rows))]
    use.element = rng.choice(fitting)
    if use.element == "u64":
        for other in others:
            other.element = "u64"
    return use, ["-f", use.text, *([] if use.element == "i64" and rng.randrange(2) else ["-t", use.element])]


def fits(use, row, name):
    value = use.table.read(row, use)
    low, high = limits(name)
    return value is not None and low <= value < high


def draw_bins(rng, use, rows):
    """Bins that hold some of the values."""
    keys = [use.key(row) for row in rows[:50]]
    keys = [key for key in keys if key is not None] or [0]
    low, high = min(keys), max(keys) + 1
    lowest, limit = limits(use.element)
    form = rng.randrange(6)
    text = lambda value: written(value, use.decimals)
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
    """The words of an operation on columns of values."""
    use = uses[0]
    name = rng.choice(names)
    if name == "reduce":
        fitting = [r for r in REDUCTIONS if r not in ("and", "or", "xor") or all(use.kind != "fixed" for use in uses)]
        return [name, ",".join(rng.sample(fitting, rng.randrange(1, len(fitting))))]
    if name == "count":
        keys = [key for key in (use.key(row) for row in rows[:20]) if key is not None] or [0]
        value = lambda: written(rng.choice(keys), use.decimals)
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
    """Another column, that says how often each value counts, if all rows have one."""
    if operation not in ("histogram", "uniq") or rng.randrange(3):
        return []
    use = table.use()
    use.element = "i64" if not table.is_binary else use.element
    keys = [use.key(row) for row in rows]
    if use.decimals or any(key is None or not 0 <= key < 2**40 for key in keys):
        table.uses.remove(use)
        return []
    return ["--weight", use.text]


def draw_conditions(rng, table, least, most):
    """Conditions, and garbage in rows that do not meet them."""
    conditions = [Condition(rng, table, table.rows) for _ in range(rng.randrange(least, most + 1))]
    return conditions


def words_of(conditions):
    return [word for condition in conditions for word in condition.options()]


# --- the laws ------------------------------------------------------------------------------------

def check_where(case):
    rng, table = case.rng, case.table
    conditions = draw_conditions(rng, table, 1, 3)
    use, options = draw_value(rng, table, table.rows, [condition.use for condition in conditions])
    operation = draw_operation(rng, table, [use], table.rows, (*GROUPED, "stalin-sort"))
    options += draw_weight(rng, table, table.rows, operation[0])
    invalid = not table.is_binary and rng.randrange(4) == 0
    for row in table.rows:
        failing = next((i for i, condition in enumerate(conditions) if condition.test(row) is False), None)
        if failing is not None and rng.randrange(2):
            table.garble(row, {condition.use.index for condition in conditions[:failing + 1]})
        elif invalid and rng.randrange(10) == 0:
            row.cells[rng.choice(conditions).use.index] = rng.choice(GARBAGE[:4])
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
    options += words_of(conditions)
    table.rows = [row for row in table.rows if all(group.key(row) is not None for group in groups)]
    for row in table.rows:
        if judge(conditions, row) is False and rng.randrange(2):
            table.garble(row, {condition.use.index for condition in conditions})
    table.write()
    keys = {tuple(group.key(row) for group in groups) for row in table.rows if judge(conditions, row)}
    found, _ = case.run([*operation, *options, "--by", ",".join(group.text for group in groups)], table.rows)
    found_by = case.last
    some = set(rng.sample(sorted(keys), min(len(keys), 8)))
    lines = {}
    order = []
    for line in found.decode().splitlines():
        *key, rest = line.split("\t", len(groups))
        lines.setdefault(tuple(key), []).append(rest)
        if not order or order[-1] != tuple(key):
            order.append(tuple(key))
    shown = [tuple(written(value, group.decimals) for value, group in zip(key, groups)) for key in sorted(keys)]
    has_all = operation[0] in ("reduce", "count")  # others may print nothing of a group
    if order != [key for key in shown if has_all or key in lines]:
        raise Failure(f"{found_by}\ngroups {order}, not {shown}")
    for key in some:
        texts = tuple(written(value, group.decimals) for value, group in zip(key, groups))
        wheres = [word for group, text in zip(groups, texts) for word in ("--where", f"{group.text}={text}")]
        wanted, _ = case.run([*operation, *options, *wheres], table.rows)
        wanted = wanted.decode().splitlines()
        if has_all:
            wanted = ["\t".join(line.split("\t")[-1] for line in wanted)]
        require(lines.get(texts, []), wanted, found_by, case.last)


def check_columns(case):
    rng, table = case.rng, case.table
    conditions = draw_conditions(rng, table, 0, 2)
    groups = [table.use() for _ in range(rng.choice((0, 0, 1, 2)))]
    values = [table.use(is_value=True) for _ in range(rng.randrange(2, 6))]
    operation = draw_operation(rng, table, values, table.rows, ("reduce", "count"))
    if operation[0] == "count":
        operation = ["count", "--all", "--lt=5", "--ne=1"]
    options = words_of(conditions)
    if groups:
        options += ["--by", ",".join(group.text for group in groups)]
    if not table.is_binary:
        options += ["--invalid", "ignore", "-q"]
        for row in table.rows:
            if rng.randrange(4) == 0:
                row.cells[rng.randrange(len(row.cells))] = rng.choice(GARBAGE)
    table.write()
    found, _ = case.run([*operation, "-f", ",".join(value.text for value in values), *options], table.rows)
    found_by = case.last
    wanted = b""
    for value in values:
        single, _ = case.run([*operation, "-f", value.text, *options], table.rows)
        wanted += b"".join(value.shown.encode() + b"\t" + line for line in single.splitlines(True))
    require(found, wanted, found_by, f"the same of each, the last of which is\n{case.last}")


def check_parts(case):
    rng, table = case.rng, case.table
    conditions = draw_conditions(rng, table, 0, 1)
    groups = [table.use() for _ in range(rng.choice((0, 1, 2)))]
    others = [*groups, *(condition.use for condition in conditions)]
    use, options = draw_value(rng, table, table.rows, others)
    more = [table.use(is_value=True)] if rng.randrange(3) == 0 else []
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


CHECKS = {"where": check_where, "by": check_by, "columns": check_columns, "parts": check_parts}


def main():
    gpuhist, which = sys.argv[1:3]
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 100
    failures = 0
    for law, check in CHECKS.items():
        for number in range(seed, seed + count, SHARE) if which in (law, "all") else ():
            rng = random.Random(f"{law} {number}")
            try:
                check(Case(gpuhist, rng, draw_table(rng)))
            except Failure as failure:
                failures += 1
                print(f"laws.py {law} {number} 1:\n{failure}\n", flush=True)
                if "LAWS_ALL" not in os.environ:
                    sys.exit(1)
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
