#!/usr/bin/env python3
"""clang-tidy over every source of the compile database build-lint, skipping what has passed before.

A unit (one compilation, which may hold several sources) that passes leaves a mark named by a hash of all that the result
depends on: the versions of the tools, .clang-tidy, the command, and the name and contents of every file that is read. Losing the marks
costs time only. Sources that are compiled together are also parsed each by itself, so that each includes what it uses.

    tools/tidy.py BUILD_FOLDER [--jobs N] [--times]
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARKS = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "mckean-tidy"
FINDING = re.compile(r"(warning|error):")


class Unit:
    """One entry of the compile database: its command without output, and the sources of ours that it compiles."""

    def __init__(self, entry):
        words = shlex.split(entry["command"])
        at = words.index("-o")
        self.file = pathlib.Path(entry["file"])
        self.folder = entry["directory"]
        self.flags = [word for word in words[:at] + words[at + 2:] if word not in ("-c", entry["file"])]
        self.sources = [self.file]
        if "Unity" in self.file.parts:
            self.sources = [pathlib.Path(name) for name in re.findall(r'#include "(.*)"', self.file.read_text())]

    def name(self):
        return " ".join(str(source.relative_to(ROOT)) for source in self.sources)

    def compiler(self, *arguments):
        return subprocess.run([*self.flags, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True)


class Hashes:
    """Contents of files, each read once."""

    def __init__(self, root):
        self.root, self.known = root, {}

    def of(self, path):
        if path not in self.known:
            self.known[path] = hashlib.sha256(pathlib.Path(path).read_bytes().replace(self.root, b"")).hexdigest()
        return self.known[path]


def key_of(unit, hashes, versions):
    """The hash of everything that clang-tidy reads for this unit, or None where its includes cannot be listed."""
    listed = unit.compiler("-M", "-w", unit.file)
    if listed.returncode:
        return None
    files = sorted(set(listed.stdout.replace("\\\n", " ").split(":", 1)[1].split()))
    parts = [versions, hashes.of(ROOT / ".clang-tidy"), hashes.of(__file__), *unit.flags]
    parts += [f"{name} {hashes.of(name)}" for name in files]
    return hashlib.sha256("\n".join(parts).replace(str(ROOT), "").encode()).hexdigest()


def findings_of(unit, build):
    """What clang-tidy, and the compiler on each source by itself, have to say: empty where nothing."""
    tidy = subprocess.run(["clang-tidy", "-quiet", "-p", str(build), str(unit.file)], capture_output=True, text=True)
    said = tidy.stdout if tidy.returncode or FINDING.search(tidy.stdout) else ""
    if tidy.returncode and not said:
        said = tidy.stderr
    if len(unit.sources) > 1:
        for source in unit.sources:
            alone = unit.compiler("-fsyntax-only", "-w", source)
            said += alone.stderr if alone.returncode else ""
    return said


def examine(unit, build, hashes, versions):
    begun = time.monotonic()
    key = key_of(unit, hashes, versions)
    if key and (MARKS / key).exists():
        (MARKS / key).touch()
        return unit, "", 0.0
    said = findings_of(unit, build)
    if key and not said:
        (MARKS / key).touch()
    return unit, said, time.monotonic() - begun


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--times", action="store_true", help="prints how long each unit took")
    options = parser.parse_args()
    MARKS.mkdir(parents=True, exist_ok=True)
    versions = "".join(subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout
                       for tool in ("clang-tidy", "clang++"))
    entries = json.loads((options.build / "compile_commands.json").read_text())
    hashes = Hashes(str(ROOT).encode())
    failed = done = read = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as crew:
        tasks = [crew.submit(examine, Unit(entry), options.build, hashes, versions) for entry in entries]
        for task in concurrent.futures.as_completed(tasks):
            unit, said, seconds = task.result()
            done += 1
            read += seconds > 0
            if options.times and seconds:
                print(f"{seconds:6.1f} s {unit.name()}", flush=True)
            if said:
                failed += 1
                print(said, flush=True)
    print(f"clang-tidy: {done} units, {read} read, {done - read} as they passed before, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
