"""The documents are true: the guide's commands print what it shows, links lead somewhere, the man page has the options
that the program has, and the page on formats has the keys of its JSON."""

import json
import pathlib
import re
import shutil
import subprocess
import unittest

import guide
from program import BAD_INPUT, DATA, OU, PROGRAM, ProgramTest

SOURCES = pathlib.Path(__file__).resolve().parents[2]
DOCS = SOURCES / "docs"
PAGES = [*SOURCES.glob("*.md"), *DOCS.glob("*.md"), SOURCES / "experiments" / "README.md"]

# What differs from one run or machine to the next: times, and errors that are mere rounding.
PASSING = re.compile(r"(?:\d+ (?:d|h|min) )*\S+ (?:n?s|min|h|d)\b|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC|\((?:avx512|avx2|plain)\)|to \S+e-\d\d\b")
NUMBER = re.compile(r"(?<![\w-])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w-])")
ESTIMATE = re.compile(r"^(\w+) +(\S+) +\S+ +(\S+) +\S+ to \S+$", re.M)  # a row of fit's table


def words(output):
    return " ".join(NUMBER.sub("#", PASSING.sub("#", output)).split())


class Guide(ProgramTest):
    def compare(self, command, shown, printed, fused):
        self.assertEqual(words(printed), words(shown))
        if re.match(r"mckean (fit|resume|runs)", command):
            # The estimator may improve: its answer stays near the one shown.
            for (name, old, error), (_, new, _) in zip(ESTIMATE.findall(shown), ESTIMATE.findall(printed), strict=True):
                self.assertLess(abs(float(new) - float(old)), 0.3 * float(error), name)
        elif fused:
            self.assertEqual(NUMBER.findall(PASSING.sub("#", printed)), NUMBER.findall(PASSING.sub("#", shown)))

    def test_guide(self):
        page = (DOCS / "guide.md").read_text()
        fused = "avx" in self.succeed("--version")  # plain x86-64 has other last bits
        guide.prepare(page, self.directory)
        lines = guide.commands(page)
        self.assertGreater(len(lines), 10)
        for command, shown in lines:
            with self.subTest(command):
                status, printed = guide.run(command, self.directory, PROGRAM)
                self.assertEqual(status, BAD_INPUT if shown.startswith("mckean: ") else 0, printed)
                self.compare(command, shown, printed, fused)


class Links(unittest.TestCase):
    def anchors(self, page):
        headings = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
        return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}

    def test_links(self):
        found = 0
        for page in PAGES:
            for file, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)", page.read_text()):
                with self.subTest(page=page.name, file=file, anchor=anchor):
                    target = page.parent / file if file else page
                    self.assertTrue(target.exists())
                    if anchor:
                        self.assertIn(anchor, self.anchors(target))
                found += 1
        self.assertGreater(found, 10)

    def test_every_page_is_listed(self):
        listed = re.findall(r"\]\(docs/([\w-]+\.md)\)", (SOURCES / "README.md").read_text())
        self.assertEqual(set(listed), {page.name for page in DOCS.glob("*.md")})


class ManPage(ProgramTest):
    text = (DOCS / "mckean.1").read_text()

    def section(self, name):
        return re.search(rf"^\.Sh {name}\n(.*?)(?=^\.Sh |\Z)", self.text, re.S | re.M)[1]

    def options(self, *command):
        """What --help shows, without --help itself."""
        found = re.findall(r"^  (?:-\w,)?--([\w-]+)", self.succeed(*command, "--help"), re.M)
        return set(found) - {"help"}

    def test_options(self):
        usage = dict(re.findall(r"^\.Cm (\w+)\n(.*?)(?=^\.Nm|\Z)", self.section("SYNOPSIS"), re.S | re.M))
        known = re.findall(r"^  (\w+) ", self.succeed("--help").split("Subcommands:")[1], re.M)
        self.assertEqual(set(usage), set(known))
        self.assertEqual(set(re.findall(r"^\.It Cm (\w+)", self.section("COMMANDS"), re.M)), set(known))
        described = re.findall(r"^\.It Fl -([\w-]+)", self.section("OPTIONS"), re.M)
        self.assertEqual(described, sorted(described))
        self.assertEqual(set(described), set().union(*map(self.options, known), self.options(), {"help"}))
        for command in known:
            with self.subTest(command):
                self.assertEqual(set(re.findall(r"Fl -([\w-]+)", usage[command])), self.options(command))

    @unittest.skipUnless(shutil.which("mandoc"), "mandoc is not installed")
    def test_lint(self):
        done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", DOCS / "mckean.1"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""))


def paths(value, names, at=""):
    """The keys of a JSON value, in the notation of the page on formats."""
    if at == "findings":  # what belongs to a code is worded in the sources
        yield at
    elif isinstance(value, dict):
        for key, below in value.items():
            yield from paths(below, names, f"{at}.{'NAME' if key in names else key}" if at else key)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for below in value:
            yield from paths(below, names, at + "[]")
    else:
        yield at


class Formats(ProgramTest):
    def keys_shown(self, command):
        section = re.search(rf"^### {re.escape(command)}\n(.*?)(?=^##)", (DOCS / "formats.md").read_text(), re.S | re.M)[1]
        cells = re.findall(r"^\| ([*`].*?) \|", section, re.M)
        keys = [re.findall(r"(\*?)`([^`]+)`", cell) for cell in cells]
        return {key: star for cell in keys for star, key in cell}

    def compare(self, command, *objects):
        found = set().union(*(paths(o, ("kappa", "mu")) for o in objects))
        shown = self.keys_shown(command)
        self.assertEqual(found, set(shown))
        always = set.intersection(*(set(paths(o, ("kappa", "mu"))) for o in objects))
        if len(objects) > 1:
            self.assertEqual(always, {key for key, star in shown.items() if not star})

    def test_keys(self):
        self.write("m.toml", OU)
        self.write("d.csv", DATA)
        both = ("m.toml", "d.csv")
        small = ("--level", 2, "--particles", 16, "--law-particles", 32)
        paper = ("--estimator", "paper", "--levels", "2:3", "--p-max", 1, "--particles", 8, "--law-particles", 16)
        profile = ("profile", *both, "--parameter", "mu", "--level", 2, "--points", 3)
        simulate = ("simulate", "m.toml", "--times", 3, "--law-particles", 64, "--count", 2)
        self.compare("new", self.json("new", "n"))
        self.compare("check", self.json("check", "m.toml"), self.json("check", *both))
        self.compare("simulate", self.json(*simulate), self.json(*simulate, "--level", 2, "--paths", "p.csv"))
        self.compare("loglik", self.json("loglik", *both, *small), self.json("loglik", *both),
                     self.json("loglik", *both, "--engine", "particles", "--tolerance", 1))
        self.compare("score", self.json("score", *both, *small, "--iterations", 5), self.json("score", *both),
                     self.json("score", *both, "--engine", "particles", "--tolerance", 1))
        self.compare("smooth", self.json("smooth", *both, *small, "--iterations", 5, "--out", "s.csv"),
                     self.json("smooth", *both, "--out", "s.csv"),
                     self.json("smooth", *both, "--engine", "particles", "--out", "s.csv"))
        fits = [
            self.json("fit", *both, *paper, "--replicates", 40, "--run", "r"),
            self.json("fit", *both, "--replicates", 9, "--no-run", "--levels", 2, "--particles", 8, "--law-particles", 32),
        ]
        self.compare("fit", *fits)
        self.compare("profile", self.json(*profile), self.json(*profile, "--out", "g.csv"))
        self.compare("export", self.json("export", "r", "--out", "r2"))
        self.compare("report", self.json("report", "r"))
        listed = self.json("runs")
        self.compare("runs", listed)
        whole = json.loads(self.read("r2/run.json"))
        more = {re.split(r"[.[]", key)[0] for key in self.keys_shown("run.json")}
        self.assertEqual(set(whole), more | set(listed["runs"][0]))


if __name__ == "__main__":
    unittest.main()
