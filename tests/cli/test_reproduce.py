"""reproduce: the paper's figures, with smaller numbers; what the tables say is computed again here."""

import cmath
import csv
import io
import math
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import time
import unittest
import xml.etree.ElementTree

from program import FAILED, PROGRAM, ProgramTest, changed

FIGURES = pathlib.Path(__file__).resolve().parents[2] / "experiments" / "figures"
REPETITIONS, MOST, REFERENCE = 4, 4, 8
MPIRUN = shutil.which("mpirun")
LIBRARIES = subprocess.run(["ldd", PROGRAM], capture_output=True, check=True).stdout
# Under the sanitizer for threads, MPI's own threads would be reported.
HAS_MPI = MPIRUN is not None and b"libmpi" in LIBRARIES and b"libtsan" not in LIBRARIES

STUDY = f"""
[kuramoto]
model = "kuramoto.toml"
data = "kuramoto.csv"
until = 4
lowest = 1
highest = 2
p_max = 1
law_particles = "l*L"
particles = "T"
level_weight = "2^(-l/4)"
length_weight = "2^-p"
chain_length = "2^p"
step = [1, 0, 0.7]
smoother = "genealogy"
gradient = "finite-difference"
repetitions = {REPETITIONS}
least = 1
most = {MOST}
reference = {REFERENCE}
single_repetitions = 3
single_most = 2
fits = 2
fit_replicates = []
exact_level = 2
"""


def mean(values):
    return sum(values) / len(values)


class Reproduce(ProgramTest):
    def setUp(self):
        super().setUp()
        shutil.copytree(FIGURES, self.directory / "config")

    def configure(self, name, *changes):
        path = self.directory / "config" / name
        path.write_text(changed(path.read_text(), *changes))

    def configure_study(self, *changes):
        (self.directory / "config" / "figure-3.toml").write_text(changed(STUDY, *changes))

    def table(self, name, folder="out"):
        return list(csv.DictReader(io.StringIO((self.directory / folder / name).read_text())))

    def reproduce(self, *figures, out="out", **places):
        options = [item for key, value in places.items() for item in (f"--{key}", value)]
        return self.json("reproduce", *figures, "--config", "config", "--out", out, "--quiet", *options)

    def tables(self, folder):
        return {p.name: p.read_bytes() for p in (self.directory / folder).glob("*.csv")}

    def require_drawn(self, name):
        svg = xml.etree.ElementTree.parse(self.directory / "out" / f"{name}.svg").getroot()
        self.assertEqual(svg.tag, "{http://www.w3.org/2000/svg}svg")
        paths = svg.findall(".//{http://www.w3.org/2000/svg}path")
        self.assertGreater(len(paths), 10)
        pdf = (self.directory / "out" / f"{name}.pdf").read_bytes()
        self.assertTrue(pdf.startswith(b"%PDF-") and pdf.rstrip().endswith(b"%%EOF"))
        self.assertGreater(len(pdf), 5000)

    def test_oscillators(self):
        self.configure("figure-1.toml", ("oscillators = 100", "oscillators = 30"), ("until = 100", "until = 40"))
        facts = self.reproduce("1")["figures"][0]["facts"]
        late = {}
        for name in ("as-printed", "synchronising"):
            rows = self.table(f"figure-1-{name}.csv")
            self.assertEqual([float(r["t"]) for r in rows], [0.25 * k for k in range(161)])
            for r in rows:
                phases = [float(v) for k, v in r.items() if k.startswith("x[")]
                self.assertEqual(len(phases), 30)
                order = abs(mean([cmath.exp(1j * x) for x in phases]))
                self.assertAlmostEqual(float(r["order"]), order, places=12)
                self.assertTrue(0 <= float(r["order"]) <= 1 + 1e-12)
            late[name] = mean([float(r["order"]) for r in rows if float(r["t"]) > 20])
            self.assertAlmostEqual(facts[name]["order_parameter_second_half"], late[name], places=9)
        # Attracting phases stay together, within sigma; repelling ones spread over the circle.
        self.assertGreater(late["synchronising"], 0.97)
        self.assertLess(late["as-printed"], 0.5)
        self.require_drawn("figure-1")

    def test_network(self):
        self.configure("figure-2.toml", ("until = 100", "until = 10"), ("copies = 100", "copies = 4"))
        self.reproduce("2")
        neurons = self.table("figure-2-neurons.csv")
        histograms = self.table("figure-2-histograms.csv")
        for what, centre in (("weight", -0.5), ("bias", 0.0)):
            values = [float(r[what]) for r in neurons]
            self.assertEqual(len(values), 100)
            self.assertLess(abs(mean(values) - centre), 0.04)  # four standard errors
            bins = [r for r in histograms if r["what"] == what]
            self.assertEqual(sum(int(r["count"]) for r in bins), 100)
            for r in bins[:-1]:
                inside = [v for v in values if float(r["from"]) <= v < float(r["to"])]
                self.assertLessEqual(abs(len(inside) - int(r["count"])), 1)  # a value on an edge may round
        path = self.table("figure-2-activation.csv")
        self.assertEqual((len(path), float(path[0]["x"])), (201, 2.0))
        # Steps of 0.05 with noise 0.15 a unit of time, and hardly any drift within them.
        steps = [float(b["x"]) - float(a["x"]) for a, b in zip(path, path[1:])]
        self.assertLess(abs(math.sqrt(mean([s * s for s in steps])) / (0.15 * math.sqrt(0.05)) - 1), 0.2)
        self.require_drawn("figure-2")
        time.sleep(1.1)  # a figure has no date
        self.reproduce("2", out="again")
        first, again = ({p.name: p.read_bytes() for p in (self.directory / folder).iterdir()} for folder in ("out", "again"))
        self.assertEqual([name for name in first if first[name] != again[name]], [])

    def check_study(self):
        """Errors and limit, from the replicates; the cost of M replicates is M times the mean of one."""
        rows = self.table("figure-3-kuramoto-replicates.csv")
        pool = [r for r in rows if r["estimator"] == "paper" and r["repetition"] != "reference"]
        others = [r for r in rows if r["repetition"] == "reference"]
        single = [r for r in rows if r["estimator"] == "single"]
        self.assertEqual((len(pool), len(others), len(single)), (REPETITIONS * MOST, REFERENCE, 6))
        (slope,) = self.table("figure-3-slopes.csv")
        limit = mean([float(r["theta"]) for r in others])
        self.assertAlmostEqual(float(slope["reference"]), limit, places=12)
        logs = []
        for point in self.table("figure-3.csv"):
            of = {"paper": pool, "single": single}[point["estimator"]]
            truth = {"reference": limit, "exact": float(slope["exact"])}[point["against"]]
            size, values = int(point["replicates"]), [float(r["theta"]) for r in of]
            blocks = [mean(values[i : i + size]) for i in range(0, len(values), size)]
            self.assertEqual(int(point["blocks"]), len(blocks))
            mse = mean([(b - truth) ** 2 for b in blocks])
            self.assertAlmostEqual(float(point["mse"]) / mse, 1, places=9)
            cost = size * mean([float(r["particle_steps"]) for r in of])
            self.assertAlmostEqual(float(point["cost"]) / cost, 1, places=9)
            if point["against"] == "reference":
                logs.append((math.log(size), math.log(mse)))
        self.assertEqual(len(logs), 3)
        centre = mean([x for x, _ in logs])
        fitted = sum((x - centre) * y for x, y in logs) / sum((x - centre) ** 2 for x, _ in logs)
        self.assertAlmostEqual(float(slope["slope"]), fitted, places=9)
        self.assertLess(float(slope["lower"]), float(slope["upper"]))

    def test_error_against_cost(self):
        self.configure_study()
        facts = self.reproduce("3", threads=1)["figures"][0]["facts"]["kuramoto"]["theta"]
        self.check_study()
        self.require_drawn("figure-3")
        # The exact value is that of the quadrature at this level.
        data = [r for r in self.table("kuramoto.csv", "config") if float(r["t"]) <= 4]
        self.write("k.csv", "t,y\n" + "".join(f"{r['t']},{r['y']}\n" for r in data))
        fit = self.json("fit", "config/kuramoto.toml", "k.csv", "--estimator", "quadrature", "--levels", "2:2", "--no-run")
        self.assertAlmostEqual(facts["exact"], fit["estimate"]["theta"]["value"], places=8)
        self.reproduce("3", out="again", threads=2)
        self.assertEqual(self.tables("again"), self.tables("out"))
        self.reproduce("3", out="another", seed=2)
        self.assertNotEqual(self.tables("another")["figure-3.csv"], self.tables("out")["figure-3.csv"])

    @unittest.skipUnless(HAS_MPI, "built without MPI, or there is no mpirun")
    def test_ranks(self):
        self.configure_study()
        self.reproduce("3")
        subprocess.run(
            [MPIRUN, "--oversubscribe", "--allow-run-as-root", "-n", "2", PROGRAM, "reproduce", "3", "--config", "config",
             "--out", "ranks", "--threads", "1"],
            cwd=self.directory, capture_output=True, timeout=60, check=True,
            env=os.environ | {"ASAN_OPTIONS": "detect_leaks=0"},  # Open MPI leaves memory to the end of the process
        )
        self.assertEqual(self.tables("ranks"), self.tables("out"))

    def test_stratified_beside_it(self):
        self.configure_study(("fit_replicates = []", "fit_replicates = [2]"))
        facts = self.reproduce("3")["figures"][0]["facts"]["kuramoto"]["theta"]
        rows = self.table("figure-3-kuramoto-replicates.csv")
        values = [float(r["theta"]) for r in rows if r["estimator"] == "stratified 2"]
        (point,) = [p for p in self.table("figure-3.csv") if p["estimator"] == "stratified"]
        self.assertEqual(len(values), 2)
        self.assertAlmostEqual(float(point["mse"]) / mean([(v - facts["exact"]) ** 2 for v in values]), 1, places=9)
        self.assertGreater(facts["gain_of_stratified"], 0)

    def test_killed_and_resumed(self):
        self.configure_study(("until = 4", "until = 40"), ("p_max = 1", "p_max = 6"), ("reference = 8", "reference = 400"))
        self.reproduce("3", out="whole")
        command = [PROGRAM, "reproduce", "3", "--config", "config", "--out", "out", "--threads", "1"]
        kept = []
        for _ in range(2):
            process = subprocess.Popen(command, cwd=self.directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            before = kept[-1] if kept else 0
            deadline = time.monotonic() + 20
            while self.tasks("out") < before + 20 and time.monotonic() < deadline:
                self.assertIsNone(process.poll(), "it ended before it was killed")
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
            process.wait()
            kept.append(self.tasks("out"))
        self.assertLess(kept[0], kept[1])
        self.assertLess(kept[1], self.tasks("whole"))
        self.assertFalse((self.directory / "out" / "figure-3.csv").exists())
        self.reproduce("3")
        self.assertEqual(self.tables("out"), self.tables("whole"))
        self.refuse("resume", "out/figure-3-kuramoto.run", says="mckean reproduce")
        self.refuse("reproduce", "3", "--config", "config", "--out", "out", "--seed", 2, "--quiet", says="another run")

    def tasks(self, folder):
        store = self.directory / folder / "figure-3-kuramoto.run" / "run.sqlite"
        try:
            connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
            try:
                return connection.execute("SELECT count(*) FROM task").fetchone()[0]
            finally:
                connection.close()
        except sqlite3.OperationalError:  # not there yet
            return 0

    def test_without_gnuplot(self):
        self.configure("figure-2.toml", ("until = 100", "until = 1"), ("copies = 100", "copies = 1"))
        done = subprocess.run(
            [PROGRAM, "reproduce", "2", "--config", "config"], cwd=self.directory, capture_output=True, text=True,
            timeout=60, check=False, env={**os.environ, "PATH": "/nonexistent"},
        )
        self.assertEqual(done.returncode, FAILED)
        self.assertIn("install gnuplot-nox", done.stderr)
        folder = self.directory / "figures-quick"
        self.assertEqual(len(self.table("figure-2-neurons.csv", folder.name)), 100)
        self.assertFalse((folder / "figure-2.svg").exists())

    def test_own_configuration(self):
        """The program carries its configuration with it: no folder is needed."""
        self.succeed("reproduce", "1", "--out", "own")
        self.assertEqual(len(self.table("figure-1-as-printed.csv", "own")[0]), 102)
        self.assertEqual(len(self.table("figure-1-as-printed.csv", "own")), 401)

    def test_refusals(self):
        self.refuse("reproduce", says="FIGURE")
        self.refuse("reproduce", "5", says="FIGURE")
        self.refuse("reproduce", "3", "--scale", "huge", says="--scale")
        (self.directory / "out").mkdir()
        for change, says in (
            (("p_max = 1", "p_mix = 1"), "'p_max' is missing"),
            (("fits = 2", "fits = 2\nfit = 3"), "unknown key 'fit'"),
            (("most = 4\nref", "most = 3\nref"), "power of two"),
            (("repetitions = 4\n", "repetitions = 1.5\n"), "whole number"),
            (("step = [1, 0, 0.7]", "step = [1, 0, 0.2]"), "1/2 < rho"),
            (("until = 4", "until = 0.5"), "no observation"),
            (('"genealogy"', '"other"'), "backward"),
        ):
            with self.subTest(change):
                self.configure_study(change)
                self.refuse("reproduce", "3", "--config", "config", "--out", "out", says=says)
        self.refuse("reproduce", "1", "--config", "nowhere", "--out", "out", says="nowhere/figure-1.toml")


if __name__ == "__main__":
    unittest.main()
