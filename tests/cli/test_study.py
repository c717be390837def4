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
import usability  # noqa: E402


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


def estimate(value=1.0, std_error=0.1, **others):
    return {"value": value, "std_error": std_error, "lower": 0.8, "upper": 1.2, "mc_se": 0.01} | others


def loglik(value, se=0.1):
    return {"value": value, "se": se}


class Usability(unittest.TestCase):
    def judged(self, status=0, own=loglik(-50.0), truth=loglik(-50.0), **entries):
        return usability.judgement(status, {"estimate": {"a": estimate(**entries)}}, {"a": 1.0}, own, truth)

    def test_a_good_answer_is_usable(self):
        self.assertEqual(self.judged(), "usable")
        self.assertEqual(self.judged(value=1.39), "usable")
        self.assertEqual(self.judged(own=loglik(-50.9)), "usable")

    def test_a_confident_answer_that_is_far_or_low_is_wrong(self):
        self.assertEqual(self.judged(value=1.41), "wrong")
        self.assertEqual(self.judged(value=0.59), "wrong")
        self.assertEqual(self.judged(own=loglik(-51.0)), "wrong")
        self.assertEqual(self.judged(own=None), "wrong")
        self.assertEqual(usability.judgement(0, None, {"a": 1.0}, None, loglik(-50.0)), "wrong")

    def test_one_bad_parameter_spoils_the_others(self):
        result = {"estimate": {"a": estimate(), "b": estimate(value=2.0)}}
        self.assertEqual(usability.judgement(0, result, {"a": 1.0, "b": 1.0}, loglik(0), loglik(0)), "wrong")

    def test_what_the_program_does_not_stand_for_is_no_answer(self):
        for status in (1, 2, 3, -9, None):
            self.assertEqual(self.judged(status=status, value=5.0), "none")

    def test_without_a_standard_error_or_at_a_bound_the_interval_counts(self):
        for entries in ({"std_error": None}, {"at_bound": "lower"}):
            self.assertEqual(self.judged(value=5.0, **entries), "usable")
            self.assertEqual(self.judged(lower=1.1, **entries), "wrong")
            self.assertEqual(self.judged(upper=0.9, **entries), "wrong")
            self.assertEqual(self.judged(lower=None, upper=None, **entries), "usable")
            self.assertEqual(self.judged(lower=None, upper=0.9, **entries), "wrong")

    def test_log_likelihoods_are_compared_within_their_errors(self):
        self.assertTrue(usability.not_lower(loglik(-1.49, 0.3), loglik(0, 0.4)))
        self.assertFalse(usability.not_lower(loglik(-1.51, 0.3), loglik(0, 0.4)))
        self.assertTrue(usability.not_lower(loglik(9), loglik(0)))

    def test_each_check_of_the_summary_fails_alone(self):
        def checks(*last):
            rows = [{"judgement": "usable", "seconds": 10.0}] * 9
            return list(usability.summary([*rows, *({"judgement": j, "seconds": s} for j, s in last)]).values())

        self.assertEqual(checks(("none", 10)), [True, True, True, True])
        self.assertEqual(checks(("none", 10), ("none", 10)), [False, True, True, True])
        self.assertEqual(checks(("wrong", 10)), [True, False, True, True])
        self.assertEqual(checks(("usable", 60)), [True, True, False, True])
        self.assertEqual(checks(*[("usable", 26)] * 10), [True, True, True, False])

    def test_a_fit_keeps_up_by_likelihood_and_time(self):
        def keeps_up(fit, fit_seconds, baseline, seconds=10.0):
            return usability.keeps_up({"loglik": fit, "seconds": fit_seconds}, {"loglik": baseline, "seconds": seconds})

        self.assertTrue(keeps_up(loglik(-50.4), 10.0, loglik(-50)))
        self.assertFalse(keeps_up(loglik(-50.5), 10.0, loglik(-50)))
        self.assertFalse(keeps_up(loglik(-40), 10.1, loglik(-50)))
        self.assertFalse(keeps_up(None, 1.0, None))
        self.assertTrue(keeps_up(loglik(-50), 1.0, None))

    def test_seeds_are_compared_with_the_exact_answer(self):
        def over_seeds(**entries):
            row = usability.over_seeds([estimate(**entries)] * 20, {"value": 1.0, "std_error": 0.1})
            return row["z_ok"], row["std_error_ok"], row["mc_se_ok"]

        self.assertEqual(over_seeds(value=1.006), (True, True, True))
        self.assertEqual(over_seeds(value=0.992), (False, True, True))
        self.assertEqual(over_seeds(std_error=0.111), (True, False, True))
        self.assertEqual(over_seeds(std_error=0.089), (True, False, True))
        self.assertEqual(over_seeds(mc_se=0.016), (True, True, False))
        self.assertEqual(over_seeds(std_error=None), (False, False, False))
        self.assertEqual(over_seeds(mc_se=0), (False, False, False))
        none = usability.over_seeds([], {"value": 1.0, "std_error": 0.1})
        self.assertFalse(none["z_ok"] or none["std_error_ok"] or none["mc_se_ok"])

    def test_an_attempt_keeps_what_was_printed(self):
        done = cases.attempt(["/bin/sh", "-c", "echo '{}'; echo why >&2; exit 3"], 10)
        self.assertEqual((done.status, done.result, done.message), (3, {}, "why"))
        self.assertIsNone(cases.attempt(["/bin/echo", "text"], 10).result)
        late = cases.attempt(["/bin/sleep", "5"], 0.1)
        self.assertEqual((late.status, late.result), (None, None))
        self.assertLess(late.seconds, 4)


class Files(unittest.TestCase):
    def check(self, model, data, *options):
        done = subprocess.run([PROGRAM, "check", str(model), str(data), *options], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_cases_parse_and_are_understood(self):
        everything = [*cases.read_cases((), cases.COLLECTIONS), cases.read_case(ROOT / "experiments/coverage.toml")]
        self.assertGreaterEqual(len(everything), 31)
        for case in everything:
            data = case.data if case.data.exists() else cases.BENCHMARK / "data" / "three-series.csv"
            for start in case.starts:
                with self.subTest(case=case.name, start=start):
                    self.check(case.model, data, *cases.settings(case.constants, start))

    def test_names_of_cases_are_unique(self):
        names = [case.name for case in cases.read_cases((), cases.COLLECTIONS)]
        self.assertEqual(len(names), len(set(names)))

    def test_the_suite_has_data_of_its_own_and_three_starts(self):
        for case in cases.read_cases((), [cases.SUITE, cases.LINEAR]):
            with self.subTest(case=case.name):
                self.assertTrue(case.data.is_relative_to(case.collection) and case.data.exists())
                self.assertEqual(len(case.starts), 3)
        for case in cases.read_cases((), [cases.LINEAR]):
            self.assertIsNotNone(case.exact)

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
