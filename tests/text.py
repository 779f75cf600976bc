"""Compares gpuhist with plain Python on random text: fields, delimiters, quotes, notations, long lines.

usage: text.py GPUHIST RUNS SEED ENGINE...

Each run is on a random ENGINE, or on several that are joined by "+"; cpu:ISA limits the
instruction set.
Every input is read as a file, standard input, a pipe written in random pieces, zstd or gzip, with
the smallest chunks for text, so that lines and values are cut everywhere and lines are
longer than a chunk. The reference splits lines as the manual says and shares nothing with gpuhist.
"""
import csv
import decimal
import functools
import gzip
import operator
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading

LIMITS = {"u8": (0, 2**8 - 1), "i16": (-2**15, 2**15 - 1), "i64": (-2**63, 2**63 - 1)}
csv.field_size_limit(1 << 30)
SPACE = b" \t\n\r\v\f"
POLICIES = ("abort", "fail", "warn", "ignore")


def parts_of_csv(line, delimiter):
    """Returns the parts of a line with quotes, and the position of its first invalid quote, or None."""
    end = rb"(?=%s|\Z)" % re.escape(delimiter)
    blanks = b"[" + b" \t".replace(delimiter, b"") + b"]+"
    part = re.compile(rb'(?:"((?:[^"]|"")*)"|((?!"|%s")[^%s]*))' % (blanks, re.escape(delimiter)) +
                      end, re.DOTALL)
    parts, read, at = [], [], 0 # as written, and as read
    while at <= len(line):
        found = part.match(line, at)
        if not found:
            return parts, line[at:]
        parts.append(found[1] or found[2] or b"")
        read.append((found[1] or b"").replace(b'""', b'"') or found[2] or b"")
        at = found.end() + 1
    if b"\r" not in line:
        text = line.decode("latin-1")
        rows = list(csv.reader([text], delimiter=delimiter.decode("latin-1")))
        assert [part.encode("latin-1") for part in rows[0]] == read
    return parts, None


def values_of_line(line, field, delimiter, quoted, columns=0):
    """Returns the parts of a line that are values. If the field is missing: its number of parts and the
    wanted field. If it does not have `columns` words: its number of words, 0, and the expected number."""
    line = line[:-1] if line.endswith(b"\r") else line
    if not line.strip(b" \t"):
        return []
    if quoted:
        parts, wrong = parts_of_csv(line, delimiter)
        parts = [part.strip(b" \t") for part in parts]
        if wrong is not None:
            return parts[:None if field == 0 else 0] + [wrong.strip(b" \t")]
    elif delimiter is None:
        parts = re.split(rb"[ \t]+", line.strip(b" \t"))
    else:
        parts = [part.strip(b" \t") for part in line.split(delimiter)]
    if field == 0:
        return parts
    if columns not in (0, len(parts)) and len(parts) >= field:
        return [(len(parts), 0, columns)]
    index = field - 1 if field > 0 else len(parts) + field
    return [parts[index] if 0 <= index < len(parts) else (len(parts), abs(field))]


def report(token, command):
    """Returns the certain part of the report about an invalid token."""
    if isinstance(token, tuple):
        if len(token) == 3:
            return b"wrong number of fields: the line has %d, the header %d" % (token[0], token[2])
        fields, wanted = token
        name = command[command.index("-f") + 1].encode()
        if name.lstrip(b"-").isdigit():
            return b"missing field %s: the line has %d" % (name, fields)
        return b"missing field %d '%s': the line has %d" % (wanted, name, fields)
    shown = token if all(32 <= c < 127 for c in token) and len(token) <= 40 else None
    value = value_to_report(token, command)
    if value is None:
        kind = b"number" if "--decimals" in command else b"integer"
        return b"invalid %s '" % kind + (shown + b"'" + advice_of(token, command) if shown is not None else b"")
    advice = [kind for kind, low, high in (("i64", -2**63, 2**63), ("u64", 0, 2**64)) if low <= value < high]
    end = f"is out of range for {command[command.index('-t') + 1]}"
    end += f" with --decimals {command[command.index('--decimals') + 1]}" if "--decimals" in command else ""
    end += f" (try -t {advice[0]})" if advice else ""
    return b"'" + (shown + b"' " + end.encode() if shown is not None else token[:1])


def value_to_report(token, command):
    """Returns the out-of-range number, or another out-of-range one; None if the token is not a number."""
    decimals = int(command[command.index("--decimals") + 1]) if "--decimals" in command else 0
    if "--base" in command and command[command.index("--base") + 1] == "16":
        parsed = re.fullmatch(rb"([+-]?)(?:0[xX])?([0-9a-fA-F]+)", token)
        return int(parsed[1] + parsed[2], 16) if parsed else None
    if "--decimals" in command:
        if re.search(rb"[eE]", token):
            return fixed_value_of(token, decimals)
        parsed = re.fullmatch(rb"([+-]?)([0-9]*(?=\.|$))\.?([0-9]*)", token)
        if not parsed or parsed[2] + parsed[3] == b"" or parsed[3][decimals:].strip(b"0") != b"":
            return None
        digits = parsed[2] + parsed[3][:decimals].ljust(decimals, b"0")
    else:
        parsed = re.fullmatch(rb"([+-]?)([0-9]+)", token)
        if not parsed:
            return None
        digits = parsed[2]
    return int(parsed[1] + (digits.lstrip(b"0")[:40] or b"0")) # int() accepts 4300 digits


def advice_of(token, command):
    """Returns the options advised for a token that is not an integer."""
    if "--decimals" in command or "--base" in command and command[command.index("--base") + 1] == "16":
        return b""
    point = re.fullmatch(rb"[+-]?[0-9]*\.([0-9]{1,18})", token)
    if point:
        return b" (try %s%d)" % (b"COLUMN:." if "-f" in command else b"--decimals ", len(point[1]))
    if re.fullmatch(rb"[+-]?0[xX][0-9a-fA-F]+", token):
        return b" (try --base 16)"
    if {"-f", "-d", "--csv"} & set(command) or not re.search(rb"[A-Za-z]", token):
        return b""
    return b" (try --csv -f N)" if b"," in token else b" (try -d ';' -f N)" if b";" in token else b""


def fixed_value_of(token, decimals):
    """Like value_of, in units of the last decimal place, by the decimal module, which also accepts NaN and 1_0."""
    if not re.fullmatch(rb"[+-]?([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?", token):
        return None
    try:
        value = decimal.Decimal(token.decode()).scaleb(decimals)
    except decimal.InvalidOperation:
        return None
    return int(value) if abs(value) < 2**70 and value == value.to_integral_value() else \
        2**70 if abs(value) >= 2**70 else None


def value_of(token, notation):
    """Returns the number of a token, or None."""
    if notation.startswith("."):
        return fixed_value_of(token, int(notation[1:]))
    if notation == "16":
        parsed = re.fullmatch(rb"([+-]?)(?:0[xX])?([0-9a-fA-F]+)", token)
        return int(parsed[1] + parsed[2], 16) if parsed else None
    parsed = re.fullmatch(rb"([+-]?)0*([0-9]{1,40})", token) # int() accepts 4300 digits
    return int(parsed[1] + parsed[2]) if parsed else None


def read(data, rules, limits, columns=0):
    """Returns the values, and (line, token) of each invalid one."""
    field, delimiter, quoted, notation = rules
    values, invalid = [], []
    for number, line in enumerate(data.split(b"\n"), 1):
        if field == 0 and delimiter is None:
            tokens = [token for token in re.split(b"[" + SPACE + b"]+", line) if token]
        else:
            tokens = values_of_line(line, field, delimiter, quoted, columns)
        for token in tokens:
            value = value_of(token, notation) if isinstance(token, bytes) else None
            if value is not None and limits[0] <= value <= limits[1]:
                values.append(value)
            else:
                invalid.append((number, token))
    return values, invalid


def write_number(rng, value, notation):
    """Returns a token for the value."""
    if notation == "16":
        return (rng.choice(["%s%x", "%s%X", "%s0x%x", "%s0X%X", "%s0x00%x"]) %
                ("-" * (value < 0), abs(value))).encode()
    if notation.startswith("."):
        decimals = int(notation[1:])
        digits = str(abs(value)).rjust(decimals + 1, "0")
        text = digits[:len(digits) - decimals] + "." + digits[len(digits) - decimals:]
        kind = rng.randrange(8)
        if kind == 0:
            text = text.rstrip("0")
        if kind == 1:
            text = "0" * rng.choice([0, 3, 9000]) + text + "0" * rng.choice([1, 30, 9000])
        if kind == 2:
            text += rng.choice(["0001", "1", "." , "e1", "0" * 9000 + "1"])
        return (rng.choice(["", "", "+"] if value >= 0 else ["-"]) + text).encode()
    return b"%d" % value


def random_token(rng, limits, notation):
    """Mostly valid values, some at or beyond the limits, some that are not integers."""
    kind = rng.random()
    if notation != "10" and kind < 0.85:
        low, high = limits
        return write_number(rng, rng.choice([rng.randint(max(low, -999), min(high, 9999)), low, high,
                                             low - 1, high + 1]), notation)
    if kind < 0.75:
        return b"%d" % rng.randint(max(limits[0], -999), min(limits[1], 9999))
    if kind < 0.85:
        return b"%d" % rng.choice([*limits, limits[0] - 1, limits[1] + 1])
    if kind < 0.95:
        zeros = rng.choice([0, 1, 5, 50, 3000, 9000])
        return rng.choice([b"", b"+", b"-"]) + b"0" * zeros + b"%d" % rng.randint(0, 200)
    return rng.choice([b"-", b"+", b"x", b"1e5", b"0x10", b"0" * 5000 + b"x1", b"1.0", b"--5", b"5-", b"\xc2\xa0" b"1", b"1" * 50,
                       b"9" * 5000, b"a" * 256, b"7\r8"])


def usual_token(rng, limits, notation):
    """Draws a valid value of any length."""
    bits = rng.randint(1, 64)
    return write_number(rng, max(limits[0], min(limits[1], rng.choice([1, 1, 1, -1]) *
                                                rng.getrandbits(bits))), notation)


def quote(rng, token, delimiter, good):
    """Returns the token in quotes, or another field, valid or, unless `good`, perhaps invalid."""
    kind = rng.random()
    if kind < 0.3:
        return b'"' + token.replace(b'"', b'""') + b'"'
    if kind < 0.5 and not good:
        return rng.choice([b'"x%sy"' % delimiter, b'""', b'"""5"""', b'"say ""%s"""' % delimiter,
                           b'"' + rng.choice([b"x", delimiter, b'""', b"0"]) * 5000 + b'"'])
    if kind < 0.52 and not good:
        return rng.choice([b'5"', b'1"2', b'"1"2', b'"1" ', b' "1"', b'5""', b'5"%s' % delimiter])
    return token


def random_text(rng, limits, delimiter, quoted, notation):
    """Lines of random tokens, some of them far longer than a chunk."""
    pieces = []
    good = rng.random() < 0.5
    usual = rng.random() < 0.3
    for _ in range(rng.choice([0, 1, 3, 200])):
        words = rng.choice([0, 1, 1, 3, 10, 40, 4000 if rng.random() < 0.05 else 2])
        for word in range(words):
            token = (usual_token if usual else random_token)(rng, limits, notation)
            while good and not read(token, (0, None, False, notation), limits)[0]:
                token = random_token(rng, limits, notation)
            if quoted:
                token = quote(rng, token, delimiter, good)
            pieces.append(token)
            blanks = rng.choice([b" ", b"\t", b"  ", b" \t "])
            if rng.random() < 0.002:
                blanks *= 5000
            if delimiter is None:
                pieces.append(blanks)
            elif word < words - 1:
                pieces.append(delimiter if quoted or rng.random() < 0.7 else blanks + delimiter + blanks)
        pieces.append(rng.choice([b"\n", b"\n", b"\r\n", b" \n", b"\n\n", b" \t\n"]))
    text = b"".join(pieces)
    return text[:-1] if rng.random() < 0.3 and text.endswith(b"\n") else text


def write_in_pieces(pipe, data, rng):
    """Writes like a program that begins with small pieces, and continues with others of some size."""
    size = rng.choice([4095, 4096, 4097, 65536, 100000])
    at = 0
    try:
        while at < len(data):
            step = rng.randint(1, 50) if at < 3000 else size
            pipe.write(data[at:at + step])
            at += step
    except BrokenPipeError:
        pass
    pipe.close()


def run(command, how, data, name, rng):
    """Runs gpuhist on the data; returns its status, output and errors, and its name of the file."""
    if how == "file":
        done = subprocess.run([*command, name], capture_output=True, timeout=60, check=False)
        return done.returncode, done.stdout, done.stderr, name
    if how == "stdin":
        with open(name, "rb") as file:
            done = subprocess.run(command, stdin=file, capture_output=True, timeout=60, check=False)
        return done.returncode, done.stdout, done.stderr, "standard input"
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, bufsize=0) as child:
        writer = threading.Thread(target=write_in_pieces, args=(child.stdin, data, rng))
        writer.start()
        out, err = child.stdout.read(), child.stderr.read()
        writer.join()
        return child.wait(timeout=60), out, err, "standard input"


def has_returns_for_ends(data):
    """Returns whether lines end only with carriage returns, if lines matter."""
    start = data[:65536]
    return b"\n" not in start and re.search(rb"\r.", start, re.DOTALL) is not None


def expect(values, invalid, policy, notation):
    """Returns the status, the output, and the reported invalid values."""
    if invalid and policy == "abort":
        return 1, b"", invalid[:1]
    decimals = int(notation[1:]) if notation.startswith(".") else 0
    result = b"count\t%d\nsum\t%s\n" % (len(values), format(
        decimal.Decimal(sum(values)).scaleb(-decimals), f".{decimals}f").encode())
    if values and notation.startswith("."):
        result += b"max\t%s\n" % format(decimal.Decimal(max(values)).scaleb(-decimals), f".{decimals}f").encode()
    elif values:
        result += b"xor\t%d\n" % functools.reduce(operator.xor, values)
    status = 1 if not values or (invalid and policy == "fail") else 0
    if not values: # max and xor do not exist, so only the error is printed
        result = b""
    return status, result, [] if policy == "ignore" else invalid[:10]


def check(command, how, data, name, expected, rng):
    """Stops with the difference, if any; keeps the input."""
    status, out, err, called = run(command, how, data, name, rng)
    wanted_status, wanted_out, wanted_reports = expected
    lines = data.split(b"\n")
    reports = [line for line in err.split(b"\n") if re.match(rb"gpuhist: [^:]*:[0-9]+: ", line)]
    wanted = []
    for number, token in wanted_reports:
        start = b"gpuhist: %s:%d: " % (called.encode(), number)
        wanted.append(start + report(token, command))
    if status == wanted_status and out == wanted_out and len(reports) == len(wanted) and \
            all(map(bytes.startswith, reports, wanted)):
        return
    kept = "failed-text.bin"
    with open(kept, "wb") as file:
        file.write(data)
    sys.exit(f"{how}: {command}: {kept}\nstatus {status} for {wanted_status}\n"
             f"output {out} for {wanted_out}\nreports {reports}\n    for {wanted}\nerrors {err}")


def main():
    decimal.getcontext().prec = 30000
    gpuhist, runs, seed, engines = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    rng = random.Random(seed)
    ways = ["file", "stdin", "pipe"]
    if shutil.which("zstd"):
        ways.append("file.zst")
    packed = gzip.compress(b"1\n")
    if subprocess.run([gpuhist, "reduce", "sum"], input=packed, capture_output=True,
                      check=False).returncode == 0: # built with zlib
        ways.append("stdin.gz")
    with tempfile.TemporaryDirectory() as directory:
        plain = os.path.join(directory, "text")
        for _ in range(runs):
            element = rng.choice(list(LIMITS))
            delimiter = rng.choice([None, None, b",", b";", b" ", b"\t", b"-", b"x"])
            field = rng.choice([0, 0, 1, 2, 3, 7, -1, -2, -3])
            quoted = delimiter is not None and rng.random() < 0.5
            notation = rng.choice(["10", "10", "16", ".%d" % rng.choice([0, 1, 2, 3, 9, 18])])
            data = random_text(rng, LIMITS[element], delimiter, quoted, notation)
            if quoted and has_returns_for_ends(data):  # some may be in quotes
                data = data.replace(b"\r", b"")
            wanted = str(field)
            is_named = field > 0 and rng.random() < 0.5
            columns = field + rng.choice([0, 1, 900] if delimiter else [0, 0, 1, 2, 7, 900])
            ends_with_cr = (field or delimiter) and not is_named and has_returns_for_ends(data)
            values, invalid = read(data.replace(b"\r", b"\n") if ends_with_cr else data,
                                   (field, delimiter, quoted, notation), LIMITS[element],
                                   columns if is_named and delimiter is None else 0)
            if is_named:
                wanted = rng.choice(["ms", "1%", "\u00e4"])
                header = [b"n%d" % i for i in range(columns)]
                header[field - 1] = b'"%s"' % wanted.encode() if quoted else wanted.encode()
                data = (delimiter or b" ").join(header) + b"\n" + data
                invalid = [(line + 1, token) for line, token in invalid]
            policy = rng.choice(POLICIES)
            command = [gpuhist, "reduce", "count,sum,xor", "--text", "-t", element, "--invalid",
                       policy, "--threads", rng.choice("1237"), "--chunk-size", rng.choice(["4096", "4099", "8K", "64K"])]
            command += ["-f", wanted] * (field != 0)
            command += ["-d", delimiter] * (delimiter is not None and (not quoted or delimiter != b","))
            command += ["--csv"] * quoted
            if notation.startswith("."):
                command[2] = "count,sum,max"
                command += ["--decimals", notation[1:]]
            elif notation != "10":
                command += ["--base", notation]
            how = rng.choice(ways)
            name = plain + how.removeprefix("file").removeprefix("stdin") * (how != "pipe")
            packed = data
            if name.endswith(".zst"):
                packed = subprocess.run(["zstd", "-q", "-c"], input=data, capture_output=True,
                                        check=True).stdout
            elif name.endswith(".gz"):
                packed = gzip.compress(data, 1)
            with open(name, "wb") as file:
                file.write(packed)
            for engine in rng.choice(engines).split("+"):
                device, _, instruction_set = engine.partition(":")
                device = "cpu" if quoted else device # the only one that supports these
                limit = ["env", f"GPUHIST_ISA={instruction_set}"] if instruction_set else []
                expected = expect(values, invalid, policy, notation)
                check([*limit, *command, "--engine", device], how.split(".", maxsplit=1)[0], data,
                      name, expected, rng)
    print(f"{runs} runs")


main()
