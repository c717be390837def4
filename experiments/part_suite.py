"""The part `suite` of the study: fits of models that have no exact answer, judged by truth and log-likelihood."""

import sys

import cases
import usability
from tables import number, verdict

TIMEOUT = 120
BASELINE = cases.SUITE / "baseline.py"
PRECISE = ["--particles", 4096, "--law-particles", 8192, "--repeats", 8]
SCHEME = ["--scheme", "splitting"]  # of log-likelihoods: those of the diffusion, whatever steps a fit takes
LEVEL = 3  # at least


class LogLikelihoods:
    """Of one case, by level and parameter values; None where the program has no answer."""

    def __init__(self, study, case):
        self.study, self.case, self.known = study, case, {}

    def __call__(self, values, level):
        key = (level, *values.items())
        if key not in self.known:
            command = cases.loglik_command(self.study.mckean, self.case, values, [*SCHEME, "--level", level, *PRECISE])
            result = cases.attempt(command, None).result
            self.known[key] = result and result["loglik"]
        return self.known[key]


def values_of(result):
    return {name: estimate["value"] for name, estimate in result["estimate"].items()}


def text_of(result):
    def one(name, e):
        return f"{name}={e['value']:.4g}±{number(e['std_error'], '.2g')}{'|' if e.get('at_bound') else ''}"
    return " ".join(one(name, e) for name, e in result["estimate"].items()) if result else "-"


def level_of(result):
    """One finer than that of the fit."""
    return max(LEVEL, (result.get("levels") or [LEVEL])[-1] + 1) if result else LEVEL


def fit_row(study, case, loglik, k, start):
    """One fit with no options, judged."""
    done = cases.attempt(cases.fit_command(study.mckean, case, start, study.fit_options), TIMEOUT)
    result, level = done.result, level_of(done.result)
    own, truth = result and loglik(values_of(result), level), loglik(case.truth, level)
    warnings = result.get("warnings", []) if result else [done.message]
    return {"case": case.name, "start": k + 1, "status": done.status, "seconds": done.seconds, "level": level,
            "judgement": usability.judgement(done.status, result, case.truth, own, truth),
            "loglik": own, "loglik_truth": truth, "estimate": text_of(result), "warnings": "; ".join(warnings)}


def baseline_row(study, case, loglik, fit):
    """The baseline from the first start, and the fit from there, by one log-likelihood."""
    command = ["/usr/bin/python3", BASELINE, case.model, case.data, "--mckean", study.mckean,
               *cases.settings(case.constants, case.starts[0])]
    done = cases.attempt(command, None)
    own = done.result and loglik(values_of(done.result), fit["level"])
    row = {"case": case.name, "seconds": done.seconds, "loglik": own, "estimate": text_of(done.result),
           "fit_seconds": fit["seconds"], "fit_loglik": fit["loglik"], "fit_estimate": fit["estimate"]}
    return row | {"ok": usability.keeps_up(fit, row)}


def value(loglik):
    return number(loglik and loglik["value"], ".2f")


def flat(row):
    """A row for a table: a log-likelihood becomes its value and its error."""
    result = {}
    for name, entry in row.items():
        result |= {name: entry["value"], f"{name}_se": entry["se"]} if isinstance(entry, dict) else {name: entry}
    return result


def suite(study):
    """Every model of the suite from every start with no options: usable answers, and the time they take."""
    rows, compared = [], []
    for case in cases.read_cases(study.cases, [cases.SUITE]):
        loglik = LogLikelihoods(study, case)
        for k, start in enumerate(case.starts):
            rows.append(fit_row(study, case, loglik, k, start))
            print(".", end="", file=sys.stderr, flush=True)
        if study.baseline:
            compared.append(baseline_row(study, case, loglik, rows[-len(case.starts)]))
        study.write("suite", [flat(row) for row in rows])  # as far as it has come
        study.write("suite-baseline", [flat(row) for row in compared])
    print(file=sys.stderr)
    print(f"{'case':<25} {'start':>5} {'status':>6} {'sec':>6} {'level':>5} {'judged':>7} {'loglik':>9} {'truth':>9}  estimate")
    for row in rows:
        print(f"{row['case']:<25} {row['start']:>5} {number(row['status'], 'd'):>6} {row['seconds']:>6.1f} {row['level']:>5} "
              f"{row['judgement']:>7} {value(row['loglik']):>9} {value(row['loglik_truth']):>9}  {row['estimate']}")
    for text in dict.fromkeys(f"{row['case']}: {row['warnings']}" for row in rows if row["warnings"]):
        print("said of", text)
    checks = usability.summary(rows)
    for text, ok in checks.items():
        print(f"{verdict(ok)}  {text}")
    if compared:
        print(f"\n{'against the baseline':<25} {'sec':>13} {'loglik':>19}       estimate")
    for row in compared:
        print(f"{row['case']:<25} {row['fit_seconds']:>6.1f} {row['seconds']:>6.1f} {value(row['fit_loglik']):>9} "
              f"{value(row['loglik']):>9}  {verdict(row['ok'])} {row['fit_estimate']}  ({row['estimate']})")
    return all(checks.values()) and all(row["ok"] for row in compared)
