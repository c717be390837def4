"""Commands that succeed, and what they promise."""

import csv
import io
import unittest

from program import DATA, MODELS, OU, ProgramTest

SMALL = ("--level", 2, "--particles", 64, "--law-particles", 64, "--repeats", 2)
LOGLIK_KEYS = {"loglik", "level", "particles", "law_particles", "repeats", "seed", "seconds", "particle_steps"}


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


class Runs(ProgramTest):
    def loglik(self, *arguments):
        result = self.json("loglik", *arguments)
        self.assertLessEqual(LOGLIK_KEYS, result.keys())
        self.assertEqual(result["loglik"].keys(), {"value", "se"})
        return result

    def test_new_model_goes_through_all_commands(self):
        self.assertIn("mckean check first.toml", self.succeed("new", "first"))
        self.assertIn("derivatives   agree", self.succeed("check", "first.toml"))
        self.succeed("simulate", "first.toml", "--times", 5, "--law-particles", 64)
        self.assertIn("0 missing", self.succeed("check", "first.toml", "data.csv"))
        self.assertIn("log-likelihood", self.succeed("loglik", "first.toml", "data.csv", *SMALL))
        self.assertEqual(self.json("new", "second.toml"), {"out": "second.toml"})
        self.assertEqual(self.read("second.toml"), self.read("first.toml").replace("first", "second"))

    def test_shipped_models(self):
        models = sorted(MODELS.glob("*.toml"))
        self.assertTrue(models)
        for model in models:
            with self.subTest(model.stem):
                checked = self.json("check", model)
                self.assertTrue(checked["derivatives"]["ok"])
                small = ("--level", 2, "--law-particles", 64, "--out", "d.csv")
                made = self.json("simulate", model, "--times", 3, *small)
                rows = rows_of(self.read("d.csv"))
                self.assertEqual((made["out"], made["rows"], len(rows)), ("d.csv", 3, 3))
                self.assertEqual(list(rows[0]), ["t", *checked["observed"]])
                self.assertEqual(self.json("check", model, "d.csv")["data"]["rows"], 3)
                self.assertGreater(self.loglik(model, "d.csv", *SMALL)["particle_steps"], 0)

    def test_loglik_reports_its_settings(self):
        self.write("m.toml", OU)
        self.write("d.csv", DATA)
        result = self.loglik("m.toml", "d.csv", *SMALL, "--seed", 7, "--set", "mu=4.5")
        for key, value in {"level": 2, "particles": 64, "law_particles": 64, "repeats": 2, "seed": 7}.items():
            self.assertEqual(result[key], value)
        self.assertEqual(result["parameters"], {"kappa": 1, "mu": 4.5})
        self.assertEqual(result["particle_steps"], 2 * 3 * 2**2 * (64 + 64))
        self.assertGreater(result["loglik"]["se"], 0)
        self.assertIsNone(self.loglik("m.toml", "d.csv", *SMALL[:-1], 1)["loglik"]["se"])

    def test_seeds_threads_and_overrides(self):
        self.write("m.toml", OU)
        self.write("d.csv", DATA)

        def value(*options):
            return self.loglik("m.toml", "d.csv", *SMALL, *options)["loglik"]

        reference = value("--threads", 1)
        self.assertEqual(value("--threads", 2), reference)
        self.assertEqual(value("--seed", 1), reference)
        for options in (("--seed", 0), ("--seed", 2), ("--seed", 2**64 - 1), ("--set", "kappa=2"), ("--set", "s=2")):
            with self.subTest(options):
                self.assertNotEqual(value(*options), reference)
        self.assertEqual(value("--set", "kappa=3", "--set", "kappa=1"), reference)  # the last one counts
        self.assertNotEqual(value("--set", "x=2"), reference)

    def test_simulate_repeats_itself(self):
        self.write("m.toml", OU)

        def data(*options):
            return self.succeed("simulate", "m.toml", "--times", 4, "--law-particles", 64, "--out", "-", *options)

        self.assertEqual(data(), data("--seed", 1))
        for options in (("--seed", 2), ("--set", "mu=4"), ("--level", 3)):
            with self.subTest(options):
                self.assertNotEqual(data(*options), data())

    def test_times(self):
        self.write("m.toml", OU)
        for text, times in {
            "3": [1, 2, 3],
            "0.5:0.5:2": [0.5, 1, 1.5, 2],
            "0:0.1:0.3": [0, 0.1, 0.2, 0.3],
            "0.3,1,7.25": [0.3, 1, 7.25],
        }.items():
            with self.subTest(text):
                out = self.succeed("simulate", "m.toml", "--law-particles", 64, "--times", text, "--out", "-")
                for row, t in zip(rows_of(out), times, strict=True):
                    self.assertAlmostEqual(float(row["t"]), t, delta=1e-12)

    def test_paths_and_series(self):
        self.write("m.toml", OU)
        simulate = ("simulate", "m.toml", "--times", 3, "--level", 2, "--law-particles", 64)
        text = self.succeed(*simulate, "--series", 5, "--paths", "p.csv", "--count", 7)
        self.assertEqual(text, "wrote data.csv (15 rows)\nwrote p.csv (7 particles at 13 points)\n")
        data, paths = rows_of(self.read("data.csv")), rows_of(self.read("p.csv"))
        self.assertEqual((len(data), len({r["series"] for r in data})), (15, 5))
        self.assertEqual((list(paths[0]), len(paths)), (["t", "particle", "x"], 7 * 13))
        self.assertEqual(self.json("check", "m.toml", "data.csv")["data"]["series"], 5)
        self.loglik("m.toml", "data.csv", *SMALL)
        made = self.json(*simulate, "--paths", "p.csv", "--count", 2)
        self.assertEqual((made["paths"], made["particle_steps"]), ("p.csv", 3 * 2**2 * 64))
        self.assertEqual(len(rows_of(self.read("p.csv"))), 2 * 13)
        self.assertEqual({p.name for p in self.directory.iterdir()}, {"m.toml", "data.csv", "p.csv"})

    def test_warnings_leave_stdout_alone(self):
        self.write("m.toml", OU)
        self.write("d.csv", "t,y\n1,3\n2,12\n3,5\n")
        done = self.run_program("loglik", "m.toml", "d.csv", *SMALL, "--json")
        self.assertEqual((done.returncode, done.stdout.count("\n")), (0, 1), done.stderr)
        self.assertTrue(all(line.startswith("mckean: warning: ") for line in done.stderr.splitlines()), done.stderr)


if __name__ == "__main__":
    unittest.main()
