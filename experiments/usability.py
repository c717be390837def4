"""What makes the answer of a fit usable, and what makes a set of answers good enough. Estimates and log-likelihoods are
entries of the program's JSON."""

import math
import statistics

NEAR = 4  # standard errors between estimate and truth
ERRORS = 3  # combined Monte Carlo errors by which a log-likelihood may be the lower one
SLACK = 0.5  # further units by which that of an estimate may be below the truth's
USABLE = 0.9  # share of all fits
SECONDS, MEDIAN_SECONDS = 60, 25
MEAN_Z = 0.7  # of 20 seeds: three of its own standard deviations
SE_TOLERANCE = 0.1  # by which mean standard error and exact one may differ
MC_SHARE = 0.15  # of the standard error that the Monte Carlo error may have


def contains(estimate, truth):
    """Whether the interval does; a bound that is missing is infinite."""
    lower, upper = estimate.get("lower"), estimate.get("upper")
    return (lower is None or lower <= truth) and (upper is None or truth <= upper)


def near(estimate, truth):
    """Whether an estimate agrees with the truth. At a bound its standard error says little, and the interval counts."""
    if estimate["std_error"] is None or estimate.get("at_bound"):
        return contains(estimate, truth)
    return abs(estimate["value"] - truth) <= NEAR * estimate["std_error"]


def not_lower(own, other, slack=0.0):
    return own["value"] >= other["value"] - ERRORS * math.hypot(own["se"], other["se"]) - slack


def judgement(status, result, truth, at_estimate, at_truth):
    """'usable'; 'wrong': given with confidence, and not usable; 'none': the program says that there is no answer. The
    last two are log-likelihoods, None where they could not be had."""
    if status != 0:
        return "none"
    known = result is not None and at_estimate is not None and at_truth is not None
    good = (known and all(near(result["estimate"][name], value) for name, value in truth.items())
            and not_lower(at_estimate, at_truth, SLACK))
    return "usable" if good else "wrong"


def summary(rows):
    """Over all fits, by their `judgement` and `seconds`: each figure, and whether it is good enough."""
    share = sum(row["judgement"] == "usable" for row in rows) / len(rows)
    wrong = sum(row["judgement"] == "wrong" for row in rows)
    longest = max(row["seconds"] for row in rows)
    median = statistics.median(row["seconds"] for row in rows)
    return {f"usable: {share:.0%}, at least {USABLE:.0%}": share >= USABLE,
            f"confidently wrong: {wrong}, none allowed": wrong == 0,
            f"longest: {longest:.1f} s, under {SECONDS}": longest < SECONDS,
            f"median: {median:.1f} s, under {MEDIAN_SECONDS}": median < MEDIAN_SECONDS}


def keeps_up(fit, baseline):
    """Whether a fit is not lower than the baseline, in no more time; a `loglik` of None is lower than any."""
    if fit["loglik"] is None:
        return False
    higher = baseline["loglik"] is None or not_lower(fit["loglik"], baseline["loglik"])
    return higher and fit["seconds"] <= baseline["seconds"]


def over_seeds(estimates, exact):
    """Estimates of one parameter with several seeds against the exact one."""
    errors = [estimate["mc_se"] for estimate in estimates]
    if not estimates or not all(errors) or any(estimate["std_error"] is None for estimate in estimates):
        return {"mean_z": None, "std_error": None, "mc_se": None, "z_ok": False, "std_error_ok": False, "mc_se_ok": False}
    mean_z = statistics.fmean((e["value"] - exact["value"]) / e["mc_se"] for e in estimates)
    std_error = statistics.fmean(e["std_error"] for e in estimates)
    mc_se = statistics.fmean(errors)
    return {"mean_z": mean_z, "std_error": std_error, "mc_se": mc_se, "z_ok": abs(mean_z) < MEAN_Z,
            "std_error_ok": abs(std_error / exact["std_error"] - 1) <= SE_TOLERANCE,
            "mc_se_ok": mc_se <= MC_SHARE * exact["std_error"]}
