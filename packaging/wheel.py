#!/usr/bin/env python3
"""Writes a wheel of an installed tree: the program, its manual and its completions.

    packaging/wheel.py TREE PLATFORM[.PLATFORM]... NOTICES DIRECTORY

TREE has the files that "make install" puts below the prefix. The program becomes a script of the
wheel, which pip copies to the directory of commands. NOTICES is a file with the licenses of the linked
libraries. The same tree gives the same wheel, to the byte, if SOURCE_DATE_EPOCH is set.
"""
import base64
import hashlib
import os
import pathlib
import re
import stat
import sys
import time
import zipfile


def read_version(changelog):
    return re.search(r"^## ([0-9][0-9.]*)", changelog, re.M)[1]


def main(tree, platforms, notices, directory):
    tree = pathlib.Path(tree)
    documents = tree / "share/doc/gpuhist"
    version = read_version((documents / "CHANGELOG.md").read_text())
    # Returns the beginning of README, up to its links.
    readme = (documents / "README.md").read_text()
    description = readme.split("\n", 1)[1].split("\n[Install]")[0].strip()

    info = f"gpuhist-{version}.dist-info"
    tags = [f"py3-none-{platform}" for platform in platforms.split(".")]
    files = {}
    for path in sorted(tree.rglob("*")):
        name = path.relative_to(tree).as_posix()
        if path.is_dir() or path.is_relative_to(documents):
            continue
        if name.startswith("bin/"):
            files[f"gpuhist-{version}.data/scripts/{path.name}"] = path.read_bytes(), 0o755
        else:
            files[f"gpuhist-{version}.data/data/{name}"] = path.read_bytes(), 0o644
    texts = {
        f"{info}/licenses/LICENSE": (documents / "LICENSE").read_text(),
        f"{info}/licenses/NOTICES": pathlib.Path(notices).read_text(),
        f"{info}/METADATA": (
            f"Metadata-Version: 2.1\nName: gpuhist\nVersion: {version}\n"
            "Summary: Count values in large files: frequency tables, histograms, percentiles\n"
            "License: MIT\nLicense-File: LICENSE\nLicense-File: NOTICES\n"
            "Classifier: Environment :: Console\nClassifier: Operating System :: POSIX :: Linux\n"
            f"Description-Content-Type: text/markdown\n\n{description}\n"
        ),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: gpuhist\nRoot-Is-Purelib: false\n"
        + "".join(f"Tag: {tag}\n" for tag in tags),
    }
    files |= {name: (text.encode(), 0o644) for name, text in texts.items()}
    record = ""
    for name, (data, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode(), 0o644

    date = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))[:6]
    with zipfile.ZipFile(f"{directory}/gpuhist-{version}-py3-none-{platforms}.whl", "w") as wheel:
        for name, (data, mode) in files.items():
            entry = zipfile.ZipInfo(name, date)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (stat.S_IFREG | mode) << 16
            wheel.writestr(entry, data)


if __name__ == "__main__":
    main(*sys.argv[1:])
