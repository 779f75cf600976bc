"""Compares the reading of timestamps and IP addresses with Python's datetime and ipaddress modules.

usage: column_kinds.py READ_KINDS SEED

Draws valid strings of every form, and mutations of them. If one of both accepts a string, the other
must read the same value, with the exceptions that the functions below name. Requires Python 3.11,
whose fromisoformat reads all of ISO 8601.
"""
import datetime
import fractions
import ipaddress
import itertools
import os
import random
import re
import subprocess
import sys

COUNT = 4000 // int(os.environ.get("SHARE", "1"))  # strings of each kind, before mutation
UTC = datetime.timezone.utc
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=UTC)
FIRST, LAST = -62135596800, 253402300799
FORMATS = ["%d.%m.%Y %H:%M:%S", "%m/%d/%y %H:%M", "%b %d %Y %I:%M:%S %p", "%A, %d %B %Y %H:%M:%S %z",
           "%Y-%j %H", "%Y%m%d%H%M%S", "%d-%b-%Y", "%y%m%d", "%H:%M:%S %Y/%m/%d"]


def ask(read_kinds, lines, *arguments):
    """Returns the answers to lines, each a list of fields; None if invalid."""
    run = subprocess.run([read_kinds, *arguments], input="".join(line + "\n" for line in lines).encode("latin-1"),
                         capture_output=True, check=False)
    if run.returncode or run.stderr:
        sys.exit(f"{arguments}: status {run.returncode}\n{run.stderr.decode()}")
    answers = [None if line == "-" else line.split("\t") for line in run.stdout.decode().splitlines()]
    require(len(answers), len(lines), f"answers of {arguments}")
    return answers


def require(found, wanted, what):
    """Stops with the difference."""
    if found != wanted:
        sys.exit(f"{what}: found {found}, wanted {wanted}")


def mutate(rng, text, alphabet):
    """Returns the string with one to three bytes changed, added, removed or exchanged."""
    letters = list(text)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(letters) + 1)
        kind = rng.randrange(4)
        if kind == 0:
            letters.insert(at, rng.choice(alphabet))
        elif at < len(letters):
            if kind == 1:
                letters[at] = rng.choice(alphabet)
            elif kind == 2:
                del letters[at]
            else:
                other = rng.randrange(len(letters))
                letters[at], letters[other] = letters[other], letters[at]
    return "".join(letters)


def draw_time(rng):
    """Returns a timestamp in one of the forms; some days are not in the calendar."""
    year = rng.choice([rng.randrange(1, 10000), rng.randrange(1900, 2100), 2000, 1970])
    year, month, day = f"{year:04}", rng.randrange(1, 13), rng.choice([rng.randrange(1, 29), rng.randrange(1, 32)])
    hour, minute, second = rng.randrange(24), rng.randrange(60), rng.randrange(60)
    fraction = rng.choice(["", "", rng.choice(".,") + str(rng.randrange(10**rng.randrange(1, 7)))])
    offset = rng.choice(["", "Z", "%c%02d:%02d", "%c%02d%02d", "%c%02d"])
    offset = offset % (rng.choice("+-"), rng.randrange(24), rng.randrange(60))[:offset.count("%")]
    kind = rng.randrange(8)
    if kind == 0:
        name = datetime.date(2000, month, 1).strftime("%b")
        text = f"{day:02}/{name}/{year}:{hour:02}:{minute:02}:{second:02} {rng.choice('+-')}{rng.randrange(24):02}00"
    elif kind == 1:
        text = rng.choice(["", "-", "+"]) + str(rng.randrange(10**8, 19 * 10**8))
        text += rng.choice(["", "." + str(rng.randrange(10**rng.randrange(1, 9)))])
    elif kind == 2:
        text = f"{year}{month:02}{day:02}T{hour:02}{minute:02}{second:02}{fraction}{offset}"
    elif kind == 3:
        text = f"{year}-{month:02}-{day:02}"
    else:
        seconds = rng.choice(["", f":{second:02}{fraction}"])
        text = f"{year}-{month:02}-{day:02}{rng.choice('T ')}{hour:02}:{minute:02}{seconds}{offset}"
    return f"[{text}]" if rng.randrange(5) == 0 else text


def instant(time):
    """Microseconds since 1970."""
    time = time if time.tzinfo else time.replace(tzinfo=UTC)
    return (time - EPOCH) // datetime.timedelta(microseconds=1)


def read_time(text):
    """Returns Python's value: microseconds since 1970, or None."""
    # exception: brackets
    text = text.removeprefix("[").removesuffix("]")
    if re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)", text):
        # exception: the number of digits determines the unit
        unit = {9: 1, 10: 1, 12: 10**3, 13: 10**3, 15: 10**6, 16: 10**6, 19: 10**9}.get(
            len(re.search(r"\d*", text.lstrip("+-"))[0]))
        if not unit:
            return None
        return fractions.Fraction(text.removesuffix(".")) * 10**6 / unit // 1
    # exception: second 60 is the first of the next minute
    leap = re.match(r"(\d{4}-\d\d-\d\d[ Tt]\d\d:\d\d:|\d{8}[Tt]\d{4}|\d\d/[a-zA-Z]{3}/\d{4}:\d\d:\d\d:)60", text, re.ASCII)
    if leap:
        text = leap[1] + "59" + text[leap.end():]
    try:
        if text[2:3] == "/":
            # exceptions: strptime accepts numbers of one digit; a fraction and a missing offset are valid
            parts = re.fullmatch(r"(\d\d/[a-zA-Z]{3}/\d{4}:\d\d:\d\d:\d\d)([.,]\d+)?( ?)(Z|z|[+-]\d\d(?::?\d\d)?)?",
                                 text, re.ASCII)
            if not parts or (parts[3] and not parts[4]):
                return None
            text = datetime.datetime.strptime(parts[1], "%d/%b/%Y:%H:%M:%S").isoformat()
            text += (parts[2] or "") + parts[3] + (parts[4] or "")
        # exceptions: fromisoformat accepts any byte for T, weeks, only dates and hours in the basic
        # form or a mixture of both, and seconds in offsets; it requires a capital Z and no blank before
        parts = re.fullmatch(r"(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)( ?(?:Z|z|[+-]\d\d(?::?\d\d)?))?)?",
                             text, re.ASCII) or re.fullmatch(
            r"(\d{8})[Tt](\d{4}(?:\d\d(?:[.,]\d+)?)?)( ?(?:Z|z|[+-]\d\d(?::?\d\d)?))?", text, re.ASCII)
        if not parts:
            return None
        offset = (parts[3] or "").strip().upper()
        # exception: fromisoformat accepts minutes above 59 in offsets
        if re.search(r"[6-9]\d$", offset) and len(offset) > 3:
            return None
        time = datetime.datetime.fromisoformat(parts[1] + ("T" + parts[2] if parts[2] else "") + offset)
        return instant(time) + (10**6 if leap else 0)
    except OverflowError:
        return FIRST * 10**6 - 1
    except ValueError:
        return None


def check_times(read_kinds, rng):
    """Every form, valid and mutated; offsets ignored; fewer digits."""
    texts = [draw_time(rng) for _ in range(COUNT)]
    texts += [mutate(rng, text, "0123456789-+:./,TtZz []WNovabc\t\x80") for text in texts * 4]
    texts = [text for text in texts if "\n" not in text]
    found = ask(read_kinds, texts, "time", "6")
    valid = 0
    for at, (text, answer) in enumerate(zip(texts, found)):
        wanted = read_time(text)
        if at < COUNT and wanted is not None and not FIRST <= wanted // 10**6 <= LAST:
            require(answer, ["out of range"], repr(text))
        elif at < COUNT or (answer and wanted is not None):
            # both read the same value from mutated strings; tests/times.py checks rejected ones
            require(answer and int(answer[0]), wanted, repr(text))
            if answer:
                # exception: isoformat writes no fraction that is 0
                written = (EPOCH + datetime.timedelta(microseconds=wanted)).replace(tzinfo=None)
                require(answer[1], written.isoformat(timespec="microseconds") + "Z", repr(text))
                valid += 1
    require(valid > COUNT, True, "enough valid times")
    for digits in range(10):
        fewer = ask(read_kinds, texts, "time", str(digits))
        for text, answer, exact in zip(texts, fewer, found):
            if digits <= 6 and exact and exact[0] != "out of range":
                require(int(answer[0]), int(exact[0]) // 10**(6 - digits), f"{digits} digits of {text!r}")
            elif digits > 6 and exact and answer and answer[0] != "out of range":
                require(int(answer[0]) // 10**(digits - 6), int(exact[0]), f"{digits} digits of {text!r}")
    plain = [text for text, answer in zip(texts, found) if answer and not re.search(r"[+-]\d\d:?\d{0,2}\]?$", text)]
    require([answer[0] for answer in ask(read_kinds, plain, "localtime", "6")],
            [answer[0] for answer in ask(read_kinds, plain, "time", "6")], "local times without an offset")
    shifted = [f"{text[:19]}{offset}" for text, answer in zip(texts, found) for offset in ["", "+05:00", "-1130"]
               if answer and re.fullmatch(r"\d{4}-\d\d-\d\d.\d\d:\d\d:\d\d", text[:19])]
    local = ask(read_kinds, shifted, "localtime", "0")
    require(local[0::3] == local[1::3] == local[2::3] and len(local) > COUNT // 4, True, "local times with an offset")


def read_formatted(text, form):
    """Returns strptime's value: seconds since 1970, or None."""
    # exceptions: names may always be full or short; offsets may have only hours, but not seconds
    forms = [form.replace("%A", day).replace("%B", month).replace("%b", month)
             for day in ("%A", "%a") for month in ("%B", "%b")]
    texts = [text, text + "00"] if form.endswith("%z") and re.search(r" [+-]\d\d$", text) else [text]
    if form.endswith("%z") and re.search(r"[+-]\d\d:?\d\d:?\d\d$", text):
        return None
    for read, how in itertools.product(texts, forms):
        try:
            time = datetime.datetime.strptime(read, how)
            # exception: strptime accepts day 366 of every year
            return None if "366" in text and "%j" in form and time.strftime("%j") != "366" else instant(time) // 10**6
        except (ValueError, OverflowError):
            pass
    return None


def check_formats(read_kinds, rng):
    """--time-format against strptime, valid and mutated."""
    for form in FORMATS:
        texts = []
        for _ in range(COUNT * 3 // 40):
            # %y: 1969 to 2068 in Python and POSIX
            time = EPOCH + datetime.timedelta(seconds=rng.randrange(0, 3 * 10**9))
            texts.append(time.strftime(form))
        texts += [mutate(rng, text, "0123456789:/.- APM") for text in texts * 2]
        for text, answer in zip(texts, ask(read_kinds, texts, "time", "0", form)):
            wanted = read_formatted(text, form)
            # exceptions: Python has no fraction after seconds, second 60 is invalid, and 61 is not;
            # only %d accepts a blank for a zero; adjacent numbers are split differently
            if answer and wanted is None and (re.search(r"[.,]\d|60|^ \d", text) or " " in text and " " not in form):
                continue
            if wanted is not None and answer is None and ("%Y%m" in form or "%y%m" in form or "61" in text
                                                          or re.search(r"\d\d:\d\d:\d\d\.\d+$", text)):
                continue
            require(answer and int(answer[0]), wanted, f"{form} of {text!r}")


def check_buckets(read_kinds, rng):
    """Buckets of equal times, and of the calendar."""
    values = [rng.randrange(FIRST, LAST) for _ in range(COUNT)] + list(range(-3, 4)) + [FIRST, LAST]
    for width, seconds, origin in ("15m", 900, 0), ("7h", 25200, 0), ("3d", 259200, 0), ("2w", 1209600, -259200):
        for value, answer in zip(values, ask(read_kinds, list(map(str, values)), "bucket", "0", width)):
            begin = (value - origin) // seconds * seconds + origin
            require(answer, [str(max(begin, FIRST))], f"{width} of {value}")
    for width, months in ("mo", 1), ("3mo", 3), ("1y", 12), ("10y", 120):
        for value, answer in zip(values, ask(read_kinds, list(map(str, values)), "bucket", "0", width)):
            time = EPOCH + datetime.timedelta(seconds=value)
            month = (time.year * 12 + time.month - 1) // months * months
            year = month // 12
            begin = FIRST if year < 1 else instant(datetime.datetime(year, month % 12 + 1, 1)) // 10**6
            require(answer, [str(begin)], f"{width} of {value}")


def draw_address(rng):
    """Returns an IP address in one of the forms."""
    kind = rng.randrange(6)
    if kind < 2:
        return str(ipaddress.IPv4Address(rng.getrandbits(32)))
    number = rng.getrandbits(128) & rng.choice([-1, rng.getrandbits(128), 0xffff << 16 * rng.randrange(8)])
    if kind == 2:
        number = number & (1 << 48 | 0xffffffff) | rng.choice([0, 0xffff << 32, 0xfffe << 32])
    address = ipaddress.IPv6Address(number)
    if kind == 3:
        return address.exploded
    if kind == 4:
        groups = address.exploded.split(":")
        return ":".join(groups[:6]) + ":" + str(ipaddress.IPv4Address(number & 0xffffffff))
    return str(address).upper() if rng.randrange(3) == 0 else str(address)


def read_address(text):
    """Returns Python's value; None if it is not an IP address."""
    # exceptions: brackets and ports
    port = re.fullmatch(r"\[([^]]*)\](?::(\d{1,5}))?|([^:]*):(\d{1,5})", text, re.ASCII)
    if port:
        if int(port[2] or port[4] or 0) > 65535:
            return None
        text = port[1] if port[1] is not None else port[3]
    # exception: zones are invalid
    if "%" in text:
        return None
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def check_addresses(read_kinds, rng):
    """IP addresses, valid and mutated; their order, prefixes and ranges."""
    texts = [draw_address(rng) for _ in range(COUNT)]
    texts += [f"{text}:{rng.randrange(70000)}" if "." in text and ":" not in text else f"[{text}]:{rng.randrange(70000)}"
              for text in texts[:COUNT // 4]]
    texts += [mutate(rng, text, "0123456789abcdefABCDEFg.:[]%/ \x80") for text in texts * 3]
    texts = [text for text in texts if text]
    found = []
    for text, answer in zip(texts, ask(read_kinds, texts, "ip")):
        wanted = read_address(text)
        require(answer and answer[1], wanted and str(wanted), repr(text))
        if answer:
            found.append((wanted.version, int(wanted), answer[0]))
    require(len(found) > COUNT, True, "enough valid addresses")
    keys = [key for _, _, key in sorted(found)]
    require(keys, sorted(keys), "keys in order")
    require(len(set(keys)), len({row[:2] for row in found}), "keys of different addresses")
    valid = [text for text in texts if read_address(text)][:COUNT]
    for v4, v6 in (24, 48), (0, 0), (32, 128), (13, 77), (8, 64), (31, 100):
        for text, answer in zip(valid, ask(read_kinds, valid, "prefix", f"{v4}/{v6}")):
            address = read_address(text)
            network = ipaddress.ip_network((address, v4 if address.version == 4 else v6), strict=False)
            # exception: a prefix of all bits is written as an IP address
            wanted = str(network) if network.prefixlen < network.max_prefixlen else str(network.network_address)
            require(answer, [wanted], f"/{v4}/{v6} of {text}")


def check_ranges(read_kinds, rng):
    """Prefixes, valid and mutated."""
    texts = []
    for _ in range(COUNT // 2):
        address = draw_address(rng)
        texts.append(f"{address}/{rng.randrange(34 if ':' not in address else 130)}")
    texts += [mutate(rng, text, "0123456789abcdef.:/") for text in texts]
    for text, answer in zip(texts, ask(read_kinds, texts, "range")):
        # exceptions: without a length it is an IP address; masks are invalid; lengths have 1 to 5 digits
        address, slash, length = text.partition("/")
        if not slash:
            continue
        try:
            wanted = ipaddress.ip_network(text, strict=False) if re.fullmatch("[0-9]{1,5}", length) else None
        except ValueError:
            wanted = None
        if wanted is None:
            require(answer, None, text)
            continue
        first, last = wanted.network_address, wanted.broadcast_address
        if wanted.version == 6 and (last.ipv4_mapped or first.ipv4_mapped):
            # exception: mapped addresses are IPv4, and not in IPv6 prefixes
            if first.ipv4_mapped:
                first, last = first.ipv4_mapped, last.ipv4_mapped
            else:
                last = ipaddress.IPv6Address("::fffe:ffff:ffff")
        require(answer, [str(first), str(last)], text)


def main():
    read_kinds, rng = sys.argv[1], random.Random(int(sys.argv[2]))
    for check in check_times, check_formats, check_buckets, check_addresses, check_ranges:
        check(read_kinds, rng)


main()
