"""`python -m adamant_torch script SESSION [-o FILE]`: a recorded session as a script to read.

Of PyTorch's own engine the script imports torch alone, where it can; else it imports the engine's
class and drives it by `driving.Driver`. It is printed, or goes to FILE; numbers too many for it
then lie beside it, in a file that torch alone reads. Of what no script can say a sentence says why.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

import torch

from adamant_torch.protocol import Message
from adamant_torch.script import driver_words
from adamant_torch.script.layout import laid, source
from adamant_torch.script.looking import TITLES, compared, constants, head
from adamant_torch.script.numbers import NUMBERS
from adamant_torch.script.plain import Plain
from adamant_torch.script.program import Program
from adamant_torch.script.text import Text, import_lines

LINES_MAX = 120  # that people read
ENGINE = ("adamant_torch.engine", "Engine")  # PyTorch's own
PLAIN = "plain PyTorch"
DRIVEN = "the engine's class, driven by adamant_torch"
NEEDS = "It imports the engine's class, and needs what that needs and adamant_torch."
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
    found = imports("\n".join(body), session["engine_class"])
    lines = [*head(session, NEEDS), *found, *body]
    return "\n".join(lines) + "\n"


def driver(session: Message) -> str:
    """Return the call that makes one, which is as patient as the session was where that counts."""
    late = session["shows"].get("like", {}).get("outcome") == "timed_out"
    seconds = session["requests"][0]["fields"]["timeout_seconds"]
    bound = f", timeout_seconds={seconds}" if late else ""
    return f"Driver({session['engine_class']['name']}{bound})"


def imports(body: str, engine: Message) -> list[str]:
    """Return the import lines of what a script uses, sorted as ruff does."""
    text = Text(driver_words, own="")
    text.add(body)
    module, name = engine["module"], engine["name"].partition(".")[0]
    is_own = module.startswith("adamant_torch.")
    named = {("sys", ""), *([(module, name)] if is_own else [])}
    standard, others = import_lines(text.imports | named)
    own = [] if is_own else [f"from {module} import {name}"]
    if own and "path" in engine:
        own.insert(0, f"sys.path.insert(0, {source(engine['path'])})")
    return [*standard, *HOOK, *others, *(["", *own] if own else []), ""]


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
