"""How the study prints what it found."""


def verdict(ok):
    return {True: "PASS", False: "FAIL", None: "-"}[ok]


def number(value, form):
    return "-" if value is None else format(value, form)
