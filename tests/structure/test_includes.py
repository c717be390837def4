"""Folders of src include only headers of folders to their left, as CONTRIBUTING.md says, and public headers only each other."""
import pathlib
import re
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ORDER = ["expr", "program", "noise", "model", "step", "problem", "law", "engine", "paper", "infer", "report", "cli"]
# What includes nothing of src but itself, and by whom it may be included.
APART = {"run": {"paper", "infer", "report", "cli"}}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.M)


def allowed(folder):
    """The folders whose headers a folder may include."""
    if folder in APART:
        return {folder}
    return set(ORDER[: ORDER.index(folder) + 1]) | {name for name, users in APART.items() if folder in users}


def includes(path):
    return INCLUDE.findall(path.read_text())


def fault(root, file, bracket, name):
    """What is wrong with one include of a file, or None."""
    folders = {*ORDER, *APART}
    first = name.split("/")[0]
    if bracket == "<":
        return "the project's own headers are included with quotes" if first in {*folders, "mckean"} else None
    public = first == "mckean"
    if not (root / ("include" if public else "src") / name).is_file() or first not in {*folders, "mckean"}:
        return "not a path from src or include that begins with a folder"
    if ".." in name.split("/"):
        return "a path with '..'"
    if public:
        return None
    parts = file.relative_to(root).parts
    if parts[0] == "include":
        return "a public header includes a private one"
    return None if first in allowed(parts[1]) else f"{parts[1]} may not include {first}"


def faults(root):
    found = []
    for file in sorted([*(root / "src").rglob("*.[ch]pp"), *(root / "include").rglob("*.hpp")]):
        name = file.relative_to(root)
        if name.parts[0] == "src" and name.parts[1] not in {*ORDER, *APART}:
            found.append(f"{name}: a folder without a place in the order")
            continue
        for bracket, included in includes(file):
            if what := fault(root, file, bracket, included):
                found.append(f"{name}: {included}: {what}")
    return found


class Includes(unittest.TestCase):
    def test_the_sources_keep_the_order(self):
        self.assertEqual(faults(ROOT), [])

    def test_the_order_is_that_of_the_document(self):
        text = (ROOT / "CONTRIBUTING.md").read_text()
        self.assertIn(" → ".join(ORDER), text)

    def planted(self, path, line):
        """The faults of a small tree in which a file has one more line."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            tree = {"src/expr/graph.hpp": "", "src/noise/noise.hpp": '#include "expr/graph.hpp"\n', "src/run/store.hpp": "",
                    "src/infer/fit.cpp": '#include "run/store.hpp"\n', "include/mckean/model.hpp": "#include <vector>\n"}
            for name, text in tree.items():
                file = root / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text + (line + "\n" if name == path else ""))
            return faults(root)

    def test_a_planted_include_is_found(self):
        self.assertEqual(self.planted("", ""), [])
        for path, line in [("src/expr/graph.hpp", '#include "noise/noise.hpp"'),
                           ("src/noise/noise.hpp", '#include "run/store.hpp"'),
                           ("src/run/store.hpp", '#  include "expr/graph.hpp"'),
                           ("src/infer/fit.cpp", '#include "store.hpp"'),
                           ("src/infer/fit.cpp", '#include "infer/missing.hpp"'),
                           ("src/infer/fit.cpp", '#include "run/../expr/graph.hpp"'),
                           ("src/infer/fit.cpp", "#include <run/store.hpp>"),
                           ("include/mckean/model.hpp", '#include "expr/graph.hpp"')]:
            with self.subTest(path=path, line=line):
                self.assertEqual(len(self.planted(path, line)), 1)


if __name__ == "__main__":
    unittest.main()
