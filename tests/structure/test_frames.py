"""How deep the innermost loop of a fit lies: functions of our own, lambdas included, from main to a kernel.

The threads of a crew begin where the main thread waits for them, so that both backtraces count. As a script it lists the frames:
    MCKEAN=build/mckean python3 tests/structure/test_frames.py --list
Functions that the compiler has put into their callers are seen where the program has debugging information (-g).
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST = 14
GDB = """
set pagination off
set debuginfod enabled off
set print frame-arguments none
break mckean::Frame::connect
ignore 1 {hits}
run
bt
thread 1
bt
kill
"""
FRAME = re.compile(r"^#\d+\s+(?:0x[0-9a-f]+ in )?(.*)$", re.M)
OURS = re.compile(r"^(?:\S+ )?(?:main\b|mckean::|\(anonymous namespace\)::|std::_Function_handler<.*\bmckean::.*\{lambda)")
WAITING = re.compile(r"Crew::collect")


def program():
    return os.environ.get("MCKEAN", str(ROOT / "build/mckean"))


def backtraces(model, hits):
    """What gdb shows of the thread that computes, and of the one that waits."""
    with tempfile.TemporaryDirectory() as folder:
        model = str(ROOT / "models" / model)
        subprocess.run([program(), "simulate", model, "--level", "6", "--times", "10", "--out", "data.csv"], cwd=folder,
                       check=True, capture_output=True)
        script = pathlib.Path(folder) / "commands"
        script.write_text(GDB.format(hits=hits))
        done = subprocess.run(["gdb", "-q", "-batch", "-nx", "-x", str(script), "--args", program(), "fit", model, "data.csv",
                               "--engine", "particles", "--no-run", "--quiet", "--threads", "1"], cwd=folder, text=True,
                              capture_output=True, timeout=600)
    return done.stdout.partition("Switching to thread 1 ")[::2]


def frames(model="fitzhugh-nagumo.toml", hits=40000):
    """From main to the kernel: Frame::connect is called just before Frame::execute calls kernels."""
    working, waiting = ([f for f in FRAME.findall(text) if OURS.search(f)] for text in backtraces(model, hits))
    return [*reversed([f for f in waiting if not WAITING.search(f)]), *reversed(working[1:]), "mckean::Frame::execute",
            "a kernel"]


@unittest.skipUnless(shutil.which("gdb"), "gdb is not installed")
class Frames(unittest.TestCase):
    def test_the_innermost_loop_of_a_fit_is_near(self):
        found = frames()
        self.assertTrue(found[0].startswith("main"), found)
        self.assertTrue(any("Crew::work" in f for f in found), found)
        self.assertLessEqual(len(found), MOST, "\n".join(found))


if __name__ == "__main__":
    if "--list" in sys.argv:
        for number, frame in enumerate(frames(), 1):
            print(f"{number:3} {frame[:110]}")
    else:
        unittest.main()
