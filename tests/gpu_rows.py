"""Input parsed by the GPU engine and its threads: CSV with some quotes, timestamps, IP addresses, widths, whole lines.

usage: gpu_rows.py GPUHIST SEED COUNT ENGINE...

Draws COUNT inputs, the first from SEED, the next from SEED + 1, ... All engines must print the same
bytes, on both outputs, and end with the same status. Counts of valid values are checked against
Python's csv and datetime.
"""
import collections
import csv
import datetime
import io
import ipaddress
import os
import random
import shlex
import subprocess
import sys
import tempfile

UTC = datetime.timezone.utc
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=UTC)
CHUNK = 4096


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


# --- values: the token, and its value, None if it is invalid ------------------------------------

def draw_integer(rng):
    value = rng.choice([rng.randrange(9), rng.randrange(-10**6, 10**6), rng.randrange(-2**63, 2**63)])
    return str(value), value


def draw_bucket(rng):
    value = rng.randrange(-10**6, 10**6)
    return str(value), value // 100 * 100


def draw_fixed(rng):
    value = rng.randrange(-10**6, 10**6)
    sign, digits = "-" if value < 0 else "", f"{abs(value):04}"
    return f"{sign}{digits[:-3]}.{digits[-3:]}", value


def draw_instant(rng):
    time = EPOCH + datetime.timedelta(seconds=rng.randrange(-10**9, 2 * 10**9) // rng.choice([1, 10**6]))
    offset = rng.choice([0, 0, 90, -300])
    local = time + datetime.timedelta(minutes=offset)
    zone = f"{'-' if offset < 0 else '+'}{abs(offset) // 60:02}:{abs(offset) % 60:02}" if offset else "Z"
    if rng.randrange(3) == 0:
        return local.strftime("%d/%b/%Y:%H:%M:%S ") + (zone.replace(":", "") if offset else "+0000"), time, local
    return local.strftime("%Y-%m-%dT%H:%M:%S") + zone, time, local


def draw_time(rng):
    text, time, _ = draw_instant(rng)
    return text, time.strftime("%Y-%m-%dT%H:%M:%SZ")


def draw_hour(rng):
    text, time, _ = draw_instant(rng)
    return text, time.strftime("%Y-%m-%dT%H:00:00Z")


def draw_weekday(rng):
    text, time, _ = draw_instant(rng)
    return text, time.isoweekday()


def draw_local_hour(rng):
    text, _, local = draw_instant(rng)
    return text, local.hour


def draw_local(rng):
    text, _, local = draw_instant(rng)
    return text, local.strftime("%Y-%m-%dT%H:%M:%S")


def draw_address(rng):
    """Mostly IPv4, which a GPU counts."""
    if rng.only_v4 or rng.randrange(500):
        text = f"{rng.choice([10, 10, rng.randrange(256)])}.{rng.randrange(3)}.{rng.randrange(256)}.{rng.randrange(256)}"
        return (text if rng.only_v4 or rng.randrange(500) else f"{text}:{rng.randrange(65536)}"), text
    address = ipaddress.IPv6Address(0x2001 << 112 | rng.getrandbits(rng.choice([8, 64, 112])))
    return rng.choice([str(address), f"[{address}]:443"]), str(address)


def draw_network(rng):
    text, address = draw_address(rng)
    return text, network_of(address)


def network_of(address):
    return str(ipaddress.ip_network(f"{address}/{48 if ':' in address else 24}", strict=False))


KINDS = {"ip": draw_address, "ip/24/48": draw_network, "int": draw_integer, "int/100": draw_bucket, ".3": draw_fixed, "time": draw_time, "time/1h": draw_hour,
         "localtime": draw_local, "time/day-of-week": draw_weekday, "localtime/hour-of-day": draw_local_hour}


def shown(kind, value):
    if kind != ".3":
        return str(value)
    return f"{'-' if value < 0 else ''}{abs(value) // 1000}.{abs(value) % 1000:03}"


def order(kind, value):
    if "ip" in kind:
        network = ipaddress.ip_network(value)
        return network.version, int(network.network_address)
    return EPOCH.__class__.fromisoformat(value.rstrip("Z")) if isinstance(value, str) else value


# --- inputs --------------------------------------------------------------------------------------

def draw_other(rng, may_quote):
    """A field that is not read."""
    text = rng.choice(["", "a", "some words", "17", "2026-11-21", 'x"y'])
    if may_quote and rng.randrange(2):
        return quoted(text + rng.choice(["", ",", "\n", 'say "hi"', "\r\n5,6\n", "x" * rng.choice([5, CHUNK + 7])]))
    return text


def draw_table(rng, kind):
    """Rows of CSV with the value in the second column. Stretches have quotes, and others have none."""
    rows, end = [], rng.choice(["\n", "\r\n"])
    for _ in range(rng.choice([1, 2, 9])):
        may_quote = rng.randrange(2) == 0
        for _ in range(rng.choice([1, 50, 1500])):
            text, _ = KINDS[kind](rng)
            text = rng.choice([text, text, f" {text} "])
            fields = [draw_other(rng, may_quote), quoted(text) if may_quote and rng.randrange(2) else text]
            rows.append(",".join(fields + [draw_other(rng, may_quote) for _ in range(rng.randrange(2))]))
            if rng.randrange(50) == 0:
                rows.append(rng.choice(["", " \t"]))
    return rows, end


def spoil(rng, rows):
    """Adds rows that are invalid, in their value or in their quotes."""
    for _ in range(rng.choice([1, 3, 30])):
        rows.insert(rng.randrange(len(rows) + 1), rng.choice(["a", "a,", "a,x", 'a,"x ""y"""', ",\t,5", "a,1e5",
                                                              'b, "2"', '"c"d,1', 'a,"1"2,"3\n4"', "a,9" + "9" * 30]))


def expect(kind, values):
    """Returns uniq's output."""
    counts = collections.Counter(values)
    return "".join(f"{shown(kind, v)}\t{counts[v]}\n" for v in sorted(counts, key=lambda v: order(kind, v)))


def check(gpuhist, engines, words, data, rng, wanted=None):
    """Runs it on every engine with a file or a pipe. Stops with the difference."""
    runs = {}
    chunk, threads = rng.choice([CHUNK, CHUNK + 13, 1 << 16, 1 << 20]), rng.choice([1, 2, 5])
    is_pipe = rng.randrange(2)
    with open("in", "wb") as file:
        file.write(data)
    for engine in engines:
        command = [gpuhist, *words, "--text", "--engine", engine, "--threads", str(threads), "--chunk-size", str(chunk)]
        purged = ["--purged", "purged"] if words[0] == "stalin-sort" else []
        command += purged + ([] if is_pipe else ["in"])
        done = subprocess.run(command, input=data if is_pipe else b"", capture_output=True, check=False, timeout=100)
        runs[engine] = (done.returncode, done.stdout, done.stderr)
        if purged and os.path.exists("purged"):  # a failed run replaces no file
            with open("purged", "rb") as file:
                runs[engine] += (file.read(),)
            os.remove("purged")
        if wanted is not None and (done.returncode, done.stdout.decode()) != (0, wanted):
            fail(command, data, runs[engine], (0, wanted))
        if runs[engine] != runs[engines[0]]:
            fail(command, data, runs[engine], runs[engines[0]])


def fail(command, data, found, wanted):
    if "KEEP" in os.environ:
        with open(os.environ["KEEP"], "wb") as file:
            file.write(data)
    sys.exit(f"{shlex.join(command)} of {len(data)} bytes\nfound  {str(found)[:900]}\nwanted {str(wanted)[:900]}")


# --- checks --------------------------------------------------------------------------------------

def check_table(gpuhist, engines, rng):
    kind = rng.choice(list(KINDS))
    rows, end = draw_table(rng, kind)
    text = end.join(rows) + rng.choice(["", end])
    column = ["--csv", "-f", f"2:{kind}"]
    python = [row for row in csv.reader(io.StringIO(text, newline="")) if len(row) > 1]
    values = [read(kind, row[1].strip(" ")) for row in python]
    check(gpuhist, engines, ["uniq", *column], text.encode(), rng, expect(kind, values))
    operation = rng.choice([
        ["reduce", "count,min,max"], ["count", "--all", "--any-of", "1,5,7"], ["stalin-sort"],
        ["histogram", "--bins", "20", "--range", "auto"], ["uniq", "--top", "5"],
        ["reduce", "count,sum,mean,stddev"] if "time" not in kind else ["reduce", "count"],
        ["histogram"], ["histogram", "--bins", "9", "--outside", "abort"]])
    if "ip" in kind:
        operation = rng.choice([["reduce", "count,distinct"], ["uniq", "--top", "5"], ["uniq"]])
    if "time" in kind and operation[0] in ("count", "histogram"):
        operation = ["stalin-sort", "--strict"]
    spoil(rng, rows)
    policy = rng.choice(["warn", "ignore", "fail", "abort"])
    check(gpuhist, engines, [*operation, *column, "--invalid", policy], (end.join(rows) + end).encode(), rng)


def read(kind, text):
    """Returns the value of a token without gpuhist: by Python's int, ipaddress and datetime."""
    if "ip" in kind:
        address = text.strip("[").split("]")[0] if ":" in text.replace(":", "", 1) else text.split(":")[0]
        return str(ipaddress.ip_address(address)) if kind == "ip" else network_of(address)
    if "time" not in kind:
        value = int(text.replace(".", ""))
        return value // 100 * 100 if kind == "int/100" else value
    if text[2] == "/":
        time = datetime.datetime.strptime(text, "%d/%b/%Y:%H:%M:%S %z")
    else:
        time = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    if kind == "time/day-of-week":
        return time.astimezone(UTC).isoweekday()
    if kind == "localtime/hour-of-day":
        return time.hour
    if kind == "localtime":
        return time.strftime("%Y-%m-%dT%H:%M:%S")
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:00:00Z" if kind == "time/1h" else "%Y-%m-%dT%H:%M:%SZ")


def check_lines(gpuhist, engines, rng):
    """Whole lines, and fields between blanks: a timestamp may contain a blank."""
    kind = rng.choice(list(KINDS))
    lines, values = [], []
    for _ in range(rng.choice([1, 60, 4000])):
        text, value = KINDS[kind](rng)
        lines.append(text)
        values.append(value)
    form = rng.choice(["line", "words", "parts", "parts"])
    if form == "line":
        column = ["-f", f"0:{kind}"]
        lines = [f"{rng.choice(['', ' '])}{line}" for line in lines]
    elif form == "parts":
        separator = rng.choice([",", "|", "\t", ";"])
        column = ["-d", separator, "-f", f"{rng.choice([2, -2])}:{kind}"]
        lines = [f"x{i}{separator}{line}{rng.choice(['', ' '])}{separator}y" for i, line in enumerate(lines)]
    else:
        column = [*rng.choice([[], ["-d", " "]]), "-f", f"2:{kind}"]
        lines = [f"x{i} {line} y" for i, line in enumerate(lines)]
    data = ("\n".join(lines) + rng.choice(["", "\n"])).encode()
    check(gpuhist, engines, ["uniq", *column], data, rng, expect(kind, values))
    check(gpuhist, engines, [*(["reduce", "distinct"] if "ip" in kind else ["stalin-sort"]), *column], data, rng)


def check_weights(gpuhist, engines, rng):
    """Weights in CSV, with and without quotes; some are invalid."""
    rows, sums = [], collections.Counter()
    is_address = rng.randrange(3) == 0
    is_plain = rng.randrange(3) == 0  # without quotes
    for _ in range(rng.choice([1, 3])):
        may_quote = not is_plain and rng.randrange(2) == 0
        for _ in range(rng.choice([1, 2000])):
            value, weight = rng.randrange(-30, 30), rng.choice([0, 1, rng.randrange(10**9)])
            value = f"10.0.0.{100 + value}" if is_address else value
            fields = [str(value), draw_other(rng, may_quote), str(weight)]
            rows.append(",".join(quoted(f) if may_quote and i != 1 and rng.randrange(3) == 0 else f
                                 for i, f in enumerate(fields)))
            sums[value] += weight
    values = sorted(sums, key=ipaddress.ip_address if is_address else None)
    wanted = "".join(f"{value}\t{sums[value]}\n" for value in values)
    words = ["uniq", *rng.choice([["--csv"], ["-d", ","]] if is_plain else [["--csv"]]),
             "-f", "1:ip" if is_address else "1", "--weight", "3"]
    check(gpuhist, engines, words, ("\n".join(rows)).encode(), rng, wanted)
    if rng.randrange(2):
        words[-1] += ":int/10"
    if rng.randrange(3) == 0 and not is_address:
        words += ["-t", "u64"]
    for _ in range(3):
        rows.insert(rng.randrange(len(rows) + 1), rng.choice(["1,2", "x,2,3", "1,2,-3", '"1"x,2,3', '1,2,"x"',
                                                              f"1,2,{2**63 + 5}", f"1,2,{2**63 - 1}", "1,2,1e3"]))
    operation = rng.choice([["uniq"], ["histogram", "--bins", "20"], ["histogram", "--width", "7"]])
    operation = ["uniq"] if is_address else operation
    check(gpuhist, engines, [*operation, *words[1:], "--invalid", rng.choice(["warn", "fail", "abort"])],
          ("\n".join(rows)).encode(), rng)


def main():
    gpuhist, seed, count, engines = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        for each in range(seed, seed + count):
            print(f"gpu_rows.py {each}", flush=True)
            rng = random.Random(each)
            rng.only_v4 = rng.randrange(3) > 0
            rng.choice([check_table, check_table, check_lines, check_weights])(gpuhist, engines, rng)
        os.chdir("/")


main()
