"""The arithmetic of the study's driver, and its files: a study that takes hours must not end in a slip of its own."""

import csv
import math
import pathlib
import subprocess
import sys
import tempfile
import tomllib
import unittest

from program import PROGRAM

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments"))
import arithmetic  # noqa: E402
import cases  # noqa: E402
import study  # noqa: E402


class Arithmetic(unittest.TestCase):
    def test_chi_square_tail_has_closed_forms(self):
        for x in (0.01, 0.5, 1, 3, 10, 60):
            self.assertAlmostEqual(arithmetic.chi_square_tail(x, 2), math.exp(-x / 2), delta=1e-13)
            self.assertAlmostEqual(arithmetic.chi_square_tail(x, 1), math.erfc(math.sqrt(x / 2)), delta=1e-13)
            poisson = sum(math.exp(-x / 2) * (x / 2) ** k / math.factorial(k) for k in range(20))
            self.assertAlmostEqual(arithmetic.chi_square_tail(x, 40), poisson, delta=1e-12)
        self.assertEqual(arithmetic.chi_square_tail(0, 3), 1)

    def test_chi_square_quantiles_are_those_of_tables(self):
        for p, degrees, value in ((0.95, 1, 3.841459), (0.99, 10, 23.209251), (0.005, 40, 20.706535),
                                  (0.995, 40, 66.765962)):
            self.assertAlmostEqual(arithmetic.chi_square_quantile(p, degrees), value, delta=1e-6)

    def test_chi_square_test_is_two_sided(self):
        self.assertTrue(arithmetic.chi_square_test([1.0, -1.0] * 20)["ok"])
        self.assertFalse(arithmetic.chi_square_test([1.3, -1.3] * 20)["ok"])
        self.assertFalse(arithmetic.chi_square_test([0.7, -0.7] * 20)["ok"])

    def test_binomial_interval(self):
        low, high = arithmetic.binomial_interval(190, 200)
        self.assertAlmostEqual(arithmetic.binomial_tail(190, 200, low), 0.025, delta=1e-9)
        self.assertAlmostEqual(1 - arithmetic.binomial_tail(191, 200, high), 0.025, delta=1e-9)
        self.assertEqual(arithmetic.binomial_interval(0, 5)[0], 0)
        self.assertAlmostEqual(arithmetic.binomial_interval(0, 5)[1], 1 - 0.025**0.2, delta=1e-9)
        self.assertEqual(arithmetic.binomial_interval(5, 5)[1], 1)

    def test_means_and_variances_with_errors(self):
        self.assertEqual(arithmetic.mean_with_error([1, 2, 3]), (2, 1 / math.sqrt(3)))
        self.assertEqual(arithmetic.variance_with_error([1, 2, 3]), (1, 1))


class Judgement(unittest.TestCase):
    EXACT = {"estimate": {"theta": {"value": 0.5, "std_error": 0.1}}}

    def judged(self, value=0.5, mc_se=0.005, std_error=0.1):
        estimate = {"theta": {"value": value, "mc_se": mc_se, "std_error": std_error}}
        row = study.judge({"estimate": estimate}, "theta", self.EXACT)
        return row["agrees"], row["mc_se_ok"], row["std_error_ok"]

    def test_each_check_fails_alone(self):
        self.assertEqual(self.judged(), (True, True, True))
        self.assertEqual(self.judged(value=0.521), (False, True, True))
        self.assertEqual(self.judged(value=0.479), (False, True, True))
        self.assertEqual(self.judged(mc_se=0.011), (True, False, True))
        self.assertEqual(self.judged(std_error=0.116), (True, True, False))
        self.assertEqual(self.judged(std_error=0.084), (True, True, False))
        self.assertEqual(self.judged(std_error=None), (True, False, False))
        self.assertEqual(self.judged(value=0.6, mc_se=0), (False, True, True))

    def test_without_an_exact_answer_starts_are_compared(self):
        rows = [{"case": "c", "parameter": "a", "exact": None, "value": v, "mc_se": 0.1, "agrees": None}
                for v in (1.0, 1.5, 1.6)]
        study.compare_starts(rows)
        self.assertEqual([row["agrees"] for row in rows], [None, True, False])

    def test_a_failure_must_say_what_it_is(self):
        self.assertTrue(study.says(0, ["a + b is not determined"], "", "determine"))
        self.assertFalse(study.says(0, [], "determine", "determine"))
        self.assertTrue(study.says(1, [], "not determined", "determine"))
        self.assertFalse(study.says(-11, [], "not determined", "determine"))


class Files(unittest.TestCase):
    def check(self, model, data, *options):
        done = subprocess.run([PROGRAM, "check", str(model), str(data), *options], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_cases_parse_and_are_understood(self):
        everything = [*cases.read_cases(), cases.read_case(ROOT / "experiments/coverage.toml")]
        self.assertGreaterEqual(len(everything), 11)
        for case in everything:
            data = case.data if case.data.exists() else cases.BENCHMARK / "data" / "three-series.csv"
            for start in case.starts:
                with self.subTest(case=case.name, start=start):
                    self.check(case.model, data, *cases.settings(case.constants, start))

    def test_failures_parse_and_are_understood(self):
        for name, case in tomllib.loads((ROOT / "experiments/failures/failures.toml").read_text()).items():
            with self.subTest(case=name):
                self.check(ROOT / case["model"], ROOT / case["data"], *cases.settings(case.get("set", {})))

    def test_unknown_case_is_named(self):
        with self.assertRaisesRegex(ValueError, "no such case: nothing"):
            cases.read_cases(["nothing"])

    def test_a_third_of_the_irregular_values_is_missing(self):
        with open(cases.BENCHMARK / "data" / "irregular.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual((len(rows), sum(row["y"] == "" for row in rows)), (60, 20))
        gaps = [float(b["t"]) - float(a["t"]) for a, b in zip(rows, rows[1:])]
        self.assertGreater(max(gaps) / min(gaps), 4)

    def test_blanks_leave_the_rest_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "data.csv"
            file.write_text("t,y\n1,2.5\n2,3.5\n3,4.5\n")
            cases.blank_values(file, 1, seed=1)
            lines = file.read_text().splitlines()
        self.assertEqual([line.split(",")[0] for line in lines], ["t", "1", "2", "3"])
        self.assertEqual(sum(line.endswith(",") for line in lines), 1)


if __name__ == "__main__":
    unittest.main()
