"""Fits of the shipped models that have exact answers, to data that the program simulates: how long they take with no
options, and how far they are from the maximum of an independent oracle in continuous time.

Usage: exact_fits.py MCKEAN MCKEAN_EXACT. The oracle has Euler levels alone for models that are not linear: its maxima at
three successive ones are extrapolated.
"""

import csv
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

MODELS = pathlib.Path(__file__).resolve().parents[1] / "models"
TIMES = 100
LEVELS, WEIGHTS = (4, 5, 6), (1 / 3, -2, 8 / 3)  # of errors of first and second order nothing is left
CONTINUOUS = -1
SIGMA = {"sigma": 0.15}
# Of each: name, model, settings of the data, settings of the fit, seconds that it may take, the oracle's family with the
# parameters that it estimates and what else it must know; none where that would take too long.
FITS = [
    ("ou", "ou", {}, {}, 0.3, ("mean-field-ou", ("kappa", "mu", "R"), {"beta": 0, "s": 1})),
    ("mean-field-ou", "mean-field-ou", {}, {}, 0.3, None),  # its beta has no upper end
    ("kuramoto", "kuramoto", {"theta": 0.5}, {}, 3, ("kuramoto", ("theta",), SIGMA | {"K": 1, "tau": 1, "x0": 1.5})),
    ("kuramoto K=-1", "kuramoto", {"theta": 0.5, "K": -1}, {"K": -1}, 3,
     ("kuramoto", ("theta",), SIGMA | {"K": -1, "tau": 1, "x0": 1.5})),
    ("desai-zwanzig", "desai-zwanzig", {}, {}, 3, ("desai-zwanzig", ("a", "theta"), {})),
    ("neural d=10", "neural", {"d": 10}, {"d": 10}, 8,
     ("neural", ("alpha", "beta"), SIGMA | {"w": -1, "b": 0, "tau": 0.15, "x0": 1})),
    ("neural d=100", "neural", {"d": 100}, {"d": 100}, 60, None),
]


def settings(table):
    return [word for name, value in table.items() for word in ("--set", f"{name}={value}")]


def assignments(table):
    return ",".join(f"{name}={value!r}" for name, value in table.items())


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def as_series(data):
    """Components y[1], y[2], … as series of one column, which the oracle reads."""
    out = data.with_suffix(".series.csv")
    with open(data, encoding="utf-8") as source, open(out, "w", encoding="utf-8") as target:
        rows = list(csv.DictReader(source))
        columns = [name for name in rows[0] if name != "t"]
        target.write("series,t,y\n")
        target.writelines(f"{c},{row['t']},{row[c]}\n" for c in columns for row in rows)
    return out


def oracle(program, data, found, family, names, known):
    """The maximum in continuous time, from the estimate of the program."""
    def at(level):
        free = {name: found["estimate"][name]["value"] for name in names}
        return json.loads(run([program, family, as_series(data), "--level", level, "--free", assignments(free), "--fixed",
                               assignments(known or {"none": 0})]))["estimate"]

    if family == "mean-field-ou":
        return {name: e["value"] for name, e in at(CONTINUOUS).items()}
    answers = [at(level) for level in LEVELS]
    return {name: sum(w * a[name]["value"] for w, a in zip(WEIGHTS, answers)) for name in names}


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(mckean, exact):
    print(f"{'fit with no options':<20} {'s':>7} {'cpu s':>7} {'at most':>8}   largest difference from the oracle, in standard errors")
    with tempfile.TemporaryDirectory() as folder:
        for name, model, of_data, of_fit, limit, known in FITS:
            data = pathlib.Path(folder) / "data.csv"
            model = MODELS / f"{model}.toml"
            run([mckean, "simulate", model, "--level", "6", "--times", TIMES, "--out", data, *settings(of_data)])
            begin, before = time.monotonic(), processor_seconds()
            found = json.loads(run([mckean, "fit", model, data, "--no-run", "--json", *settings(of_fit)]))
            seconds, used = time.monotonic() - begin, processor_seconds() - before
            differs = "-"
            if known:
                best = oracle(exact, data, found, *known)
                differs = max(abs(found["estimate"][p]["value"] - v) / (found["estimate"][p]["std_error"] or v)
                              for p, v in best.items())
                differs = f"{differs:.5f}"
            print(f"{name:<20} {seconds:>7.2f} {used:>7.2f} {limit:>8}   {differs}"
                  f"{'' if found['converged'] else '   NOT CONVERGED'}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:3])
