"""Functions for all comparisons with Python: a type's values in files, and runs on every engine."""

import os
import random
import subprocess

import numpy as np


class EngineRuns:
    """
    Runs of one gpuhist on one type, given by argv: PROGRAM GPUHIST TYPE ENGINE...

    An engine is cpu, cuda or cpu:ISA, which limits the instruction set. settings are (threads,
    chunk size), taken in turn. A GPU's context takes a third of a second, so a GPU does one run in
    gpu_share, starting at a different run for each type, with its own settings, if any. In a slow
    build, the CPU does a random one in SHARE runs, the same ones for a type every time.
    """

    def __init__(self, argv, settings, gpu_share=3, gpu_settings=None):
        self.gpuhist, self.type_name, *self.engines = argv[1:]
        self.settings, self.gpu_settings = settings, gpu_settings or settings
        self.gpu_share, self.runs = gpu_share, 0
        self.cpu_share = int(os.environ.get("SHARE", "1"))
        self.lots = random.Random(self.type_name)
        width = int(self.type_name[1:].removesuffix("be").removesuffix("le")) // 8
        self.dtype = np.dtype(f"{self.type_name[0]}{width}")
        self.stored = self.dtype.newbyteorder(">" if self.type_name.endswith("be") else "<")
        self.rng = np.random.default_rng(width)

    def store(self, file, values):
        """Replaces the contents of an open file with the values in the type."""
        file.seek(0)
        file.truncate()
        file.write(values.astype(self.stored).tobytes())
        file.flush()

    def commands(self, *words):
        """Yields the command lines of one run, on each of its engines; words follow the program."""
        lines = []
        for name in self.engines:
            engine, _, instruction_set = name.partition(":")
            settings, turn = self.settings, self.runs
            if engine == "cpu":
                if self.lots.randrange(self.cpu_share) > 0:
                    continue
            else:
                if self.runs % self.gpu_share != sum(map(ord, self.type_name)) % self.gpu_share:
                    continue
                settings, turn = self.gpu_settings, self.runs // self.gpu_share
            threads, chunk = settings[turn % len(settings)]
            limit = ["env", f"GPUHIST_ISA={instruction_set}"] if instruction_set else []
            lines.append([*limit, self.gpuhist, *words, "--binary", "-t", self.type_name, "--engine",
                          engine, "--threads", str(threads), "--chunk-size", chunk])
        self.runs += 1
        return lines

    def summary(self):
        return f"{self.runs} runs on each of {len(self.engines)} engines"


def run(command, data=None):
    """Runs gpuhist on the data, if any; returns the process with its output and errors."""
    return subprocess.run(command, input=data, capture_output=True, check=False, timeout=120)
