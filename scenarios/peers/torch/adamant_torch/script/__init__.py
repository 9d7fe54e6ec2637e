"""`python -m adamant_torch script SESSION [-o FILE]`: a recorded session as a script to read.

Of PyTorch's own engine the script imports torch alone, where it can; else it imports the engine's
class and drives it by `driving.Driver`. It is printed, or goes to FILE; numbers too many for it
then lie beside it, in a file that torch alone reads. Of what no script can say a sentence says why.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import torch

from adamant_torch.protocol import Message
from adamant_torch.script.layout import laid, source
from adamant_torch.script.looking import TITLES, compared, constants
from adamant_torch.script.numbers import NUMBERS
from adamant_torch.script.plain import Plain
from adamant_torch.script.program import Program

LINES_MAX = 120  # that people read
ENGINE = ("adamant_torch.engine", "Engine")  # PyTorch's own
PLAIN = "plain PyTorch"
DRIVEN = "the engine's class, driven by adamant_torch"
NAMES = {
    "adamant_torch.driving": ("Driver", "Failed", "failures_end_with"),
    "adamant_torch.shown": (
        *("digests", "element", "found", "group", "header"),
        *("is_like", "rows", "shard", "single"),
    ),
}
HOOK = [  # also of an import that fails
    "",
    "sys.excepthook = lambda kind, error, at: (",
    '    print(f"line {at.tb_lineno}: {kind.__name__}: {error}"),',
    "    sys.exit(2),",
    ")",
    "",
]


def script(session: Message, program: Program, beside: bool) -> str:
    """Return the script of a session; its numbers lie beside it, or are constants."""
    calls = program.lines()
    named = program.numbers.constants()
    numbers = [line for name in named for line in laid(f"{name} = ", named[name])]
    if beside:
        numbers = program.numbers.beside()
    body = [
        *constants(session["shows"]),
        *numbers,
        *laid("OPEN = ", program.opened()),
        "",
        f"with failures_end_with(2), {driver(session)} as driver:",
        *calls,
        "",
        *compared(session["shows"]),
    ]
    lines = [*head(session), *imports("\n".join(body), session["engine_class"]), *body]
    return "\n".join(lines) + "\n"


def driver(session: Message) -> str:
    """Return the call that makes one, which is as patient as the session was where that counts."""
    late = session["shows"].get("like", {}).get("outcome") == "timed_out"
    seconds = session["requests"][0]["fields"]["timeout_seconds"]
    bound = f", timeout_seconds={seconds}" if late else ""
    return f"Driver({session['engine_class']['name']}{bound})"


def head(session: Message) -> list[str]:
    """Return what it is, as a docstring."""
    shows = session["shows"]
    versions = ", ".join(f"{name} {at}" for name, at in session["versions"].items())
    lines = [
        f"{session['engine']}: {TITLES[shows['kind']].format(shows['place'])}.",
        "",
        "It imports the engine's class, and needs what that needs and adamant_torch.",
        "Exit status 1: the defect shows, 0: it does not, 2: something else failed.",
        *([f"Written with {versions}."] if versions else []),
    ]
    if "second_run" in session:
        lines.append(f"The second run is the first one with `{session['second_run']}`.")
    return ['"""' + re.sub(r'["\\]', "", lines[0]), *lines[1:], '"""', ""]


def imports(body: str, engine: Message) -> list[str]:
    """Return the import lines of what a script uses, sorted as ruff does."""
    standard = [name for name in ("os", "shutil", "sys") if re.search(rf"\b{name}\.", body)]
    named = [name for name in ("inf", "nan") if re.search(rf"[\[ -]{name}[,\]]", body)]
    adapter = []
    for module, names in NAMES.items():
        used = [name for name in names if re.search(rf"\b{name}\(|except {name}\b", body)]
        if used:
            adapter.append(f"from {module} import {', '.join(used)}")
    own = [f"from {engine['module']} import {engine['name'].partition('.')[0]}"]
    if engine["module"].startswith("adamant_torch."):
        adapter, own = sorted(adapter + own), []
    elif "path" in engine:
        own.insert(0, f"sys.path.insert(0, {source(engine['path'])})")
    return [
        *(f"import {name}" for name in standard),
        *([f"from math import {', '.join(named)}"] if named else []),
        *(["from pathlib import Path"] if "Path(" in body else []),
        *HOOK,
        *(["import torch"] if "torch." in body else []),
        *adapter,
        *(["", *own] if own else []),
        "",
    ]


def written(session: Message, file: Path | None) -> tuple[str, str]:
    """Return which kind of script there is of a session, and its text.

    Write numbers that are too many for it beside `file`.
    """
    if session["adamant_session"] != 1:
        raise SystemExit("sessions of version 1 have scripts")
    if session["shows"]["kind"] not in TITLES:
        raise SystemExit("the engine ends, does not answer, or differs when it is run again")
    if "engine_class" not in session:
        raise SystemExit("no import finds the engine's class")
    engine = session["engine_class"]
    if (engine["module"], engine["name"]) != ENGINE:
        return DRIVEN, driven(session, file)
    try:
        return PLAIN, plain(session, file)
    except SystemExit as why:
        try:
            return DRIVEN, driven(session, file)
        except SystemExit as other:
            both = dict.fromkeys((str(why), str(other)))  # which may be one
            raise SystemExit("; ".join(both)) from None


def driven(session: Message, file: Path | None) -> str:
    """Return the script that drives an engine's class."""
    program = Program(session)
    return bounded(lambda beside: script(session, program, beside), program.numbers.tensors, file)


def plain(session: Message, file: Path | None) -> str:
    """Return the script that imports torch alone."""
    found = Plain(session)
    return bounded(found.text, found.tensors, file)


def bounded(
    text_of: Callable[[bool], str], tensors: Callable[[], Message], file: Path | None
) -> str:
    """Return a script that people read; where it were too long its numbers lie beside `file`."""
    text = text_of(False)
    beside = file is not None and text.count("\n") > LINES_MAX
    if beside:
        text = text_of(True)
    if text.count("\n") > LINES_MAX:
        raise SystemExit(f"it takes {text.count(chr(10))} lines, and people read {LINES_MAX}")
    if file is not None and beside:
        torch.save(tensors(), file.with_suffix(NUMBERS))
    return text


def main(arguments: list[str]) -> None:
    """Print or write the script of a session's file."""
    parser = argparse.ArgumentParser(prog="adamant_torch script", description=__doc__)
    parser.add_argument("session", type=Path, help="what `adamant run --script` recorded")
    parser.add_argument("-o", metavar="FILE", type=Path, help="write it there, and say its kind")
    given = parser.parse_args(arguments)
    kind, text = written(json.loads(given.session.read_text()), given.o)
    if given.o is None:
        sys.stdout.write(text)
    else:
        given.o.write_text(text)
        print(kind)
