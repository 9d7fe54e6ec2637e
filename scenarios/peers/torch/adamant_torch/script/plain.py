"""A recorded session of PyTorch's own engine as a script that imports torch alone.

The adapter's functions that it uses stand in it as they stand in the adapter; then come the
numbers, what the ranks of each world do, and the comparison.
"""

from __future__ import annotations

from typing import Any

from adamant_torch import requests
from adamant_torch.model import tree
from adamant_torch.protocol import Message
from adamant_torch.script import words
from adamant_torch.script.calls import damage, expect_known
from adamant_torch.script.checkpoints import Checkpoints, place
from adamant_torch.script.layout import MARGIN, Argument, Expression, called, packed, source
from adamant_torch.script.looking import compared, constants, head
from adamant_torch.script.looks import FILES, expected_of, left, read
from adamant_torch.script.loops import Lines, looped
from adamant_torch.script.numbers import Numbers
from adamant_torch.script.ranks import Ranks
from adamant_torch.script.text import Text, import_lines
from adamant_torch.script.world import World

FUNCTIONS = ("first", "second", "third", "fourth", "fifth", "sixth")
SECONDS = 60  # in which ranks end where they do


class Stay:
    """One world, from its `open` on: the function of its ranks, and what is done around it."""

    def __init__(self, ranks: Ranks, function: str) -> None:
        self.ranks = ranks
        self.world = ranks.world  # what it is opened with
        self.function = function
        self.blocks: list[Lines] = []
        self.before: list[str] = []  # in the script's own process
        self.behind: list[str] = []
        self.is_watched = False  # what shows the defect is that it fails

    def opened(self) -> list[str]:
        """Return the lines that join the world and make all that is in it."""
        return self.world.lines(f"{{folder}}/{self.function}", self.world.form, self.world.initial)

    def called(self) -> list[str]:
        """Return the call of the function that does this for all worlds."""
        given = f'rank, {self.world.opening.ranks}, f"{{folder}}/{self.function}"'
        things = ", ".join(self.world.things)
        return [f"{MARGIN}{things} = start({given}, {self.world.initial})"]

    def start(self, by_codes: bool) -> list[str]:
        """Return the lines that run it."""
        ranks = self.world.opening.ranks
        if by_codes and self.is_watched:
            return [f"codes = exit_codes({self.function}, {ranks}, folder, seconds={SECONDS})"]
        line = (
            f'mp.start_processes({self.function}, (folder,), nprocs={ranks}, start_method="fork")'
        )
        if self.is_watched:
            return ["with suppress(mp.ProcessExitedException):", MARGIN + line]
        return [line]


class Plain:
    """The script of a session."""

    def __init__(self, session: Message) -> None:
        self.session = session
        self.shows: Message = session["shows"]
        self.sides: dict[str, Message] = self.shows.get("sides", {})
        self.requests: list[Message] = session["requests"]
        self.numbers = Numbers(session["files"], ())
        self.saved_scalers: dict[str, bool] = {}
        self.stays: list[Stay] = []
        # Of a rank that dies or waits for ever only its exit code tells.
        self.by_codes = self.shows.get("like", {}).get("outcome") in ("died", "timed_out")
        for number, request in enumerate(self.requests[1:], 1):
            self.take(number, request)

    # --- requests ---------------------------------------------------------------------------------

    def take(self, number: int, request: Message) -> None:
        """Have a request be done by the world that is open."""
        verb, shows = request["request"], number == self.shows["request"] and not self.sides
        fields = {key: at for key, at in request["fields"].items() if key != "anew"}  # as all are
        expect_known({"request": verb, "fields": fields})
        if verb == "open":
            self.open(request["fields"], number)
        stay = self.stays[-1]
        self.damage(stay, request)
        fails = set(request.get("outcomes", ["ok"])) - {"ok"}
        if fails and not shows and "crash" not in request["fields"]:
            raise SystemExit("a request before the one that shows it fails as well")
        if verb not in ("open", "state"):
            stay.blocks.append(self.lines(stay, request, shows))
        elif shows:
            raise SystemExit(f"no call of PyTorch is `{verb}`")
        if "keep" in request:
            stay.blocks.append(Lines.fixed("", stay.ranks.kept(request["keep"])))
        for name, side in self.sides.items():
            if side["after"] == number and side["look"] != FILES:
                stay.blocks.append(Lines.fixed("", left(name, side, stay.world)))
            elif side["after"] == number:
                stay.behind.append(read(name, side))

    def open(self, fields: Message, number: int) -> None:
        """Begin a world."""
        opening = requests.opening(fields)
        world = World(opening, any("damage" in each for each in self.requests))
        world.initial = self.initial(world, fields["initial"])
        checkpoints = Checkpoints(world, self.is_listed())
        ranks = Ranks(world, checkpoints, self.numbers)
        ranks.keeps_norm = any(side.get("of") == "norm" for side in self.sides.values())
        count = sum(each["request"] == "open" for each in self.requests)
        many = len(self.stays)
        names = ("run",) if count == 1 else FUNCTIONS
        function = names[many] if many < len(names) else f"world_{many + 1}"
        self.stays.append(Stay(ranks, function))

    def is_listed(self) -> bool:
        """Return whether it may count in which order a directory is listed."""
        saves = [r["fields"]["directory"] for r in self.requests if r["request"] == "save"]
        opened = [each["fields"] for each in self.requests if each["request"] == "open"]
        formats = {fields["options"].get("format") for fields in opened}
        damaged = any("damage" in each for each in self.requests)
        return (damaged and "hf_consolidated" in formats) or len(set(saves)) < len(saves)

    def initial(self, world: World, file: str) -> Expression:
        """Return the name of initial values."""
        found = self.numbers.set_of(file)
        named = {world.names[param.name]: found[param.name] for param in world.opening.params}
        return self.numbers.name("INITIAL", named)

    def damage(self, stay: Stay, request: Message) -> None:
        """Have files be damaged: before a world that has done nothing, or within it."""
        damages = request.get("damage", [])
        if damages and not stay.blocks:
            stay.before += [damage(place, **each) for each in damages]
        elif damages:
            stay.blocks.append(Lines.fixed("", stay.ranks.damaged(damages)))

    def lines(self, stay: Stay, request: Message, shows: bool) -> Lines:
        """Return the lines of a request, with what its ranks leave of a failure."""
        if "crash" in request["fields"]:
            raise SystemExit("to die in the middle of a save takes more lines than people read")
        done = stay.ranks.of(request, self.saved_scalers)
        stay.is_watched = stay.is_watched or shows
        if shows and not self.by_codes:
            done = Lines.fixed("", [f"{MARGIN}try:", *done.alone(2), *TOLD])
        return done

    # --- the script -------------------------------------------------------------------------------

    def text(self, beside: bool) -> str:
        """Return the script; its numbers lie beside it, or are constants."""
        functions, main = self.functions(), self.main()
        numbers = self.constants(beside)
        body = "\n".join([*numbers, *functions, *main])
        text = Text(words)
        text.add(body)
        standard, others = import_lines(text.imports | {("sys", "")})
        blocks = ["\n".join(numbers), *text.definitions.values(), "\n".join(functions)]
        parts = [
            "\n".join(head(self.session, self.needs())),
            "\n".join(standard) + "\n",
            HOOK,
            "\n".join(others) + "\n",
            "\n\n\n".join(block.strip("\n") for block in blocks if block.strip()),
            "\n" + "\n".join(main),
        ]
        return "\n".join(parts) + "\n"

    def needs(self) -> str:
        """Return a sentence about what it imports."""
        formats = {stay.world.option("format", "dcp") for stay in self.stays}
        return f"It needs PyTorch {'alone' if formats == {'dcp'} else 'and safetensors'}."

    def constants(self, beside: bool) -> list[str]:
        """Return the numbers, and what has to come."""
        shows = {**self.shows, "expected": expected_of(self.shows)}
        if beside:
            return [*self.numbers.beside(), *constants(shows)]
        named = {name: trees(value) for name, value in self.numbers.constants().items()}
        return [*packed(named), *constants(shows)]

    def tensors(self) -> dict[str, Any]:
        """Return the numbers as they lie beside it."""
        return {name: trees(value) for name, value in self.numbers.tensors().items()}

    def functions(self) -> list[str]:
        """Return what ranks do."""
        common = self.common()
        lines = [*common]
        for stay in self.stays:
            lines += ["", "", f"def {stay.function}(rank, folder):"]
            lines += stay.called() if common else stay.opened()
            if any(block.verb == "backward" for block in stay.blocks):
                lines += stay.world.of_division()
            lines += looped(stay.blocks)
        return lines

    def common(self) -> list[str]:
        """Return the function that opens all worlds, where one can."""
        worlds = [stay.world for stay in self.stays]
        if len(worlds) == 1 or len({len(world.form) for world in worlds}) > 1:
            return []
        form: tuple[object, ...] = worlds[0].form
        if any(world.form != form for world in worlds):
            if len(form) > 1:
                return []
            form = ("ranks",)
        bodies = [world.lines("{store}", form, "initial") for world in worlds]
        if any(body != bodies[0] for body in bodies):
            return []
        things = ", ".join(worlds[0].things)
        head = "def start(rank, ranks, store, initial):"
        return ["", "", head, *bodies[0], f"{MARGIN}return {things}"]

    def main(self) -> list[str]:
        """Return what the script itself does."""
        lines = ["", "with tempfile.TemporaryDirectory() as folder:"]
        for stay in self.stays:
            started = stay.start(self.by_codes)
            lines += [MARGIN + line for line in [*stay.before, *started, *stay.behind]]
        lines += [MARGIN + line for line in self.collected()]
        return [*lines, *self.compared()]

    def collected(self) -> list[str]:
        """Return the lines that read what ranks have left."""
        if self.shows["kind"] in ("failure", "no_failure") and not self.by_codes:
            return ['failures = [path.read_text() for path in Path(folder).glob("failure-*")]']
        return [read(name, side) for name, side in self.sides.items() if side["look"] != FILES]

    def compared(self) -> list[str]:
        """Return the end of a script: it prints both sides and ends with its exit status."""
        kind, place_ = self.shows["kind"], self.shows["place"]
        if self.by_codes:
            return of_end(place_, self.shows["like"])
        if kind == "failure":
            return of_failure(place_, self.shows["like"])
        if kind == "no_failure":
            return [
                'actual = failures[0].splitlines()[0] if failures else "no failure"',
                f"print({source(f'{place_}: expected ' + self.shows['expected'])})",
                f'print(f"{place_}: actual   {{actual}}")',
                "sys.exit(not failures)",
            ]
        return compared(self.shows)


TOLD = [
    f"{MARGIN}except BaseException as error:  # DCP's own is no Exception",
    f'{MARGIN * 2}said = f"{{type(error).__name__}}: {{error}}"',
    f'{MARGIN * 2}Path(folder, f"failure-{{rank}}").write_text(said)',
    f"{MARGIN * 2}sys.exit(1)",
]
HOOK = """\
sys.excepthook = lambda kind, error, _: (print(f"{kind.__name__}: {error}"), sys.exit(2))
"""


def trees(value: Any) -> Any:
    """Return numbers by units, and by names of parameters in these."""
    return [tree(each) for each in value] if isinstance(value, list) else tree(value)


def of_failure(place_: str, like: Message) -> list[str]:
    """Return the comparison of a failure with the one that was seen."""
    kind = source(like.get("type", ""))
    shows = f"actual.startswith({kind})"
    shows += f" and {source(like['cause'])} in actual" if "cause" in like else ""
    key = Expression(f"lambda t: t.startswith({kind})")
    first: list[Argument] = [
        ("", Expression("failures")),
        ("key=", key),
        ("default=", "no failure"),
    ]
    return [
        *called("actual = max", first),
        f'print("{place_}: expected no failure")',
        "first, *others = actual.strip().splitlines()",
        f'print(f"{place_}: actual   {{first}}", *others[-1:], sep="\\n  ")',
        f"shows = {shows}",
        "sys.exit(1 if shows else 2 if failures else 0)",
    ]


def of_end(place_: str, like: Message) -> list[str]:
    """Return the comparison of exit codes with that of a rank that died, or did not end at all."""
    code = -like["signal"] if "signal" in like else like.get("exit_status")
    return [
        f'print("{place_}: expected each rank ends with 0")',
        f'print(f"{place_}: actual   they end with {{codes}}, None after {SECONDS} s")',
        f"sys.exit(1 if {code} in codes else 2 if any(codes) else 0)",
    ]
