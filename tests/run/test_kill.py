"""A run that is killed again and again, and resumed each time elsewhere, ends with the bits of one that was not."""

import os
import random
import signal
import time
import unittest

from synthetic import HAS_MPI, RunTest

KILLS = 25
PLACES = [{"threads": k} for k in (1, 2, 4)]
MPI_PLACES = [{"ranks": r, "threads": k} for r, k in ((1, 1), (2, 1), (4, 1), (2, 2))]
# So that a resumed run gets further, but does not end: long tasks come first.
FAST, SLOW = ("--batches", 300, "--scale", 0), ("--batches", 300, "--scale", 8)


class Kill(RunTest):
    def kill_and_resume(self, places, least, most):
        """25 kills at random moments, all before the end."""
        reference = self.finish("reference", *FAST)
        dice, kept = random.Random(1), {}
        for _ in range(KILLS):
            place = dice.choice(places)
            process = self.start("run", *SLOW, **place)
            time.sleep(dice.uniform(least, most))
            self.assertIsNone(process.poll(), "it ended before it was killed")
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            if not (self.directory / "run" / "run.sqlite").exists():
                continue  # killed before it began
            self.wait_until_free()
            rows = self.rows("run")
            self.assertLessEqual(kept.items(), rows.items(), "results were lost")
            kept = rows
        self.assertGreater(len(kept), 20)
        for place in places:
            self.assertEqual(self.finish("run", "--resume", *FAST, **place), reference)
        self.assertEqual(self.rows("run"), self.rows("reference"))

    def wait_until_free(self):
        """Ranks end themselves soon after their mpirun has died."""
        for _ in range(200):
            if "works on this run" not in self.finish_any("run", "--resume", "--batches", 0):
                return
            time.sleep(0.02)
        self.fail("the lock outlives its process")

    def finish_any(self, *arguments):
        process = self.start(*arguments)
        return process.communicate(timeout=60)[1]

    def test_threads(self):
        self.kill_and_resume(PLACES, 0.0, 0.25)

    @unittest.skipUnless(HAS_MPI, "built without MPI, or there is no mpirun")
    def test_ranks_and_threads(self):
        self.kill_and_resume(PLACES + MPI_PLACES, 0.05, 0.8)

    def test_all_places_agree(self):
        reference = self.finish("a")
        for n, place in enumerate(PLACES + (MPI_PLACES if HAS_MPI else [])):
            with self.subTest(place):
                self.assertEqual(self.finish(f"b{n}", **place), reference)
                self.assertEqual(self.finish("--no-store", **place), reference)
                self.assertEqual(self.rows(f"b{n}"), self.rows("a"))


if __name__ == "__main__":
    unittest.main()
