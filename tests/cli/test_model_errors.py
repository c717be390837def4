"""Model files that are wrong: each is refused with one message that shows the place."""

import unittest

from program import OU, ProgramTest, changed

DRIFT, DIFFUSION, KERNEL, DENSITY = '"kappa*(mu - x) + pull"', '"s"', '"x\' - x"', '"normal(x, 0.5)"'
STATE, CONSTANT = "x = 0.0", "s = 1.0"


def drift(text):
    return changed(OU, (DRIFT, f'"{text}"'))


def two_states(drift_of_x, x="x = { size = 3, start = 0 }", diffusion=""):
    return changed(
        OU,
        (STATE, x + "\nz = { size = 2, start = 0 }"),
        ("x = " + DRIFT, drift_of_x + '\nz = "1"'),
        ("x = " + DIFFUSION, diffusion or 'x = "s"\nz = "s"'),
    )


# In each text ¦ marks where the caret must stand; then what the message must say.
EXPRESSIONS = [
    ("¦kapa*x", "unknown name 'kapa'", "did you mean 'kappa'?"),
    ("x + ¦wobble", "unknown name 'wobble'", "known here are kappa, mu, pull, s, t, x, pi"),
    ("¦sin(x, 1)", "sin takes 1 argument, not 2"),
    ("1 + ¦max(x)", "max takes 2 arguments, not 1"),
    ("¦sin()", "sin takes 1 argument, not 0"),
    ("¦sine(x)", "there is no function 'sine'", "did you mean 'sin'?"),
    ("¦foo(x)", "there is no function 'foo'", "sigmoid"),
    ("¦sin + 1", "needs its arguments in parentheses"),
    ("¦x(1)", "'x' is no function", "*"),
    ("¦x' - x", "belong in [interaction]"),
    ("x - ¦y", "belongs in [observation] only"),
    ("x¦[1]", "no vector"),
    ("¦", "empty", "write a formula"),
    ("¦   ", "empty"),
    ("2*¦(x + 1", "'(' is not closed"),
    ("sin¦(x", "'(' is not closed"),
    ("x + 1¦)", "no '(' for this ')'"),
    ("2¦x", "operator is missing before 'x'", "*"),
    ("2 ¦x", "operator is missing"),
    ("(x)¦(x)", "operator is missing"),
    ("x¦**2", "^"),
    ("x ¦= 1", "equality is written =="),
    ("if(x ¦= 1, 2, 3)", "equality is written =="),
    ("if(0 < x ¦< 1, 2, 3)", "do not chain"),
    ("0 == x ¦== 1", "do not chain"),
    ("if(x > 0 ¦&& x < 1, 1, 2)", "no operator", "both conditions"),
    ("x +¦", "expected, not the end"),
    ("¦* x", "expected, not '*'"),
    ("sin(x,¦)", "expected, not ')'"),
    ("1¦,5*x", "decimal needs a point"),
    ("x ¦% 2", "'%' is not understood"),
    ("¦1e400*x", "range of double precision"),
    ("x + ¦ä", "outside ASCII"),
    ("x ¦− 1", "outside ASCII"),
    ("¦polygamma(x, 1)", "whole number"),
]

MODELS = {
    "not TOML": (changed(OU, (CONSTANT, "s = ¦= 1")), "not TOML", "a number, or text in quotes"),
    "open quote": (changed(OU, ('"ou"', '"modèle¦')), "is the closing quote missing?"),
    "a key twice": (changed(OU, ("mu = 5.0", "mu = 5.0\nmu = ¦6")), "cannot redefine", "remove or rename"),
    "a section twice": (OU + "¦[state]\nz = 1\n", "cannot redefine"),
    "huge number": (changed(OU, (CONSTANT, "s = 1e400¦")), "double precision"),
    "huge whole number": (changed(OU, (CONSTANT, "s = 99999999999999999999¦")), "exponent"),
    "unknown section": (changed(OU, ("[constants]", "[¦constant]")), "unknown key", "did you mean 'constants'?"),
    "unknown key": ("¦wibble = 3\n" + OU, "unknown key 'wibble'", "known here are state, parameters"),
    "unknown bound": (changed(OU, ("upper", "¦uper")), "unknown key 'uper' of 'kappa'", "'upper'"),
    "unknown state": (changed(OU, (DRIFT, DRIFT + '\n¦z = "1"')), "unknown key 'z' in [drift]", "no such state"),
    "unknown density key": (changed(OU, (DENSITY, '{ ¦log_densty = "x" }')), "did you mean 'log_density'?"),
    "section is a number": ("state = ¦3\n" + changed(OU, ("[state]\nx = 0.0\n", "")), "write [state]"),
    "name is a number": (changed(OU, ('"ou"', "¦3")), "'name' must be text in quotes"),
    "distribution's arguments": (changed(OU, (DENSITY, '"¦normal(x)"')), "normal takes 2 arguments (mean, sd), not 1"),
    "misspelt distribution": (changed(OU, (DENSITY, '"  ¦nromal(x, 1)"')), "did you mean 'normal'?"),
    "unknown distribution": (changed(OU, (DENSITY, '"¦gaussian(x, 1)"')), "known here are normal, student_t"),
    "no distribution": (changed(OU, (DENSITY, '"¦x + 1"')), "normal(x, 1) is expected"),
    "number as distribution": (changed(OU, (DENSITY, "¦3")), "a distribution in quotes is expected"),
    "parameter in diffusion": (changed(OU, (DIFFUSION, '"1 + ¦kappa"')), "cannot contain a parameter", "a constant"),
    "interaction in diffusion": (changed(OU, (DIFFUSION, '"1 + ¦pull"')), "must not depend on the law"),
    "interaction in observation": (changed(OU, (DENSITY, '"normal(¦pull, 1)"')), "must not depend on the law"),
    "parameter without noise": (
        changed(OU, (DIFFUSION, "0"), ("x = " + DRIFT, '¦x = "kappa - x"')),
        "neither a parameter nor an interaction",
    ),
    "interaction without noise": (
        changed(OU, (DIFFUSION, "0"), ("x = " + DRIFT, '¦x = "pull"')),
        "neither a parameter nor an interaction",
    ),
    "interaction of an interaction": (
        changed(OU, (KERNEL, '"x\' - ¦other"\nother = "x\'"')),
        "an interaction must not refer to an interaction",
    ),
    "interaction of itself": (changed(OU, (KERNEL, '"¦pull*x\'"')), "must not refer to an interaction"),
    "singular matrix": (
        changed(
            OU, (STATE, "x = 0.0\nz = 1"), (DRIFT, DRIFT + '\nz = "1"'), ("x = " + DIFFUSION, 'x = ["s", "s"]\n¦z = [1, 1]')
        ),
        "singular",
        "linearly dependent",
    ),
    "no noise at the start": (changed(OU, ("x = " + DIFFUSION, '¦x = "x"')), "is 0 at the start", "start elsewhere"),
    "infinite noise": (changed(OU, ("x = " + DIFFUSION, '¦x = "1/x"')), "is inf at the start"),
    "undefined noise": (changed(OU, ("x = " + DIFFUSION, '¦x = "sqrt(x - 1)"')), "not a number at the start"),
    "row of a matrix": (changed(OU, ("x = " + DIFFUSION, '¦x = ["s", 1]')), "has 2 entries", "one entry for each"),
    "array of a wrong size": (changed(OU, (CONSTANT, "s = ¦[1, 2]")), "2 entries", "size of no state"),
    "empty array": (changed(OU, (CONSTANT, "¦s = []")), "empty"),
    "text in an array": (changed(OU, (CONSTANT, 's = [1, ¦"a"]')), "must be a number"),
    "starts of a wrong number": (changed(OU, (STATE, "x = { size = 3, start = ¦[1, 2] }")), "3 components", "2 entries"),
    "size 0": (changed(OU, (STATE, "x = { size = ¦0, start = 1 }")), "whole number from 1"),
    "huge size": (changed(OU, (STATE, "x = { size = ¦1000000000, start = 1 }")), "whole number from 1"),
    "vectors of two sizes": (two_states('¦x = "x*z"'), "'x' has 3 components and 'z' has 2", "mean("),
    "vector for a number": (two_states('¦x = "z"', x=STATE), "2 components, but 'x' has 1"),
    "component beyond": (two_states('x = "z¦[3]"'), "components 1 to 2, not 3"),
    "primed observation": (changed(OU, (DENSITY, '"normal(¦x\', 1)"')), "belong in [interaction]"),
    "primed parameter": (changed(OU, (KERNEL, '"¦kappa\' - x"')), "only a state has a prime"),
    "declared twice": (changed(OU, (CONSTANT, "s = 1.0\nmu = 2"), ("mu = 5.0", "¦mu = 5.0")), "already, in [constants]"),
    "observation named as a state": (changed(OU, ("y = ", "¦x = ")), "declared already, in [state]"),
    "no name": (changed(OU, (CONSTANT, 's = 1.0\n¦"a b" = 2')), "'a b' is no name", "use letters"),
    "start below": (changed(OU, ("kappa = { start = 1.0", "¦kappa = { start = -1")), "between its bounds 0 and 9"),
    "bounds exchanged": (changed(OU, ("kappa = ", "¦kappa = "), ("upper = 9", "upper = -9")), "not below"),
    "no start": (changed(OU, ("{ start = 1.0, ", "¦{ ")), "needs a start"),
    "parameter as text": (changed(OU, ("mu = 5.0", 'mu = ¦"5"')), "must be a number, without quotes"),
    "infinite parameter": (changed(OU, ("mu = 5.0", "mu = ¦inf")), "finite"),
    "undefined parameter": (changed(OU, ("mu = 5.0", "mu = ¦nan")), "finite"),
    "start from a parameter": (changed(OU, (STATE, 'x = "normal(¦mu, 1)"')), "numbers and constants"),
    "start's arguments": (changed(OU, (STATE, 'x = "¦normal(0)"')), "normal takes 2 arguments"),
    "start from elsewhere": (changed(OU, (STATE, 'x = "¦poisson(3)"')), "a number or normal(mean, sd)"),
    "negative deviation": (changed(OU, (STATE, 'x = ¦"normal(0, -1)"')), "not negative"),
    "infinite start": (changed(OU, (STATE, 'x = ¦"1/0"')), "finite"),
    "drift missing": (changed(OU, ("[drift]\nx = " + DRIFT + "\n", "")), "the drift of 'x' is missing", "[drift]"),
    "drift line missing": (changed(OU, ("[drift]\nx = " + DRIFT, "¦[drift]")), "the drift of 'x' is missing"),
    "diffusion missing": (changed(OU, ("[diffusion]\nx = " + DIFFUSION + "\n", "")), "the diffusion of 'x' is missing"),
    "observation missing": (changed(OU, ("[observation]\ny = " + DENSITY + "\n", "")), "no observation", "add"),
    "state missing": (changed(OU, ("[state]\nx = 0.0\n", "")), "no state", "add a section [state]"),
    "nothing": ("", "no state"),
    "over several lines": (changed(OU, (DRIFT, '"""\n  kappa*(mu - x)\n   + ¦pulll"""')), "did you mean 'pull'?"),
    "several lines, CRLF": (
        changed(OU, (DRIFT, "'''kappa*(mu - x)\n   + ¦pulll'''")).replace("\n", "\r\n"),
        "did you mean 'pull'?",
    ),
    "byte-order mark": ("\ufeff¦nam = 3\n" + OU, "did you mean 'name'?"),
}


class Refused(ProgramTest):
    def test_expressions(self):
        for text, *says in EXPRESSIONS:
            with self.subTest(text):
                self.refuse_model(drift(text), *says)

    def test_models(self):
        for name, (text, *says) in MODELS.items():
            with self.subTest(name):
                self.refuse_model(text, *says)

    def test_reserved_names(self):
        for word in ("t", "pi", "series", "sin", "if", "mean"):
            with self.subTest(word):
                self.refuse_model(changed(OU, (CONSTANT, f"s = 1.0\n¦{word} = 2")), f"'{word}'", "choose another name")
        for word in ("t", "series"):
            with self.subTest(observed=word):
                self.refuse_model(changed(OU, ("y = ", f"¦{word} = ")), f"'{word}'", "choose another name")

    def test_expressions_that_are_too_large(self):
        for text in ("(" * 1000 + "x" + ")" * 1000, "-" * 1000 + "x", "^".join(["x"] * 1000), "x" + "+x" * 15000):
            with self.subTest(text[:10]):
                message = self.refuse("check", self.write("m.toml", drift(text)), says="m.toml:12:")
                self.assertRegex(message, "nested too deeply; simplify|longer than 20000 characters; split")
                self.assertLess(len(message), 500)
                line, caret = message.splitlines()[1:]
                self.assertLess(caret.index("^"), len(line))

    def test_escapes_and_tabs_keep_the_caret_in_place(self):
        message = self.refuse("check", self.write("m.toml", changed(OU, (DRIFT, r'"x +\t kapa"'))))
        self.assertTrue(message.endswith("\n    x +  kapa\n         ^\n"), message)
        message = self.refuse("check", self.write("m.toml", changed(OU, (DRIFT, '\t"x +\tkapa"'))))
        self.assertTrue(message.endswith('\n    x =  "x + kapa"\n              ^\n'), message)

    def test_bytes_that_are_not_utf8(self):
        text = changed(OU, ('"ou"', '"é@u"')).encode().replace(b"@", b"\xff")
        message = self.refuse("check", self.write("m.toml", text), says=("m.toml:1:10: ", "0xFF is not UTF-8", "iconv"))
        self.assertTrue(message.endswith('\n    name = "é?u"\n             ^\n'), message)
        self.refuse("check", self.write("m.toml", OU.encode("utf-16")), says=("m.toml: ", "UTF-16", "iconv"))
        self.refuse("check", self.write("m.toml", OU.encode() + b"\0\n"), says="m.toml:17:1: not TOML")

    def test_files_that_cannot_be_read(self):
        (self.directory / "folder").mkdir()
        self.refuse("check", "no.toml", says=("no.toml: cannot be read", "No such file", "check its name"))
        self.refuse("check", "folder", says=("folder: cannot be read", "Is a directory"))


class Accepted(ProgramTest):
    def test_same_model_however_it_is_saved(self):
        expected = self.json("check", self.write("m.toml", OU))
        several_lines = changed(OU, (DRIFT, '"""\n  kappa*(mu - x)\n   + pull"""'))
        for name, text in {
            "byte-order mark": "\ufeff" + OU,
            "CRLF": OU.replace("\n", "\r\n"),
            "both": "\ufeff" + OU.replace("\n", "\r\n"),
            "several lines": several_lines,
            "several lines, CRLF": several_lines.replace("\n", "\r\n"),
            "comments beyond ASCII": OU.replace("\n", "  # über\n"),
        }.items():
            with self.subTest(name):
                found = self.json("check", self.write("m.toml", text))
                del found["cost"], expected["cost"]
                self.assertEqual(found, expected)
                expected["cost"] = {}

    def test_starts(self):
        for text in ("normal(s, 2*s)", " normal (0, 1)", "s/2", "-1", "normal_start + sin(0)"):
            with self.subTest(text):
                model = changed(OU, (STATE, f'x = "{text}"'), (CONSTANT, "s = 1.0\nnormal_start = 2"))
                self.json("check", self.write("m.toml", model))


if __name__ == "__main__":
    unittest.main()
