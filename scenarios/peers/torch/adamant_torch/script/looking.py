"""What shows a session's defect as lines of a script: both sides, and their comparison."""

from __future__ import annotations

import re

from adamant_torch.protocol import Message
from adamant_torch.script.calls import path
from adamant_torch.script.layout import MARGIN, Expression, called, source

TITLES = {
    "value": "{} is not what it has to be",
    "ranks": "ranks disagree about {}",
    "runs": "{} differs between two runs",
    "either": "what a load restores is of neither save",
    "failure": "a {} fails that has to succeed",
    "no_failure": "damage is not reported as such",
}

EITHER = [
    "for key, value in actual.items():",
    f"{MARGIN}of_older, of_newer = value == older[key], value == newer[key]",
    f'{MARGIN}print(f"{{key}}: of the older save: {{of_older}}, of the newer: {{of_newer}}")',
    "sys.exit(actual not in (older, newer))",
]


def head(session: Message, needs: str) -> list[str]:
    """Return what a script is, as a docstring; `needs` says what it imports."""
    shows = session["shows"]
    title = f"{session['engine']}: {TITLES[shows['kind']].format(shows['place'])}."
    versions = ", ".join(f"{name} {at}" for name, at in session["versions"].items())
    lines = [
        '"""' + re.sub(r'["\\]', "", title),
        "",
        needs,
        "Exit status 1: the defect shows, 0: it does not, 2: something else failed.",
        *([f"Written with {versions}."] if versions else []),
    ]
    if "second_run" in session:
        lines.append(f"The second run is the first one with `{session['second_run']}`.")
    return [*lines, '"""', ""]


def expression(side: Message) -> str:
    """Return what has to be looked at, after a call that makes `state`."""
    kind, of = side["look"], source(side.get("of"))
    if kind == "files":
        return f"digests({path(side['checkpoint'])}, {source(side['pattern'])})"
    if kind == "restored":
        return "found(state)"
    rank = side["rank"]
    shard = f"shard(state, {rank}, {of})"
    if kind == "number":
        missing = ", missing=0.0" if side.get("may_be_missing") else ""
        return f"element(state, {rank}, {of}, {side['index']}{missing}).hex()"
    if kind == "scale":
        scale = f'state["ranks"][{rank}]["scale"]'
        return f"single({scale}.get({of}, {side['otherwise']}) or 0).hex()"
    if kind == "setting":
        beta = f"[{side['beta']}]" if "beta" in side else ""
        setting = f"group(state, {rank}, {source(side['group'])})[{of}]{beta}"
        return f'format(single({setting}), ".9g")'
    told = {
        "dtype": f'header(state, {rank})[{of}]["dtype"]',
        "presence": f'"a tensor" if {of} in header(state, {rank}) else "nothing"',
        "steps": f'str({shard}["steps"])',
        "gradient": f'"a gradient" if {shard}["has_gradient"] else "no gradient"',
        "rows": f"rows({shard})",
    }
    if kind not in told:
        raise SystemExit("it shows in numbers that adamant_torch does not read from a file")
    return told[kind]


def watched(lines: list[str]) -> list[str]:
    """Return these lines of a call, and what failed in it."""
    return [
        f'{MARGIN}actual, reply = "no failure", {{}}',
        f"{MARGIN}try:",
        *lines,
        f"{MARGIN}except Failed as error:",
        f"{MARGIN * 2}actual, reply = failure(error.reply), error.reply",
    ]


def constants(shows: Message) -> list[str]:
    """Return what `actual` has to be, where that is known before."""
    expected = shows.get("expected")
    if shows["kind"] != "value":
        return []
    if not isinstance(expected, dict):
        return [f"EXPECTED = {source(expected)}"]
    if "low" not in expected:
        return []
    low, high = (f"float.fromhex({source(expected[end])})" for end in ("low", "high"))
    return [f"LOW, HIGH = {low}, {high}"]


def compared(shows: Message) -> list[str]:
    """Return the end of a script: it prints both sides and ends with its exit status."""
    kind = shows["kind"]
    if kind == "either":
        return EITHER
    if kind in ("failure", "no_failure"):
        return of_request(shows)
    place = shows["place"].replace("{", "{{").replace("}", "}}")
    if kind == "ranks":
        first, second = shows["ranks"]
        told = f"{place}: rank {first} has {{expected}}, rank {second} has {{actual}}"
        return [f"print(f{source(told)})", "sys.exit(actual != expected)"]
    if isinstance(shows.get("expected"), dict):
        return of_interval(place, shows["expected"])
    name = "EXPECTED" if kind == "value" else "expected"
    sides = [in_words(each, "number" in shows) for each in (name, "actual")]
    return [*printed(place, *sides), f"sys.exit(actual != {name})"]


def in_words(name: str, is_number: bool) -> str:
    """Return what is printed of a side."""
    return f"{{{name}}} = {{float.fromhex({name})}}" if is_number else f"{{{name}}}"


def printed(place: str, expected: str, actual: str) -> list[str]:
    """Return lines that print both sides."""
    both = f"{place}: expected {expected}", f"{place}: actual   {actual}"
    return [f"print({'f' if '{' in told else ''}{source(told)})" for told in both]


def of_interval(place: str, expected: Message) -> list[str]:
    """Return the comparison with an interval, and with what is allowed beside it."""
    between = "low" in expected
    told = ["[{LOW.hex()}, {HIGH.hex()}]"] if between else []
    tests = ["LOW <= value <= HIGH"] if between else []
    tests += [f"actual == {source(other)}" for other in expected["or"]]
    return [
        *(["value = float.fromhex(actual)"] if between else []),
        *printed(place, " or ".join(told + expected["or"]), in_words("actual", True)),
        f"sys.exit(not ({' or '.join(tests)}))",
    ]


def of_request(shows: Message) -> list[str]:
    """Return the comparison of a failure with the one that was seen, or that has to come."""
    lines = printed(shows["place"], shows["expected"], "{actual}")
    if shows["kind"] == "no_failure":
        test = 'actual == "no failure" or "incompatible_checkpoint" in actual'
        return [*lines, f"sys.exit({test})"]
    like = [(f"{key}=", value) for key, value in shows["like"].items()]
    lines += called("shows = is_like", [("", Expression("reply")), *like])
    return [*lines, "sys.exit(1 if shows else 2 if reply else 0)"]
