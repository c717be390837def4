#!/usr/bin/python3
"""Measures `mckean fit` on the cases of experiments/benchmark and experiments/suite: against exact answers and truths,
over seeds and over data.

Each part prints a table with PASS or FAIL and writes its rows as JSON and CSV into a folder. The exit status is 1 if a
check fails. `study.py simulate` writes the data files of all cases anew, `study.py exact` the file of exact answers
(others are computed when they are needed).
"""

import argparse
import concurrent.futures
import csv
import dataclasses
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tomllib

import arithmetic
import cases
from cases import Failed, ROOT
from part_likelihood import likelihood
from part_linear import SEEDS as LINEAR_SEEDS, linear
from part_starts import starts
from part_suite import suite
from tables import number, verdict

SECONDS = 60  # a fit of the benchmark may take
Z_MAX = 4  # |estimate - exact| in units of mc_se
MC_SHARE = 0.1  # of the standard error that the Monte Carlo error may have
SE_TOLERANCE = 0.15  # by which standard error and exact one may differ
ZSCORE_CASES = ("kuramoto-plus", "mean-field-ou-2", "three-series")
ZSCORE_SEEDS = 40
WORK_RATIO = 10_000
WORK_SEEDS = 10
PAPER = ["--estimator", "paper", "--levels", "2:4", "--law-particles", "l*L", "--particles", "100", "--p-max", "6",
         "--smoother", "genealogy", "--replicates", "400"]
# A small tolerance, so that what is compared is work for variance and not the pilot, which is counted all the same. The
# number of the law's particles is what a fit without a tolerance takes: their bias is below a tenth of the standard error,
# that of the paper's 8 to 16 is not.
STRATIFIED = ["--estimator", "stratified", "--levels", "2:4", "--tolerance", "0.0004", "--law-particles", "320",
              "--particles", "40"]
COVERAGE_SETS = 200
COVERAGE = (0.91, 0.98)


class Study:
    """What all parts share: programs, output folder, parallel runs, exact answers."""

    def __init__(self, options):
        self.mckean, self.exact = options.mckean, cases.ExactAnswers(options.exact)
        self.out, self.jobs, self.cases, self.fit_options = options.out, options.jobs, options.case, options.fit_options
        self.sets, self.seeds, self.baseline = options.sets, options.seeds, options.baseline
        self.out.mkdir(parents=True, exist_ok=True)

    def fit(self, case, start, *options):
        return cases.run_json(cases.fit_command(self.mckean, case, start, [*options, *self.fit_options]))

    def threads(self):
        """Options that share the cores among the jobs."""
        return ["--threads", str(max(1, (os.cpu_count() or 1) // self.jobs))] if self.jobs > 1 else []

    def map(self, function, items):
        """The results in order, `jobs` at a time; a dot for each, since this can take long."""
        results = []
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for result in pool.map(function, items):
                results.append(result)
                print(".", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        return results

    def fit_seeds(self, case, start, count, *options):
        """Fits with the seeds 1, 2, ..., count."""
        options = [*options, *self.threads()]
        return self.map(lambda seed: self.fit(case, start, "--seed", str(seed), *options), range(1, count + 1))

    def write(self, name, rows):
        (self.out / f"{name}.json").write_text(json.dumps(rows, indent=1) + "\n")
        columns = list(dict.fromkeys(column for row in rows for column in row))
        with open(self.out / f"{name}.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


def judge(result, name, exact):
    """One parameter of one fit against its exact answer; a check that cannot be made is None."""
    estimate = result["estimate"][name]
    value, mc_se, std_error = estimate["value"], estimate["mc_se"], estimate["std_error"]
    row = {"parameter": name, "value": value, "mc_se": mc_se, "std_error": std_error, "exact": None,
           "exact_std_error": None, "z": None, "agrees": None, "std_error_ok": None,
           "mc_se_ok": std_error is not None and mc_se <= MC_SHARE * std_error}
    if exact:
        truth = exact["estimate"][name]
        row["exact"], row["exact_std_error"] = truth["value"], truth["std_error"]
        row["z"] = z_score(estimate, truth["value"])
        row["agrees"] = abs(row["z"]) <= Z_MAX
        row["std_error_ok"] = std_error is not None and abs(std_error / truth["std_error"] - 1) <= SE_TOLERANCE
    return row


def z_score(estimate, exact):
    difference = estimate["value"] - exact
    return difference / estimate["mc_se"] if estimate["mc_se"] > 0 else math.copysign(math.inf, difference)


def compare_starts(rows):
    """Without an exact answer the fits of a case must agree with the first, within 4 standard errors."""
    first = {}
    for row in rows:
        if row["exact"] is None and row["value"] is not None:
            other = first.setdefault((row["case"], row["parameter"]), row)
            if other is not row:
                row["z"] = (row["value"] - other["value"]) / math.hypot(row["mc_se"], other["mc_se"])
                row["agrees"] = abs(row["z"]) <= Z_MAX


def failed_row(error):
    return {"parameter": "-", "value": None, "mc_se": None, "std_error": None, "exact": None, "exact_std_error": None,
            "z": None, "agrees": False, "std_error_ok": None, "mc_se_ok": None, "seconds": None, "seconds_ok": None,
            "warnings": str(error)}


def benchmark(study):
    """Every case from every start with no options: time, agreement, Monte Carlo error, standard error."""
    rows = []
    for case in cases.read_cases(study.cases):
        for start in case.starts:
            print(".", end="", file=sys.stderr, flush=True)
            common = {"case": case.name, "start": " ".join(f"{k}={v}" for k, v in start.items())}
            try:
                result = study.fit(case, start)
            except Failed as error:
                rows.append(common | failed_row(error))
                continue
            exact = study.exact(case, result["levels"][-1])
            for name in case.truth:
                rows.append(common | judge(result, name, exact) | {
                    "seconds": result["seconds"], "seconds_ok": result["seconds"] < SECONDS,
                    "levels": ":".join(map(str, result["levels"])), "particle_steps": result["particle_steps"],
                    "warnings": "; ".join(result["warnings"])})
    print(file=sys.stderr)
    compare_starts(rows)
    study.write("benchmark", rows)

    print(f"{'case':<16} {'start':<32} {'parameter':<9} {'value':>9} {'mc_se':>8} {'exact':>9} {'z':>6} {'agrees':>6} "
          f"{'mc/se':>6} {'mc ok':>5} {'s.e.':>8} {'exact':>8} {'se ok':>5} {'sec':>6} {'time':>4}")
    for row in rows:
        share = row["mc_se"] / row["std_error"] if row["std_error"] else None
        print(f"{row['case']:<16} {row['start']:<32} {row['parameter']:<9} {number(row['value'], '9.5f'):>9} "
              f"{number(row['mc_se'], '8.2g'):>8} {number(row['exact'], '9.5f'):>9} {number(row['z'], '6.2f'):>6} "
              f"{verdict(row['agrees']):>6} {number(share, '6.3f'):>6} {verdict(row['mc_se_ok']):>5} "
              f"{number(row['std_error'], '8.3g'):>8} {number(row['exact_std_error'], '8.3g'):>8} "
              f"{verdict(row['std_error_ok']):>5} {number(row['seconds'], '6.1f'):>6} {verdict(row['seconds_ok']):>4}")
    for text in dict.fromkeys(f"{row['case']}: {row['warnings']}" for row in rows if row["warnings"]):
        print("said of", text)
    checks = ("agrees", "mc_se_ok", "std_error_ok", "seconds_ok")
    return all(row[check] is not False for row in rows for check in checks)


def zscores(study):
    """z-scores over seeds; their squares against the chi-square distribution, at the 1 % level for each parameter."""
    ok, rows = True, []
    print(f"{'case':<16} {'parameter':<9} {'seeds':>5} {'mean z':>7} {'sd z':>6} {'sum z^2':>8} {'between':>15} "
          f"{'P(larger)':>9}")
    for case in cases.read_cases(study.cases or ZSCORE_CASES):
        results = study.fit_seeds(case, case.starts[0], study.seeds or ZSCORE_SEEDS)
        for name in case.truth:
            z = [z_score(r["estimate"][name], study.exact(case, r["levels"][-1])["estimate"][name]["value"])
                 for r in results]
            test = arithmetic.chi_square_test(z)
            ok &= test["ok"]
            rows += [{"case": case.name, "parameter": name, "seed": k + 1, "z": value} for k, value in enumerate(z)]
            print(f"{case.name:<16} {name:<9} {len(z):>5} {statistics.fmean(z):>7.2f} {statistics.stdev(z):>6.2f} "
                  f"{test['sum']:>8.1f} {test['low']:>7.1f} {test['high']:>7.1f} {test['tail']:>9.3f}  "
                  f"{verdict(test['ok'])}")
    study.write("zscores", rows)
    return ok


def cell_steps(result):
    """Particle-steps of the replicates alone: the paper has no pilot and no information matrices."""
    return sum(cell["particle_steps"] for cell in result["cells"])


def all_steps(result):
    return result["particle_steps"]


def work(study):
    """Variance times particle-steps of both estimators on Kuramoto, from the file's start, levels 2 to 4."""
    case = cases.read_cases(["kuramoto-plus"])[0]
    rows, summary = [], {}
    seeds = study.seeds or WORK_SEEDS
    for label, options, steps in (("paper", PAPER, cell_steps), ("stratified", STRATIFIED, all_steps)):
        results = study.fit_seeds(case, {}, seeds, *options)
        runs = [{"estimator": label, "seed": k + 1, "value": r["estimate"]["theta"]["value"],
                 "mc_se": r["estimate"]["theta"]["mc_se"], "particle_steps": steps(r)} for k, r in enumerate(results)]
        rows += runs
        claimed = [run["mc_se"] ** 2 * run["particle_steps"] for run in runs]
        variance, relative = arithmetic.variance_with_error([run["value"] for run in runs])
        spread = variance * statistics.fmean(run["particle_steps"] for run in runs)
        mean, error = arithmetic.mean_with_error(claimed)
        summary[label] = {"one": claimed[0], "mean": mean, "error": error, "spread": spread}
        print(f"{label:<11} variance x particle-steps: {claimed[0]:.3g} in one run; "
              f"{mean:.3g} +- {error:.2g} by mc_se, {spread:.3g} +- {spread * relative:.2g} by the spread, "
              f"over {seeds} seeds")
    paper, ours = summary["paper"], summary["stratified"]
    ratio = {key: paper[key] / ours[key] for key in ("one", "mean", "spread")}
    ok = ratio["mean"] >= WORK_RATIO
    error = math.hypot(paper["error"] / paper["mean"], ours["error"] / ours["mean"])
    print(f"ratio {ratio['mean']:.0f} +- {ratio['mean'] * error:.0f} by mc_se, {ratio['one']:.0f} in one run, "
          f"{ratio['spread']:.0f} by the spread; at least {WORK_RATIO} by mc_se: {verdict(ok)}")
    study.write("work", rows)
    return ok


def covers(estimate, truth):
    return estimate["lower"] is not None and estimate["lower"] <= truth <= estimate["upper"]


def coverage(study):
    """How often the 95 % interval covers the truth, over simulated data sets."""
    case = cases.read_case(ROOT / "experiments" / "coverage.toml")
    folder = study.out / "coverage"
    folder.mkdir(exist_ok=True)

    def one(k):
        drawn = dataclasses.replace(case, name=f"coverage {k}", data=folder / f"{k}.csv")
        cases.simulate(study.mckean, drawn, drawn.data, case.simulate["seed"] + k)
        try:
            result = study.fit(drawn, case.starts[0], *study.threads())
        except Failed as error:  # covers nothing
            print(error)
            nothing = dict.fromkeys(("value", "mc_se", "std_error", "lower", "upper"))
            result = {"estimate": dict.fromkeys(case.truth, nothing), "levels": [4]}
        return result["estimate"], study.exact(drawn, result["levels"][-1])["estimate"]

    results, ok, rows = study.map(one, range(study.sets)), True, []
    for name, truth in case.truth.items():
        covered = [covers(estimate[name], truth) for estimate, _ in results]
        # What plain intervals about the exact estimates would give on the same data.
        exact = sum(abs(answer[name]["value"] - truth) <= 1.96 * answer[name]["std_error"] for _, answer in results)
        rows += [{"set": k, "parameter": name, "truth": truth, "covered": covered[k], **estimate[name]}
                 for k, (estimate, _) in enumerate(results)]
        share = sum(covered) / len(covered)
        low, high = arithmetic.binomial_interval(sum(covered), len(covered))
        passed = COVERAGE[0] <= share <= COVERAGE[1]
        ok &= passed
        print(f"{name:<9} covered {sum(covered)} of {len(covered)}: {share:.3f} (95 % bounds {low:.3f} to {high:.3f}), "
              f"wanted {COVERAGE[0]} to {COVERAGE[1]}  {verdict(passed)}; by exact estimates {exact}")
    study.write("coverage", rows)
    return ok


def says(status, warnings, stderr, pattern):
    """Whether a command that has no good answer said so: a warning with status 0, or a message with status 1 or 2."""
    text = "\n".join(warnings) if status in (0, 3) else stderr
    return status in (0, 1, 2, 3) and re.search(pattern, text) is not None


def failures(study):
    """Fits that have no good answer must say so."""
    ok, rows = True, []
    for name, case in tomllib.loads((ROOT / "experiments/failures/failures.toml").read_text()).items():
        command = [study.mckean, "fit", ROOT / case["model"], ROOT / case["data"], "--json", "--no-run",
                   *cases.settings(case.get("set", {})), *study.fit_options]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
        result = json.loads(done.stdout) if done.returncode in (0, 3) else {"warnings": [], "estimate": {}}
        passed = says(done.returncode, result["warnings"], done.stderr, case["says"])
        ok &= passed
        rows.append({"case": name, "status": done.returncode, "ok": passed, "said": done.stderr.strip()})
        print(f"{verdict(passed)}  {name}: {case['about']}\n      status {done.returncode}")
        for parameter, e in result["estimate"].items():
            print(f"      {parameter} = {e['value']:.5g}, mc_se {e['mc_se']:.2g}, std_error {e['std_error']}")
        for line in done.stderr.strip().splitlines():
            print("      " + line)
    study.write("failures", rows)
    return ok


PARTS = {"benchmark": benchmark, "suite": suite, "likelihood": likelihood, "starts": starts, "linear": linear, "zscores": zscores, "work": work, "coverage": coverage,
         "failures": failures}


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=[*PARTS, "all", "simulate", "exact"])
    parser.add_argument("--mckean", type=pathlib.Path, default=ROOT / "build/mckean")
    parser.add_argument("--exact", type=pathlib.Path, help="mckean_exact (default: beside mckean)")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/study", help="folder of the results")
    parser.add_argument("--jobs", type=int, default=1, help="fits at a time; not in benchmark and suite, which measure time")
    parser.add_argument("--case", action="append", default=[], help="only this case")
    parser.add_argument("--levels", type=int, nargs="+", default=[2, 3, 4, 5], help="levels of exact")
    parser.add_argument("--seeds", type=int,
                        help=f"seeds of zscores ({ZSCORE_SEEDS}), work ({WORK_SEEDS}) and linear ({LINEAR_SEEDS})")
    parser.add_argument("--sets", type=int, default=COVERAGE_SETS, help="data sets of coverage")
    parser.add_argument("--no-baseline", dest="baseline", action="store_false", help="suite: only the fits")
    parser.add_argument("--fit-options", type=str.split, default=[], help="further options of every fit, in one string")
    options = parser.parse_args(arguments)
    options.exact = options.exact or options.mckean.with_name("mckean_exact")
    return options


def main(arguments=None):
    options = parse(arguments)
    if options.part == "simulate":
        for case in cases.read_cases(options.case, cases.COLLECTIONS):
            cases.simulate(options.mckean, case, case.data)
        return 0
    if options.part == "exact":
        answers = cases.ExactAnswers(options.exact)
        for level in options.levels:
            for case in cases.read_cases(options.case, cases.COLLECTIONS):
                answers(case, level)
                answers.save()
        return 0
    study = Study(options)
    passed = {}
    for name in PARTS if options.part == "all" else [options.part]:
        print(f"\n{name}: {PARTS[name].__doc__}", flush=True)
        try:
            passed[name] = PARTS[name](study)
        except Failed as error:
            print(error)
            passed[name] = False
    print()
    for name, ok in passed.items():
        print(f"{verdict(ok)}  {name}")
    return 0 if all(passed.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
