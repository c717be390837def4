"""The command lines of a page: a fenced block of `toml` or `csv` after "NAME:" is a file, and in a block of `console` what
follows "$ " is run and what comes after it is the output. `python3 guide.py PAGE` writes what the program now prints into the page."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"(?:`([\w-]+\.\w+)`:\n\n)?^```(toml|csv|console)\n(.*?)^```$", re.S | re.M)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.M)
PROGRESS = re.compile(r"^mckean: .*, \d+ tasks, .*\n", re.M)  # comes when a command takes long


def prepare(page, folder):
    """Writes the files that the page shows, by name, into the folder."""
    for name, _, text in BLOCK.findall(page):
        if name:
            (folder / name).write_text(text)


def commands(page):
    """Pairs of a command line and the output that the page shows."""
    return [pair for _, kind, text in BLOCK.findall(page) if kind == "console" for pair in COMMAND.findall(text)]


def run(command, folder, program):
    """Exit status and what a terminal shows."""
    path = f"{pathlib.Path(program).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=300,
        check=False,
    )
    lines = PROGRESS.sub("", done.stdout.decode()).splitlines()
    return done.returncode, "".join(line.rstrip() + "\n" for line in lines)


def update(file, program):
    page = file.read_text()
    with tempfile.TemporaryDirectory() as name:
        prepare(page, pathlib.Path(name))

        def printed(match):
            return f"$ {match[1]}\n{run(match[1], name, program)[1]}"

        def block(match):
            if match[2] != "console":
                return match[0]
            return match[0].replace(match[3], COMMAND.sub(printed, match[3]))

        file.write_text(BLOCK.sub(block, page))


if __name__ == "__main__":
    update(pathlib.Path(sys.argv[1]), os.path.abspath(os.environ["MCKEAN"]))
