"""No function of src has more than 60 lines or 7 parameters; a switch that is a table may be longer."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_LINES, MOST_PARAMETERS = 60, 7
HIDDEN = re.compile(
    r'R"(?P<d>[^(\s]*)\(.*?\)(?P=d)"|//[^\n]*|/\*.*?\*/|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", re.S | re.M)
TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.']*|::|->|&&|\S")
PAIRS = {"(": ")", "{": "}", "[": "]"}
NOT_FUNCTIONS = {"alignas", "decltype", "noexcept", "static_assert", "requires", "explicit"}


def tokens(text):
    """(token, line) of a source without comments, strings and preprocessor lines."""
    blank = HIDDEN.sub(lambda m: re.sub(r"[^\n]", " ", m[0]) if m[0][0] in "/#" or m[0].lstrip()[0] == "#"
                       else '""' + re.sub(r"[^\n]", "", m[0]), text)
    out, line, last = [], 1, 0
    for m in TOKEN.finditer(blank):
        line += blank.count("\n", last, m.start())
        last = m.start()
        out.append((m[0], line))
    return out


def closing(code, i):
    """The index of what closes the bracket at i."""
    wanted = []
    for j in range(i, len(code)):
        if code[j][0] in PAIRS:
            wanted.append(PAIRS[code[j][0]])
        elif wanted and code[j][0] == wanted[-1]:
            wanted.pop()
            if not wanted:
                return j
    raise ValueError(f"line {code[i][1]}: '{code[i][0]}' is not closed")


def end_of_angles(code, i):
    depth = 0
    while True:
        token = code[i][0]
        if token in PAIRS:
            i = closing(code, i)
        depth += (token == "<") - (token == ">")
        if depth == 0:
            return i
        i += 1


def parameters(code, first, last):
    """How many stand between the parentheses at these indices."""
    count, i = 1 if last > first + 1 else 0, first + 1
    while i < last:
        token = code[i][0]
        if token in PAIRS:
            i = closing(code, i)
        elif token == "<" and code[i - 1][0] not in {"operator", ")"}:
            i = end_of_angles(code, i)
        count += token == ","
        i += 1
    return count


def body_of(code, i):
    """The index of the brace that begins the body of a function whose parameters end at i, or None."""
    i += 1
    while code[i][0] not in {"{", ";", "=", ":"}:
        i = closing(code, i) + 1 if code[i][0] in PAIRS else i + 1
    if code[i][0] != ":":
        return i if code[i][0] == "{" else None
    while True:  # members and bases that a constructor initialises
        i += 1
        while code[i][0] not in {"(", "{"}:
            i = end_of_angles(code, i) + 1 if code[i][0] == "<" else i + 1
        i = closing(code, i) + 1
        if code[i][0] != ",":
            return i


def table_lines(code, first, last):
    """Lines of the switches between two indices."""
    lines, i = 0, first
    while i < last:
        if code[i][0] == "switch":
            end = closing(code, closing(code, i + 1) + 1)
            lines += code[end][1] - code[i][1]
            i = end
        i += 1
    return lines


def functions(code):
    """(name, line, lines, parameters) of every function that is defined in a file."""
    i = start = 0
    while i < len(code):
        token = code[i][0]
        if token == "operator":  # up to its parameters
            i += 2 if code[i + 1][0] == "(" else 1
            while code[i + 1][0] != "(":
                i += 1
        elif token == "<":
            i = end_of_angles(code, i)
        elif token in {";", "}"} or (token == ":" and code[i - 1][0] in {"public", "private", "protected"}):
            start = i + 1
        elif token == "[":
            i = closing(code, i)
        elif token == "=":
            while code[i][0] != ";":
                i = closing(code, i) + 1 if code[i][0] in PAIRS else i + 1
            start = i + 1
        elif token == "{":
            if not {"namespace", "class", "struct", "union"} & {t for t, _ in code[start:i]} or "enum" in {
                    t for t, _ in code[start:i]}:
                i = closing(code, i)
            else:
                start = i + 1
        elif token == "(" and code[i - 1][0] in NOT_FUNCTIONS:
            i = closing(code, i)
        elif token == "(":
            name, end = code[i - 1][0], closing(code, i)
            body = body_of(code, end)
            if body is None:
                i = end
            else:
                last = closing(code, body)
                lines = code[last][1] - code[start][1] + 1 - table_lines(code, body, last)
                yield name, code[start][1], lines, parameters(code, i, end)
                i, start = last, last + 1
        i += 1


def faults(path, text):
    found = []
    for name, line, lines, count in functions(tokens(text)):
        if lines > MOST_LINES:
            found.append(f"{path}:{line}: {name} has {lines} lines")
        if count > MOST_PARAMETERS:
            found.append(f"{path}:{line}: {name} has {count} parameters")
    return found


class Functions(unittest.TestCase):
    def test_the_sources_keep_to_the_limits(self):
        found = []
        for file in sorted((ROOT / "src").rglob("*.[ch]pp")):
            found += faults(file.relative_to(ROOT), file.read_text())
        self.assertEqual(found, [])

    def test_functions_are_seen(self):
        text = (ROOT / "src/law/cloud.cpp").read_text()
        names = [name for name, *_ in functions(tokens(text))]
        for name in ["fill_start", "pairwise_means", "Cloud", "advance", "finite"]:
            self.assertIn(name, names)
        self.assertEqual(len(names), len(re.findall(r"^}", text, re.M)) - 1)  # all but the namespace

    def test_what_is_planted_is_found(self):
        eight = ", ".join(f"std::map<int, int> a{i} = {{}}" for i in range(8))
        seven = ", ".join(f"std::map<int, int> a{i}" for i in range(7))
        long = "  int a = 1;  // }\n" * 60
        table = "switch (a) {\n" + "case 1: return '{';\n" * 80 + "}\n"
        for text, expected in [(f"void f({seven}) {{}}", 0), (f"void f({eight}) {{}}", 1),
                               (f"namespace a {{ struct B : C {{ B({eight}) : C{{}}, d_(1) {{}} int d_; }}; }}", 1),
                               (f"void f() {{\n{long}}}", 1), (f"int f(int a) {{\n{table}}}", 0),
                               (f"auto A::operator()(int a) const -> int {{\n{long}{table}}}", 1),
                               (f"enum class E {{ a }};\nconst char* t = R\"(}}\n{long})\";\nint f() {{ return 1; }}", 0)]:
            with self.subTest(text=text[:60]):
                self.assertEqual(len(faults("planted", text)), expected)


if __name__ == "__main__":
    unittest.main()
