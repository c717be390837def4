"""Faults: each ends with a message that says what to do, loses nothing that was finished, and can be resumed."""

import os
import re
import resource
import signal
import subprocess
import time
import unittest

from synthetic import HAS_MPI, LIBRARIES, RunTest

FAST = ("--scale", 0.01)
NEEDS_MPI = unittest.skipUnless(HAS_MPI, "built without MPI, or there is no mpirun")


class Faults(RunTest):
    def setUp(self):
        super().setUp()
        self.reference = self.finish("reference", *FAST)

    def resumes(self, folder="run", **places):
        """To the bits of a run that met with no fault."""
        self.assertEqual(self.finish(folder, "--resume", *FAST, **places), self.reference)
        self.assertEqual(self.rows(folder), self.rows("reference"))
        self.assertEqual(self.word(folder, "state"), "finished")

    def interrupt_after(self, results, folder, *arguments, signals=(signal.SIGINT,), pause=0.05, **places):
        process = self.start(folder, *arguments, **places)
        self.wait_for(process, folder, results)
        for s in signals:
            os.kill(process.pid, s)
            time.sleep(pause)
        out, err = process.communicate(timeout=30)
        return process.returncode, out, err

    def mount(self, name, size):
        """A small file system in memory; needs root."""
        place = self.directory / name
        place.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place], capture_output=True, text=True, check=False
        )
        if done.returncode:
            self.skipTest("a tmpfs cannot be mounted here: " + done.stderr.strip())
        self.addCleanup(subprocess.run, ["umount", "-l", place], check=False)
        return place

    def test_a_task_throws(self):
        for n, places in enumerate([{}, {"threads": 4}, {"ranks": 3}] if HAS_MPI else [{}, {"threads": 4}]):
            with self.subTest(places):
                message = self.finish(f"run{n}", *FAST, "--fail-at", 17, status=1, **places)
                self.assertIn("this task fails on purpose (in batch ", message)
                self.assertEqual(message.count("synthetic: "), 1, message)
                self.assertEqual(self.word(f"run{n}", "state"), "failed")
                self.assertGreaterEqual(len(self.rows(f"run{n}")), 5)  # the whole first batch
                self.resumes(f"run{n}")

    @NEEDS_MPI
    def test_a_task_throws_on_another_rank(self):
        # Rank 0 has no share of the long task that comes first; whoever fails, the message names the rank.
        messages = [self.finish(f"r{n}", "--scale", 3, "--fail-at", n, status=1, ranks=4) for n in range(6)]
        self.assertTrue(any("; rank " in m for m in messages), messages)

    @NEEDS_MPI
    def test_stop_reaches_other_ranks(self):
        start = time.monotonic()  # the long tasks, that begin first, take a minute
        self.finish("run", "--scale", 20000, "--fail-early", status=1, ranks=3)
        self.assertLess(time.monotonic() - start, 15)

    @NEEDS_MPI
    def test_ranks_disagree(self):
        message = self.finish("run", *FAST, "--disagree", status=1, ranks=2)
        self.assertIn("rank 1 asks for other work than rank 0", message)

    @NEEDS_MPI
    def test_a_rank_dies(self):
        process = self.start("run", "--scale", 20, "--die-at", 20, ranks=3)
        process.communicate(timeout=30)
        self.assertNotEqual(process.returncode, 0)
        self.assertGreater(len(self.rows("run")), 0)
        self.resumes(ranks=2)

    def test_interrupt(self):
        for n, sent in enumerate((signal.SIGINT, signal.SIGTERM)):
            status, out, err = self.interrupt_after(10, f"run{n}", "--scale", 200, signals=(sent,), threads=2)
            self.assertEqual((status, out), (130, ""))
            self.assertRegex(
                err, rf"^synthetic: stopped after \d s; so far state = [\d.]+ \+- [\d.]+; continue with 'mckean resume run{n}'\n$"
            )
            self.assertEqual(self.word(f"run{n}", "state"), "stopped")
            self.resumes(f"run{n}")

    def test_second_interrupt_ends_at_once(self):
        for n in range(3):
            status, out, err = self.interrupt_after(
                1 + 3 * n, f"run{n}", "--scale", 100, "--deaf", signals=(signal.SIGINT, signal.SIGINT), threads=2
            )
            self.assertEqual((status, out, err), (130, "", ""))
            self.resumes(f"run{n}")

    def test_a_signal_to_the_process_and_to_its_group_is_one(self):  # as timeout(1) sends it
        status, _, err = self.interrupt_after(
            3, "run", "--scale", 200, signals=(signal.SIGTERM, signal.SIGTERM), pause=0.002, threads=2
        )
        self.assertEqual(status, 130)
        self.assertRegex(err, "^synthetic: stopped after ")
        self.resumes()

    @NEEDS_MPI
    def test_interrupt_of_mpirun(self):
        status, _, _ = self.interrupt_after(3, "run", "--scale", 300, signals=(signal.SIGTERM,), ranks=2)
        self.assertNotEqual(status, 0)
        self.resumes()

    def test_two_processes(self):
        first = self.start("run", "--scale", 100)
        while not (self.directory / "run" / "run.sqlite").exists():
            time.sleep(0.02)
        time.sleep(0.1)
        message = self.finish("run", "--resume", status=1)
        self.assertIn(f"process {first.pid} on ", message)
        self.assertIn("works on this run", message)
        first.kill()
        first.communicate()
        self.resumes()

    def test_other_input(self):
        self.finish("run", *FAST)
        message = self.finish("run", *FAST, "--seed", 2, "--batches", 5, "--model", "the model\nin 2 lines\n", status=2)
        self.assertIn("seed: 1 in the run, 2 now", message)
        self.assertIn("batches: 6 in the run, 5 now", message)
        self.assertIn("line 2: 'in two lines' in the run, 'in 2 lines' now", message)
        self.assertEqual(self.finish("run", *FAST), self.reference)  # the same input is continued

    def test_no_run(self):
        self.assertIn("holds no run", self.finish("nothing", "--resume", status=2))

    def test_disk_full(self):
        place = self.mount("small", "160k")
        for places in ({"threads": 2}, *([{"ranks": 2}] if HAS_MPI else [])):
            message = self.finish("small/run", *FAST, "--doubles", 300, status=1, **places)
            self.assertIn("the disk is full; make room and resume", message)
        kept = self.rows("small/run")
        self.assertGreater(len(kept), 5)
        self.finish("whole", *FAST, "--doubles", 300)
        subprocess.run(["mount", "-o", "remount,size=4m", place], check=True)
        self.finish("small/run", "--resume", *FAST, "--doubles", 300)
        self.assertEqual(self.rows("small/run"), self.rows("whole"))
        self.assertLessEqual(kept.items(), self.rows("whole").items())

    def test_read_only(self):
        place = self.mount("place", "4m")
        self.finish("place/run", *FAST, "--fail-at", 30, status=1)
        subprocess.run(["mount", "-o", "remount,ro", place], check=True)
        self.assertIn("cannot be written", self.finish("place/run", "--resume", *FAST, status=1))
        self.assertIn("cannot be", self.finish("place/other", *FAST, status=1))
        listed = subprocess.run([os.environ["MCKEAN"], "runs", place], capture_output=True, text=True, check=True).stdout
        self.assertIn(" failed ", listed)
        subprocess.run(["mount", "-o", "remount,rw", place], check=True)
        self.resumes("place/run")

    def test_truncated_store(self):
        self.finish("run", *FAST)
        file = self.directory / "run" / "run.sqlite"
        whole = file.read_bytes()
        for size in (0, 1, 100, 1000, 4096, len(whole) // 2, len(whole) - 4096, len(whole) - 1):
            with self.subTest(size):
                file.write_bytes(whole[:size])
                for how in ((), ("--resume",)):
                    self.assertIn("the store is damaged", self.finish("run", *how, *FAST, status=1))

    def test_flipped_bits(self):
        """A bit anywhere: the store is refused, or the result is right all the same."""
        self.finish("run", *FAST, "--fail-at", 40, status=1)
        file = self.directory / "run" / "run.sqlite"
        whole = file.read_bytes()
        refused = 0
        for at in range(11, len(whole), len(whole) // 80):
            file.write_bytes(whole[:at] + bytes([whole[at] ^ 16]) + whole[at + 1 :])
            process = self.start("run", "--resume", *FAST)
            out, err = process.communicate(timeout=30)
            if process.returncode == 0:
                self.assertEqual(out, self.reference)
            else:
                self.assertEqual(process.returncode, 1, err)
                self.assertIn("run.sqlite", err)
                refused += 1
            file.write_bytes(whole)
        self.assertGreater(refused, 5)
        value = next(iter(self.rows("run").values()))
        at = whole.index(value)
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        self.assertIn("differs from its checksum", self.finish("run", "--resume", *FAST, status=1))

    def test_damaged_log(self):
        """What a killed run left in SQLite's log, a bit of it flipped or the end missing: refused, or the right result."""
        process = self.start("run", "--scale", 5)
        self.wait_for(process, "run", 10)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=30)
        file, log = (self.directory / "run" / name for name in ("run.sqlite", "run.sqlite-wal"))
        store, whole = file.read_bytes(), log.read_bytes()
        self.assertGreater(len(whole), 4096)
        damaged = [whole[:size] for size in (0, 31, 4000, len(whole) // 2, len(whole) - 1)]
        for at in range(5, len(whole), len(whole) // 12):
            damaged.append(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        for n, content in enumerate(damaged):
            with self.subTest(n):
                (self.directory / "run" / "run.sqlite-shm").unlink(missing_ok=True)
                file.write_bytes(store)
                log.write_bytes(content)
                process = self.start("run", "--resume", *FAST)
                out, err = process.communicate(timeout=30)
                if process.returncode == 0:
                    self.assertEqual(out, self.reference)
                else:
                    self.assertEqual(process.returncode, 1, err)
                    self.assertIn("run.sqlite", err)

    @unittest.skipIf(b"libasan" in LIBRARIES or b"libtsan" in LIBRARIES, "the sanitizer must be loaded first")
    def test_clock_jumps(self):
        jumping = ("env", "LD_PRELOAD=" + os.environ["JUMPING_CLOCK"])
        hours = subprocess.run([*jumping, "date", "+%s"], capture_output=True, text=True, check=True).stdout
        self.assertGreater(abs(int(hours) - time.time()), 3000)  # it does jump
        self.assertEqual(self.finish("run", *FAST, "--budget", 1000, prefix=jumping), self.reference)
        self.finish("failed", *FAST, "--fail-at", 30, prefix=jumping, status=1)
        self.resumes("failed", prefix=jumping)

    @unittest.skipIf(b"libubsan" in LIBRARIES, "the sanitizer itself needs files")
    def test_out_of_file_descriptors(self):
        message = ""
        for limit in range(4, 12):
            process = subprocess.run(
                [os.environ["SYNTHETIC"], self.directory / "run", *map(str, FAST)], capture_output=True, text=True,
                check=False, preexec_fn=lambda n=limit: resource.setrlimit(resource.RLIMIT_NOFILE, (n, n)),
            )
            self.assertIn(process.returncode, (0, 1), process.stderr)
            if process.returncode:
                self.assertRegex(process.stderr, "synthetic: .*(open|files|written|created)")
                message = process.stderr
        self.assertNotEqual(message, "")
        self.resumes()

    def test_budget(self):
        short = self.finish("run", "--scale", 5, "--budget", 0.02)
        self.assertEqual(self.finish("run", "--resume", "--budget", 0.02), short)  # ends where it ended
        self.assertNotEqual(short, self.reference)
        self.assertEqual(self.finish("run", "--resume", *FAST, "--budget", 1000), self.reference)

    def test_progress_elsewhere_than_on_a_terminal_is_quiet(self):
        process = self.start("run", *FAST, "--show")
        self.assertEqual(process.communicate(timeout=30), (self.reference, ""))

    def test_progress_on_a_terminal(self):
        shown = self.shown("--scale", "20")
        self.assertIn("main [", shown)
        self.assertIn("state ", shown)
        self.assertTrue(shown.endswith("\r\x1b[K"), shown)
        again = self.shown("--resume")
        self.assertEqual(set(re.findall(r"(\d+) tasks", again)), {str(len(self.rows("run")))})  # each counts once

    def shown(self, *arguments):
        """What a run writes to a terminal."""
        here, there = os.openpty()
        self.addCleanup(os.close, here)
        with subprocess.Popen(
            [os.environ["SYNTHETIC"], self.directory / "run", *arguments, "--show"], stdout=subprocess.PIPE, stderr=there
        ) as process:
            os.close(there)
            self.assertEqual(process.stdout.read().decode(), self.reference)
        return os.read(here, 1 << 16).decode()


if __name__ == "__main__":
    unittest.main()
