"""The part `linear` of the study: the particle engine over seeds against exact answers at its own level."""

import cases
import usability
from tables import number, verdict

LEVEL = 4
SEEDS = 20
OPTIONS = ["--engine", "particles", "--levels", f"{LEVEL}:{LEVEL}"]


def linear(study):
    """The particle engine on linear models over seeds, against a Kalman filter at the same level."""
    ok, rows = True, []
    print(f"{'case':<12} {'parameter':<9} {'fits':>4} {'exact':>9} {'mean z':>7} {'ok':>4} {'s.e.':>8} {'exact':>8} {'ok':>4} "
          f"{'mc_se':>8} {'ok':>4}")
    for case in cases.read_cases(study.cases, [cases.LINEAR]):
        exact = study.exact(case, LEVEL)["estimate"]

        def fit(seed, case=case):
            options = [*OPTIONS, "--seed", seed, *study.threads(), *study.fit_options]
            return cases.attempt(cases.fit_command(study.mckean, case, case.starts[0], options), None)

        done = study.map(fit, range(1, (study.seeds or SEEDS) + 1))
        refused = [one for one in done if one.status != 0]
        for message in dict.fromkeys(one.message for one in refused):
            print(f"{case.name}: {message}")
        ok &= not refused
        for name in case.truth:
            estimates = [one.result["estimate"][name] for one in done if one.status == 0]
            row = usability.over_seeds(estimates, exact[name])
            ok &= row["z_ok"] and row["std_error_ok"] and row["mc_se_ok"]
            rows.append({"case": case.name, "parameter": name, "fits": len(estimates), "exact": exact[name]["value"],
                         "exact_std_error": exact[name]["std_error"]} | row)
            print(f"{case.name:<12} {name:<9} {len(estimates):>4} {exact[name]['value']:>9.5f} "
                  f"{number(row['mean_z'], '.2f'):>7} {verdict(row['z_ok'])} {number(row['std_error'], '.4g'):>8} "
                  f"{exact[name]['std_error']:>8.4g} {verdict(row['std_error_ok'])} {number(row['mc_se'], '.2g'):>8} "
                  f"{verdict(row['mc_se_ok'])}")
    study.write("linear", rows)
    return ok
