"""mckean report: the page of every kind of run, in a real browser."""

import base64
import csv
import json
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

import browser
from selenium.webdriver.common.keys import Keys
from program import DATA, MODELS, OU, PROGRAM, ProgramTest, changed

COMMON = ["estimate", "diagnostics", "model", "data", "likelihood", "law"]
SECTIONS = {"chains": [*COMMON, "convergence", "cells", "chains", "again"], "search": [*COMMON, "search", "again"], "quadrature": [*COMMON, "again"]}
SMALL = ("--particles", 8, "--law-particles", 16, "--quiet")
CHAINED = {  # estimator: options, sections with figures
    "stratified": (("--levels", "1:2", "--replicates", 12, "--iterations", 8), {"data", "likelihood", "law", "convergence", "cells", "chains"}),
    "paper": (("--levels", "1:2", "--replicates", 12, "--p-max", 1), {"data", "likelihood", "law", "convergence", "cells", "chains"}),
    "single": (("--levels", "1", "--replicates", 8, "--iterations", 10), {"data", "likelihood", "law", "convergence", "chains"}),
}
SEARCH = ("--engine", "particles", "--levels", "3:3", "--quiet")  # well under a second for o.csv

FLAT = """\
name = "flat"
[state]
x = 0.0
[parameters]
mu = 5.0
z = 1.0
[drift]
x = "mu - x + 1e-12*z"
[diffusion]
x = "1"
[observation]
y = "normal(x, 1)"
"""

EXACT = """\
name = "exact"
[state]
x = 1.0
v = 0.0
[parameters]
w = 1.0
[drift]
x = "v"
v = "-w*x - 0.2*v"
[diffusion]
x = "0.3"
v = "0.3"
[observation]
y = "normal(x, 0.01)"
"""

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
    program("simulate", MODELS / "kuramoto.toml", "--level", 6, "--times", 8, "--law-particles", 64, "--out", "k.csv")
    program("simulate", MODELS / "ou.toml", "--level", 6, "--times", 30, "--seed", 3, "--out", "o.csv")
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


def tasks(run):
    """How many are finished; -1 where there is no such run yet."""
    done = program("runs", run, "--json", check=False)
    runs = json.loads(done.stdout)["runs"] if done.returncode == 0 else []
    return runs[0]["tasks"] if runs else -1


def saved(link):
    """The file that a link of the page saves."""
    kind, text = link.split(",", 1)
    assert kind.startswith("data:") and kind.endswith(";base64"), kind
    return base64.b64decode(text).decode()


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

    def check_page(self, run, figures, kind="chains"):
        """Nothing is asked of the network, nothing complained of; structure, figures and width are sound."""
        self.open(run)
        self.assertEqual(browser.complaints(driver), [])
        asked = {url.split(":")[0] for url in browser.requests(driver)}
        self.assertLessEqual(asked, {"file", "data"})
        self.check_links()
        self.check_structure(SECTIONS[kind])
        self.check_figures(figures)
        self.check_keyboard()
        for size in (browser.DESKTOP, browser.PHONE):
            for scheme in ("light", "dark"):
                browser.show(driver, path(run, "report.html"), size, scheme)
                wide = self.script("return document.documentElement.scrollWidth")
                self.assertLessEqual(wide, size[0], f"{run}: the page is wider than {size}")
                self.check_labels()
                self.check_contrast()

    def check_links(self):
        ids, links, others, style = self.script("""
            const all = selector => [...document.querySelectorAll(selector)];
            return [all('[id]').map(e => e.id), all('[href], [src]').map(e => e.getAttribute('href') ?? e.getAttribute('src')),
                    all('script, iframe, object, embed, img').length, document.querySelector('style').textContent];""")
        self.assertEqual(len(ids), len(set(ids)))
        for link in links:
            self.assertTrue(link.startswith("data:") or link[0] == "#" and link[1:] in ids, link[:80])
        self.assertEqual(others, 0)
        self.assertNotRegex(style, r"url\(|@import")

    def check_structure(self, sections):
        found = self.script("""
            const all = (selector, within = document) => [...within.querySelectorAll(selector)];
            return {
              sections: all('main h2').map(h => h.id),
              contents: all('nav a').map(a => a.getAttribute('href').slice(1)),
              levels: all('h1, h2, h3, h4').map(h => Number(h.tagName[1])),
              landmarks: ['header', 'nav[aria-label]', 'main', 'footer', 'html[lang=en]', 'head > title'].map(l => all(l).length),
              first: document.querySelector('a[href], [tabindex], summary').getAttribute('href'),
              tables: all('table').map(t => ({
                caption: all('caption', t).length, columns: all('thead th[scope=col]', t).length,
                loose: all('th:not([scope=col]):not([scope=row])', t).length,
                rows: all('tbody tr', t).map(r => [r.children.length, all('th[scope=row]', r).length])}))
            };""")
        self.assertEqual(found["sections"], sections)
        self.assertEqual(found["contents"], sections)
        levels = found["levels"]
        self.assertEqual((levels[0], levels.count(1)), (1, 1))
        self.assertTrue(all(b <= a + 1 for a, b in zip(levels, levels[1:])), levels)
        self.assertEqual(found["landmarks"], [1] * 6)
        # The skip link is the first thing that a keyboard reaches, and leads to the main part.
        self.assertEqual(found["first"], "#main")
        self.assertGreater(len(found["tables"]), 2)
        for table in found["tables"]:
            self.assertEqual((table["caption"], table["loose"]), (1, 0))
            self.assertTrue(table["rows"] and all(row == [table["columns"], 1] for row in table["rows"]), table)

    def check_keyboard(self):
        """The tab key reaches the skip link first, and following it leads to the main part."""
        driver.switch_to.active_element.send_keys(Keys.TAB)
        self.assertEqual(driver.switch_to.active_element.get_attribute("class"), "skip")
        self.assertGreaterEqual(driver.switch_to.active_element.rect["x"], 0)
        driver.switch_to.active_element.send_keys(Keys.ENTER)
        self.assertTrue(driver.current_url.endswith("#main"))

    def text(self, selector):
        return self.all(selector)[0].text

    def section(self, name):
        return self.script("return document.getElementById(arguments[0]).parentNode.innerText", name)

    def has_errors(self):
        """Standard errors, which tell how far around the estimate to look."""
        return any(isinstance(row[4], float | int) for row in self.table("estimate"))

    def check_figures(self, sections):
        figures = self.script("""
            const all = (selector, within) => [...within.querySelectorAll(selector)];
            return all('figure', document).map(f => ({
              section: f.closest('section').getAttribute('aria-labelledby'),
              link: f.querySelector('figcaption a[download$=".csv"]')?.href,
              charts: all('svg', f).map(s => ({
                role: s.getAttribute('role'), label: s.getAttribute('aria-label'), titles: all('rect title', s).length,
                shapes: all('path.line, path.dot, path.area', s).map(p => p.getAttribute('d'))}))
            }));""")
        self.assertEqual({f["section"] for f in figures}, sections if self.has_errors() else sections - {"likelihood"})
        for figure in figures:
            self.assertGreater(len(saved(figure["link"]).splitlines()), 1)
            self.assertTrue(figure["charts"])
            for chart in figure["charts"]:
                self.assertEqual(chart["role"], "img")
                self.assertGreater(len(chart["label"]), 20)
                self.assertTrue(chart["titles"], "no numbers on hover")
                self.assertTrue(chart["shapes"])
                for d in chart["shapes"]:
                    self.assertRegex(d, r"^M-?[0-9][-0-9. MLHVZh]*$", chart["label"])

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


    def check_estimates(self, result, *keys):
        """The table has what the result has, and a dash for what it does not know."""
        expected = [[name, *(e[key] if e[key] is not None else "–" for key in ("value", "lower", "upper", "std_error", *keys))]
                    for name, e in result["estimate"].items()]
        self.assertEqual(self.table("estimate"), expected)


class Estimators(Pages):
    def check_cells(self, result):
        rows = self.table("cells")
        expected = [[c["p"], name, c["count"], c["mean"][name], c["sd"][name] if c["sd"][name] is not None else "–", c["particle_steps"]]
                    for c in result["cells"] for name in result["estimate"]]
        self.assertEqual([[int(r[1]), *r[2:7]] for r in rows], expected)

    def test_all(self):
        for estimator, (_, figures) in CHAINED.items():
            with self.subTest(estimator):
                self.check_page(estimator, figures)
                self.assertIn(f"estimator {estimator} along chains", self.text("header"))
                result = exported(estimator)["result"]
                self.check_estimates(result, "mc_se")
                self.check_cells(result)

    def test_chains_end_where_those_of_the_run_did(self):
        for estimator in ("stratified", "paper", "single"):
            with self.subTest(estimator):
                self.open(estimator)
                self.assertIn("bit for bit", self.all("section[aria-labelledby=chains] figcaption")[0].text)

    def test_files_are_those_of_the_run(self):
        self.open("single")
        run = exported("single")
        files = {a.get_attribute("download"): saved(a.get_attribute("href")) for a in self.all("section[aria-labelledby=again] a[download]")}
        self.assertEqual(files["model.toml"], path("single", "model.toml").read_text())
        self.assertEqual(files["data.csv"], path("single", "data.csv").read_text())
        self.assertEqual(json.loads(files["run.json"]), run)
        # The command line begins the same run, from the files that were saved.
        command = self.all("section[aria-labelledby=again] pre")[0].text.split()
        for name in ("model.toml", "data.csv"):
            path(name).write_text(files[name])
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
                     "--replicates", 5000]
        for name, least in (("killed", 60), ("begun", -1)):
            with self.subTest(name):
                process = subprocess.Popen([PROGRAM, *map(str, arguments), "--run", name], cwd=folder.name, stdout=subprocess.DEVNULL,
                                           stderr=subprocess.DEVNULL)
                try:
                    deadline = time.monotonic() + 40
                    while time.monotonic() < deadline and tasks(name) <= least:
                        time.sleep(0.05)
                finally:
                    process.kill()
                    process.wait()
                figures = {"data", "law"} | ({"convergence", "chains"} if tasks(name) > 8 else set())
                self.check_page(name, figures)
                self.assertIn("not finished (state: interrupted)", self.all("p.warning")[0].text)
                self.assertIn("mckean resume " + name, self.all("main")[0].text)

    def test_vector(self):
        """Two components that meet only through the law, exactly; a hundred, of which a few are shown, and the page says so."""
        neural = MODELS / "neural.toml"
        program("simulate", neural, "--set", "d=2", "--times", 25, "--law-particles", 100, "--level", 3, "--out", "n2.csv")
        program("fit", neural, "n2.csv", "--set", "d=2", "--estimator", "single", "--levels", "1", "--replicates", 4, "--iterations", 10, *SMALL,
                "--run", "two")
        self.check_page("two", CHAINED["single"][1])
        self.assertTrue(self.has_errors())
        self.assertIn("Exact, by quadrature", self.all("#likelihood ~ figure figcaption")[0].text)
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


class Quadrature(Pages):
    FIGURES = {"data", "likelihood", "law"}

    def test_page(self):
        program("fit", MODELS / "kuramoto.toml", "k.csv", "--engine", "quadrature", "--levels", 1, "--quiet", "--run", "quadrature")
        self.check_page("quadrature", self.FIGURES, "quadrature")
        self.check_estimates(exported("quadrature")["result"])
        self.assertIn("Made by quadrature", self.text("header"))
        self.assertNotIn("converge", self.text("header"))
        again = self.section("again")
        self.assertIn("grid steps", again)
        self.assertNotRegex(again, r"replicates\s+[0-9]")

    def test_bound(self):
        path("bound.toml").write_text(changed((MODELS / "ou.toml").read_text(), ("R = { start = 1.0, lower = 0 }", "R = { start = 1.5, lower = 0.9 }")))
        program("fit", "bound.toml", "o.csv", "--quiet", "--run", "bound-q")
        result = exported("bound-q")["result"]
        self.assertEqual(result["estimate"]["R"]["at_bound"], "lower")
        self.check_page("bound-q", self.FIGURES, "quadrature")
        self.check_estimates(result)
        self.assertIn("R is at its lower bound, and has no standard error. The interval is one-sided: below 1.4", self.section("estimate"))
        # Everything is computed just inside the bound, and not refused there.
        self.assertIn("1 of 3 parameters", self.section("likelihood"))

    def test_undetermined(self):
        """Only mu + 1e-12 z is determined: neither of the two has an interval."""
        path("flat.toml").write_text(FLAT)
        program("fit", "flat.toml", "o.csv", "--quiet", "--run", "flat-q", check=False)
        result = exported("flat-q")["result"]
        self.check_page("flat-q", {"data", "law"}, "quadrature")
        self.check_estimates(result)
        self.assertIn("mu, z: neither standard error nor interval", self.section("estimate"))


class Search(Pages):
    FIGURES = {"data", "likelihood", "law", "search"}

    @classmethod
    def setUpClass(cls):
        program("fit", MODELS / "ou.toml", "o.csv", *SEARCH, "--run", "search")
        cls.run_ = exported("search")
        with open(path("search", "tasks.csv"), newline="", encoding="utf-8") as file:
            rows = [r for r in csv.reader(file) if r[0].startswith("search ")]
        # serial number, temper, log-likelihood
        cls.evaluations = sorted((float(r[5]), float(r[14]), float(r[18])) for r in rows)

    def numbers(self, name):
        link = self.all(f"a[download='{name}']")[0].get_attribute("href")
        return list(csv.DictReader(saved(link).splitlines()))

    def dots(self, d):
        return [tuple(map(float, xy)) for xy in re.findall(r"M(\S+) (\S+)h0", d)]

    def test_page(self):
        self.check_page("search", self.FIGURES, "search")
        result = self.run_["result"]
        self.check_estimates(result, "mc_se")
        self.assertIn("Made by a search by the likelihood of particle filters, level 3, "
                      f"{result['particles']} particles, {result['evaluations']} evaluations; seed 1.", self.text("header"))
        self.assertNotIn("converge", self.text("header"))
        # What this result does not know stands nowhere as a number.
        again = self.section("again")
        self.assertNotRegex(again, r"replicates\s+[0-9]")
        self.assertNotIn("particles of the law", again)
        self.assertNotIn("returned to its start", self.section("diagnostics"))

    def test_course(self):
        self.open("search")
        phases = self.table("search")
        self.assertEqual([p[0] for p in phases if p[0].startswith("start")], ["start 1", "start 2"])
        self.assertEqual(sum(p[1] for p in phases), self.run_["result"]["evaluations"])
        highest = max(value for _, temper, value in self.evaluations if temper == 1)
        self.assertEqual(max(p[2] for p in phases), highest)
        rows = self.numbers("search.csv")
        self.assertEqual([float(r["loglik"]) for r in rows], [value for _, _, value in self.evaluations])
        # Values far below the end are at the edge, in grey, and do not squeeze the rest.
        chart = self.all("#search ~ figure svg.wide")[0]
        drawn = {e.get_attribute("class").split()[1]: self.dots(e.get_attribute("d")) for e in self.all("path.dot", chart)}
        self.assertEqual(sum(map(len, drawn.values())), len(self.evaluations))
        heights = [y for look, points in drawn.items() if look != "ref" for _, y in points]
        self.assertEqual(len({y for _, y in drawn["ref"]}), 1)
        self.assertGreaterEqual(drawn["ref"][0][1], max(heights))
        self.assertGreater(max(heights) - min(heights), 100)

    def test_samples(self):
        self.open("search")
        note = self.run_["notes"]["search"]
        k, n = len(note["centre"]), len(note["sample_values"])
        charts = self.all("#search ~ figure:last-of-type svg")
        # One for each parameter that has a standard error, and so a parabola.
        shown = [(p, e) for p, e in enumerate(self.run_["result"]["estimate"].items()) if e[1]["std_error"] is not None]
        self.assertEqual(len(charts), len(shown))
        self.assertGreaterEqual(len(shown), 2)
        for chart, (p, (name, estimate)) in zip(charts, shown):
            variance = note["covariance"][p * k + p]
            expected = []
            for i in range(n):
                theta = note["sample_parameters"][i * k + p]
                parabola = note["loglik"][0] - (theta - note["centre"][p]) ** 2 / (2 * variance)
                expected.append((theta, note["sample_values"][i] - note["sample_fitted"][i] + parabola))
            points = self.dots(self.all("path.dot", chart)[0].get_attribute("d"))
            self.assertEqual(len(points), n)
            # Pixels are values up to a scale and an origin, and rounding to tenths.
            scales = []
            for axis, sign in ((0, 1), (1, -1)):
                values, pixels = [e[axis] for e in expected], [q[axis] for q in points]
                low, high = min(range(n), key=values.__getitem__), max(range(n), key=values.__getitem__)
                scale = (pixels[high] - pixels[low]) / (values[high] - values[low])
                self.assertGreater(sign * scale, 0)
                for value, pixel in zip(values, pixels):
                    self.assertAlmostEqual(pixel, pixels[low] + scale * (value - values[low]), delta=0.3)
                scales.append((scale, pixels[low] - scale * values[low]))
            marks = [float(m[0]) for e in self.all("path.line.ref", chart) if (m := re.findall(r"M(\S+) \S+V", e.get_attribute("d")))]
            (scale, origin), (up, base) = scales
            for mark, end in zip(marks, (estimate["lower"], estimate["upper"]), strict=True):
                self.assertAlmostEqual(mark, origin + scale * end, delta=0.5)
            level = float(re.findall(r" (\S+)H", self.all("path.line.ref", chart)[0].get_attribute("d"))[0])
            self.assertAlmostEqual(level, base + up * (note["loglik"][0] - 1.9207), delta=0.5)
            self.assertIn(f"Samples along {name}", chart.get_attribute("aria-label"))

    def test_bound(self):
        path("upper.toml").write_text(changed((MODELS / "ou.toml").read_text(), ("mu = 5.0", "mu = { start = 4.5, upper = 4.8 }"),
                                              ("kappa = { start = 1.0, lower = 0 }\n", ""), ("s = 1.0", "s = 1.0\nkappa = 1.0")))
        program("fit", "upper.toml", "o.csv", *SEARCH, "--run", "upper")
        result = exported("upper")["result"]
        self.assertEqual(result["estimate"]["mu"]["at_bound"], "upper")
        self.check_page("upper", self.FIGURES, "search")
        # The Monte Carlo error of what a bound holds is not 0 but unknown.
        result["estimate"]["mu"]["mc_se"] = None
        self.check_estimates(result, "mc_se")
        self.assertRegex(self.section("estimate"), r"mu is at its upper bound, and has no standard error. The interval is one-sided: above 4\.\d")
        self.assertEqual(len(self.all("#search ~ figure:last-of-type svg")), 1)
        self.assertIn("1 of 2 parameters", self.section("likelihood"))

    def test_undetermined(self):
        path("flat.toml").write_text(FLAT)
        program("fit", "flat.toml", "o.csv", *SEARCH, "--run", "flat")
        result = exported("flat")["result"]
        self.assertIsNone(result["estimate"]["z"]["std_error"])
        self.check_page("flat", self.FIGURES, "search")
        result["estimate"]["z"]["mc_se"] = None
        self.check_estimates(result, "mc_se")
        self.assertIn("z: neither standard error nor interval", self.section("estimate"))
        self.assertEqual(len(self.all("#search ~ figure:last-of-type svg")), 1)

    def test_not_converged(self):
        """Filters of two particles: nothing stands out from the noise, and nothing but the value is known."""
        program("fit", MODELS / "ou.toml", "o.csv", *SEARCH, "--particles", 2, "--run", "noise", check=False)
        result = exported("noise")["result"]
        self.assertFalse(result["converged"])
        self.check_page("noise", self.FIGURES, "search")
        self.check_estimates(result, "mc_se")
        self.assertIn("The fit did not converge.", self.text("header p.warning"))

    def test_noisy_curves_are_left_out(self):
        """Exact observations of a noisy state, which filters follow badly: their mere noise is not drawn."""
        path("exact.toml").write_text(EXACT)
        program("simulate", "exact.toml", "--level", 6, "--times", 50, "--seed", 2, "--out", "e.csv")
        program("fit", "exact.toml", "e.csv", "--particles", 2048, "--levels", "2:2", "--starts", 1, "--tolerance", 0.05, "--quiet", "--run", "exact",
                check=False)
        self.open("exact")
        self.assertTrue(self.has_errors())
        self.assertIn("Curves are left out", self.section("likelihood"))
        self.assertEqual(self.all("#likelihood ~ figure"), [])
        self.assertTrue(self.all("section[aria-labelledby=likelihood] a[href='#search']"))

    def test_stopped_and_killed(self):
        for name, how in (("search-stopped", signal.SIGINT), ("search-killed", signal.SIGKILL)):
            with self.subTest(name):
                process = subprocess.Popen([PROGRAM, "fit", str(MODELS / "ou.toml"), "o.csv", *SEARCH, "--tolerance", "1e-5", "--run", name],
                                           cwd=folder.name, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                try:
                    deadline = time.monotonic() + 40
                    while time.monotonic() < deadline and tasks(name) < 900:
                        time.sleep(0.05)
                    process.send_signal(how)
                    process.wait(40)
                finally:
                    process.kill()
                    process.wait()
                self.check_page(name, self.FIGURES, "search")
                state = "stopped" if how == signal.SIGINT else "interrupted"
                self.assertIn(f"not finished (state: {state})", self.all("p.warning")[0].text)
                self.assertIn("mckean resume " + name, self.section("estimate"))
                # Errors are not known yet, and are not 0.
                self.assertTrue(all(row[2:] == ["–"] * 4 for row in self.table("estimate")))
                self.assertGreaterEqual(sum(p[1] for p in self.table("search")), 900)


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
