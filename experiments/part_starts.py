"""The part `starts` of the study: one-dimensional models with exact answers, fitted from starts that are far off."""

import random
import tomllib

import cases
from tables import number, verdict

STARTS = 20
SPREAD = 5  # factor by which a start may be off, where a parameter has no two bounds
SAME = 0.05  # log units within which two fits have ended at the same maximum
COMPARABLE = 3  # within which a maximum is one of several
ARRIVED = 0.95  # share of the fits that must end at the best maximum known, or say that there are several
TIMEOUT = 120


def starts_of(case):
    """Spread over the bounds of a parameter, or over a factor to either side of the truth."""
    bounds = tomllib.loads(case.model.read_text())["parameters"]
    draw = random.Random(case.name)

    def one(name, truth):
        table = bounds[name] if isinstance(bounds[name], dict) else {}
        if "lower" in table and "upper" in table:
            width = table["upper"] - table["lower"]
            return round(table["lower"] + width * draw.uniform(0.01, 0.99), 4)
        return round(truth * SPREAD ** draw.uniform(-1, 1), 4)

    return [{name: one(name, truth) for name, truth in case.truth.items()} for _ in range(STARTS)]


def judgement(done, best):
    """'best'; 'several': it is near the best, and reports other maxima; 'says': it does not claim an answer; 'wrong'."""
    if done.status != 0 or not done.result:
        return "says"
    if done.result["loglik"]["value"] > best - SAME:
        return "best"
    near = done.result["loglik"]["value"] > best - COMPARABLE
    return "several" if near and len(done.result["maxima"]) > 1 else "wrong"


def starts(study):
    """Ten one-dimensional models from 20 starts each: the best maximum, or a word that there are several."""
    rows = []
    for case in cases.read_cases(study.cases, [cases.STARTS]):
        options = [*study.threads(), *study.fit_options]

        def fit(start, case=case, options=options):
            return cases.attempt(cases.fit_command(study.mckean, case, start, options), TIMEOUT)

        begins = [case.truth, *starts_of(case)]
        fits = study.map(fit, begins)
        best = max(done.result["loglik"]["value"] for done in fits if done.result)
        for k, (start, done) in enumerate(zip(begins[1:], fits[1:])):
            result = done.result or {}
            rows.append({"case": case.name, "start": k + 1, "from": start, "seconds": done.seconds, "status": done.status,
                         "engine": result.get("engine"), "judgement": judgement(done, best), "best": best,
                         "loglik": result.get("loglik", {}).get("value"),
                         "estimate": {name: e["value"] for name, e in result.get("estimate", {}).items()},
                         "warnings": "; ".join(result.get("warnings", [])) or done.message})
        study.write("starts", rows)
        of_case = [row for row in rows if row["case"] == case.name]
        counts = {word: sum(row["judgement"] == word for row in of_case) for word in ("best", "several", "says", "wrong")}
        print(f"{case.name:<16} {best:>10.3f}  " + "  ".join(f"{word} {count:>2}" for word, count in counts.items())
              + f"  {sum(row['seconds'] for row in of_case) / STARTS:.2f} s  {', '.join(sorted({str(row['engine']) for row in of_case}))}",
              flush=True)
    for row in rows:
        if row["judgement"] != "best":
            print(f"{row['case']} {row['start']}: {row['judgement']}, {number(row['loglik'], '.3f')} of {row['best']:.3f} "
                  f"from {row['from']}: {row['warnings']}")
    arrived = sum(row["judgement"] in ("best", "several") for row in rows) / len(rows)
    wrong = sum(row["judgement"] == "wrong" for row in rows)
    checks = {f"arrived: {arrived:.1%}, at least {ARRIVED:.0%}": arrived >= ARRIVED,
              f"elsewhere without a warning: {wrong}, none allowed": wrong == 0}
    for text, ok in checks.items():
        print(f"{verdict(ok)}  {text}")
    return all(checks.values())
