"""How much faster a fit is on two threads or two ranks, and what keeping it on disk and showing its progress cost.

Usage: fit_speed.py MCKEAN [ROUNDS]. All variants take their turn in each round, and the shortest times are compared. The
fit is long enough that the start of mpirun, which is shown too, is a small part of it. What store and progress cost is
the processor time of the main thread, which does nothing else but decide what to compute, against that of a run that
keeps and shows nothing: times of whole runs differ by more.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

MODEL = pathlib.Path(__file__).resolve().parents[1] / "models" / "kuramoto.toml"
MPIRUN = shutil.which("mpirun")
ENVIRONMENT = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
TOLERANCE = "0.0007"


def drain(terminal):
    """Reads what is shown until nobody can write there."""
    try:
        while os.read(terminal, 1 << 16):
            pass
    except OSError:
        pass


def main_thread_seconds(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[0]) / 1e9
    except (OSError, IndexError):  # it has ended
        return 0


def timed(command):
    """Wall seconds, and processor seconds of the main thread, of a command that shows its progress on a terminal."""
    here, there = os.openpty()
    reader = threading.Thread(target=drain, args=(here,))
    reader.start()
    start, used = time.monotonic(), 0
    with subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=there) as process:
        os.close(there)
        while process.poll() is None:
            used = max(used, main_thread_seconds(process.pid))
            time.sleep(0.01)
        wall = time.monotonic() - start
    reader.join()
    os.close(here)
    if process.returncode:
        raise SystemExit(f"{command} failed")
    return wall, used


def main(program, rounds=3):
    with tempfile.TemporaryDirectory() as folder:
        data, run = f"{folder}/data.csv", f"{folder}/run"
        simulate = [program, "simulate", MODEL, "--times", "100", "--set", "theta=0.5", "--out", data]
        subprocess.run(simulate, stdout=subprocess.DEVNULL, check=True)
        fit = [program, "fit", MODEL, data, "--tolerance", TOLERANCE]
        alone = [*fit, "--no-run", "--quiet"]
        variants = {
            "one thread": [*alone, "--threads", "1"],
            "one thread, kept": [*fit, "--run", run, "--threads", "1"],
            "two threads": [*alone, "--threads", "2"],
        }
        if MPIRUN:
            ranks = [MPIRUN, "--oversubscribe", "--allow-run-as-root", "--bind-to", "none", "-n", "2"]
            variants["two ranks"] = [*ranks, *alone, "--threads", "1"]
            variants["mpirun itself"] = [*ranks, program, "--version"]
        times = {name: [] for name in variants}
        for _ in range(rounds):
            for name, command in variants.items():
                shutil.rmtree(run, ignore_errors=True)
                times[name].append(timed(command))
    best = {name: [min(column) for column in zip(*rows)] for name, rows in times.items()}
    for name, (wall, _) in best.items():
        print(f"{name:18}{wall:8.3f} s")
    one, kept = best["one thread"], best["one thread, kept"]
    for name in ("two threads", "two ranks"):
        if name in best:
            print(f"{name}: {one[0] / best[name][0]:.2f} times one, target 1.9")
    print(f"store and progress: {1000 * (kept[1] - one[1]):.0f} ms, {100 * (kept[1] - one[1]) / one[0]:.2f} % of the run, target 1 %")
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), *map(int, sys.argv[2:]))
