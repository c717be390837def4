"""Input that is understood but has no answer: status 1, a message that says where, and no result."""

import unittest

from program import DATA, FAILED, OU, ProgramTest, changed

SMALL = ("--level", 0, "--particles", 64, "--law-particles", 64, "--repeats", 2)
DRIFT, STATE, DENSITY = '"kappa*(mu - x) + pull"', "x = 0.0", '"normal(x, 0.5)"'


class Failures(ProgramTest):
    def fail_loglik(self, model, data, *says):
        self.write("m.toml", model)
        self.write("d.csv", data)
        for json in ([], ["--json"]):
            self.refuse("loglik", "m.toml", "d.csv", *SMALL, *json, says=says, status=FAILED)

    def test_overflow(self):
        for kernel, interacts in ((" + pull", True), ("", False)):
            model = changed(OU, (DRIFT, f'"kappa*x^3{kernel}"'), (STATE, "x = 1e10"))
            data = "t,y\n" + "".join(f"{t},1\n" for t in range(1, 10))
            with self.subTest(interacts=interacts):
                self.fail_loglik(model, data, "overflow", "t = ", "level 0", "kappa = 1", "raise the level")
                simulate = ("simulate", "m.toml", "--times", 9, "--level", 0, "--law-particles", 64)
                says = ("overflow", "t = ", "level 0", "kappa = 1")
                self.refuse(*simulate, "--paths", "p.csv", "--count", 3, says=says, status=FAILED)

    def test_observation_that_nothing_explains(self):
        model = changed(OU, (DENSITY, '"normal(x, 0.1)"'))
        self.fail_loglik(model, "t,y\n1,3\n2,1e6\n", "d.csv:3: ", "t = 2", "y = 1e+06", "no particle explains it")
        self.fail_loglik(model, "t,y\n1,1e300\n", "d.csv:2: ", "log density is -inf for every particle")

    def test_log_densities_that_are_none(self):
        for text, says in {
            "log(y - 100)": "nan",
            "sqrt(-1 - x^2)": "nan",
            "0/0": "nan",
            "-1/0": "-inf for every particle",
            "log(if(x > 1e6, 1, 0))": "-inf for every particle",
            "1/0": "inf",
        }.items():
            with self.subTest(text):
                model = changed(OU, (DENSITY, f'{{ log_density = "{text}" }}'))
                self.fail_loglik(model, DATA, "d.csv:2: ", "y = 3.1", "log density is", says, "kappa = 1")

    def test_arguments_that_no_distribution_has(self):
        for text, says in {
            "normal(x, -1)": "sd = -1",
            "normal(x, 0)": "sd = 0",
            "student_t(-1, x, 1)": "student_t with df = -1, location = ",
            "poisson(-1 - x^2)": "rate = -",
            "binomial(10, 1.5)": "binomial with trials = 10, probability = 1.5",
        }.items():
            with self.subTest(text):
                model = changed(OU, (DENSITY, f'"{text}"'))
                self.fail_loglik(model, "t,y\n1,3\n", "d.csv:2: ", "log density is")
                simulate = ("simulate", "m.toml", "--times", 3, "--law-particles", 64)
                self.refuse(*simulate, says=("'y' cannot be drawn at t = 1: ", says), status=FAILED)


if __name__ == "__main__":
    unittest.main()
