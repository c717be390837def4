"""The cases of benchmark and suite: configuration, data, and the commands that are run on them."""

import csv
import dataclasses
import hashlib
import json
import pathlib
import random
import subprocess
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[1]
# A collection is a folder with cases/NAME.toml and data/NAME.csv, and exact.json where exact answers are known.
BENCHMARK = ROOT / "experiments" / "benchmark"
SUITE = ROOT / "experiments" / "suite"
LINEAR = SUITE / "linear"
STARTS = ROOT / "experiments" / "starts"
COLLECTIONS = (BENCHMARK, SUITE, LINEAR, STARTS)


@dataclasses.dataclass
class Case:
    """One file of a collection's cases. `exact` is None where no exact answer is known."""

    name: str
    collection: pathlib.Path
    about: str
    model: pathlib.Path
    data: pathlib.Path
    truth: dict
    simulate: dict
    starts: list = dataclasses.field(default_factory=list)
    constants: dict = dataclasses.field(default_factory=dict)
    exact: dict | None = None


def read_case(file):
    file = pathlib.Path(file)
    text = tomllib.loads(file.read_text())
    text["model"] = ROOT / text["model"]
    collection = file.parents[1]
    case = Case(name=file.stem, collection=collection, data=collection / "data" / f"{file.stem}.csv", **text)
    for start in case.starts:
        if start.keys() != case.truth.keys():
            raise ValueError(f"{file}: a start must name the parameters of truth")
    return case


def read_cases(names=(), collections=(BENCHMARK,)):
    """The named cases of the collections, or all."""
    files = [file for collection in collections for file in sorted((collection / "cases").glob("*.toml"))]
    unknown = set(names) - {file.stem for file in files}
    if unknown:
        raise ValueError(f"no such case: {', '.join(sorted(unknown))}")
    return [read_case(file) for file in files if not names or file.stem in names]


def settings(*tables):
    """--set options for all entries of the tables."""
    return [word for table in tables for name, value in table.items() for word in ("--set", f"{name}={value!r}")]


class Failed(Exception):
    """A command that ended with a status other than 0, with its status and message."""

    def __init__(self, command, status, message):
        super().__init__(f"{' '.join(map(str, command))}: status {status}: {message.strip()}")
        self.status, self.message = status, message


def run_json(command, timeout=None):
    """What a command prints, as JSON."""
    command = [str(word) for word in command]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    if done.returncode != 0:
        raise Failed(command, done.returncode, done.stderr)
    return json.loads(done.stdout)


@dataclasses.dataclass
class Attempt:
    """What became of a command. `status` is None if time ran out, `result` if what it printed is not JSON."""

    status: int | None
    result: dict | None
    seconds: float
    message: str


def attempt(command, timeout):
    """Runs a command that may fail, be late, or print an answer that is not to be relied on."""
    begin = time.monotonic()
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=timeout,
                              check=False)
    except subprocess.TimeoutExpired:
        return Attempt(None, None, time.monotonic() - begin, f"no answer within {timeout} s")
    seconds = time.monotonic() - begin
    try:
        result = json.loads(done.stdout)
    except ValueError:
        result = None
    return Attempt(done.returncode, result, seconds, done.stderr.strip())


def fit_command(mckean, case, start, options=()):
    return [mckean, "fit", case.model, case.data, "--json", "--no-run", *settings(case.constants, start), *options]


def loglik_command(mckean, case, values, options):
    return [mckean, "loglik", case.model, case.data, "--json", *settings(case.constants, values), *options]


def exact_command(program, case, level):
    """mckean_exact, which shares no code with mckean; or the quadrature of mckean beside it, which is faster."""
    if case.exact["family"] == "quadrature":
        options = ["--estimator", "quadrature", "--levels", f"{level}:{level}"]
        return fit_command(program.with_name("mckean"), case, case.truth, options)

    def assignments(*tables):
        return ",".join(f"{name}={value!r}" for table in tables for name, value in table.items())

    fixed = assignments(case.constants, case.exact.get("constants", {}))
    return [program, case.exact["family"], case.data, "--level", level, "--free", assignments(case.truth),
            "--fixed", fixed]


class ExactAnswers:
    """Exact answers by case and level. Those kept with a collection are used as long as the inputs are what they were."""

    def __init__(self, program):
        self.program, self.known = program, {}

    def answers(self, case):
        file = case.collection / "exact.json"
        if file not in self.known:
            self.known[file] = json.loads(file.read_text()) if file.exists() else {}
        return self.known[file].setdefault(case.name, {})

    def __call__(self, case, level):
        """The answer, or None where there is none."""
        if not case.exact:
            return None
        command = exact_command(self.program, case, level)
        words = [command[1], *(word for word in command[2:] if word not in (case.model, case.data))]
        inputs = " ".join(map(str, words)).encode() + case.data.read_bytes()
        digest = hashlib.sha256(inputs).hexdigest()[:16]
        answers = self.answers(case)
        if answers.get(str(level), {}).get("inputs") != digest:
            answer = run_json(command)
            answers[str(level)] = {key: answer[key] for key in ("estimate", "loglik")} | {"inputs": digest}
        return answers[str(level)]

    def save(self):
        for file, known in self.known.items():
            file.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


def irregular_times(count, seed):
    """`count` times with gaps from 0.25 to 1.75, to two decimals."""
    draw = random.Random(seed)
    times = [0.0]
    while len(times) <= count:
        times.append(round(times[-1] + draw.uniform(0.25, 1.75), 2))
    return times[1:]


def simulate(mckean, case, out, seed=None):
    """Writes data of a case: the truth, at level 8, as its `simulate` table says."""
    plan = case.simulate
    seed = plan["seed"] if seed is None else seed
    times = plan.get("times")
    if "irregular" in plan:
        times = ",".join(map(str, irregular_times(plan["irregular"], seed)))
    command = [mckean, "simulate", case.model, "--times", times, "--series", plan.get("series", 1), "--level", 8,
               "--seed", seed, "--out", out, "--json", *settings(case.constants, case.truth)]
    run_json(command)
    if "missing" in plan:
        blank_values(out, plan["missing"], seed)


def blank_values(file, count, seed):
    """Empties `count` values of the column y."""
    with open(file, newline="", encoding="utf-8") as source:
        rows = list(csv.DictReader(source))
    for row in random.Random(seed).sample(rows, count):
        row["y"] = ""
    with open(file, "w", newline="", encoding="utf-8") as target:
        writer = csv.DictWriter(target, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
