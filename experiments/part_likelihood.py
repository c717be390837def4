"""The part `likelihood` of the study: log-likelihoods of the suite's models at the truth, by steps and by filters."""

import dataclasses
import math
import statistics
import tomllib

import cases
from tables import number, verdict

LEVELS = (0, 1, 2, 3, 4)  # of splitting steps, 2^level between observations; the last stands for the limit
FEW = 2  # the level that should do
NEAR = 0.5  # log units
PRECISE = ["--particles", 4096, "--law-particles", 4096, "--repeats", 16]
FILTER = ["--scheme", "splitting", "--level", FEW, "--particles", 256, "--law-particles", 4096, "--repeats", 1]
NOISES = (1, 5, 25)  # times less observation noise than given
SEEDS = 12
QUIET = 1.5  # standard deviation of log p̂, of 200 observed values
ENOUGH = 14  # models of the suite


def steps_row(study, case):
    """The first level whose log-likelihood is near that of the last, and all of them."""
    values = []
    for level in LEVELS:
        command = cases.loglik_command(study.mckean, case, case.truth, ["--scheme", "splitting", "--level", level, *PRECISE])
        result = cases.attempt(command, None).result
        values.append(result and result["loglik"])
    limit = values[-1]
    near = [level for level, value in zip(LEVELS, values) if value and limit
            and abs(value["value"] - limit["value"]) < NEAR + 2 * math.hypot(value["se"], limit["se"])]
    return {"case": case.name, "first": near[0] if near and near[0] < LEVELS[-1] else None,
            "values": [value and value["value"] for value in values]}


def with_less_noise(study, case, factor):
    """The case with data that are observed more precisely; None where no constant says how precisely."""
    if factor == 1:
        return case
    constants = tomllib.loads(case.model.read_text()).get("constants", {}) | case.constants
    if "tau" not in constants:
        return None
    precise = dataclasses.replace(case, constants=case.constants | {"tau": constants["tau"] / factor},
                                  data=study.out / f"{case.name}-{factor}.csv")
    cases.simulate(study.mckean, precise, precise.data)
    return precise


def deviation(study, case, proposal):
    """Of one log p̂, as if 200 values had been observed; infinite where a filter dies."""
    def one(seed):
        options = [*FILTER, "--proposal", proposal, "--seed", seed, *study.threads()]
        done = cases.attempt(cases.loglik_command(study.mckean, case, case.truth, options), None)
        return done.result["loglik"]["value"] if done.status == 0 else None

    values = study.map(one, range(1, (study.seeds or SEEDS) + 1))
    if None in values:
        return math.inf
    observed = sum(bool(cell) for line in case.data.read_text().splitlines()[1:]
                   for cell in line.split(",")[-len(observed_columns(case)):])
    return statistics.stdev(values) * math.sqrt(200 / observed)


def observed_columns(case):
    return [name for name in case.data.read_text().splitlines()[0].split(",") if name not in ("series", "t")]


def likelihood(study):
    """How many steps a log-likelihood takes at the truth, and how noisy filters of 256 particles are with precise data."""
    steps, noise = [], []
    print(f"{'case':<25} {'first':>5}  " + " ".join(f"{f'level {level}':>9}" for level in LEVELS)
          + "   sd with noise" + " ".join(f"{f'/{factor}':>12}" for factor in NOISES) + "  (plain, ahead)")
    for case in cases.read_cases(study.cases, [cases.SUITE]):
        steps.append(steps_row(study, case))
        row = {"case": case.name}
        for factor in NOISES:
            precise = with_less_noise(study, case, factor)
            for proposal in ("plain", "ahead"):
                row[f"{proposal}_{factor}"] = precise and deviation(study, precise, proposal)
        noise.append(row)
        print(f"{case.name:<25} {number(steps[-1]['first'], 'd'):>5}  "
              + " ".join(f"{number(value, '.2f'):>9}" for value in steps[-1]["values"]) + "                "
              + " ".join(f"{number(row[f'plain_{factor}'], '.2f'):>6} {number(row[f'ahead_{factor}'], '.2f'):>5}" for factor in NOISES))
    few = sum(row["first"] is not None and row["first"] <= FEW for row in steps)
    checks = {f"within {NEAR} with {2**FEW} steps: {few} of {len(steps)} models": few >= min(ENOUGH, len(steps))}
    for factor in NOISES:
        best = [min(row[f"plain_{factor}"], row[f"ahead_{factor}"]) for row in noise if row[f"plain_{factor}"] is not None]
        quiet = sum(value <= QUIET for value in best)
        checks[f"noise / {factor}: {quiet} of {len(best)} models at most {QUIET}"] = quiet >= min(ENOUGH, len(best))
    for text, ok in checks.items():
        print(f"{verdict(ok)}  {text}")
    study.write("likelihood", [row | noise[k] for k, row in enumerate(steps)])
    return all(checks.values())
