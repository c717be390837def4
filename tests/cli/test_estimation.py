"""score, smooth and fit: what they promise when they succeed, what they refuse, and how they fail."""

import csv
import io
import json
import unittest

from program import DATA, FAILED, MODELS, OU, ProgramTest, changed

KURAMOTO = (MODELS / "kuramoto.toml").read_text()
CHAINS = ("--particles", 12, "--law-particles", 16)
SCORE = (*CHAINS, "--level", 2, "--iterations", 4, "--burn-in", 1, "--chains", 3)
PAPER = (*CHAINS, "--levels", "1:3", "--replicates", 12, "--estimator", "paper", "--p-max", 3)
SINGLE = (*CHAINS, "--levels", "2:2", "--replicates", 3, "--iterations", 4, "--estimator", "single")

SETTINGS = {"level", "particles", "law_particles", "iterations", "seed", "seconds", "particle_steps"}
FIT_KEYS = {"estimate", "covariance", "engine", "converged", "cells", "maxima", "replicates", "levels", "estimator", "seed",
            "seconds", "particle_steps", "warnings", "findings"}
ESTIMATE_KEYS = {"value", "mc_se", "std_error", "lower", "upper"}
CELL_KEYS = {"level", "p", "count", "mean", "sd", "particle_steps"}
COLUMNS = ("mean", "sd", "q05", "q50", "q95")

# Model, changes to it, names of its parameters and components.
MODELS_TRIED = (
    ("kuramoto", (), ("theta",), ("x",)),
    ("kuramoto", ("--set", "K=-1"), ("theta",), ("x",)),
    ("mean-field-ou", (), ("kappa", "mu", "beta", "R"), ("x",)),
    ("cucker-smale", (), ("K", "u"), ("x[1]", "x[2]", "v[1]", "v[2]")),  # positions without noise
    ("neural", ("--set", "d=3"), ("alpha", "beta"), ("x[1]", "x[2]", "x[3]")),
)

DATA_TRIED = {
    "missing values": "t,y\n1,1.8\n2,NA\n3,\n4,2.9\n5,nan\n",
    "two series": "series,t,y\na,1,1.8\nb,1,2.1\na,2,2.2\nb,2,2.3\nb,3,2.6\n",
    "irregular times": "t,y\n0,1.4\n0.25,1.6\n1,1.9\n4.5,3.1\n",
}


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def without_clock(result):
    return {k: v for k, v in result.items() if k != "seconds"}


class Estimation(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("k.toml", KURAMOTO)
        self.write("k.csv", "t,y\n1,1.7\n2,2.3\n3,2.4\n4,3.2\n")

    def score(self, *arguments):
        result = self.json("score", *arguments)
        self.assertLessEqual({"score", *SETTINGS}, result.keys())
        for entry in result["score"].values():
            self.assertEqual(entry.keys(), {"value", "se"})
        return result

    def fit(self, *arguments):
        result = self.json("fit", *arguments, "--no-run")
        self.assertLessEqual(FIT_KEYS, result.keys())
        for name, entry in result["estimate"].items():
            self.assertEqual(entry.keys(), ESTIMATE_KEYS)
            bars = [entry[k] for k in ("std_error", "lower", "upper")]
            self.assertIn(bars.count(None), (0, 3))
            if bars[0] is None:
                self.assertTrue(result["warnings"], "no standard error, and no word about it")
            else:
                self.assertTrue(entry["lower"] < entry["value"] < entry["upper"], name)
        for cell in result["cells"]:
            self.assertEqual(cell.keys(), CELL_KEYS)
            self.assertEqual([v is None for v in cell["sd"].values()], [cell["count"] == 1] * len(cell["sd"]))
        self.assertEqual(sum(c["count"] for c in result["cells"]), result["replicates"] or 0)
        self.assertGreater(result["particle_steps"], sum(c["particle_steps"] for c in result["cells"]))
        return result

    def smooth(self, *arguments):
        result = self.json("smooth", *arguments, "--out", "s.csv")
        self.assertLessEqual({"out", *SETTINGS}, result.keys())
        self.assertEqual(result["out"], "s.csv")
        return rows_of(self.read("s.csv"))

    def check_rows(self, rows, components, first=("t",)):
        self.assertEqual(list(rows[0]), [*first, *(f"{c}_{column}" for c in components for column in COLUMNS)])
        for row in rows:
            for c in components:
                _, sd, low, middle, high = (float(row[f"{c}_{column}"]) for column in COLUMNS)
                self.assertGreaterEqual(sd, 0)
                self.assertTrue(low <= middle <= high, row)


class Results(Estimation):
    def test_models(self):
        for name, changes, parameters, components in MODELS_TRIED:
            with self.subTest(name, changes=changes):
                model = MODELS / f"{name}.toml"
                self.succeed("simulate", model, "--level", 6, "--times", 4, "--law-particles", 64, "--out", "d.csv", *changes)
                self.assertEqual(tuple(self.score(model, "d.csv", *SCORE, *changes)["score"]), parameters)
                rows = self.smooth(model, "d.csv", *SCORE, *changes)
                self.assertEqual([float(r["t"]) for r in rows], [1, 2, 3, 4])
                self.check_rows(rows, components)
                for options in (PAPER, SINGLE):
                    result = self.fit(model, "d.csv", *options, *changes)
                    self.assertEqual(tuple(result["estimate"]), parameters)
                    self.assertEqual(tuple(result["cells"][0]["mean"]), parameters)

    def test_data(self):
        for name, text in DATA_TRIED.items():
            with self.subTest(name):
                self.write("d.csv", text)
                self.score("k.toml", "d.csv", *SCORE)
                several = text.startswith("series")
                rows = self.smooth("k.toml", "d.csv", *SCORE)
                self.check_rows(rows, ["x"], ("series", "t") if several else ("t",))
                places = [sorted((r.get("series"), float(r["t"])) for r in some) for some in (rows, rows_of(text))]
                self.assertEqual(*places)
                for options in (PAPER, SINGLE):
                    self.fit("k.toml", "d.csv", *options)

    def test_a_start_that_is_observed_is_where_it_is(self):
        self.write("d.csv", DATA_TRIED["irregular times"])
        first = self.smooth("k.toml", "d.csv", *SCORE)[0]
        self.assertEqual((first["t"], first["x_mean"], first["x_sd"]), ("0", "1.5", "0"))

    def test_settings_are_reported(self):
        changes = ("--seed", 5, "--set", "theta=0.3", "--gradient", "finite-difference")
        result = self.score("k.toml", "k.csv", *SCORE, *changes)
        expected = {"level": 2, "particles": 12, "law_particles": 16, "iterations": 4, "burn_in": 1, "chains": 3}
        expected |= {"seed": 5, "gradient": "finite-difference", "smoother": "backward", "parameters": {"theta": 0.3}}
        self.assertEqual({k: result[k] for k in expected}, expected)
        # The first path, 5 iterations with a law of 16 and 12 particles, and 4 scores with two laws, for a difference.
        self.assertEqual(result["particle_steps"], 3 * 16 * (16 + 1 + 5 * (16 + 12) + 4 * 2 * 16))
        result = self.fit("k.toml", "k.csv", *PAPER, "--seed", 6)
        expected = {"replicates": 12, "levels": [1, 3], "estimator": "paper", "seed": 6}
        self.assertEqual({k: result[k] for k in expected}, expected)
        self.assertTrue(all(1 <= c["level"] <= 3 and 0 <= c["p"] <= 3 for c in result["cells"]))
        result = self.fit("k.toml", "k.csv", *SINGLE)
        (cell,) = result["cells"]
        self.assertEqual((result["estimator"], cell["level"], cell["p"], cell["count"]), ("single", 2, 0, 3))
        self.assertEqual(cell["mean"]["theta"], result["estimate"]["theta"]["value"])

    def test_threads_and_seeds(self):
        commands = {"score": SCORE, "smooth": (*SCORE, "--out", "-"), "paper": PAPER, "single": SINGLE}
        for name, options in commands.items():
            command = name if name in ("score", "smooth") else "fit"

            def output(*more):
                if command == "smooth":
                    return self.succeed(command, "k.toml", "k.csv", *options, *more)
                kept = ("--no-run",) if command == "fit" else ()
                return without_clock(self.json(command, "k.toml", "k.csv", *options, *kept, *more))

            with self.subTest(name):
                reference = output("--threads", 1)
                self.assertEqual(output("--threads", 2), reference)
                self.assertEqual(output("--seed", 1), reference)
                self.assertNotEqual(output("--seed", 2), reference)
                self.assertNotEqual(output("--set", "theta=0.45"), reference)
                self.assertNotEqual(output("--full-normals"), reference)

    def test_ways_to_smooth_and_to_differentiate(self):
        for options in (("--smoother", "genealogy"), ("--gradient", "finite-difference")):
            with self.subTest(options):
                usual = self.score("k.toml", "k.csv", *SCORE)["score"]
                self.assertNotEqual(self.score("k.toml", "k.csv", *SCORE, *options)["score"], usual)
                for estimator in (PAPER, SINGLE):
                    self.fit("k.toml", "k.csv", *estimator, *options)
        # The default of the paper's estimator, and its alternative.
        paper = self.fit("k.toml", "k.csv", *PAPER)["estimate"]
        self.assertEqual(self.fit("k.toml", "k.csv", *PAPER, "--smoother", "genealogy")["estimate"], paper)
        self.assertNotEqual(self.fit("k.toml", "k.csv", *PAPER, "--smoother", "backward")["estimate"], paper)
        self.write("c.csv", "t,y[1],y[2]\n1,1,0\n2,2,0.1\n")
        cucker_smale = (MODELS / "cucker-smale.toml", "c.csv")
        self.assertEqual(self.score(*cucker_smale, *SCORE)["smoother"], "genealogy")
        for command in ("score", "fit"):
            says = ("--smoother backward", "'x[1]' has no noise", "genealogies")
            self.refuse(command, *cucker_smale, "--smoother", "backward", says=says)

    def test_rules(self):
        rules = ("--particles", "T", "--law-particles", "l*L")
        result = self.score("k.toml", "k.csv", *rules, *SCORE[len(CHAINS) :])
        self.assertEqual((result["particles"], result["law_particles"]), (4, 4))
        for options in (PAPER, SINGLE):
            by_rule = self.fit("k.toml", "k.csv", *rules, *options[len(CHAINS) :])
            self.assertNotEqual(by_rule["estimate"], self.fit("k.toml", "k.csv", *options)["estimate"])
        fixed = self.fit("k.toml", "k.csv", "--particles", 4, "--law-particles", 4, *SINGLE[len(CHAINS) :])
        self.assertEqual(by_rule["estimate"], fixed["estimate"])  # l = L = 2, T = 4

    def test_lengths_and_steps(self):
        longest = {p: max(c["p"] for c in self.fit("k.toml", "k.csv", *PAPER[:-1], p)["cells"]) for p in (0, 2, "inf")}
        self.assertEqual(longest[0], 0)
        self.assertLessEqual(longest[2], 2)
        self.assertGreater(longest["inf"], 2)
        usual = self.fit("k.toml", "k.csv", *SINGLE)["estimate"]
        self.assertEqual(self.fit("k.toml", "k.csv", *SINGLE, "--step", "1,0,0.7")["estimate"], usual)
        for step in ("0.5", "1,3", "1,0,1", "1e-3,0,0.51"):
            self.assertNotEqual(self.fit("k.toml", "k.csv", *SINGLE, "--step", step)["estimate"], usual)
        self.assertEqual(self.fit("k.toml", "k.csv", *SINGLE[:4], "--levels", "2", *SINGLE[6:])["levels"], [2, 2])

    def test_until_it_is_precise_enough_or_time_is_up(self):
        single = tuple(x for x in SINGLE if x not in ("--replicates", SINGLE[SINGLE.index("--replicates") + 1]))
        first = self.fit("k.toml", "k.csv", *single, "--replicates", 200)
        error = first["estimate"]["theta"]["mc_se"]
        enough = self.fit("k.toml", "k.csv", *single, "--tolerance", 2 * error)
        self.assertEqual(enough["replicates"], 200)
        more = self.fit("k.toml", "k.csv", *single, "--tolerance", error / 1.5)
        self.assertGreater(more["replicates"], 400)
        self.assertLessEqual(more["estimate"]["theta"]["mc_se"], error / 1.5)
        done = self.run_program("fit", "k.toml", "k.csv", *single, "--replicates", 4_000_000, "--budget", "0.2s", "--json", "--no-run")
        self.assertEqual(done.returncode, 3, done.stderr)
        stopped = json.loads(done.stdout)
        self.assertFalse(stopped["converged"])
        self.assertIn("time granted was used up", " ".join(stopped["warnings"]))

    def test_tables(self):
        table = self.succeed("score", "k.toml", "k.csv", *SCORE)
        self.assertRegex(table, r"^parameter .*\ntheta +0\.4 .*\nlevel 2, 3 chains")
        table = self.succeed("fit", "k.toml", "k.csv", *SINGLE)
        self.assertRegex(table, r"^parameter .*\ntheta .*\nestimator single, .*\nrun kept in kuramoto-1\n$")
        self.assertEqual(
            self.succeed("smooth", "k.toml", "k.csv", *SCORE, "--out", "s.csv"), "wrote s.csv (12 draws at each time)\n"
        )
        self.assertEqual(self.succeed("smooth", "k.toml", "k.csv", *SCORE, "--out", "-"), self.read("s.csv"))

    def test_bounds_are_respected(self):
        self.write("m.toml", OU)
        self.write("d.csv", DATA)
        estimate = self.fit("m.toml", "d.csv", *SINGLE, "--step", "20,0,0.6")["estimate"]
        self.assertTrue(0 < estimate["kappa"]["value"] < 9)

    def test_all_parameters_at_their_bounds(self):
        self.write("m.toml", """[state]
x = "normal(0, 1)"
[parameters]
s = { start = 0.6, lower = 0 }
[drift]
x = "-x"
[diffusion]
x = 0.7
[observation]
y = "negative_binomial(exp(x), 1/s)"
""")
        self.write("d.csv", "t,y\n1,1\n2,1\n3,1\n4,1\n5,1\n6,1\n")  # less dispersed than any such distribution
        result = self.json("fit", "m.toml", "d.csv", "--no-run")
        s = result["estimate"]["s"]
        self.assertEqual((s["value"], s["at_bound"], s["lower"], s["std_error"]), (0, "lower", 0, None))
        self.assertTrue(result["converged"])
        self.assertRegex(result["warnings"][0], "^s: at its bound 0, below 0.[0-9]+ with 95 % confidence")
        self.succeed("loglik", "m.toml", "d.csv", "--set", "s=0.001")
        stratified = self.json("fit", "m.toml", "d.csv", "--no-run", "--estimator", "stratified")
        self.assertIn("bound active: 's'", stratified["warnings"][0])

    def test_smoothing_needs_no_parameters(self):
        constant = (("[parameters]\n", ""), ("theta = 0.4\n", ""), ("K = 1.0", "K = 1.0\ntheta = 0.4"))
        self.write("m.toml", changed(KURAMOTO, *constant))
        self.check_rows(self.smooth("m.toml", "k.csv", *SCORE), ["x"])
        for command in ("score", "fit"):
            self.refuse(command, "m.toml", "k.csv", says=("m.toml: the model has no parameters", "[parameters]"))


BAD_FIT = {
    "--levels": {
        text: ("--levels " + text, "LOW:HIGH")
        for text in ("3:1", "-1:2", "2:99", "x", "1:2:3", "2:", ":3", "1.5:2", "1e300")
    },
    "--step": {
        text: ("--step " + text, "G,N0,RHO")
        for text in ("0", "-1", "1,0,0.5", "1,0,1.1", "1,-1", "1,2,3,4", "abc", "1,,0.7", "1,0,0.7,", "nan", "inf")
    },
    "--particles": {
        "1": ("--particles 1", "between 2 and 1e9"),
        "0": ("--particles 0", "between 2 and 1e9"),
        "x*": ("--particles x*", "unknown name 'x'", "formula of l, L, T"),
        "l*": ("--particles l*", "formula of l, L, T"),
        "1/0": ("--particles 1/0", "gives inf"),
        "1e12": ("--particles 1e12", "1e9"),
    },
    "--law-particles": {"0": ("--law-particles 0", "between 1 and 1e9"), "l-9": ("--law-particles l-9", "level")},
    "--estimator": {"foo": ("--estimator", "foo", "stratified", "paper", "single", "quadrature")},
    "--tolerance": {text: ("--tolerance",) for text in ("0", "-1", "x")},
    "--budget": {text: ("--budget " + text, "90s, 10m or 2h") for text in ("0", "-1s", "x", "10d")},
    "--smoother": {"foo": ("--smoother", "foo", "backward", "genealogy")},
    "--gradient": {"foo": ("--gradient", "foo", "tangent", "finite-difference")},
    "--p-max": {
        text: ("--p-max " + text, "whole number from 0", "inf")
        for text in ("-1", "x", "2.5", "1e9", "31", "-inf", "nan")
    },
    "--replicates": {text: ("--replicates", "whole number from 2") for text in ("0", "1", "x", "2.5")},
    "--iterations": {text: ("--iterations", "whole number from 1") for text in ("0", "-1", "x")},
    "--set": {"kk=1": ("--set kk=1", "no parameter, constant or state 'kk'", "did you mean 'K'?")},
    "--threads": {"0": ("--threads", "whole number from 1")},
    "--unit": {"0": ("--unit", "'0'")},
}

BAD_PAPER = {
    "--level-weight": {text: ("--level-weight", text) for text in ("-1", "x", "l -", "0/0")},
    "--length-weight": {text: ("--length-weight", text) for text in ("0", "l", "1 - p")},
    "--chain-length": {text: ("--chain-length", text) for text in ("3", "p", "-2^p")},
}

BAD_HELD = {
    "--level": {text: ("--level", "whole number from 0 to 20") for text in ("-1", "21", "x")},
    "--iterations": {"0": ("--iterations", "whole number from 1")},
    "--burn-in": {"-1": ("--burn-in", "whole number from 0")},
    "--particles": {"1": ("--particles 1", "between 2 and 1e9")},
    "--law-particles": {"0": ("--law-particles 0", "between 1 and 1e9")},
    "--set": {"kk=1": ("--set kk=1", "no parameter, constant or state 'kk'")},
}


class Refusals(Estimation):
    def refuse_all(self, command, table):
        for option, values in table.items():
            for value, says in values.items():
                with self.subTest(command=command[0], option=option, value=value):
                    self.refuse(*command, f"{option}={value}", says=says)

    def test_options(self):
        self.refuse_all(("fit", "k.toml", "k.csv"), BAD_FIT)
        self.refuse_all(("fit", "k.toml", "k.csv", "--estimator", "paper"), BAD_PAPER)
        for command, least in (("score", 2), ("smooth", 1)):
            table = BAD_HELD | {"--chains": {str(least - 1): ("--chains", f"whole number from {least}")}}
            out = ("--out", "s.csv") if command == "smooth" else ()
            self.refuse_all((command, "k.toml", "k.csv", *out), table)

    def test_options_without_use(self):
        for estimator, options in {
            "stratified": ("--level-weight=1", "--length-weight=1", "--chain-length=2^p"),
            "paper": ("--iterations=9", "--starts=2"),
            "single": ("--p-max=2", "--chain-length=2^p"),
            "quadrature": ("--replicates=9", "--tolerance=1", "--step=1", "--full-normals"),
        }.items():
            for option in options:
                with self.subTest(estimator=estimator, option=option):
                    short = () if estimator == "quadrature" else ("--replicates", 3)
                    done = self.run_program("fit", "k.toml", "k.csv", "--no-run", "--estimator", estimator, *short, option)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    name = option.split("=")[0]
                    kind = "engine" if estimator == "quadrature" else "estimator"
                    self.assertIn(f"warning: {name} has no meaning for --{kind} {estimator}", done.stderr)
        self.refuse("fit", "k.toml", "k.csv", "--step", "2", says=("--step 2", "all of G,N0,RHO"))
        self.succeed("fit", "k.toml", "k.csv", "--run", "q", "--estimator", "quadrature")
        self.refuse("resume", "q", "--replicates", 9, says="no meaning for --engine quadrature")
        for options in (("--particles", 9), ("--estimator", "paper"), ("--smoother", "backward")):
            self.refuse("fit", "k.toml", "k.csv", "--engine", "quadrature", *options, says="--engine quadrature has no particles")

    def test_fewer_values_than_parameters(self):
        self.write("d.csv", "t,y\n1,4.2\n2,NA\n")
        says = ("d.csv: 1 observed value cannot determine 4 parameters",)
        self.refuse("fit", MODELS / "mean-field-ou.toml", "d.csv", says=says)
        few = self.fit("k.toml", "d.csv", "--estimator", "quadrature")
        self.assertIn("few data: 1 observed value for 1 parameter", " ".join(few["warnings"]))

    def test_places_that_cannot_be_written(self):
        smooth = ("smooth", "k.toml", "k.csv", *SCORE)
        self.refuse(*smooth, says=("--out is required", "'mckean smooth --help'"))
        self.refuse(*smooth, "--out", "no/s.csv", says="no/s.csv: cannot be written")
        self.refuse(*smooth, "--out", "./k.toml", says="this is the model file")
        self.refuse(*smooth, "--out", "k.csv", says="this is the data file")
        self.refuse(*smooth, "--out", "-", "--json", says="stdout is for the JSON object")

    def test_bad_data(self):
        self.write("d.csv", "t,y\n1,abc\n")
        for command in (("score",), ("fit",), ("smooth", "--out", "s.csv")):
            self.refuse(*command, "k.toml", "d.csv", says=("d.csv:2: ", "'abc' is not a number"))
            self.refuse(*command, "k.toml", "no.csv", says="no.csv: cannot be read")


class Failures(Estimation):
    def test_parameter_that_nothing_depends_on(self):
        self.write("m.toml", changed(KURAMOTO, ("theta = 0.4\n", "theta = 0.4\nidle = 1\n")))
        for options in (PAPER, SINGLE):
            says = ("'idle'", "make it a constant")
            self.refuse("fit", "m.toml", "k.csv", "--no-run", *options, says=says, status=FAILED)
        self.assertEqual(self.score("m.toml", "k.csv", *SCORE)["score"]["idle"], {"value": 0, "se": 0})

    def test_steps_that_are_too_long(self):
        short = ("--levels", "2:2", "--replicates", 4, "--estimator", "single")
        long = ("--no-run", *CHAINS, *short, "--step", "1e6,0,0.6")
        says = ("replicate ", "level 2, iteration ", "at theta = ", "left 20 growing compact sets", "take shorter steps")
        for json in ([], ["--json"]):
            self.refuse("fit", "k.toml", "k.csv", *long, "--set", "K=-1", *json, says=says, status=FAILED)
        ou = (MODELS / "mean-field-ou.toml", "k.csv")
        says = ("replicate ", "level 2, iteration ", "kappa = ", "left 20 growing compact sets")
        self.refuse("fit", *ou, *long, "--json", says=says, status=FAILED)

    def test_returns_to_the_start_are_counted(self):
        result = self.fit("k.toml", "k.csv", *SINGLE, "--set", "K=-1", "--step", "1e4,0,0.6")
        self.assertGreater(result["reprojections"], 0)
        self.assertIn("returned to the start", " ".join(result["warnings"]))

    def test_observation_that_nothing_explains(self):
        for name, density, value, says in (
            ("too far", "normal(x, tau)", "1e6", "no particle explains it"),
            ("further", "normal(x, tau)", "1e300", "log density is -inf for every particle"),
            ("impossible", None, "2", "log density is nan for some particle"),
        ):
            with self.subTest(name):
                new = f'"{density}"' if density else '{ log_density = "log(x - 100 - y)" }'
                self.write("m.toml", changed(KURAMOTO, ('"normal(x, tau)"', new)))
                self.write("d.csv", f"t,y\n1,NA\n2,{value}\n")
                says = ("level 2, iteration 1, at theta = 0.4", "d.csv:3: t = 2", "observation y = ", says)
                for options in (PAPER, SINGLE):
                    level = ("--levels", "2:3") if options is PAPER else ("--levels", "2:2")
                    arguments = ["--no-run", *options[:4], *level, *options[6:]]
                    self.refuse("fit", "m.toml", "d.csv", *arguments, "--json", says=says, status=FAILED)
                says = ("replicate ", *says)
                self.refuse("score", "m.toml", "d.csv", *SCORE, "--json", says=says, status=FAILED)
                self.refuse("smooth", "m.toml", "d.csv", *SCORE, "--out", "s.csv", says=says, status=FAILED)

    def test_overflow(self):
        self.write("m.toml", changed(KURAMOTO, ('"theta + K*pull"', '"theta*x^3 + K*pull"'), ("x = 1.5", "x = 1e10")))
        for command in (("fit", "--no-run", *PAPER), ("score", *SCORE), ("smooth", *SCORE, "--out", "s.csv")):
            self.refuse(*command, "m.toml", "k.csv", says=("replicate", "theta = 0.4", "overflow"), status=FAILED)


if __name__ == "__main__":
    unittest.main()
