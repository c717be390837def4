"""Runs the program as a user does: in a directory of its own, looking at exit status, output and files."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = os.path.abspath(os.environ["MCKEAN"])
MODELS = pathlib.Path(__file__).resolve().parents[2] / "models"
BAD_INPUT, FAILED = 2, 1
CARET = "¦"  # in a model's text: where the message must point

OU = """\
name = "ou"
[state]
x = 0.0
[parameters]
kappa = { start = 1.0, lower = 0, upper = 9 }
mu = 5.0
[constants]
s = 1.0
[interaction]
pull = "x' - x"
[drift]
x = "kappa*(mu - x) + pull"
[diffusion]
x = "s"
[observation]
y = "normal(x, 0.5)"
"""

DATA = "t,y\n1,3.1\n2,4.4\n3,5.2\n"


def changed(text, *changes):
    """The text with each (old, new) applied; what is replaced must be there exactly once."""
    for old, new in changes:
        if text.count(old) != 1:
            raise ValueError(f"{old!r} occurs {text.count(old)} times")
        text = text.replace(old, new)
    return text


def pointed(text):
    """The text without byte-order mark and caret mark, and where the latter stood: (line, column) from 1, or None."""
    text = text.removeprefix("\ufeff")
    if CARET not in text:
        return text, None
    before = text[: text.index(CARET)]
    return text.replace(CARET, ""), (before.count("\n") + 1, len(before) - before.rfind("\n"))


class ProgramTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def write(self, name, text):
        data = text if isinstance(text, bytes) else text.encode()
        (self.directory / name).write_bytes(data)
        return name

    def read(self, name):
        return (self.directory / name).read_text()

    def files(self):
        return {p.name: p.read_bytes() if p.is_file() else None for p in self.directory.iterdir()}

    def run_program(self, *arguments):
        done = subprocess.run(
            [PROGRAM, *map(str, arguments)], cwd=self.directory, capture_output=True, timeout=300, check=False
        )
        self.assertGreaterEqual(done.returncode, 0, f"killed by a signal: {arguments}")
        done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
        return done

    def succeed(self, *arguments):
        done = self.run_program(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def json(self, *arguments):
        """The one JSON object that the command prints; a number in it must be finite."""

        def refuse(word):
            self.fail(f"{word} in JSON of {arguments}")

        text = self.succeed(*arguments, "--json")
        self.assertEqual(text.count("\n"), 1, text)
        result = json.loads(text, parse_constant=refuse)
        self.assertIsInstance(result, dict)
        return result

    def refuse(self, *arguments, says=(), status=BAD_INPUT):
        """One message of the program, nothing on stdout, no file touched; the message."""
        before = self.files()
        done = self.run_program(*arguments)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(self.files(), before)
        self.assertEqual(done.stderr.count("mckean: "), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("mckean: ") and done.stderr.endswith("\n"), done.stderr)
        self.assertNotIn("internal error", done.stderr)
        for part in [says] if isinstance(says, str) else says:
            self.assertIn(part, done.stderr)
        return done.stderr

    def refuse_model(self, text, *says):
        """A model file that is refused at its mark: place, line and caret are shown."""
        self.write("m.toml", text.replace(CARET, ""))
        text, place = pointed(text)
        message = self.refuse("check", "m.toml", says=says)
        if place is None:
            self.assertRegex(message, r"^mckean: m\.toml: ")
            return
        line, column = place
        lines = message.splitlines()
        self.assertTrue(lines[0].startswith(f"mckean: m.toml:{line}:{column}: "), message)
        self.assertEqual(lines[1:], ["    " + text.splitlines()[line - 1], "    " + " " * (column - 1) + "^"], message)
