#!/usr/bin/python3
"""A maximum-likelihood estimate by nothing but `mckean loglik`, one process an evaluation: what a fit has to beat.

    baseline.py MODEL DATA --set NAME=VALUE ... --level 4

CMA-ES over cheap log-likelihoods finds the region of the maximum; a quadratic through dearer ones there gives maximum
and information. Parameters are measured in units of their starts, with bounds as constraints: on a logarithmic scale
the likelihood of a coupling strength near 0 is flat. Prints JSON.
"""

import argparse
import concurrent.futures
import itertools
import json
import math
import os
import subprocess
import time
import tomllib

import numpy as np

POPULATION, GENERATIONS, SPREAD = 12, 45, 0.6
SEARCH = (256, 1000)  # particles of filter and law
REFINE = (1024, 4000)
ROUNDS = (80, 120, 300)  # evaluations of each quadratic
FAILED = -1e10
MARGIN = 1e-4  # bounds themselves are not allowed
FLAT = 0.05  # curvature, per squared standard deviation of the points, below which a direction is not determined


class Likelihood:
    """log p̂ in scaled coordinates u = θ/scale; every evaluation has a seed of its own."""

    def __init__(self, options):
        self.options, self.evaluations = options, 0
        given = dict(word.split("=", 1) for word in options.set)
        with open(options.model, "rb") as file:
            entries = tomllib.load(file)["parameters"]
        entries = {name: e if isinstance(e, dict) else {"start": e} for name, e in entries.items()}
        self.names = list(entries)
        self.constants = [f"{name}={value}" for name, value in given.items() if name not in entries]
        start = np.array([float(given.get(name, e["start"])) for name, e in entries.items()])
        self.scale = np.where(start != 0, np.abs(start), 0.5)
        self.start = start / self.scale
        self.lower = np.array([e.get("lower", -math.inf) for e in entries.values()]) / self.scale
        self.upper = np.array([e.get("upper", math.inf) for e in entries.values()]) / self.scale
        self.pool = concurrent.futures.ThreadPoolExecutor(options.jobs)

    def inside(self, points):
        return np.clip(points, self.lower + MARGIN, self.upper - MARGIN)

    def reflected(self, points):
        """Points beyond a bound come back from it, so that samples near it are not heaped upon it."""
        points = np.where(points < self.lower, 2 * self.lower - points, points)
        return self.inside(np.where(points > self.upper, 2 * self.upper - points, points))

    def one(self, u, seed, particles, law):
        sets = [*self.constants, *(f"{name}={float(x)!r}" for name, x in zip(self.names, u * self.scale))]
        command = [self.options.mckean, "loglik", self.options.model, self.options.data, "--json", "--threads", 1,
                   "--level", self.options.level, "--particles", particles, "--law-particles", law, "--repeats", 1,
                   "--seed", seed, *(word for text in sets for word in ("--set", text))]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
        return json.loads(done.stdout)["loglik"]["value"] if done.returncode == 0 else FAILED

    def __call__(self, points, particles, law):
        seeds = range(self.evaluations + 1, self.evaluations + 1 + len(points))
        self.evaluations += len(points)
        return np.array(list(self.pool.map(lambda u, seed: self.one(u, seed, particles, law), points, seeds)))


def evolve(likelihood, rng):
    """CMA-ES with the usual constants (Hansen, arXiv:1604.00772): mean and covariance of its last generation."""
    k, parents = len(likelihood.start), POPULATION // 2
    weights = math.log(parents + 0.5) - np.log(np.arange(1, parents + 1))
    weights /= weights.sum()
    mass = 1 / (weights**2).sum()
    c_sigma = (mass + 2) / (k + mass + 5)
    damping = 1 + c_sigma + 2 * max(0, math.sqrt((mass - 1) / (k + 1)) - 1)
    c_path = (4 + mass / k) / (k + 4 + 2 * mass / k)
    c_one = 2 / ((k + 1.3) ** 2 + mass)
    c_mu = min(1 - c_one, 2 * (mass - 2 + 1 / mass) / ((k + 2) ** 2 + mass))
    length = math.sqrt(k) * (1 - 1 / (4 * k) + 1 / (21 * k * k))  # of a standard normal vector
    mean, sigma, shape = likelihood.start, SPREAD, np.eye(k)
    path_sigma, path = np.zeros(k), np.zeros(k)
    for generation in range(GENERATIONS):
        root = np.linalg.cholesky(shape)
        points = mean + sigma * rng.standard_normal((POPULATION, k)) @ root.T
        allowed = likelihood.inside(points)
        values = likelihood(allowed, *SEARCH) - 20 * ((points - allowed) ** 2).sum(1)
        steps = (points[np.argsort(-values)[:parents]] - mean) / sigma
        step = weights @ steps
        mean = mean + sigma * step
        path_sigma = (1 - c_sigma) * path_sigma + math.sqrt(c_sigma * (2 - c_sigma) * mass) * np.linalg.solve(root, step)
        norm = np.linalg.norm(path_sigma)
        usual = norm / math.sqrt(1 - (1 - c_sigma) ** (2 * generation + 2)) < (1.4 + 2 / (k + 1)) * length
        path = (1 - c_path) * path + usual * math.sqrt(c_path * (2 - c_path) * mass) * step
        shape = (1 - c_one - c_mu) * shape + c_one * np.outer(path, path) + c_mu * (steps.T * weights) @ steps
        shape = (shape + shape.T) / 2 + 1e-12 * np.eye(k)
        sigma = min(2, sigma * math.exp(c_sigma / damping * (norm / length - 1)))
    return likelihood.inside(mean), sigma**2 * shape


def quadratic(z, values, weights):
    """Gradient and negative Hessian at z = 0 of the least-squares quadratic."""
    k = z.shape[1]
    pairs = list(itertools.combinations_with_replacement(range(k), 2))
    design = np.stack([np.ones(len(z)), *z.T, *(z[:, i] * z[:, j] for i, j in pairs)], 1)
    fitted = np.linalg.lstsq(design * weights[:, None], values * weights, rcond=None)[0]
    information = np.zeros((k, k))
    for (i, j), coefficient in zip(pairs, fitted[1 + k:]):
        information[i, j] -= coefficient
        information[j, i] -= coefficient
    return fitted[1:1 + k], information


def refine(likelihood, rng, at, covariance):
    """Newton steps on quadratics through all points near the top: maximum, covariance, whether it is determined."""
    k, determined = len(at), False
    points, values = np.empty((0, k)), np.empty(0)
    for count in ROUNDS:
        root = np.linalg.cholesky(covariance + 1e-14 * np.eye(k))
        new = likelihood.reflected(at + 1.4 * rng.standard_normal((count, k)) @ root.T)
        points, values = np.concatenate([points, new]), np.concatenate([values, likelihood(new, *REFINE)])
        top = np.sort(values)[-max(5, len(values) // 20):].mean()
        near = values > top - 6 - k
        if near.sum() < (k + 1) * (k + 2) + 10:  # two points a coefficient, and some
            at, covariance = points[np.argmax(values)], 0.3 * covariance
            continue
        z = np.linalg.solve(root, (points[near] - at).T).T
        gradient, information = quadratic(z, values[near], 1 / np.sqrt(1 + np.maximum(0, top - values[near])))
        curvature, axes = np.linalg.eigh(information)
        determined = bool(curvature.min() >= FLAT)
        inverse = (axes / np.maximum(curvature, FLAT)) @ axes.T
        step = inverse @ gradient
        at = likelihood.inside(at + root @ step * min(1, 3 / max(np.linalg.norm(step), 1e-9)))
        covariance = root @ inverse @ root.T
    return at, covariance, determined


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("data")
    parser.add_argument("--set", action="append", default=[], help="NAME=VALUE: start of a parameter, or a constant")
    parser.add_argument("--level", type=int, default=4)
    parser.add_argument("--mckean", default="build/mckean")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="evaluations at a time")
    options = parser.parse_args()
    begin, rng = time.monotonic(), np.random.default_rng(options.seed)
    likelihood = Likelihood(options)
    at, covariance, determined = refine(likelihood, rng, *evolve(likelihood, rng))
    errors = np.sqrt(np.diag(covariance)) * likelihood.scale
    estimate = {name: {"value": value, "std_error": error}
                for name, value, error in zip(likelihood.names, (at * likelihood.scale).tolist(), errors.tolist())}
    print(json.dumps({"estimate": estimate, "determined": determined, "evaluations": likelihood.evaluations,
                      "level": options.level, "seconds": time.monotonic() - begin}))


if __name__ == "__main__":
    main()
