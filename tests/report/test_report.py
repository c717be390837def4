"""mckean report: the page of every kind of run, in a real browser."""

import base64
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

import browser
from program import DATA, MODELS, OU, PROGRAM, ProgramTest

SECTIONS = ["estimate", "diagnostics", "model", "data", "likelihood", "law", "convergence", "cells", "chains", "again"]
SMALL = ("--particles", 8, "--law-particles", 16, "--quiet")
CHAINED = {  # estimator: options, sections with figures
    "stratified": (("--levels", "1:2", "--replicates", 12, "--iterations", 8), {"data", "likelihood", "law", "convergence", "cells", "chains"}),
    "paper": (("--levels", "1:2", "--replicates", 12, "--p-max", 1), {"data", "likelihood", "law", "convergence", "cells", "chains"}),
    "single": (("--levels", "1", "--replicates", 8, "--iterations", 10), {"data", "likelihood", "law", "convergence", "chains"}),
    "quadrature": (("--levels", "1"), {"data", "likelihood", "law"}),
}
KURAMOTO = {"theta"}

folder = tempfile.TemporaryDirectory()
driver = None


def program(*arguments, check=True):
    done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=folder.name, capture_output=True, text=True, timeout=80, check=False)
    if check and done.returncode != 0:
        raise AssertionError(f"{arguments}: {done.stderr}")
    return done


def path(*parts):
    return pathlib.Path(folder.name, *parts)


def setUpModule():
    global driver
    path("ou.toml").write_text(OU)
    path("d.csv").write_text(DATA)
    program("simulate", MODELS / "kuramoto.toml", "--times", 8, "--law-particles", 64, "--out", "k.csv")
    for estimator, (options, _) in CHAINED.items():
        program("fit", MODELS / "kuramoto.toml", "k.csv", "--estimator", estimator, *options, *SMALL, "--run", estimator)
    driver = browser.start()


def tearDownModule():
    if driver:
        driver.quit()
    folder.cleanup()


def report(run, *options):
    return json.loads(program("report", run, "--json", *options).stdout)


def exported(run):
    program("export", run)
    return json.loads(path(run, "run.json").read_text())


class Pages(unittest.TestCase):
    """What holds for every page."""

    def open(self, run, **how):
        made = report(run)
        self.assertEqual(made.keys(), {"out", "bytes", "seconds"})
        self.assertEqual(made["bytes"], path(made["out"]).stat().st_size)
        self.assertLess(made["bytes"], 5_000_000)
        browser.show(driver, path(made["out"]), **how)
        return made

    def all(self, selector, within=None):
        return (within or driver).find_elements("css selector", selector)

    def script(self, text, *arguments):
        return driver.execute_script(text, *arguments)

    def check_page(self, run, figures):
        """Nothing is asked of the network, nothing complained of; structure, figures and width are sound."""
        self.open(run)
        self.assertEqual(browser.complaints(driver), [])
        asked = {url.split(":")[0] for url in browser.requests(driver)}
        self.assertLessEqual(asked, {"file", "data"})
        self.check_links()
        self.check_structure()
        self.check_figures(figures)
        for size in (browser.DESKTOP, browser.PHONE):
            for scheme in ("light", "dark"):
                browser.show(driver, path(run, "report.html"), size, scheme)
                wide = self.script("return document.documentElement.scrollWidth")
                self.assertLessEqual(wide, size[0], f"{run}: the page is wider than {size}")
                self.check_labels()
                self.check_contrast()

    def check_links(self):
        ids = {e.get_attribute("id") for e in self.all("[id]")}
        for link in self.script("return [...document.querySelectorAll('[href], [src]')].map(e => "
                                "e.getAttribute('href') ?? e.getAttribute('src'))"):
            self.assertTrue(link.startswith("data:") or link[0] == "#" and link[1:] in ids, link[:80])
        self.assertEqual(self.all("script, iframe, object, embed, img[src^=http]"), [])
        self.assertNotIn("url(", self.all("style")[0].get_attribute("textContent"))

    def check_structure(self):
        self.assertEqual([h.get_attribute("id") for h in self.all("main h2")], SECTIONS)
        levels = [int(h.tag_name[1]) for h in self.all("h1, h2, h3, h4")]
        self.assertEqual(levels[0], 1)
        self.assertEqual(levels.count(1), 1)
        self.assertTrue(all(b <= a + 1 for a, b in zip(levels, levels[1:])), levels)
        for landmark in ("header", "nav[aria-label]", "main", "footer", "html[lang=en]", "title"):
            self.assertEqual(len(self.all(landmark)), 1, landmark)
        # The skip link is the first thing that a keyboard reaches, and leads to the main part.
        first = self.script("return document.querySelector('a[href], [tabindex], summary').getAttribute('href')")
        self.assertEqual(first, "#main")
        self.assertEqual([a.get_attribute("href").split("#")[1] for a in self.all("nav a")], SECTIONS)
        for table in self.all("table"):
            self.assertTrue(self.all("caption", table))
            self.assertTrue(all(th.get_attribute("scope") in ("col", "row") for th in self.all("th", table)))
            columns = len(self.all("thead th", table))
            for row in self.all("tbody tr", table):
                self.assertEqual(len(self.all("th, td", row)), columns)
                self.assertEqual(len(self.all("th[scope=row]", row)), 1)
        self.assertEqual(self.script("const ids = [...document.querySelectorAll('[id]')].map(e => e.id);"
                                     "return ids.length - new Set(ids).size"), 0)

    def check_figures(self, sections):
        found = {s.get_attribute("aria-labelledby") for s in self.all("main section") if self.all("figure", s)}
        self.assertEqual(found, sections)
        for figure in self.all("figure"):
            charts = self.all("svg", figure)
            self.assertTrue(charts)
            for svg in charts:
                self.assertEqual(svg.get_attribute("role"), "img")
                self.assertGreater(len(svg.get_attribute("aria-label")), 20)
                shapes = [p.get_attribute("d") for p in self.all("path.line, path.dot, path.area", svg)]
                self.assertTrue(shapes and all(d and d[0] == "M" for d in shapes), figure.text)
                self.assertFalse(any("nan" in d or "inf" in d for d in shapes))
                self.assertTrue(self.all("rect title", svg), "no numbers on hover")
            link = self.all("figcaption a[download$='.csv']", figure)[0]
            self.assertGreater(len(self.saved(link).splitlines()), 1)

    def saved(self, link):
        kind, text = link.get_attribute("href").split(",", 1)
        self.assertTrue(kind.endswith(";base64"))
        return base64.b64decode(text).decode()

    def check_labels(self):
        """No two labels of a visible drawing overlap, and none leaves it."""
        problems = self.script("""
            const found = [];
            for (const svg of document.querySelectorAll('svg')) {
              const frame = svg.getBoundingClientRect();
              if (!frame.width) continue;
              const texts = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
              texts.forEach(([name, a], i) => {
                if (a.left < frame.left - 1 || a.right > frame.right + 1 || a.top < frame.top - 1 || a.bottom > frame.bottom + 1)
                  found.push(name + ' leaves ' + svg.getAttribute('aria-label'));
                for (const [other, b] of texts.slice(i + 1))
                  if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3)
                    found.push(name + ' on ' + other + ' in ' + svg.getAttribute('aria-label'));
              });
            }
            return found;""")
        self.assertEqual(problems, [])

    def check_contrast(self):
        """Text against the page: 4.5; lines: 3."""
        colours = self.script("""
            const style = getComputedStyle(document.documentElement);
            return Object.fromEntries(['back', 'ink', 'muted', 'link', 'alert', 'c1', 'c2', 'c3', 'c4', 'ref'].map(
              name => [name, style.getPropertyValue('--' + name).trim()]));""")

        def luminance(colour):
            parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
            return sum(w * (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4)
                       for w, c in zip((0.2126, 0.7152, 0.0722), parts))

        back = luminance(colours.pop("back"))
        for name, colour in colours.items():
            low, high = sorted((back, luminance(colour)))
            self.assertGreaterEqual((high + 0.05) / (low + 0.05), 3 if name[0] == "c" or name == "ref" else 4.5, name)

    def table(self, section, number=0):
        """Rows of a table: the exact number of each cell that has one, else its text."""
        return self.script("""
            const table = document.getElementById(arguments[0]).parentNode.querySelectorAll('table')[arguments[1]];
            return [...table.querySelectorAll('tbody tr')].map(row => [...row.children].map(cell => {
              const data = cell.querySelector('data');
              return data ? Number(data.value) : cell.textContent;
            }));""", section, number)


class Estimators(Pages):
    def check_estimates(self, run):
        result = exported(run)["result"]
        expected = [[name, *(e[key] if e[key] is not None else "–" for key in ("value", "mc_se", "std_error", "lower", "upper"))]
                    for name, e in result["estimate"].items()]
        self.assertEqual(self.table("estimate"), expected)
        if result["cells"]:
            rows = self.table("cells")
            expected = [[c["p"], c["count"], name, c["mean"][name], c["sd"][name] if c["sd"][name] is not None else "–", c["particle_steps"]]
                        for c in result["cells"] for name in result["estimate"]]
            self.assertEqual([[int(r[1]), *r[2:7]] for r in rows], expected)
        else:
            self.assertIn("no cells", self.script("return document.getElementById('cells').parentNode.textContent"))

    def test_all(self):
        for estimator, (_, figures) in CHAINED.items():
            with self.subTest(estimator):
                self.check_page(estimator, figures)
                self.check_estimates(estimator)

    def test_chains_end_where_those_of_the_run_did(self):
        for estimator in ("stratified", "paper", "single"):
            with self.subTest(estimator):
                self.open(estimator)
                self.assertIn("bit for bit", self.all("section[aria-labelledby=chains] figcaption")[0].text)

    def test_files_are_those_of_the_run(self):
        self.open("single")
        run = exported("single")
        saved = {a.get_attribute("download"): self.saved(a) for a in self.all("section[aria-labelledby=again] a[download]")}
        self.assertEqual(saved["model.toml"], path("single", "model.toml").read_text())
        self.assertEqual(saved["data.csv"], path("single", "data.csv").read_text())
        self.assertEqual(json.loads(saved["run.json"]), run)
        # The command line begins the same run, from the files that were saved.
        command = self.all("section[aria-labelledby=again] pre")[0].text.split()
        for name in ("model.toml", "data.csv"):
            path(name).write_text(saved[name])
        again = json.loads(program(*command[1:], "--json", "--no-run").stdout)
        self.assertEqual(again["estimate"], run["result"]["estimate"])

    def test_formulas(self):
        self.open("single")
        formulas = [m.get_attribute("alttext") for m in self.all("math")]
        self.assertIn("dx = (theta + K*pull) dt + (sigma) dW", formulas)
        self.assertIn("y ~ normal(x, tau)", formulas)
        self.assertIn("θ", self.script("return document.querySelectorAll('math')[1].textContent"))
        self.assertTrue(all(m.rect["height"] > 5 for m in self.all("math")))
        self.assertTrue(any("Order parameter" in p.text for p in self.all("#law ~ figure .title")))

    def test_same_bytes_for_any_number_of_threads(self):
        report("stratified", "--threads", 1, "--out", "one.html")
        report("stratified", "--threads", 2, "--out", "two.html")
        self.assertEqual(path("one.html").read_bytes(), path("two.html").read_bytes())


class OtherRuns(Pages):
    def test_warnings_and_two_parameters(self):
        program("fit", "ou.toml", "d.csv", "--estimator", "paper", "--levels", "1:2", "--replicates", 8, "--p-max", 1, *SMALL, "--run", "ou")
        self.check_page("ou", CHAINED["paper"][1])
        warnings = exported("ou")["result"]["warnings"]
        self.assertTrue(warnings)
        shown = [e.text for e in self.all("#diagnostics ~ ul.warnings strong")]
        self.assertEqual(shown, warnings)
        self.assertEqual([r[0] for r in self.table("estimate")], ["kappa", "mu"])

    def test_killed(self):
        """A run that was killed in its main phase, and one that was killed at once."""
        arguments = ["fit", MODELS / "kuramoto.toml", "k.csv", "--estimator", "single", "--levels", "1", "--iterations", 40, *SMALL,
                     "--replicates", 100000]
        for name, least in (("killed", 60), ("begun", 0)):
            with self.subTest(name):
                process = subprocess.Popen([PROGRAM, *map(str, arguments), "--run", name], cwd=folder.name, stderr=subprocess.DEVNULL)
                deadline = time.monotonic() + 40
                while time.monotonic() < deadline and self.tasks(name) <= least:
                    time.sleep(0.05)
                process.send_signal(signal.SIGKILL)
                process.wait()
                figures = {"data", "law"} | ({"convergence", "chains"} if self.tasks(name) > 8 else set())
                self.check_page(name, figures)
                self.assertIn("not finished (state: interrupted)", self.all("p.warning")[0].text)
                self.assertIn("mckean resume " + name, self.all("main")[0].text)

    def tasks(self, name):
        done = program("runs", name, "--json", check=False)
        return json.loads(done.stdout)["runs"][0]["tasks"] if done.returncode == 0 else -1

    def test_vector(self):
        """A hundred components: a few are shown, and the page says so."""
        neural = MODELS / "neural.toml"
        program("simulate", neural, "--set", "d=100", "--times", 5, "--law-particles", 64, "--level", 2, "--out", "n.csv")
        program("fit", neural, "n.csv", "--set", "d=100", "--estimator", "single", "--levels", "1", "--replicates", 4, "--iterations", 4, *SMALL,
                "--run", "neural")
        self.check_page("neural", CHAINED["single"][1])
        self.assertIn("4 of 100 components: x[1], x[34], x[67], x[100]", self.all("main")[0].text)

    def test_many_replicates(self):
        program("fit", "ou.toml", "d.csv", "--estimator", "single", "--levels", "0", "--iterations", 1, "--particles", 2, "--law-particles", 2,
                "--replicates", 20000, "--quiet", "--run", "many")
        self.check_page("many", CHAINED["single"][1])
        self.assertIn("20000 replicates", self.all("#convergence ~ figure figcaption")[0].text)


class Command(ProgramTest):
    def test_refusals(self):
        self.refuse("report", "nothing", says="holds no run")
        self.refuse("report", path("single"), "--out", self.directory, says="cannot be written")
        self.refuse("report", path("single"), "--out", "-", "--json", says="give a file")
        self.refuse("report", path("single"), "--threads", 0, says="--threads")

    def test_out(self):
        self.assertIn("wrote page.html", self.succeed("report", path("single"), "--out", "page.html"))
        self.assertEqual(self.succeed("report", path("single"), "--out", "-"), self.read("page.html"))


if __name__ == "__main__":
    unittest.main()
