"""A fit is killed, moved, extended and looked at, and its result has the bits of one that was left alone."""

import json
import os
import random
import shutil
import signal
import struct
import time
import unittest

from fitting import RANKS, SMALL, THREADS, FitTest, without_clock
from synthetic import HAS_MPI

KILLS = 25
LONG = ("--replicates", 600)
SHORT = {"stratified": (), "paper": ("--p-max", 2), "single": ()}
SEARCH = ("--engine", "particles", "--levels", "3:4")
MPI_START = 0.3  # seconds, about


class Kill(FitTest):
    def test_search(self):
        self.kill((*SEARCH, "--tolerance", 0.001))

    def test_stratified(self):
        self.kill((*SMALL, *LONG))

    def kill(self, options):
        start = time.monotonic()
        reference = without_clock(json.loads(self.mckean("fit", "k.toml", "k.csv", *options, "--json", "--run", "reference", threads=2)))
        pause = 1.5 * (time.monotonic() - start) / KILLS
        dice, kept, kills, store = random.Random(1), {}, 0, self.directory / "run" / "run.sqlite"
        while kills < KILLS or not store.exists():
            place = dice.choice(THREADS + RANKS)
            how = ("resume", "run") if store.exists() else ("fit", "k.toml", "k.csv", *options, "--run", "run")
            process = self.begin(*how, "--json", **place)
            time.sleep(dice.uniform(0, pause) + (MPI_START if "ranks" in place else 0))
            ended = process.poll() is not None
            if not ended:
                os.killpg(process.pid, signal.SIGKILL)
                kills += 1
            out, err = process.communicate()
            if ended and "works on this run" in err:  # a rank of the one before, killed with no store yet, still dies
                time.sleep(0.1)
                continue
            if ended:  # too soon, on a machine whose pace changes: another run for the rest of the kills
                self.assertEqual(process.returncode, 0, err)
                self.assertEqual(without_clock(json.loads(out)), reference, err)
                shutil.rmtree(store.parent)
                kept = {}
            if not store.exists():
                continue  # killed before it began
            while not self.is_free("run"):
                time.sleep(0.02)
            rows = self.rows("run")
            self.assertLessEqual(kept.items(), rows.items(), "results were lost")
            kept = rows
        self.assertEqual(self.resume("run", threads=2), reference)
        self.assertEqual(self.rows("run"), self.rows("reference"))
        for place in THREADS + RANKS:  # a run that has ended, looked at again
            self.assertEqual(self.resume("run", **place), reference)


class SameBits(FitTest):
    def test_estimators(self):
        for estimator in SHORT:
            with self.subTest(estimator):
                options = ("--estimator", estimator, "--replicates", 24, *SHORT[estimator])
                reference = self.fit(*options, "--no-run", threads=1)
                self.assertEqual(self.fit(*options, "--no-run", threads=2), reference)
                self.assertEqual(self.fit(*options, "--run", estimator, threads=2), reference)
                if HAS_MPI:
                    self.assertEqual(self.fit(*options, "--no-run", ranks=2, threads=1), reference)

    def test_likelihood(self):
        for name, options in {"search": SEARCH, "quadrature": (), "fixed": (*SEARCH, "--particles", 128)}.items():
            with self.subTest(name):
                def fit(*more, **place):
                    return without_clock(json.loads(self.mckean("fit", "k.toml", "k.csv", "--json", *options, *more, **place)))
                reference = fit("--no-run", threads=1)
                self.assertEqual(reference["engine"], "quadrature" if name == "quadrature" else "particles")
                self.assertEqual(fit("--no-run", threads=2), reference)
                self.assertEqual(fit("--run", name, threads=4), reference)
                self.assertEqual(self.resume(name, threads=1), reference)
                if HAS_MPI:
                    self.assertEqual(fit("--no-run", ranks=2, threads=1), reference)

    def test_places(self):
        reference = self.fit("--replicates", 24, threads=1)
        for n, place in enumerate(THREADS[1:] + RANKS, 2):
            with self.subTest(place):
                self.assertEqual(self.fit("--replicates", 24, **place), reference)
                self.assertEqual(self.rows(f"kuramoto-{n}"), self.rows("kuramoto-1"))


    def test_other_commands(self):
        small = ("--particles", 20, "--law-particles", 30, "--level", 2, "--json")
        commands = [
            ("loglik", "k.toml", "k.csv", *small),
            ("score", "k.toml", "k.csv", *small, "--iterations", 5),
            ("smooth", "k.toml", "k.csv", *small, "--iterations", 5, "--out", "smooth.csv"),
            ("profile", "k.toml", "k.csv", "--parameter", "theta", "--level", 3, "--json", "--out", "profile.csv"),
        ]
        for command in commands:
            found = set()
            for place in [{}, {"threads": 1}, {"threads": 4}, *RANKS]:
                result = without_clock(json.loads(self.mckean(*command, **place)))
                written = self.directory / result["out"] if "out" in result else None
                found.add(json.dumps(result) + (written.read_text() if written else ""))
            with self.subTest(command[0]):
                self.assertEqual(len(found), 1, found)
        if HAS_MPI:  # rank 0 alone
            self.assertEqual(json.loads(self.mckean("check", "k.toml", "--json", ranks=2))["name"], "kuramoto")
            self.assertIn("there-is-none.toml", self.mckean("check", "there-is-none.toml", ranks=2, status=2))


class Extension(FitTest):
    def test_smaller_tolerance_keeps_what_the_pilot_decided(self):
        first = json.loads(self.mckean("fit", "k.toml", "k.csv", "--estimator", "stratified", "--levels", "2:2", "--run", "t", "--json"))
        before, start = self.exported("t")
        tolerance = first["estimate"]["theta"]["mc_se"] / 2
        result = self.resume("t", "--tolerance", tolerance)
        after, end = self.exported("t")
        self.assertLessEqual(result["estimate"]["theta"]["mc_se"], tolerance)
        self.assertLessEqual(before.items(), after.items())
        self.assertGreater(len(after), len(before))
        self.assertEqual(start["notes"]["pilot"]["iterations"], end["notes"]["pilot"]["iterations"])
        self.assertEqual(start["notes"]["pilot"]["law_particles"], end["notes"]["pilot"]["law_particles"])

    def test_smaller_tolerance_of_a_search(self):
        first = json.loads(self.mckean("fit", "k.toml", "k.csv", *SEARCH, "--run", "t", "--json"))
        before, _ = self.exported("t")
        tolerance = first["estimate"]["theta"]["mc_se"] / 2
        result = self.resume("t", "--tolerance", tolerance)
        after, _ = self.exported("t")
        self.assertLessEqual(result["estimate"]["theta"]["mc_se"], tolerance)
        self.assertLessEqual(before.items(), after.items())
        self.assertGreater(len(after), len(before))

    def test_more_replicates(self):
        for estimator in ("stratified", "paper", "single"):
            with self.subTest(estimator):
                options = ("--estimator", estimator, *SHORT[estimator])
                self.fit(*options, "--replicates", 24, "--run", estimator)
                extended = self.resume(estimator, "--replicates", 60)
                self.assertEqual(extended, self.fit(*options, "--replicates", 60, "--run", "fresh " + estimator))
                self.assertEqual(self.resume(estimator), extended)

    def test_tolerance(self):
        first = self.fit("--tolerance", 0.01, "--run", "run")
        extended = self.resume("run", "--tolerance", 0.004, threads=2)
        self.assertEqual(extended, self.fit("--tolerance", 0.004, "--no-run"))
        self.assertGreater(extended["replicates"], first["replicates"])
        self.assertEqual(self.resume("run", "--tolerance", 0.01), first)  # and back


class Commands(FitTest):
    def cells(self, folder):
        return sum(group.startswith("cell ") for group, _ in self.rows_if_any(folder))

    def test_interrupt(self):
        replicates = 1600
        process = self.begin("fit", "k.toml", "k.csv", *SMALL, "--replicates", replicates, "--run", "run", threads=2)
        while self.cells("run") < replicates / 16 + 20:
            time.sleep(0.05)  # until the first round, a sixteenth, has given an estimate
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=30)
        self.assertEqual((process.returncode, out), (130, ""), err)
        self.assertRegex(
            err.splitlines()[-1],
            r"^mckean: stopped after \d+ s; so far theta = [-\d.e]+ \+- [\d.e-]+; continue with 'mckean resume run'$",
        )
        self.assertEqual(self.word("run", "state"), "stopped")

    def test_other_input_is_refused(self):
        self.fit("--replicates", 4, "--run", "run")
        model = self.directory / "k.toml"
        model.write_text(model.read_text().replace("sigma = 0.15", "sigma = 0.2"))
        with open(self.directory / "k.csv", "a") as file:
            file.write("21,7\n")
        given = ("fit", "k.toml", "k.csv", "--levels", "2:3", "--particles", 33, "--law-particles", 64, "--seed", 2)
        message = self.mckean(*given, "--iterations", 16, "--replicates", 4, "--run", "run", status=2)
        for part in (
            'particles: "32" in the run, "33" now', "seed: 1 in the run, 2 now", "model: SHA-256 ",
            "'sigma = 0.15' in the run, 'sigma = 0.2' now", "data: SHA-256 ", "nothing in the run, '21,7' now",
        ):
            self.assertIn(part, message)

    def test_empty_store_is_damaged(self):
        (self.directory / "run").mkdir()
        (self.directory / "run" / "run.sqlite").touch()
        for arguments in (("fit", "k.toml", "k.csv", "--run", "run"), ("resume", "run")):
            self.assertIn("the store is damaged", self.mckean(*arguments, status=1))

    def test_refused_settings_leave_nothing(self):
        before = set(self.directory.iterdir())
        for options in (("--levels", "3:1"), ("--particles", 1), ("--estimator", "paper", "--chain-length", "3")):
            for place in ((), ("--run", "run")):
                self.mckean("fit", "k.toml", "k.csv", *options, *place, status=2)
        self.assertEqual(set(self.directory.iterdir()), before)

    def test_export_and_runs(self):
        result = self.fit("--replicates", 8)
        tasks, run = self.exported("kuramoto-1")
        self.assertEqual((without_clock(run["result"]), run["state"]), (result, "finished"))
        self.assertEqual(run["settings"]["replicates"], 8)
        pilot = run["notes"]["pilot"]
        self.assertEqual(pilot["particles"][-1], result["particles"])
        self.assertEqual(len(pilot["unconstrained_information"]), 1)
        stored = self.rows("kuramoto-1")
        self.assertEqual(tasks.keys(), stored.keys())
        for name, values in tasks.items():
            self.assertEqual(struct.pack(f"<{len(values)}d", *values), stored[name], name)
        cells = [v for (group, _), v in tasks.items() if group.startswith("cell ")]
        self.assertEqual(len(cells), result["replicates"])
        self.assertEqual(sum(v[-2] for v in cells), sum(c["particle_steps"] for c in result["cells"]))
        (listed,) = json.loads(self.mckean("runs", "--json"))["runs"]
        self.assertEqual((listed["run"], listed["state"], listed["tasks"]), ("kuramoto-1", "finished", len(tasks)))
        estimate = result["estimate"]["theta"]
        self.assertEqual(listed["estimate"]["theta"], {k: estimate[k] for k in ("value", "mc_se")})
        self.assertRegex(self.mckean("runs"), r"\nkuramoto-1 +finished .* theta = ")


if __name__ == "__main__":
    unittest.main()
