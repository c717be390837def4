"""An installed tree is complete: the program runs there, links between its documents lead somewhere, each header compiles by
itself, and a program is built against the library by find_package."""

import json
import pathlib
import re
import subprocess
import tempfile
import unittest

from program import PROGRAM

SOURCES = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(PROGRAM).parent


def run(*command):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{command}:\n{done.stdout}{done.stderr}")
    return done.stdout


def cached(name):
    """A variable of the build: what uses its library must be compiled in the same way."""
    return re.search(rf"^{name}:\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.M)[1]


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.prefix = cls.folder / "prefix"
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)
        cls.examples = cls.folder / "examples"
        flags = [*cached("CMAKE_CXX_FLAGS").split(), "-Wall", "-Wextra", "-Werror"]
        run(
            *("cmake", "-G", "Ninja", "-S", SOURCES / "examples" / "library", "-B", cls.examples),
            f"-DCMAKE_PREFIX_PATH={cls.prefix}",
            f"-DCMAKE_CXX_COMPILER={cached('CMAKE_CXX_COMPILER')}",
            f"-DCMAKE_CXX_FLAGS={' '.join(flags)}",
        )
        run("cmake", "--build", cls.examples)

    def test_program_and_models(self):
        program = self.prefix / "bin" / "mckean"
        models = sorted((self.prefix / "share/mckean/models").glob("*.toml"))
        self.assertEqual([m.name for m in models], sorted(m.name for m in (SOURCES / "models").glob("*.toml")))
        self.assertIn("kuramoto", run(program, "check", self.prefix / "share/mckean/models/kuramoto.toml"))
        self.assertTrue((self.prefix / "share/man/man1/mckean.1").exists())

    def test_documents(self):
        found = 0
        for page in (self.prefix / "share/doc/mckean").rglob("*.md"):
            for file in re.findall(r"\]\((?!https?:)([^)#\s]+)", page.read_text()):
                with self.subTest(page=page.name, file=file):
                    self.assertTrue((page.parent / file).exists())
                found += 1
        self.assertGreater(found, 10)

    def test_headers(self):
        """Alone, without the sources' folders, and under strict warnings."""
        headers = sorted((self.prefix / "include" / "mckean").glob("*.hpp"))
        self.assertEqual([h.name for h in headers], sorted(h.name for h in (SOURCES / "include/mckean").glob("*.hpp")))
        empty = self.folder / "empty.cpp"
        empty.touch()
        strict = ("-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only")
        for header in headers:
            with self.subTest(header.name):
                path = f"mckean/{header.name}"
                run(cached("CMAKE_CXX_COMPILER"), *strict, "-I", self.prefix / "include", "-include", path, empty)
                needs = run(cached("CMAKE_CXX_COMPILER"), "-std=c++20", "-M", "-I", self.prefix / "include", header)
                self.assertNotRegex(needs, "nlohmann|fmt/|Eigen|sqlite|mpi.h")

    def test_library(self):
        commands = run("ninja", "-C", self.examples, "-t", "commands")
        self.assertNotIn(str(SOURCES / "src"), commands)
        self.assertNotIn(str(SOURCES / "include"), commands)
        printed = run(self.examples / "kuramoto_loglik")
        value = float(re.fullmatch(r"5 observations, log-likelihood (-?[\d.]+)\n", printed)[1])
        self.assertTrue(-15 < value < -4, printed)  # five standard normal densities of about -1.4 each

    def test_six_lines(self):
        printed = run(self.examples / "six_lines")
        value, error = map(float, re.fullmatch(r"theta (\S+) ± (\S+)\n", printed).groups())
        self.assertTrue(0.3 < value < 0.9 and 0.01 < error < 0.3, printed)

    def test_fit(self):
        """The library's is the program's."""
        model, data = SOURCES / "models/kuramoto.toml", self.folder / "data.csv"
        run(PROGRAM, "simulate", model, "--times", 20, "--law-particles", 500, "--out", data)
        expected = json.loads(run(PROGRAM, "fit", model, data, "--no-run", "--json"))["estimate"]["theta"]
        printed = run(self.examples / "file_fit", model, data)
        self.assertEqual(printed, f"theta = {expected['value']:.17g} +- {expected['mc_se']:.17g}\n")


if __name__ == "__main__":
    unittest.main()
