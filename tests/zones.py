"""Results about times against Python: datetime, fractions and zoneinfo.

usage: zones.py GPUHIST means SEED

    means    means and interpolated quantiles of times are times, rounded to the digits of their column
"""
import datetime
import json
import os
import random
import subprocess
import sys
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
    """A value in units of 10^-digits seconds as a time in UTC."""
    seconds, rest = divmod(value, 10**digits)
    text = (EPOCH + datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0")
    return text + (f".{rest:0{digits}d}" if digits else "") + "Z"


def quantile(values, percent):
    """That of numpy's default method."""
    at = Fraction(percent, 100) * (len(values) - 1)
    below = values[int(at)]
    return below + (values[min(int(at) + 1, len(values) - 1)] - below) * (at - int(at))


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
    {"means": means}[part](program, random.Random(seed))


main()
