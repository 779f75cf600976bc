#!/usr/bin/python3
"""Command lines of users of other programs, the advice that they get, and the result of the advised command.

usage: advice.py GPUHIST [SEED]

Each row is typed; it must fail with one line that has the advice, and print nothing. The advised command must
then print the result that Python computes from the rows.
"""
import collections
import datetime
import decimal
import ipaddress
import json
import os
import random
import re
import shlex
import struct
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
draw = random.Random(SEED)


def run(arguments, data=b""):
    done = subprocess.run([PROGRAM, *shlex.split(arguments)], input=data, capture_output=True, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def same(got, wanted, *what):
    if got != wanted:
        sys.exit(f"seed {SEED}: got {got!r}, wanted {wanted!r}: {what!r}")


def advised(typed, advice, data=b""):
    """Types a mistake, and checks the advice."""
    status, out, err = run(typed, data)
    same((status in (1, 2), out), (True, ""), typed, err)
    same(err.count("\n"), 1, typed, err)
    same(advice in err, True, typed, advice, err)


def counts(values):
    return "".join(f"{value}\t{count}\n" for value, count in sorted(collections.Counter(values).items()))


def quantile(values, percent):
    """Returns the smallest value that at least this percentage of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * int(percent * 1000) // 100000) - 1)]


def is_of(typed, advice, meant, wanted):
    """The mistake, the advice, its meaning, and the result."""
    advised(typed, advice)
    status, out, err = run(meant)
    same((status, out), (0, wanted), meant, err)


def clock(minute):
    return f"2026-11-{21 + minute // 1440:02}T{minute // 60 % 24:02}:{minute % 60:02}:00Z"


def check_habits():
    """Options, reductions and operations of other programs."""
    rows = [(draw.choice([200, 404, 500, 503]), draw.randrange(1, 9000), draw.choice(["/a", "/b", "/c d"]),
             draw.randrange(3000)) for _ in range(draw.randrange(1100, 1200))]
    with open("x.csv", "w", encoding="utf-8") as out:
        out.write("status,ms,path,at\n")
        out.writelines(f"{s},{ms},{path},{clock(at)}\n" for s, ms, path, at in rows)
    status = [row[0] for row in rows]
    ms = [row[1] for row in rows]
    mean = "did you mean "
    end = 9223372036854775808
    low = [value for value in ms if value < 100]
    table = [
        ("uniq -p 50 -f ms", "try --percentiles", "uniq --quantiles 50 -f ms", f"50\t{quantile(ms, 50)}\n"),
        ("reduce -p 50 -f ms", "try reduce p50,p99", "reduce p50,p99 -f ms",
         f"p50\t{quantile(ms, 50)}\np99\t{quantile(ms, 99)}\n"),
        ("reduce p999 -f ms", mean + "'p99.9'?", "reduce p99.9 -f ms", f"{quantile(ms, 99.9)}\n"),
        ("reduce p995,max -f ms", mean + "'p99.5'?", "reduce p99.5 -f ms", f"{quantile(ms, 99.5)}\n"),
        ("reduce q50 -f ms", mean + "'p50'?", "reduce p50 -f ms", f"{quantile(ms, 50)}\n"),
        ("reduce percentile99.9 -f ms", mean + "'p99.9'?", "reduce p99.9 -f ms", f"{quantile(ms, 99.9)}\n"),
        ("reduce q2 -f ms", "try median", "reduce median -f ms", f"{quantile(ms, 50)}\n"),
        ("reduce nunique -f status", "try distinct", "reduce distinct -f status", f"{len(set(status))}\n"),
        ("reduce first -f at:time", "try min, which is the first of times", "reduce min -f at:time",
         clock(min(row[3] for row in rows)) + "\n"),
        ("reduce last -f at:time", "try max, which is the last of times", "reduce max -f at:time",
         clock(max(row[3] for row in rows)) + "\n"),
        ("uniq --filter 'status>=500' -f ms", "try --where", "uniq --where 'status>=500' -f ms",
         counts(m for s, m, _, _ in rows if s >= 500)),
        ("count --between 400 500 -f status", "try --in LO:HI, to below HI", "count --in 400:500 -f status",
         f"{sum(400 <= s < 500 for s in status)}\n"),
        ("uniq --between 400 500 -f status", "try --where 'COLUMN>=LO' --where 'COLUMN<=HI'",
         "uniq --where 'status>=400' --where 'status<=500' -f status", counts(s for s in status if 400 <= s <= 500)),
        ("reduce max --groupby status -f ms", "try --by", "reduce max --by status -f ms",
         "".join(f"{s}\t{max(m for t, m, _, _ in rows if t == s)}\n" for s in sorted(set(status)))),
        ("histogram --bin-width 1000 -f ms", "try --width", "histogram --width 1000 -f ms",
         "".join(f"{b * 1000}\t{b * 1000 + 1000}\t{n}\n"
                 for b, n in sorted(collections.Counter(m // 1000 for m in ms).items()))),
        ("histogram --min 0 --max 100 -f ms -q", "try --range 0:100, to below 100",
         "histogram --range 0:100 --bins 1 -f ms -q", f"0\t100\t{len(low)}\n"),
        ("histogram --max=100 --min -50 -f ms", "try --range -50:100, to below 100",
         "histogram --range -50:100 --bins 1 -f ms -q", f"-50\t100\t{len(low)}\n"),
        ("histogram --max 100 -f ms", "try --range LO:HI, to below HI", "histogram --range 0:100 --bins 1 -f ms -q",
         f"0\t100\t{len(low)}\n"),
        ("histogram --range 0-100 -f ms", "try 0:100, to below 100", "histogram --range 0:100 --bins 1 -f ms -q",
         f"0\t100\t{len(low)}\n"),
        ("histogram --range=0..100 -f ms:int", "try 0:100, to below 100",
         "histogram --range 0:100 --bins 1 -f ms:int -q", f"0\t100\t{len(low)}\n"),
        ("histogram --range=-7,100 -f ms", "try -7:100, to below 100", "histogram --range -7:100 --bins 1 -f ms -q",
         f"-7\t100\t{len(low)}\n"),
        ("uniq --max 100 -f ms", "try --where 'COLUMN<=V'", "uniq --where 'ms<=100' -f ms",
         counts(m for m in ms if m <= 100)),
        ("reduce --min -f ms", "try reduce min", "reduce min -f ms", f"{min(ms)}\n"),
        ("reduce count --from 2026-11-22 -f ms", "try --where 'COLUMN>=V'",
         "reduce count --where 'at:time>=2026-11-22' -f ms", f"{sum(row[3] >= 1440 for row in rows)}\n"),
        ("reduce count --until 2026-11-22 -f ms", "try --where 'COLUMN<V'",
         "reduce count --where 'at:time<2026-11-22' -f ms", f"{sum(row[3] < 1440 for row in rows)}\n"),
        ("histogram --bins 0,100,9000 -f ms", "try --edges 0,100,9000", "histogram --edges 0,100,9000 -f ms",
         f"0\t100\t{len(low)}\n100\t9000\t{len(ms) - len(low)}\n"),
        ("histogram --edges=100,inf -f ms -q", f"try {end}, which is above all values",
         f"histogram --edges 100,{end} -f ms -q", f"100\t{end}\t{len(ms) - len(low)}\n"),
        ("histogram --edges=-Inf,100 -f ms -q", f"try -{end}, the smallest of all values",
         f"histogram --edges=-{end},100 -f ms -q", f"-{end}\t100\t{len(low)}\n"),
        ("count --eq 200 404 500 -f status", "try --any-of 200,404,500", "count --any-of 200,404,500 -f status",
         f"{sum(s in (200, 404, 500) for s in status)}\n"),
        ("count --eq 200,500 -f status", "try --any-of 200,500", "count --any-of 200,500 -f status",
         f"{sum(s in (200, 500) for s in status)}\n"),
        ("freq -f status", "try uniq", "uniq -f status", counts(status)),
        ("topk -f path", "try uniq --top 10", "uniq --top 10 --sort bin -f path", counts(row[2] for row in rows)),
        ("percentile -f ms", "try reduce p50,p99", "reduce p50,p99 -f ms",
         f"p50\t{quantile(ms, 50)}\np99\t{quantile(ms, 99)}\n"),
        ("uniq --timezone Europe/Berlin -f at:time/1d", "try --tz", "uniq --tz UTC -f at:time/1d",
         counts(clock(at)[:10] + "T00:00:00+00:00" for *_, at in rows)),
        ("path", "try uniq -f path", "uniq -f path", counts(row[2] for row in rows)),
        ("uniq status", "try -f status", "uniq -f status", counts(status)),
        ("uniq -f status,path", "try --by status -f path", "uniq --by status -f path",
         counts(f"{s}\t{path}" for s, _, path, _ in rows)),
    ]
    for typed, advice, meant, wanted in table:
        is_of(f"{typed} --csv x.csv", advice, f"{meant} --csv x.csv", wanted)
    is_of("reduce sum --sep , --header -f 2 x.csv", "try --delimiter", "reduce sum --delimiter , --header -f 2 x.csv",
          f"{sum(ms)}\n")
    for name in ("summary", "describe"):
        advised(f"{name} --csv -f ms x.csv", "try reduce")
    same(run("reduce --csv -f ms x.csv")[1].split("\n")[1], f"sum\t{sum(ms)}")
    advised("reduce status --csv x.csv", "unknown reduction 'status' (try -f status)")
    same(run("reduce -f status --csv x.csv")[1].split("\n")[1], f"sum\t{sum(status)}")
    micros = [1732195502123456 + 10**9 * draw.randrange(9999) for _ in status]
    with open("us.csv", "w", encoding="utf-8") as out:
        out.writelines(f"{m}\n" for m in ("at", *micros))
    for kind, then in (":int", "time.6"), ("", "time.6"), (":int/3600000000", "time.6/1h"):
        done = run(f"uniq --csv -f at{kind} us.csv")
        width = 3600 * 10**6 if "/" in kind else 1
        floors = [m // width * width for m in micros]
        same(done[:2], (0, counts(floors)), kind)
        same(done[2], f"gpuhist: note: values from {min(floors)} to {max(floors)} look like microseconds since 1970 "
             f"(try -f at:{then})\n", kind)
        same(run(f"uniq --csv -f at:{then} us.csv"), (0, counts(
            (datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=m)).isoformat(timespec="microseconds") + "Z"
            for m in floors), ""), then)
    for other in ("5", "1000000000000000\n5", "1732195502", "4111111111111111", "1732195502123456\n9999999999999999"):
        same(run("uniq -f 1", f"{other}\n".encode())[2], "", other)
    for _ in range(8):  # --top reads values in an order that differs in each run
        same(run("uniq --top 1 -f 1", b"1000000000000000\n5\n")[2], "")
        told = run("uniq --top 1 --csv -f at:int us.csv")[2]
        same(told.split(" look")[0], f"gpuhist: note: values from {min(micros)} to {max(micros)}")
    advised("histogram --bins auto -f ms --csv x.csv", "omit --bins for automatic bins")
    same(run("histogram -f ms --csv x.csv")[0], 0)
    advised("uniq --follow -f ms --csv x.csv", "try tail -f FILE | gpuhist --every 10s")
    with open("x.csv", "rb") as file:
        same(run("uniq --every 10s -f status --csv", file.read())[:2], (0, counts(status)))
    # words that mean no other command have no advice; a file or an abbreviation is not a mistake
    for typed in ("histogram --bins 9,5 -f ms --csv x.csv", "uniq nothing --csv x.csv", "count --eq 5 -f ms --csv 7 y",
                  "reduce p95x -f ms --csv x.csv", "histogram --frob --min 1 --max 2"):
        advised(typed, "")
        told = run(typed)[2]
        same(re.search(r"did you mean|\(try (?!gpuhist )", told) is None or "--any-of 5,7" in told, True, typed)
    same(run("uniq --min 2 -f status --csv x.csv")[1],
         counts(s for s in status if status.count(s) >= 2))


FORMATS = [  # as written, and their strptime formats; dates without a time occur in any field
    ("%m/%d/%Y", False), ("%d.%m.%Y", False), ("%m/%d/%Y %H:%M", True), ("%d.%m.%Y %H:%M:%S", True),
    ("%m/%d/%Y %I:%M %p", True), ("%d %b %Y", True), ("%b %d, %Y", True), ("%b %d %Y %H:%M:%S", True),
    ("%a %b %d %H:%M:%S %Y", True), ("%a, %d %b %Y %H:%M:%S", True), ("%d/%m/%Y", False),
]


def check_times():
    """A date in another form: the advised format reads all rows like datetime."""
    for form, has_words in FORMATS:
        times = [datetime.datetime(2026, draw.randrange(1, 13), day, draw.randrange(24), draw.randrange(60))
                 for day in (draw.randrange(13, 29), draw.randrange(1, 29), draw.randrange(13, 29))]
        written = [time.strftime(form) for time in times]
        wanted = counts(datetime.datetime.strptime(text, form).strftime("%Y-%m-%dT%H:%M:%SZ") for text in written)
        with open("t", "w", encoding="utf-8") as out:
            if draw.random() < 0.5 or "," in form:
                name, how = "when:time", draw.choice(["--csv", "--jsonl"])
                if how == "--csv":
                    out.write("when,n\n" + "".join(f'"{text}",5\n' for text in written))
                else:
                    out.writelines(f'{{"when":"{text}","n":5}}\n' for text in written)
            else:
                name, how = "1:time", "--text"
                out.writelines(f"{text} \t\n" if has_words else f"{text} x\n" for text in written)
        status, out, err = run(f"uniq {how} -f {name} t")
        same((status, out), (1, ""), form, err)
        said = re.search(r"try (--time-format '[^']*')", err)
        same(said is not None, True, form, how, written, err)
        same(run(f"uniq {how} -f {name} {said[1]} t"), (0, wanted, ""), form, how, written, said[1])
    # the order of day and month is unknown: both formats are named; a later row decides
    for rows, advice in (("06/05/2026\n", "'%m/%d/%Y', or '%d/%m/%Y' if the day is first"),
                         ("06/05/2026\n06/21/2026\n", "'%m/%d/%Y')"), ("06/05/2026\n21/06/2026\n", "'%d/%m/%Y')")):
        advised("uniq -f 1:time", advice, rows.encode())
    for name in (b"Mon", b"September"):
        advised("uniq -f 1:time", "(try COLUMN:text, as it has no date)", name)
        same(run("uniq -f 1:text", name)[:2], (0, name.decode() + "\t1\n"))


def check_columns():
    """Widths without a unit, or after columns without a kind; unit words are accepted."""
    minutes = [draw.randrange(1440) for _ in range(50)]
    numbers = [draw.randrange(1000) for _ in minutes]
    log = "".join(f"{n} {clock(m)} x\n" for n, m in zip(numbers, minutes)).encode()
    for typed, meant, step in (("", "2:time/hour", 60), ("", "2:time/5min", 5), ("2/1h", "2:time/1h", 60),
                               ("", "2:time/15minutes", 15), ("2/10m", "2:time/10m", 10), ("", "2:time/day", 1440),
                               ("2/hour", "2:time/hour", 60), ("2:localtime/7200", "2:localtime/7200s", 120)):
        if typed:
            advised(f"uniq -f {typed}", f"try {meant}", log)
        wanted = counts(clock(m // step * step)[:20 - ("local" in typed)] for m in minutes)
        same(run(f"uniq -f {meant}", log), (0, wanted, ""), meant)
    advised("uniq -f 1/100", "try 1:int/100", log)
    same(run("uniq -f 1:int/100", log)[1], "".join(
        f"{value}\t{count}\n" for value, count in sorted(collections.Counter(n // 100 * 100 for n in numbers).items())))
    for month in "1mo", "month", "1months":
        same(run(f"uniq -f 2:time/{month}", log), (0, "2026-11-01T00:00:00Z\t50\n", ""))
    for none in "hou", "s s", "0day", "hourss", "99999999999999999weeks", "Hour", "5 min":
        same(run(f"uniq -f '2:time/{none}'", log)[:2], (1, ""), none)
    advised("uniq -f 1/1m", "", log)
    same(":time/1m" in run("uniq -f 1/1m", log)[2], False)
    rows = b'{"at":"2026-11-21T10:11:12Z"}\n'
    advised("uniq --jsonl -f .at:time/90", "(try .at:time/90s)", rows)
    same(run("uniq --jsonl -f .at:time/90s", rows)[:2], (0, "2026-11-21T10:10:30Z\t1\n"))
    advised("uniq --jsonl -f .at/1h", "(try .at:time/1h)", rows)
    advised("uniq --csv -f at/1h", "(try at:time/1h)", b"at,b\n5,6\n")
    # combinations of several columns; the user wants the most frequent ones
    rows = [(draw.choice("xyz"), draw.choice("pq"), draw.randrange(100)) for _ in range(60)]
    table = "a,b,n\n" + "".join(f"{a},{b},{n}\n" for a, b, n in rows)
    pairs, sums = collections.Counter(), collections.Counter()
    for a, b, n in rows:
        pairs[a, b] += 1
        sums[a, b] += n
    for typed, meant, of in (("uniq --csv -f a,b --top 4", "count --by a,b --sort count --top 4", pairs),
                             ("uniq --csv -f a,b --weight n --top 4", "reduce sum -f n --by a,b --sort sum --top 4", sums)):
        advised(typed, f"(try {meant})", table.encode())
        first = sorted(of.items(), key=lambda item: (-item[1], item[0]))[:4]
        same(run(f"{meant} --csv", table.encode())[:2], (0, "".join(f"{a}\t{b}\t{n}\n" for (a, b), n in first)), meant)
    addresses = draw.sample(["10.0.0.1", "10.0.0.2", "2001:db8::1", "::1"], 3) + ["2001:DB8::7", "2001:db8:0:0:0:0:0:8"]
    draw.shuffle(addresses)
    table = "".join(f"{address}\n" for address in ["a", *addresses]).encode()
    advised("uniq --csv -f a", "in several notations (try 'a:ip' or 'a:text')", table)
    same(run("uniq --csv -f a:ip", table)[1], "".join(f"{address}\t1\n" for address in sorted(
        map(ipaddress.ip_address, addresses), key=lambda address: (address.version, int(address)))))
    same(run("uniq --csv -f a:text", table)[1], counts(addresses))
    same(run("count --csv --where a=::/0,10.0.0.0/8", table)[:2], (0, "5\n"))
    advised("uniq -f 1", "(try COLUMN:ip or COLUMN:text)", b"10.0.0.1\nlocalhost\n")
    same(run("uniq -f 1:text", b"10.0.0.1\nlocalhost\n")[1], counts(["10.0.0.1", "localhost"]))
    advised("--range -1:1 --bins 20", "(try --decimals 3 for other numbers, round.3 for floats)", b"0.25\n")
    same(run("--range -1:1 --bins 20 --decimals 3", b"0.25\n0.251\n")[1], "0.200\t0.300\t2\n")
    files = b"total 8\n-rw-r--r-- 1 root root 5 Nov 3 x\n-rw-r--r-- 1 root root 7 Nov 3 y\n"
    advised("reduce sum -f 5", "(try --header, if this line is one)", files)
    same(run("reduce sum -f 5 --header", files)[:2], (0, "12\n"))
    wide = b"A B\n1 x\n3 y z\n"
    advised("reduce sum -f A", "(try -f 1 --header)", wide)
    same(run("reduce sum -f 1 --header", wide)[:2], (0, "4\n"))
    advised("reduce sum -f A --by B", "(try --header and numbers: 1 for A, 2 for B)", wide)
    same(run("reduce sum -f 1 --by 2:text --header", wide)[:2], (0, "x\t1\ny\t3\n"))
    for size in "29M", "1.5G":
        advised("reduce sum -f 1", "(try COLUMN:bytes, or COLUMN:ibytes if K is 1024)", size.encode())
    same(run("reduce sum -f 1:ibytes", b"29M")[1], f"{29 << 20}\n")
    advised("reduce sum -f 1", "(try COLUMN:us, or us.3 for nanoseconds)", b"12.5ms 1")
    same(run("reduce sum -f 1:us.3", b"12.5ms\n17ns\n")[1], "12500.017\n")
    advised("count -t f64 --decimals round.3 --record 8 --where f64@0=inf", "(try gpuhist count --help)")
    advised("reduce count -t f32 --decimals round.1", "is invalid (try --invalid ignore)", struct.pack("<3f", 1, float("nan"), 2))
    same(run("reduce count -t f32 --decimals round.1 --invalid ignore", struct.pack("<3f", 1, float("nan"), 2))[:2], (0, "2\n"))


def check_missing():
    """Conditions that compare with a placeholder for a missing value."""
    rows = [{"u": draw.choice(["ann", "bob", None, 0]), "n": draw.choice([5, 7, None, 0])} for _ in range(40)]
    rows = [{"u": "ann", "n": 5}, {"u": None}, {"n": None}] + rows  # 0: absent
    lines = "".join(json.dumps({key: value for key, value in row.items() if value != 0}) + "\n" for row in rows)
    for key in "un":
        missing = sum(row.get(key) in (None, 0) for row in rows)
        for sign, count in (("=", missing), ("!=", len(rows) - missing)):
            advised(f"count --jsonl --where '.{key}{sign}null'", f"(try '.{key}{sign}')", lines.encode())
            same(run(f"count --jsonl --where '.{key}{sign}'", lines.encode()), (0, f"{count}\n", ""), key, sign)
    status, out, err = run("count --jsonl --where .u=null --missing skip", lines.encode())
    same((status, out, "missing values meet '.u='\n" in err), (0, "0\n", True), err)
    sent = [draw.choice(["-", "12", "0"]) for _ in range(40)]
    log = "".join(f'::1 - - [21/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 {n}\n' for n in ["3", "-"] + sent).encode()
    for sign, count in (("=", sent.count("-") + 1), ("!=", len(sent) + 1 - sent.count("-"))):
        advised(f"count --clf --where 'bytes{sign}-'", f"(try 'bytes{sign}')", log)
        same(run(f"count --clf --where 'bytes{sign}'", log), (0, f"{count}\n", ""), sign)
    lists = [draw.sample(["web", "mobile", "mobile2", "tv"], draw.randrange(4)) for _ in range(40)]
    lines = "".join(json.dumps({"tags": tags}) + "\n" for tags in lists).encode()
    advised("count --jsonl --where '.tags[]=mobile'", """(try '.tags*="mobile"', which""", lines)
    same(run("""count --jsonl --where '.tags*="mobile"'""", lines)[:2], (0, f"{sum('mobile' in tags for tags in lists)}\n"))
    # words instead of numbers, also before the first decimal number
    cells = ["30", "."] + [draw.choice([".", "NA", "7", f"{draw.randrange(80)}.{draw.randrange(10)}"]) for _ in range(40)]
    table = "\n".join(["n", *cells, ""]).encode()
    numbers = [decimal.Decimal(cell) for cell in cells if cell not in (".", "NA")]
    for typed, wanted in (("reduce sum --csv -f n:.1", sum(numbers)), ("reduce max --csv -f n:.1", max(numbers)),
                          ("count --csv --where 'n>=30'", sum(number >= 30 for number in numbers)),
                          ("count --csv --where 'n>=7.5' --by n:text", None)):
        advised(typed, "(try --invalid ignore)", table)
        status, out, _ = run(f"{typed} --invalid ignore -q", table)
        same((status, out), (0, f"{wanted}\n" if wanted is not None else out), typed)
    same(run("count --csv --where n=.", table)[:2], (0, f"{cells.count('.')}\n"))
    advised("count --csv --where n=.,30", "(try 'n:text=.,30')", table)
    same(run("count --csv --where n:text=.,30", table)[:2], (0, f"{cells.count('.') + cells.count('30')}\n"))


def check_logs():
    """Web logs with requests that are not three words: as words, later fields have other positions."""
    rows = [(draw.choice(["10.0.0.1", "::1"]), draw.choice(["GET /a HTTP/1.1", "GET /b?c=d HTTP/1.1", "-", r"\x16\x03", "GET /e f HTTP/1.0"]),
             draw.choice([200, 404, 400]), draw.choice(["-", "12", "7"])) for _ in range(60)]
    rows = [("::1", "GET /a HTTP/1.1", 200, "5"), ("::1", "-", 400, "0")] + rows
    log = "".join(f'{ip} - - [21/Nov/2026:10:00:00 +0000] "{request}" {status} {sent} "-" "a b"\n'
                  for ip, request, status, sent in rows).encode()
    for typed in "uniq -f 9", "reduce max -f 9", "count -f 9 --ge 400", "uniq -f 1 --by 9:int", "count --where '9>=400'":
        advised(typed, "(try --clf, where this field is named status)", log)
    advised("uniq -f 7:int", "(try --clf, where this field is named path)", log)
    statuses = [status for _, _, status, _ in rows]
    same(run("uniq --clf -f status", log)[:2], (0, counts(statuses)))
    same(run("count --clf --where 'status>=400'", log)[:2], (0, f"{sum(status >= 400 for status in statuses)}\n"))
    advised("uniq -f 1+2+3:time", "(try N:time with the first word", b"2026-11-21 10:00 +0100\n")
    same(run("uniq -f 1:time", b"2026-11-21 10:00 +0100\n")[:2], (0, "2026-11-21T09:00:00Z\t1\n"))
    form = "--time-format '%b %d %T'"
    advised(f"uniq -f 1:time {form} --year 2023", "(try --year N, unless it is a day of 2023)", b"Feb 29 10:00:00 x\n")
    same(run(f"uniq -f 1:time {form} --year 2024", b"Feb 29 10:00:00 x\n")[1], "2024-02-29T10:00:00Z\t1\n")
    same("--year" in run(f"uniq -f 1+2:time {form} --year 2024", b"Feb 29 10:00:00 x\n")[2], False)


def check_files():
    """Strings, comments and JSON over several lines."""
    for word in ("true", "apple"):
        advised("uniq", "(try -f 1:text)", f"{word}\nno\n".encode())
        same(run("uniq -f 1:text", f"{word}\nno\n".encode())[1], counts([word, "no"]))
    advised("uniq", "(try --header)", b"id\n5\n")
    zeek = b"#separator \\x09\n#path\tconn\n#fields\tts\tuid\tdur\n#types\ttime\tstring\tinterval\n16.5\tC\t0.5\n"
    for field in ("dur", "3", "3:.1"):
        advised(f"uniq -f {field}", "(try --comment '#')", zeek)
        same(run(f"uniq -f {field} --comment '#' -q", zeek), (0, "0.5\t1\n", ""))
    pretty = b'{\n  "a": 1,\n  "b": 2\n}\n'
    for typed in ("uniq --jsonl -f a", "uniq -f a", "uniq", "uniq -f 2"):
        advised(typed, "try jq -c ., which writes each object as one line for --jsonl", pretty)
    same(run("uniq --jsonl -f a", b'{"a":1,"b":2}\n'), (0, "1\t1\n", ""))
    for values, cause in ((b"12ms\n13ms\n", "invalid integer '12ms' (try COLUMN:ms, or ms.6 for nanoseconds)"),
                          (b"10.0.0.1\n", "invalid integer '10.0.0.1' (try COLUMN:ip)"),
                          (b"2026-11-21T10:00:00Z\n", "(try COLUMN:time)")):
        for threads in "12":
            status, out, err = run(f"reduce sum -f 1:int --invalid ignore --threads {threads}", values)
            same((status, out, cause in err), (0, "0\n", True), err)
            same("all input was invalid and ignored" in err and ", first standard input:1: " in err, True, err)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    check_habits()
    check_times()
    check_columns()
    check_missing()
    check_logs()
    check_files()
