"""Results of timestamps against Python: datetime, fractions and zoneinfo.

usage: zones.py GPUHIST means|zones|damaged|rules SEED

    means    means and interpolated percentiles of timestamps are timestamps, rounded to the digits of their column
    zones    buckets, numbers of cycles and timestamps with --tz, in random zones near and far from their changes
    damaged  corrupt files give one line, or a result that a valid file could give
    rules    random POSIX rules in files that are written here
"""
import datetime
import json
import os
import random
import subprocess
import sys
import struct
import zoneinfo
from fractions import Fraction

SHARE = int(os.environ.get("SHARE", "1"))
UTC = datetime.timezone.utc
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=UTC)
FIRST, LAST = -62135596800, 253402300799  # the seconds of 0001-01-01 and 9999-12-31


def run(program, arguments, data=b""):
    done = subprocess.run([program, *arguments], input=data, capture_output=True, check=False, timeout=60)
    if done.returncode != 0:
        sys.exit(f"{arguments}: {done.stderr.decode()}")
    return done.stdout.decode()


def write(value, digits):
    """Returns a value in units of 10^-digits seconds as a timestamp in UTC."""
    seconds, rest = divmod(value, 10**digits)
    text = (EPOCH + datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0")
    return text + (f".{rest:0{digits}d}" if digits else "") + "Z"


def quantile(values, percent):
    """Returns the percentile of numpy's default method."""
    at = Fraction(percent, 100) * (len(values) - 1)
    below = values[int(at)]
    return below + (values[min(int(at) + 1, len(values) - 1)] - below) * (at - int(at))


# --- zones ---------------------------------------------------------------------------------------

CYCLES = {"minute-of-day": lambda at: at.hour * 60 + at.minute, "hour-of-day": lambda at: at.hour,
          "day-of-week": lambda at: at.isoweekday(), "day-of-month": lambda at: at.day, "month-of-year": lambda at: at.month}
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
DATES = ("1d", "2d", "24h", "1w", "2w", "1mo", "3mo", "1y", "10y")
CLOCKS = ("1s", "15m", "1h", "h", "2h", "3h", "6h", "7h", "36h")
NAMED = ("Europe/Berlin", "America/New_York", "America/St_Johns", "America/Sao_Paulo", "America/Havana", "Asia/Kathmandu",
         "Australia/Lord_Howe", "Pacific/Apia", "Europe/Dublin", "Africa/Casablanca", "Asia/Tehran", "Antarctica/Troll",
         "Pacific/Kwajalein", "America/Juneau", "Asia/Gaza", "Africa/Monrovia", "UTC", "Etc/GMT+12", "EST5EDT", "Asia/Tokyo")


class Zone:
    def __init__(self, info):
        self.info = info

    def offset(self, instant):
        return int((EPOCH + datetime.timedelta(seconds=instant)).astimezone(self.info).utcoffset().total_seconds())

    def local(self, instant):
        return instant + self.offset(instant)

    def change(self, low, high):
        """Returns the first instant of (low, high] whose offset differs from low's; None: none in steps of hours."""
        step = 6 * 3600
        for at in range(low, high, step):
            end = min(at + step, high)
            if self.offset(end) == self.offset(at):
                continue
            while end - at > 1:
                middle = (at + end) // 2
                at, end = (at, middle) if self.offset(middle) != self.offset(at) else (middle, end)
            return end
        return None

    def periods(self, low, high):
        """Returns the parts of [low, high] between changes."""
        while low <= high:
            change = self.change(low, high)
            end = change if change is not None else high + 1
            yield low, end
            low = end

    def first(self, local):
        """Returns the first instant with that local time or a later one."""
        for low, end in self.periods(local - 100000, local + 100000):
            instant = max(low, local - self.offset(low))
            if instant < end:
                return instant
        raise AssertionError(local)

    def last(self, local, instant):
        """Returns the last instant up to another at which clocks show a local time, or skip it."""
        for low, end in reversed(list(self.periods(instant - 45 * 86400, instant))):
            found = local - self.offset(low)
            if found >= end:
                return end
            if found >= low:
                return found
        raise AssertionError(local)


def date_of(seconds):
    return EPOCH + datetime.timedelta(seconds=seconds)


def bucket(zone, width, instant):
    local = zone.local(instant)
    if width in CYCLES:
        return CYCLES[width](date_of(local))
    unit = width.lstrip("0123456789")
    count = int(width[:-len(unit)] or 1)
    if unit in SECONDS:
        seconds = count * SECONDS[unit]
        origin = -3 * 86400 if unit == "w" else 0
        begin = (local - origin) // seconds * seconds + origin
    else:
        date = date_of(local)
        months = count * (12 if unit == "y" else 1)
        year, month = divmod((date.year * 12 + date.month - 1) // months * months, 12)
        begin = int((datetime.datetime(year, month + 1, 1, tzinfo=UTC) - EPOCH).total_seconds())
    return zone.first(begin) if width in DATES else zone.last(begin, instant)


def write_in(zone, value, digits):
    seconds, rest = divmod(value, 10**digits)
    offset = zone.offset(seconds)
    text = write(zone.local(seconds) * 10**digits + rest, digits)[:-1]
    ahead = abs(offset)
    return text + f"{'-' if offset < 0 else '+'}{ahead // 3600:02d}:{ahead // 60 % 60:02d}" + (f":{ahead % 60:02d}" if ahead % 60 else "")


def draw_instants(rng, zone, count):
    """Instants near changes, before 1970, after 2037, and anywhere."""
    for _ in range(count):
        year = rng.choice((rng.randrange(1840, 1970), rng.randrange(1970, 2038), rng.randrange(2038, 2200), rng.randrange(60, 9900)))
        at = int((datetime.datetime(year, 1, 1, tzinfo=UTC) - EPOCH).total_seconds()) + rng.randrange(366 * 86400)
        change = zone.change(at, at + 200 * 86400) if rng.randrange(4) else None
        if change is None:
            yield at
            continue
        for _ in range(5):
            yield change + rng.choice((-1, 0, 1, rng.randrange(-7300, 7300), rng.randrange(-90000, 90000)))


def compare(program, rng, name, zone, options, many):
    digits = rng.choice((0, 0, 0, 3, 9))
    instants = [at for at in draw_instants(rng, zone, 4 * many) if digits < 9 or abs(at) < 9 * 10**9]
    values = [at * 10**digits + rng.randrange(10**digits) for at in instants]
    data = "".join(write(value, digits) + "\n" for value in values).encode()
    widths = rng.sample(DATES, min(many, 4)) + rng.sample(CLOCKS, min(many, 4)) + rng.sample(sorted(CYCLES), 1)
    env = ["--tz", name, *options]
    for width in widths:
        kind = "1:time/" + width if width in CYCLES else f"1:time.{digits}/{width}"
        found = [bucket(zone, width, at) for at in instants]
        counts = {key: found.count(key) for key in found}
        shown = {key: str(key) if width in CYCLES else write_in(zone, key * 10**digits, digits) for key in counts}
        wanted = "".join(f"{shown[key]}\t{counts[key]}\n" for key in sorted(counts))
        text = run(program, ["uniq", "-f", kind, *env], data)
        assert text == wanted, (name, kind, set(text.splitlines()) ^ set(wanted.splitlines()))
        key = rng.choice(sorted(counts))
        text = run(program, ["count", "--all", "--where", f"{kind}={shown[key]}", *env], data)
        assert int(text) == counts[key], (name, kind, shown[key], text, counts[key])
    width = rng.choice((*DATES[:-1], "2h", "6h", "36h"))  # with the empty ones, between instants that are not far apart
    limit = (2 if width.endswith("h") else 50) * 86400
    some = [at for at in instants if abs(at - instants[0]) < limit]
    found = [bucket(zone, width, at) for at in some]
    # A bucket next to a change may be as short as a second.
    changes = [low for low, _ in zone.periods(min(found), max(found))][1:]
    seen = [*range(min(found), max(found), 3600), *(at for change in changes for at in (change - 1, change))]
    every = sorted({bucket(zone, width, at) for at in seen} | set(found))
    text = run(program, ["uniq", "--zeros", "-f", f"1:time/{width}", *env], "".join(write(at, 0) + "\n" for at in some).encode())
    wanted = "".join(f"{write_in(zone, key, 0)}\t{found.count(key)}\n" for key in every)
    assert text == wanted, (name, width, text, wanted)
    local = rng.choice(instants) + rng.randrange(-90000, 90000)
    bound = zone.first(local)
    text = run(program, ["count", "--all", "--where", f"1:time>={write(local, 0)[:-1]}", *env], data)
    assert int(text) == sum(at >= bound for at in instants), (name, local, bound)


def zones(program, rng):
    directories = [path for path in zoneinfo.TZPATH if os.path.isdir(path)]
    if not directories:
        print("skip: no tzdata")
        return
    os.environ["TZDIR"] = directories[0]
    names = sorted(name for name in zoneinfo.available_timezones() if os.path.exists(f"{directories[0]}/{name}"))
    for name in [*rng.sample([name for name in NAMED if name in names], 8), *rng.sample(names, 24 // min(SHARE, 4))]:
        compare(program, rng, name, Zone(zoneinfo.ZoneInfo(name)), rng.choice(([], ["--threads", "1"])), 3)
    with open("in", "w", encoding="ascii") as file:
        instants = list(draw_instants(rng, Zone(zoneinfo.ZoneInfo("Europe/Berlin")), 40))
        file.writelines(f"{write(at, 0)},{rng.randrange(9)}\n" for at in instants)
    states = []
    for job in (["uniq", "-f", "1:time/1d"], ["-f", "1:time", "--edges", "1900-01-01,2000-01-01,2030-01-01"],
                ["reduce", "sum", "-f", "2", "--by", "1:time/day-of-week"], ["-f", "1:time", "--range", "1900-01-01:2100-01-01"],
                ["count", "--ge", "2001-01-01", "-f", "1:time"]):
        options = ["-d", ",", "--tz", "Europe/Berlin", "-q", "in"]
        states.append(f"state{len(states)}")
        whole = run(program, [*job, *options])
        assert whole and run(program, [*job, *options, "--save", states[-1]]) == whole
        assert run(program, ["merge", "-q", states[-1]]) == whole, job
    run(program, ["uniq", "-f", "1:time/1d", "-d", ",", "--tz", "Europe/Paris", "-q", "in", "--save", "other", "-o", os.devnull])
    done = subprocess.run([program, "merge", "state0", "other"], capture_output=True, check=False)
    assert done.returncode == 1 and b"--tz=Europe/Paris, not --tz=Europe/Berlin" in done.stderr, done.stderr


# --- files of zones ------------------------------------------------------------------------------

def zone_file(rule, changes=(), offsets=(0,)):
    """A TZif file of version 2, with an empty block of version 1; changes: instants with the index of an offset."""
    def block(times):
        head = struct.pack(">6I", 0, 0, 0, len(times), len(offsets), 4)
        return (b"TZif2" + bytes(15) + head, b"".join(struct.pack(">q", at) for at, _ in times) +
                bytes(index for _, index in times) + b"".join(struct.pack(">iBB", offset, 0, 0) for offset in offsets) + b"AAA\0")
    first = b"TZif2" + bytes(15) + struct.pack(">6I", 0, 0, 0, 0, 1, 4) + struct.pack(">iBB", 0, 0, 0) + b"AAA\0"
    return first + b"".join(block(changes)) + b"\n" + rule.encode() + b"\n"


def draw_rule(rng):
    def offset(low, high):
        seconds = rng.randrange(low, high) * 900
        return f"{'-' if seconds < 0 else rng.choice(('', '+'))}{abs(seconds) // 3600}" + (f":{abs(seconds) // 60 % 60:02d}" if seconds % 3600 else "")

    def change(month):
        # days from 0 are compared with date(1) in zones.bats: Python's are one late
        day = f"M{month}.{rng.randrange(1, 6)}.{rng.randrange(7)}" if rng.randrange(3) else f"J{30 * month - rng.randrange(25)}"
        return day + rng.choice(("", f"/{rng.randrange(26)}", f"/{rng.randrange(24)}:30", f"/-{rng.randrange(1, 30)}"))

    standard = offset(-48, 48)
    if rng.randrange(4) == 0:
        return f"<{rng.choice('+-')}01>{standard}"
    months = sorted(rng.sample(range(3, 12), 2), reverse=rng.randrange(2) == 0)
    if abs(months[0] - months[1]) < 2:
        months = [3, 10]
    return f"AAA{standard}BBB{rng.choice(('', offset(-48, 48)))},{change(months[0])},{change(months[1])}"


def rules(program, rng):
    os.environ["TZDIR"] = os.getcwd()
    for number in range(24 // min(SHARE, 4)):
        rule = draw_rule(rng)
        # the rule of a zone without summer is also the offset of its last change
        hours, _, minutes = (rule + ":00").partition(">")[2].partition(":")
        standard = 0 if "BBB" in rule else -(abs(int(hours)) * 3600 + int(minutes[:2]) * 60) * (-1 if hours[0] == "-" else 1)
        data = zone_file(rule, [] if "BBB" in rule else [(-10**9, 1), (10**8, 0)], (standard, rng.randrange(-3000, 3000)))
        name = f"zone{number}"
        with open(name, "wb") as file:
            file.write(data)
        with open(name, "rb") as file:
            zone = Zone(zoneinfo.ZoneInfo.from_file(file))
        compare(program, rng, name, zone, [], 2)


def damaged(program, rng):
    """Changed bytes and lengths give a result, or one line and no result. So do other types of files."""
    os.environ["TZDIR"] = os.getcwd()
    whole = zone_file("CET-1CEST,M3.5.0,M10.5.0/3", [(-10**9, 1), (0, 0), (10**9, 1)], (3600, 7200))
    os.mkdir("directory")
    os.mkfifo("fifo")
    files = {"empty": b"", "text": b"CET-1\n", "no_rule": whole[:whole.rindex(b"CET")],
             "rule": zone_file("CET-1CEST,M3.5.0"), "month": zone_file("CET-1CEST,M13.5.0,M10.5.0"),
             "late": zone_file("", [(5, 0), (5, 0)]), "index": zone_file("", [(5, 3)]), "after": zone_file("", [(5, 1)], (3600,)), "far": zone_file("", [], (99999,))}
    os.mkdir("zones")
    with open("zone", "wb") as file:
        file.write(whole)
    wrong = {"zones/../zone": 2, "directory": 2, "fifo": 1, "none": 2, "..": 2, "a/../b": 2, "/etc/passwd": 2, "": 2, "a b": 2,
             **{name: 1 for name in files}}
    for i in range(0, len(whole), 1 + SHARE):
        files[f"cut{i}"] = whole[:i]
        wrong[f"cut{i}"] = 1
    for i in range(400 // SHARE):
        data = bytearray(whole)
        for _ in range(rng.choice((1, 1, 3))):
            data[rng.randrange(len(data))] = rng.choice((0, 255, 127, rng.randrange(256)))
        files[f"changed{i}"] = bytes(data)
    for name, data in files.items():
        with open(name, "wb") as file:
            file.write(data)
    for name in [*wrong, *(name for name in files if name not in wrong)]:
        done = subprocess.run([program, "uniq", "-f", "1:time/1d", "--tz", name], input=b"2026-11-21\n0001-01-01\n9999-12-31\n",
                              capture_output=True, check=False, timeout=20)
        assert done.returncode == wrong.get(name, done.returncode) and done.returncode in (0, 1, 2), (name, done)
        if done.returncode:
            assert done.stdout == b"" and done.stderr.count(b"\n") == 1 and b"--tz" in done.stderr, (name, done)


# --- means ---------------------------------------------------------------------------------------

def means(program, rng):
    for _ in range(40 // min(SHARE, 4)):
        digits = rng.choice((0, 0, 1, 3, 6, 9))
        low, high = rng.choice(((FIRST, LAST), (-10, 10), (1_700_000_000, 1_700_000_100), (-3 * 10**9, 3 * 10**9)))
        if digits == 9:
            low, high = max(low, -9 * 10**9), min(high, 9 * 10**9)
        scale = 10**digits
        values = [rng.randrange(low * scale, high * scale) for _ in range(rng.choice((1, 2, 3, 10, 500)))]
        groups = [rng.randrange(3) for _ in values]
        data = "".join(f"{write(value, digits)} {group}\n" for value, group in zip(values, groups)).encode()
        kind = f"1:time.{digits}"
        names = ["mean", "min", "median", "q1", "p99.5"]
        quantiles = {"median": 50, "q1": 25, "p99.5": Fraction(199, 2)}

        def expect(of):
            of = sorted(of)
            # round() of a Fraction is half to even
            results = {"mean": round(Fraction(sum(of), len(of))), "min": of[0]}
            results |= {name: round(quantile(of, percent)) for name, percent in quantiles.items()}
            return [write(results[name], digits) for name in names]

        arguments = ["reduce", ",".join(names), "--interpolate", "-f", kind]
        wanted = expect(values)
        text = run(program, arguments, data)
        assert text == "".join(f"{name}\t{value}\n" for name, value in zip(names, wanted)), (digits, values, text, wanted)
        members = json.loads(run(program, arguments + ["--format", "json"], data))
        assert [members[name] for name in names] == wanted, (members, wanted)
        state = run(program, arguments + ["--save", "state", "-o", os.devnull], data)
        assert state == "" and run(program, ["merge", "state"]) == text
        by = run(program, arguments + ["--by", "2"], data).splitlines()
        assert by == ["\t".join([str(group)] + expect([v for v, g in zip(values, groups) if g == group]))
                      for group in sorted(set(groups))], (digits, by)
        deviation = float(run(program, ["reduce", "stddev", "-f", kind], data))
        mean = Fraction(sum(values), len(values))
        variance = sum((value - mean)**2 for value in values) / len(values) / scale**2
        assert abs(deviation**2 - float(variance)) <= 1e-9 * float(variance), (deviation, variance)


def main():
    program, part, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
    print(f"seed {seed}")
    {"means": means, "zones": zones, "rules": rules, "damaged": damaged}[part](program, random.Random(seed))


if __name__ == "__main__":
    main()
