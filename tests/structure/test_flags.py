"""Options of the command line are named by src/cli, and by the report, which shows command lines; nowhere else."""
import pathlib
import re
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAY = {"cli", "report"}
FLAG = re.compile(r'"(?:[^"\\\n]|\\.)*?(--[a-z][a-z-]+)')


def flags(root):
    """Where text that a user may read names one."""
    found = []
    for file in sorted([*(root / "src").rglob("*.[ch]pp"), *(root / "include").rglob("*.hpp")]):
        parts = file.relative_to(root).parts
        if parts[0] == "src" and parts[1] in MAY:
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if match := FLAG.search(line.split("//")[0]):
                found.append(f"{'/'.join(parts)}:{number}: {match.group(1)}")
    return found


class Flags(unittest.TestCase):
    def test_the_library_names_none(self):
        self.assertEqual(flags(ROOT), [])

    def test_one_would_be_found(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name in ("law", "cli"):
                (root / "src" / name).mkdir(parents=True)
                (root / "src" / name / "one.cpp").write_text('int i = 3;  // --seed\nauto s = "raise --particles";\n')
            self.assertEqual(flags(root), ["src/law/one.cpp:2: --particles"])


if __name__ == "__main__":
    unittest.main()
