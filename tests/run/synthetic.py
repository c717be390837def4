"""Starts the synthetic run, alone or under mpirun, and hurts it."""

import contextlib
import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile
import time
import unittest

PROGRAM = os.path.abspath(os.environ["SYNTHETIC"])
MPIRUN = shutil.which("mpirun")
ENVIRONMENT = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
LIBRARIES = subprocess.run(["ldd", PROGRAM], capture_output=True, check=True).stdout
# Under the sanitizer for threads, MPI's own threads would be reported.
HAS_MPI = MPIRUN is not None and b"libmpi" in LIBRARIES and b"libtsan" not in LIBRARIES


def command(*arguments, ranks=0, threads=1):
    """The command line; 0 ranks: without mpirun."""
    mpirun = [MPIRUN, "--oversubscribe", "--allow-run-as-root", "-n", str(ranks)] if ranks else []
    return [*mpirun, PROGRAM, *map(str, arguments), "--threads", str(threads)]


class RunTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def start(self, *arguments, **places):
        return subprocess.Popen(
            command(*arguments, **places), cwd=self.directory, env=ENVIRONMENT, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True,
        )

    def finish(self, *arguments, status=0, prefix=(), **places):
        done = subprocess.run(
            [*prefix, *command(*arguments, **places)], cwd=self.directory, env=ENVIRONMENT, capture_output=True,
            text=True, timeout=60, check=False,
        )
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout if status == 0 else done.stderr

    def store(self, folder):
        """Never creates one: a run that finds an empty store takes it for damaged."""
        path = self.directory / folder / "run.sqlite"
        return contextlib.closing(sqlite3.connect(f"file:{path}?mode=rw", uri=True))

    def rows(self, folder):
        """What the store holds: {(group, index): bytes}."""
        with self.store(folder) as store:
            return {(g, i): v for g, i, v in store.execute("SELECT grp, idx, value FROM task")}

    def rows_if_any(self, folder):
        try:
            return self.rows(folder)
        except sqlite3.Error:
            return {}

    def wait_for(self, process, folder, results):
        """Until so many results are in the store."""
        while len(self.rows_if_any(folder)) < results:
            if process.poll() is not None:
                self.fail(f"ended with status {process.returncode} before it had {results} results: {process.stderr.read()}")
            time.sleep(0.01)

    def word(self, folder, key):
        with self.store(folder) as store:
            return store.execute("SELECT value FROM word WHERE key = ?", (key,)).fetchone()[0]
