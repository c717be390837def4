"""Wrong command lines: one message, status 2, nothing written."""

import resource
import subprocess
import unittest

from program import DATA, MODELS, OU, PROGRAM, ProgramTest

SMALL = {"--level": 2, "--particles": 64, "--law-particles": 64, "--repeats": 2, "--threads": 1}
NOT_COUNTS = ("0", "-1", "abc", "1.5", "1e18", "1e5", "1000000000000000000", "99999999999999999999999", "0x10", " 7")
COMMANDS = ("new", "check", "simulate", "loglik", "score", "smooth", "fit")

BAD_SETS = {
    "kapa=1": ("no parameter, constant or state 'kapa'", "did you mean 'kappa'?"),
    "pull=2": ("no parameter, constant or state 'pull'", "x, kappa, mu, s"),
    "kappa": ("name=value", "kappa=1.5"),
    "=1": ("name=value",),
    "kappa=": ("'' is not a number",),
    "kappa=abc": ("'abc' is not a number",),
    "kappa=inf": ("infinite", "finite number"),
    "kappa=nan": ("not a number",),
    "kappa=1e999": ("double precision",),
    "kappa=-1": ("between the bounds 0 and 9", "choose one inside"),
    "kappa=9.5": ("not between the bounds",),
    "s=0": ("m.toml:12:1: ", "no noise"),
}

BAD_TIMES = {
    "0": "whole number from 1",
    "-3": "whole number from 1",
    "1.5": "whole number from 1",
    "abc": "'abc' is not a number",
    "nan": "not a number",
    "inf": "infinite",
    "1e18": "more than 10000000 times",
    "0:1e-9:1": "more than 10000000 times",
    "1:2": "three numbers",
    "1:1:3:4": "three numbers",
    "1:0:3": "the step must be positive",
    "3:1:1": "the end not before the start",
    "-1:1:3": "negative",
    "1,1": "increase",
    "2,1": "increase",
    "-2,1": "negative",
    "1,,2": "'' is not a number",
    "1,": "'' is not a number",
    "1;2": "'1;2' is not a number",
}


class Options(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("m.toml", OU)
        self.write("d.csv", DATA)

    def refuse_option(self, command, option, value, says):
        settings = {k: v for k, v in SMALL.items() if command[0] == "loglik" or k in ("--level", "--law-particles")}
        settings[option] = value
        return self.refuse(*command, *(x for pair in settings.items() for x in pair), says=says)

    def test_counts(self):
        loglik, simulate = ("loglik", "m.toml", "d.csv"), ("simulate", "m.toml", "--times", 3, "--paths", "p.csv")
        for command, names in (
            (loglik, ("--particles", "--law-particles", "--repeats", "--threads")),
            (simulate, ("--law-particles", "--series", "--count")),
        ):
            for option in names:
                for value in NOT_COUNTS:
                    with self.subTest(command=command[0], option=option, value=value):
                        says = (option, f"'{value}'", "whole number from 1 to")
                        self.refuse_option(command, option, value, (*says, f"'mckean {command[0]} --help'"))

    def test_levels_and_seeds(self):
        for command in (("loglik", "m.toml", "d.csv"), ("simulate", "m.toml", "--times", 3)):
            for value in ("-1", "21", "1000", "abc", "1e18", "99999999999999999999999"):
                with self.subTest(command=command[0], level=value):
                    self.refuse_option(command, "--level", value, ("--level", "whole number from 0 to 20"))
        for value in ("-1", "x", "18446744073709551616", "1.5"):
            with self.subTest(seed=value):
                self.refuse("loglik", "m.toml", "d.csv", "--seed", value, says=("--seed", f"'{value}'"))

    def test_units(self):
        for value in ("0", "-1", "nan", "inf", "x"):
            with self.subTest(value):
                message = self.refuse("loglik", "m.toml", "d.csv", "--unit", value, says=("--unit", f"'{value}'"))
                self.assertLess(len(message), 200)
        self.refuse("loglik", "m.toml", "d.csv", "--unit", "1e-300", "--engine", "particles", says=("steps in all", "level"))

    def test_set(self):
        for text, says in BAD_SETS.items():
            for command in (["loglik", "m.toml", "d.csv"], ["check", "m.toml"], ["simulate", "m.toml", "--times", 3]):
                with self.subTest(text, command=command[0]):
                    self.refuse(*command, "--set", text, says=says if text == "s=0" else (f"--set {text}", *says))
        self.refuse("check", "m.toml", "--set", "kappa=2", "mu=3", says="mu=3")  # read as DATA

    def test_times(self):
        for text, says in BAD_TIMES.items():
            with self.subTest(text):
                says = (f"--times {text}: ", says, "FROM:STEP:TO")
                self.refuse("simulate", "m.toml", "--law-particles", 64, f"--times={text}", says=says)
        self.refuse("simulate", "m.toml", says=("--times is required", "'mckean simulate --help'"))

    # Summed over pairs this takes 90 s of CPU time; expanded on cells 3 s.
    def test_flocks_are_simulated_in_seconds(self):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        self.succeed("simulate", MODELS / "cucker-smale.toml", "--times", 5)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, 30)

    def test_commands(self):
        self.refuse(says=("a command is required: new, check, simulate, loglik, score, smooth, fit", "'mckean --help'"))
        self.refuse("chekc", "m.toml", says=("no command 'chekc'", "did you mean 'check'?"))
        self.refuse("wobble", says=("no command 'wobble'", "new, check, simulate, loglik"))
        self.refuse("--wobble", says=("'--wobble'", "a command comes first"))
        self.refuse("check", says=("MODEL is required", "'mckean check --help'"))
        self.refuse("check", "m.toml", "--jsn", says=("--jsn", "'mckean check --help'"))
        self.refuse("check", "m.toml", "d.csv", "e.csv", says="not expected: e.csv;")
        self.refuse("check", "m.toml", "--starts", 3, "--wobble", says="not expected: --starts --wobble;")  # 3 is read as DATA
        self.refuse("loglik", "m.toml", says="DATA is required")

    def test_places_that_cannot_be_written(self):
        (self.directory / "folder").mkdir()
        simulate = ("simulate", "m.toml", "--times", 3, "--law-particles", 128)
        for option in ("--out", "--paths"):
            self.refuse(*simulate, option, "no/such/d.csv", says=("no/such/d.csv: cannot be written", "choose another"))
            self.refuse(*simulate, option, "folder", says="folder: cannot be written (Is a directory)")
            self.refuse(*simulate, option, "./m.toml", says="this is the model file")
            self.refuse(*simulate, option, "-", "--json", says="stdout is for the JSON object")
        self.refuse(*simulate, "--paths", "data.csv", says="--out and --paths are both data.csv")
        # Found before anything is computed: this would take hours.
        self.refuse("simulate", "m.toml", "--times", 1000, "--level", 15, "--out", "no/d.csv", says="cannot be written")

    def test_options_without_effect(self):
        self.refuse("smooth", "m.toml", "d.csv", "--out", "s.csv", "--gradient", "tangent", says="--gradient")
        profile = ("profile", "m.toml", "d.csv", "--parameter", "mu")
        for option in ("--particles 50", "--law-particles 64", "--smoother genealogy", "--gradient finite-difference", "--full-normals"):
            with self.subTest(option):
                self.refuse(*profile, "--engine", "kalman", *option.split(), says=("--engine kalman", option.split()[0]))

    def test_simulate_asks_for_no_more_than_there_is(self):
        simulate = ("simulate", "m.toml", "--times", 3, "--law-particles", 64)
        self.refuse(*simulate, "--paths", "p.csv", "--count", 65, says=("--count 65", "only 64", "--law-particles"))
        self.refuse(*simulate, "--series", 65, says=("65 series", "--law-particles 64"))
        model = OU.replace('"normal(x, 0.5)"', '{ log_density = "-(y - x)^2" }')
        self.write("m.toml", model)
        self.refuse(*simulate, says=("'y'", "cannot be drawn from", "named distribution"))

    def test_new_keeps_what_exists(self):
        self.refuse("new", "m", says=("m.toml: exists already", "another name"))
        self.refuse("new", "m.toml", says="m.toml: exists already")
        self.refuse("new", "no/such", says="no/such.toml: cannot be written")
        for name in ("", ".toml", "..", "a b", 'a"b', "a\nb", "folder/"):
            with self.subTest(name):
                self.refuse("new", name, says=("cannot be the name of a model", "use letters"))

    def test_a_full_disk_is_noticed(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([PROGRAM, "check", "m.toml", "--json"], cwd=self.directory, stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"stdout", done.stderr)


class Help(ProgramTest):
    def test_help(self):
        self.assertRegex(self.succeed("--help"), r"(?s)new.*check.*simulate.*loglik.*score.*smooth.*fit")
        self.assertRegex(self.succeed("--version"), r"^mckean \d+\.\d+\.\d+")
        common = ("--help", "--seed", "--set", "--json")
        chains = ("--particles", "--law-particles", "--smoother", "--unit", "--full-normals", "--threads")
        held = ("--level", "--iterations", "--burn-in", "--chains")
        own = {
            "simulate": ("--times", "--level", "--law-particles", "--series", "--out", "--paths", "--count", "--unit"),
            "loglik": ("--level", "--particles", "--law-particles", "--repeats", "--unit", "--threads"),
            "score": (*chains, *held, "--gradient"),
            "smooth": (*chains, *held, "--out"),
            "fit": (*chains, "--gradient", "--estimator", "--levels", "--replicates", "--iterations", "--step", "--p-max", "--level-weight", "--length-weight", "--chain-length"),
        }
        for command in COMMANDS:
            text = self.succeed(command, "--help")
            for option in common + own.get(command, ()):
                with self.subTest(command=command, option=option):
                    self.assertIn(option, text)


if __name__ == "__main__":
    unittest.main()
