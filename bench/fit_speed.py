"""How much faster a fit is on two threads or two ranks, and what keeping it on disk and showing its progress cost.

Usage: fit_speed.py MCKEAN [ROUNDS]. Each round compares two threads, two ranks, and two programs at once on one thread each
with one thread before and after the round; the median over rounds is the answer, since the pace of a machine changes
within minutes. Two programs share nothing: what they lose, the machine takes, and two threads can gain no more than
they do. Beside it stands how many cores each kept busy, of those that a virtual machine's host did not take away: this
does not depend on the pace. The fit is long enough that the start of mpirun, which is shown too, is a small part of it.

What store and progress cost is the processor time of the main thread, which does nothing else but decide what to
compute, against that of a run that keeps and shows nothing: times of whole runs differ by more.
"""

import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

MODEL = pathlib.Path(__file__).resolve().parents[1] / "models" / "kuramoto.toml"
MPIRUN = shutil.which("mpirun")
ENVIRONMENT = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
TOLERANCE = "0.0005"


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


def stolen_seconds():
    """Processor time that the host of a virtual machine gave to others while somebody here wanted it."""
    return int(pathlib.Path("/proc/stat").read_text().split()[8]) / os.sysconf("SC_CLK_TCK")


def used_seconds():
    of_children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return of_children.ru_utime + of_children.ru_stime


def timed(*commands):
    """Wall seconds of commands at once that show their progress on a terminal, processor seconds of a main thread, and
    cores that were busy."""
    here, there = os.openpty()
    reader = threading.Thread(target=drain, args=(here,))
    reader.start()
    start, stolen, before, used = time.monotonic(), stolen_seconds(), used_seconds(), 0
    processes = [subprocess.Popen(c, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=there) for c in commands]
    os.close(there)
    while any(p.poll() is None for p in processes):
        used = max(used, *(main_thread_seconds(p.pid) for p in processes))
        time.sleep(0.01)
    wall = time.monotonic() - start
    reader.join()
    os.close(here)
    if any(p.returncode for p in processes):
        raise SystemExit(f"{commands} failed")
    available = wall - (stolen_seconds() - stolen) / os.cpu_count()
    return wall, used, (used_seconds() - before) / available


def main(program, rounds=3):
    with tempfile.TemporaryDirectory() as folder:
        data, run = f"{folder}/data.csv", f"{folder}/run"
        simulate = [program, "simulate", MODEL, "--level", "6", "--times", "100", "--set", "theta=0.5", "--out", data]
        subprocess.run(simulate, stdout=subprocess.DEVNULL, check=True)
        fit = [program, "fit", MODEL, data, "--tolerance", TOLERANCE]
        alone = [*fit, "--no-run", "--quiet", "--threads"]
        one = [*alone, "1"]
        variants = {"two programs": (one, one), "two threads": ([*alone, "2"],)}  # with one program's work, or two
        if MPIRUN:
            ranks = [MPIRUN, "--oversubscribe", "--allow-run-as-root", "--bind-to", "none", "-n", "2"]
            variants["two ranks"] = ([*ranks, *one],)
            print(f"mpirun itself: {timed([*ranks, program, '--version'])[0]:.2f} s")
        before = timed(one)
        kept = timed([*fit, "--run", run, "--threads", "1"])
        store = kept[1] - before[1]
        print(f"one thread: {before[0]:.2f} s")
        print(f"store and progress: {1000 * store:.0f} ms, {100 * store / before[0]:.2f} % of the run, target 1 %")
        gains, cores = ({name: [] for name in variants} for _ in range(2))
        for _ in range(rounds):
            times = {name: timed(*commands) for name, commands in variants.items()}
            after = timed(one)
            for name, (wall, _, busy) in times.items():
                gains[name].append(len(variants[name]) * (before[0] + after[0]) / 2 / wall)
                cores[name].append(busy)
            before = after
    for name in variants:
        target = "what the machine has" if name == "two programs" else "target 1.9"
        print(f"{name}: {statistics.median(gains[name]):.2f} times one, {target}; {statistics.median(cores[name]):.2f} cores "
              f"busy; rounds {', '.join(f'{g:.2f} ({c:.2f})' for g, c in zip(gains[name], cores[name]))}")
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), *map(int, sys.argv[2:]))
