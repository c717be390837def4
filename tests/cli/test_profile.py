"""profile: its table, plot, CSV and JSON, and what it refuses."""

import csv
import io
import unittest

from program import DATA, MODELS, OU, ProgramTest

KEYS = {"parameter", "points", "estimate", "std_error", "lower", "upper", "loglik", "estimator", "level", "seed", "seconds",
        "particle_steps", "warnings", "findings", "engine", "levels"}
SCORES = ("--estimator", "scores", "--level", 1, "--particles", 12, "--law-particles", 16)


class Profile(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("ou.toml", OU)
        self.write("d.csv", DATA)
        self.succeed("simulate", MODELS / "kuramoto.toml", "--level", 6, "--times", 12, "--law-particles", 64, "--out", "k.csv")

    def test_quadrature(self):
        result = self.json("profile", "ou.toml", "d.csv", "--parameter", "mu", "--level", 2, "--points", 5)
        self.assertLessEqual(KEYS, result.keys())
        self.assertEqual((result["engine"], result["estimator"], result["level"]), ("kalman", "kalman", 2))
        self.assertEqual(len(result["points"]), 5)
        self.assertEqual([round(p["relative"], 9) for p in result["points"]][2], 0)
        for p in result["points"]:
            self.assertEqual(p.keys(), {"value", "loglik", "relative", "se", "parameters"})
            self.assertEqual(p["se"], 0)
            self.assertAlmostEqual(p["loglik"], result["loglik"]["value"] + p["relative"])
            self.assertAlmostEqual(p["value"], p["parameters"]["mu"])
        result = self.json("profile", MODELS / "kuramoto.toml", "k.csv", "--parameter", "theta", "--level", 2)
        self.assertGreater(result["upper"], result["estimate"]["theta"])
        self.assertIsNone(result["lower"])  # a long tail: not reached within three standard errors

    def test_continuous_time(self):
        exact, grid = (self.json("profile", "ou.toml", "d.csv", "--parameter", "mu", "--points", 5, "--engine", engine)
                       for engine in ("kalman", "quadrature"))
        for result in (exact, grid):
            self.assertIsNone(result["level"])
        self.assertEqual(exact["levels"], [])
        self.assertEqual(len(grid["levels"]), 2)
        for a, b in zip(exact["points"], grid["points"]):
            self.assertAlmostEqual(a["relative"], b["relative"], delta=1e-3 * (1 + abs(a["relative"])))

    def test_scores(self):
        arguments = ("profile", MODELS / "kuramoto.toml", "k.csv", "--parameter", "theta", *SCORES, "--points", 5)
        one = self.json(*arguments, "--threads", 1)
        self.assertEqual(one["estimator"], "scores")
        self.assertTrue(all(p["se"] > 0 for p in (one["points"][0], one["points"][-1])))
        two = self.json(*arguments, "--threads", 2)
        self.assertEqual(one["points"], two["points"])

    def test_csv_and_plot(self):
        arguments = ("profile", "ou.toml", "d.csv", "--parameter", "mu", "--level", 1, "--range", "3:8", "--points", 4)
        shown = self.succeed(*arguments, "--out", "p.csv")
        self.assertIn("wrote p.csv", shown)
        rows = list(csv.DictReader(io.StringIO(self.read("p.csv"))))
        self.assertEqual(list(rows[0]), ["mu", "loglik", "relative", "se", "kappa"])
        self.assertEqual([round(float(r["mu"]), 6) for r in rows], [3, 4.666667, 6.333333, 8])
        self.assertEqual(self.succeed(*arguments, "--out", "-", "--quiet"), self.read("p.csv"))
        plot = [line for line in shown.splitlines() if " |" in line]
        self.assertEqual(len(plot), 13)
        self.assertEqual(sum(line.count("o") for line in plot), 4)

    def test_refusals(self):
        for arguments, says in (
            (("--parameter", "nu"), "'mu'"),
            (("--parameter", "s"), "no such parameter"),
            (("--parameter", "mu", "--range", "3"), "LO:HI"),
            (("--parameter", "mu", "--range", "8:3"), "LO:HI"),
            (("--parameter", "kappa", "--range", "-1:3"), "bounds of 'kappa'"),
            (("--parameter", "mu", "--points", 1), "whole number"),
            ((), "--parameter"),
        ):
            with self.subTest(arguments):
                self.refuse("profile", "ou.toml", "d.csv", *arguments, says=says)
        self.succeed("simulate", MODELS / "fitzhugh-nagumo.toml", "--level", 6, "--times", 3, "--out", "n.csv")
        self.refuse("profile", MODELS / "fitzhugh-nagumo.toml", "n.csv", "--parameter", "c", "--estimator", "quadrature",
                    says="meet")


if __name__ == "__main__":
    unittest.main()
