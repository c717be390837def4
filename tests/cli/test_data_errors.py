"""Data files that are wrong, or that do not fit the model."""

import unittest

from program import DATA, OU, ProgramTest, changed

SMALL = ("--level", 2, "--particles", 64, "--law-particles", 64, "--repeats", 2)
DENSITY = '"normal(x, 0.5)"'

REFUSED = {
    "empty": ("", "d.csv: ", "empty", "header"),
    "no rows": ("t,y\n", "d.csv:1: ", "add at least one row"),
    "no column y": ("t,z\n1,2\n", "d.csv:1: ", "column 'y' is missing", "'z'"),
    "misspelt column": ("t,Y\n1,2\n", "d.csv:1: ", "did you mean 'Y'?"),
    "no column t": ("time,y\n1,2\n", "d.csv:1: ", "column 't' is missing"),
    "no header": ("1,2\n2,3\n", "d.csv:1: ", "put a header above it"),
    "column twice": ("t,y,y\n1,2,3\n", "d.csv:1: ", "both named 'y'"),
    "text for a number": ("t,y\n1,2\n2,abc\n", "d.csv:3: ", "'abc' is not a number", "leave the field empty"),
    "text for a time": ("t,y\nsoon,1\n", "d.csv:2: ", "'soon' is not a number"),
    "infinite": ("t,y\n1,inf\n", "d.csv:2: ", "infinite"),
    "huge": ("t,y\n1,1e999\n", "d.csv:2: ", "double precision"),
    "decreasing": ("t,y\n2,1\n1,1\n", "d.csv:3: ", "sort the rows"),
    "repeated": ("t,y\n1,1\n1,1\n", "d.csv:3: ", "repeats", "'series'"),
    "repeated within a series": ("series,t,y\na,1,1\nb,1,1\na,1,2\n", "d.csv:4: ", "repeats", "'a'"),
    "negative time": ("t,y\n-1,1\n", "d.csv:2: ", "negative", "shift"),
    "time missing": ("t,y\n,1\n", "d.csv:2: ", "the time is missing"),
    "nothing observed": ("t,y\n1,NA\n2,nan\n3,\n", "d.csv: ", "nothing is observed"),
    "open quote": ('t,y\n1,"2\n', "d.csv:2: ", "never closed"),
    "too few fields": ("t,y\n1\n", "d.csv:2: ", "1 field, but the header has 2"),
    "semicolons": ("t;y\n1;2\n", "d.csv:1: ", "semicolons", "commas"),
    "not UTF-8": (b"t,y\n1,2\n2,\xe9\n", "d.csv:3: ", "0xE9 is not UTF-8", "iconv"),
    "NUL": (b"t,y\n1,2\n\0", "d.csv:3: ", "NUL"),
}

MISFITS = [
    ("poisson(exp(x))", "1.5", "poisson", "whole numbers from 0"),
    ("negative_binomial(exp(x), 2)", "0.5", "negative_binomial", "whole numbers from 0"),
    ("binomial(10, 0.5)", "-1", "binomial", "whole numbers from 0"),
    ("lognormal(x, 1)", "0", "lognormal", "positive"),
]


class DataFiles(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("m.toml", OU)

    def loglik(self, data):
        return self.json("loglik", "m.toml", self.write("d.csv", data), *SMALL)["loglik"]

    def test_refused(self):
        for name, (text, *says) in REFUSED.items():
            self.write("d.csv", text)
            for command in (["loglik", "m.toml", "d.csv", *SMALL], ["check", "m.toml", "d.csv"]):
                with self.subTest(name, command=command[0]):
                    self.refuse(*command, says=says)

    def test_files_that_cannot_be_read(self):
        (self.directory / "folder").mkdir()
        self.refuse("loglik", "m.toml", "no.csv", says=("no.csv: cannot be read", "No such file"))
        self.refuse("loglik", "m.toml", "folder", says=("folder: cannot be read", "Is a directory"))

    def test_values_that_the_density_excludes(self):
        for density, value, *says in MISFITS:
            with self.subTest(density):
                self.write("m.toml", changed(OU, (DENSITY, f'"{density}"')))
                self.write("d.csv", f"t,y\n1,{value}\n")
                self.refuse("loglik", "m.toml", "d.csv", *SMALL, says=["d.csv:2: ", "column 'y'", *says])
                self.refuse("check", "m.toml", "d.csv", says=["d.csv:2: ", *says])

    def test_same_data_however_they_are_saved(self):
        expected = self.loglik(DATA)
        for name, text in {
            "CRLF": DATA.replace("\n", "\r\n"),
            "byte-order mark": "\ufeff" + DATA,
            "quotes": 't,y\n"1","3.1"\n"2",4.4\n3,"5.2"\n',
            "other columns": "y,note,t\n3.1,é,1\n4.4,,2\n5.2,x,3\n",
            "blank lines": "t,y\n\n1,3.1\n2,4.4\n\n3,5.2\n\n",
            "no last line end": DATA[:-1],
        }.items():
            with self.subTest(name):
                self.assertEqual(self.loglik(text), expected)

    def test_missing_values_drop_out(self):
        expected = self.loglik("t,y\n1,3.1\n2,\n3,5.2\n")
        for word in ("NA", "nan", "NaN", '""'):
            with self.subTest(word):
                self.assertEqual(self.loglik(f"t,y\n1,3.1\n2,{word}\n3,5.2\n"), expected)
        self.assertNotEqual(expected, self.loglik(DATA))

    def test_irregular_times_and_the_start(self):
        self.loglik("t,y\n0,0.1\n0.013,0.2\n1,3.1\n7.25,5.2\n")

    def test_series(self):
        twice = self.loglik("series,t,y\na,1,3.1\nb,1,3.3\na,2,4.4\nb,2.5,4.0\n")
        once = self.loglik("t,y\n1,3.1\n2,4.4\n")
        self.assertLess(twice["value"], once["value"])
        self.refuse("loglik", "m.toml", self.write("d.csv", "series,t,y\n,1,2\n"), says=("d.csv:2: ", "label"))


if __name__ == "__main__":
    unittest.main()
