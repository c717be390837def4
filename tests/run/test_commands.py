"""The commands that look at runs."""

import csv
import json
import os
import subprocess
import time
import unittest

from synthetic import RunTest

PROGRAM = os.path.abspath(os.environ["MCKEAN"])
FAST = ("--scale", 0)


class Commands(RunTest):
    def mckean(self, *arguments, status=0):
        done = subprocess.run(
            [PROGRAM, *arguments], cwd=self.directory, capture_output=True, text=True, timeout=60, check=False
        )
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout if status == 0 else done.stderr

    def states(self):
        return {r["run"]: r["state"] for r in json.loads(self.mckean("runs", "--json"))["runs"]}

    def test_runs(self):
        self.assertIn("no runs in", self.mckean("runs"))
        self.finish("a", *FAST)
        self.finish("b", *FAST, "--fail-at", 30, status=1)
        self.finish("d", *FAST)
        with open(self.directory / "d" / "run.sqlite", "r+b") as file:
            file.truncate(5000)
        process = self.start("c", "--scale", 300)
        while not (self.directory / "c" / "run.sqlite").exists():
            time.sleep(0.02)
        time.sleep(0.2)
        self.assertEqual(self.states(), {"a": "finished", "b": "failed", "c": "running", "d": "damaged"})
        self.assertIn(f"process {process.pid} on ", self.mckean("runs"))
        process.kill()
        process.communicate()
        self.assertEqual(self.states()["c"], "interrupted")
        run = json.loads(self.mckean("runs", "b", "--json"))["runs"][0]
        self.assertEqual(run["tasks"], len(self.rows("b")))
        self.assertGreater(run["estimate"]["state"]["value"], 1)
        self.assertRegex(self.mckean("runs", "b"), r"\nb +failed +20.* UTC +\d+ +\d s +state = ")
        self.mckean("runs", "nosuch", status=2)

    def test_export(self):
        result = float.fromhex(self.finish("a", *FAST))
        self.assertIn("wrote", self.mckean("export", "a", "--out", "x"))
        with open(self.directory / "x" / "tasks.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), len(self.rows("a")))
        self.assertEqual(list(rows[0]), ["group", "index", "cost", "seconds", *(f"value_{k}" for k in range(1, 6))])
        run = json.loads((self.directory / "x" / "run.json").read_text())
        self.assertEqual((run["result"]["value"], run["state"]), (result, "finished"))
        self.assertEqual(run["settings"], {"seed": 1, "batches": 6})
        self.assertEqual((self.directory / "x" / "model.toml").read_text(), "the model\nin two lines\n")
        self.assertEqual(run["log"][-1]["message"].split(":")[0], "finished")
        self.assertIn("holds no run", self.mckean("export", "nosuch", status=2))

    def test_looking_leaves_a_run_alone(self):
        self.finish("a", *FAST)
        before = {p.name: p.read_bytes() for p in (self.directory / "a").iterdir()}
        self.mckean("runs")
        self.mckean("export", "a", "--out", "x")
        self.assertEqual({p.name: p.read_bytes() for p in (self.directory / "a").iterdir()}, before)

    def test_version_names_mpi(self):
        self.assertRegex(self.mckean("--version"), "; (Open MPI|without MPI)")


if __name__ == "__main__":
    unittest.main()
