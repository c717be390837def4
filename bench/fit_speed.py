"""How much faster a fit is on two threads or two ranks, and what keeping it on disk costs.

Usage: fit_speed.py MCKEAN [ROUNDS]. All variants take their turn in each round, and the shortest times are compared.
Other programs on the machine spoil wall time but hardly processor time, so both are shown.
"""

import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time

MODEL = pathlib.Path(__file__).resolve().parents[1] / "models" / "kuramoto.toml"
MPIRUN = shutil.which("mpirun")
ENVIRONMENT = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def drain(terminal):
    """Reads what is shown until nobody can write there."""
    try:
        while os.read(terminal, 1 << 16):
            pass
    except OSError:
        pass


def timed(command):
    """Wall and processor seconds of a command that shows its progress on a terminal."""
    here, there = os.openpty()
    reader = threading.Thread(target=drain, args=(here,))
    reader.start()
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=there, check=True)
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    os.close(there)
    reader.join()
    os.close(here)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(program, rounds=3):
    with tempfile.TemporaryDirectory() as folder:
        data, run = f"{folder}/data.csv", f"{folder}/run"
        simulate = [program, "simulate", MODEL, "--times", "100", "--set", "theta=0.5", "--out", data]
        subprocess.run(simulate, stdout=subprocess.DEVNULL, check=True)
        fit = [program, "fit", MODEL, data]
        alone = [*fit, "--no-run", "--quiet"]
        variants = {
            "one thread": [*alone, "--threads", "1"],
            "one thread, kept": [*fit, "--run", run, "--threads", "1"],
            "two threads": [*alone, "--threads", "2"],
        }
        if MPIRUN:
            ranks = [MPIRUN, "--oversubscribe", "--allow-run-as-root", "--bind-to", "none", "-n", "2"]
            variants["two ranks"] = [*ranks, *alone, "--threads", "1"]
        times = {name: [] for name in variants}
        for _ in range(rounds):
            for name, command in variants.items():
                shutil.rmtree(run, ignore_errors=True)
                times[name].append(timed(command))
    best = {name: [min(column) for column in zip(*rows)] for name, rows in times.items()}
    print(f"{'':18}{'wall':>9}{'processor':>11}")
    for name, (wall, used) in best.items():
        print(f"{name:18}{wall:8.3f} s{used:9.3f} s")
    one, kept = best["one thread"], best["one thread, kept"]
    for name in ("two threads", "two ranks"):
        if name in best:
            print(f"{name}: {one[0] / best[name][0]:.2f} times one, target 1.9")
    print(f"store and progress: {100 * (kept[1] / one[1] - 1):.2f} % of processor time, "
          f"{100 * (kept[0] / one[0] - 1):.2f} % of wall time, target 1 %")
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), *map(int, sys.argv[2:]))
