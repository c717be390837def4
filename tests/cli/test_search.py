"""The default fit as a user meets it: engines, tables, exit statuses, stops and progress."""

import json
import re
import signal
import subprocess
import unittest

from program import MODELS, PROGRAM, ProgramTest

# Two coupled components, with noise in one; linear, so that a Kalman filter serves unless particles are asked for.
KINETIC = """\
name = "kinetic"
[state]
x = 1.0
v = 0.0
[parameters]
k = { start = 2.0, lower = 0 }
K = { start = 0.3, lower = 0 }
[constants]
tau = 0.2
[interaction]
xbar = "x'"
[drift]
x = "v"
v = "-k*x - 0.7*v + K*(xbar - x)"
[diffusion]
x = 0
v = "0.5"
[observation]
y = "normal(x, tau)"
"""
PARTICLES = ("--engine", "particles")
QUICK = (*PARTICLES, "--levels", "3:3", "--starts", 1)


class Search(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("m.toml", KINETIC)
        self.succeed("simulate", "m.toml", "--level", 6, "--times", "0.5:0.5:30", "--set", "k=1", "--set", "K=0.6", "--out", "d.csv")

    def test_result(self):
        result = self.json("fit", "m.toml", "d.csv", *QUICK, "--no-run")
        self.assertEqual((result["engine"], result["estimator"], result["converged"]), ("particles", "search", True))
        self.assertEqual((result["cells"], result["replicates"], result["levels"]), ([], None, [3, 3]))
        k = result["estimate"]["k"]
        self.assertLess(abs(k["value"] - 1), 4 * k["std_error"])
        self.assertLess(k["mc_se"], 0.11 * k["std_error"])
        self.assertAlmostEqual(result["covariance"][0][0] ** 0.5, k["std_error"], places=9)
        self.assertEqual(result["maxima"][0]["estimate"]["k"], k["value"])
        # The log-likelihood in the table is that of loglik.
        values = [word for name, e in result["estimate"].items() for word in ("--set", f"{name}={e['value']!r}")]
        at = self.json("loglik", "m.toml", "d.csv", "--level", 3, *values)["loglik"]
        error = (at["se"] ** 2 + result["loglik"]["se"] ** 2) ** 0.5
        self.assertLess(abs(at["value"] - result["loglik"]["value"]), 4 * error + 0.05)

    def test_table(self):
        done = self.run_program("fit", "m.toml", "d.csv", *QUICK, "--run", "r")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\nk +\S+ +\S+ +\S+ +\S+ to \S+\n(.*\n)*search, euler steps of level 3, \d+ particles, \d+ evaluations, seed 1; ")

    def test_not_converged(self):
        done = self.run_program("fit", "m.toml", "d.csv", *QUICK, "--particles", 2, "--no-run", "--json")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertFalse(json.loads(done.stdout)["converged"])
        done = self.run_program("fit", "m.toml", "d.csv", *QUICK, "--particles", 2, "--no-run")
        self.assertEqual(done.returncode, 3)
        self.assertIn("NOT CONVERGED", done.stdout)

    def test_budget(self):
        done = self.run_program("fit", "m.toml", "d.csv", *PARTICLES, "--tolerance", 1e-6, "--budget", "1s", "--no-run", "--json")
        self.assertEqual(done.returncode, 3, done.stderr)
        result = json.loads(done.stdout)
        self.assertIn("the time granted was used up", " ".join(result["warnings"]))
        self.assertLess(result["seconds"], 20)

    def test_bound(self):
        self.succeed("simulate", "m.toml", "--level", 6, "--times", "0.5:0.5:30", "--set", "k=1", "--set", "K=0.001", "--out", "z.csv", "--seed", 4)
        result = self.json("fit", "m.toml", "z.csv", *QUICK, "--no-run")
        K = result["estimate"]["K"]
        if "at_bound" in K:
            self.assertEqual((K["value"], K["at_bound"], K["lower"], K["std_error"], K["mc_se"]), (0, "lower", 0, None, None))
            self.assertTrue(any(re.match("K: at its bound 0, below ", w) for w in result["warnings"]), result["warnings"])
        else:
            self.assertEqual(K["lower"], 0)
        self.assertGreater(K["upper"], 0)

    def test_far_starts_are_not_refused(self):
        """Phases that follow θ, with a start ten of their standard deviations away at the end."""
        model = MODELS / "kuramoto.toml"
        self.succeed("simulate", model, "--level", 6, "--times", 40, "--set", "K=-1", "--set", "theta=0.3", "--out", "k.csv")
        for engine in ("quadrature", "particles"):
            result = self.json("fit", model, "k.csv", "--set", "K=-1", "--set", "theta=1", "--engine", engine, "--levels", "3:3", "--no-run")
            theta = result["estimate"]["theta"]
            self.assertLess(abs(theta["value"] - 0.3), 4 * theta["std_error"], engine)

    def test_stopped(self):
        """Ctrl-C prints the best there is, and the run goes on later to the same result."""
        status, out, err = self.stop_when_known("fit", "m.toml", "d.csv", *PARTICLES, "--tolerance", "1e-5", "--levels",
                                                "3:3", "--run", "r")
        self.assertEqual(status, 130, err)
        self.assertIn("NOT CONVERGED", out)
        self.assertRegex(out, r"\nk +[0-9.]+ ")
        self.assertIn("continue with 'mckean resume r'", err)
        self.assertEqual(json.loads(self.succeed("runs", "r", "--json"))["runs"][0]["state"], "stopped")

    def stop_when_known(self, *command):
        """Sends SIGINT as soon as a log-likelihood is shown: status, stdout, stderr."""
        process = subprocess.Popen([PROGRAM, *map(str, command)], cwd=self.directory, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        seen = ""
        for line in process.stderr:
            seen += line
            if "log-likelihood" in line:
                break
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
        return process.returncode, out, seen + err

    def test_a_stop_prints_one_estimate(self):
        """That of the table: the message of the stop has none, which could be older."""
        mean_field = MODELS / "mean-field-ou.toml"
        self.succeed("simulate", mean_field, "--level", 6, "--times", 100, "--seed", 3, "--out", "f.csv")
        for name, command in (("search", ("m.toml", "d.csv", *PARTICLES, "--tolerance", "1e-5")),
                              ("quadrature", (mean_field, "f.csv", "--engine", "quadrature"))):
            with self.subTest(name):
                status, out, err = self.stop_when_known("fit", *command, "--run", name)
                self.assertEqual(status, 130, err)
                self.assertIn("NOT CONVERGED", out)
                self.assertRegex(out.splitlines()[1], r"^\w+ +[-0-9.e]+ ")
                self.assertRegex(err, rf"\nmckean: stopped after [^;]+; continue with 'mckean resume {name}'\n$")
                self.assertEqual(json.loads(self.succeed("runs", name, "--json"))["runs"][0]["state"], "stopped")

    def test_budget_of_quadrature(self):
        mean_field = MODELS / "mean-field-ou.toml"
        self.succeed("simulate", mean_field, "--level", 6, "--times", 100, "--seed", 3, "--out", "f.csv")
        for budget in (0.2, 0.4, 0.8, 1.6, 3.2):  # enough for a first likelihood on a slow machine, and no more
            done = self.run_program("fit", mean_field, "f.csv", "--engine", "quadrature", "--budget", f"{budget}s",
                                    "--no-run", "--json")
            if done.returncode != 1:
                break
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertNotIn("no meaning", done.stderr)
        result = json.loads(done.stdout)
        self.assertFalse(result["converged"])
        self.assertIn("the time granted was used up before the end", result["warnings"])

    def test_ends_that_the_data_do_not_give(self):
        """25 observations determine the rate of an Ornstein-Uhlenbeck process from below only, by either engine."""
        for seed, engine, lower in ((4, "quadrature", 0.299), (4, "particles", 0.299), (6, "particles", 0.644)):
            self.succeed("simulate", MODELS / "ou.toml", "--times", 25, "--level", 6, "--seed", seed, "--out", f"s{seed}.csv")
            result = self.json("fit", MODELS / "ou.toml", f"s{seed}.csv", "--engine", engine, "--no-run")
            kappa = result["estimate"]["kappa"]
            self.assertEqual((kappa["upper"], kappa["std_error"], result["converged"]), (None, None, True), engine)
            self.assertAlmostEqual(kappa["lower"], lower, delta=0.06)
            self.assertEqual(result["covariance"][0], [None, None, None])
            self.assertGreater(result["covariance"][1][1], 0)
            self.assertIn("not determined from above: the profile likelihood of 'kappa'", " ".join(result["warnings"]))

    def test_progress(self):
        """Where stderr is no terminal too: what is done, and the best log-likelihood so far."""
        done = self.run_program("fit", "m.toml", "d.csv", *PARTICLES, "--tolerance", "0.0005", "--budget", "4s", "--no-run")
        self.assertRegex(done.stderr, r"mckean: (start \d|search|level \d)[^\n]* tasks, [^\n]*; log-likelihood -?[0-9]")

    def test_which_estimator(self):
        for options, estimator, engine in (((), None, "kalman"), (("--replicates", 3), "stratified", "particles"),
                                           (("--particles", "l*L"), "stratified", "particles"),
                                           (("--particles", "64"), "search", "particles"),
                                           (("--estimator", "quadrature"), None, "quadrature")):
            with self.subTest(options):
                result = self.json("fit", MODELS / "ou.toml", self.ou(), *options, "--levels", "2:2", "--no-run")
                self.assertEqual(result["estimator"], estimator)
                self.assertEqual(result["engine"], engine)

    def ou(self):
        if not (self.directory / "o.csv").exists():
            self.succeed("simulate", MODELS / "ou.toml", "--level", 6, "--times", 30, "--out", "o.csv")
        return "o.csv"


if __name__ == "__main__":
    unittest.main()
