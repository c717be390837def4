"""Starts a real fit of a small case, alone or under mpirun."""

import csv
import json
import os
import pathlib
import subprocess
import time

from synthetic import ENVIRONMENT, HAS_MPI, MPIRUN, RunTest

PROGRAM = os.path.abspath(os.environ["MCKEAN"])
MODEL = pathlib.Path(__file__).resolve().parents[2] / "models" / "kuramoto.toml"
SMALL = ("--levels", "2:3", "--particles", 32, "--law-particles", 64, "--iterations", 16)
THREADS = [{"threads": k} for k in (1, 2, 4)]
RANKS = [{"ranks": r, "threads": 1} for r in (1, 2, 4)] if HAS_MPI else []


def command(*arguments, ranks=0, threads=None):
    """The command line; 0 ranks: without mpirun."""
    mpirun = [MPIRUN, "--oversubscribe", "--allow-run-as-root", "-n", str(ranks)] if ranks else []
    return [*mpirun, PROGRAM, *map(str, arguments), *(["--threads", str(threads)] if threads else [])]


def without_clock(result):
    return {k: v for k, v in result.items() if k != "seconds"}


class FitTest(RunTest):
    maxDiff = None

    def setUp(self):
        super().setUp()
        (self.directory / "k.toml").write_bytes(MODEL.read_bytes())
        self.mckean("simulate", "k.toml", "--level", 6, "--times", 20, "--set", "theta=0.5", "--out", "k.csv")

    def begin(self, *arguments, **places):
        return subprocess.Popen(
            command(*arguments, **places), cwd=self.directory, env=ENVIRONMENT, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True,
        )

    def mckean(self, *arguments, status=0, **places):
        """What it prints; where it fails, its message."""
        process = self.begin(*arguments, **places)
        out, err = process.communicate(timeout=120)
        end = time.monotonic() + 20
        while "works on this run" in err and time.monotonic() < end:  # a rank of a killed mpirun, which still dies
            time.sleep(0.1)
            process = self.begin(*arguments, **places)
            out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, status, out + err)
        return out if status == 0 else err

    def fit(self, *arguments, **places):
        return without_clock(json.loads(self.mckean("fit", "k.toml", "k.csv", *SMALL, "--json", *arguments, **places)))

    def resume(self, folder, *arguments, **places):
        return without_clock(json.loads(self.mckean("resume", folder, "--json", *arguments, **places)))

    def exported(self, folder):
        """The tasks as {(group, index): values} and the rest."""
        self.mckean("export", folder, "--out", "x")
        with open(self.directory / "x" / "tasks.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        tasks = {
            (r["group"], int(r["index"])): [float(v) for k, v in r.items() if k.startswith("value_") and v]
            for r in rows
        }
        return tasks, json.loads((self.directory / "x" / "run.json").read_text())

    def is_free(self, folder):
        """Nobody holds the run: ranks end soon after their mpirun has died."""
        done = json.loads(self.mckean("runs", folder, "--json"))["runs"][0]
        return done["state"] != "running"
