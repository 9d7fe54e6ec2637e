"""The requests of a session as the body of a script: calls in their order, alike ones in a loop."""

from __future__ import annotations

from adamant_torch.protocol import Message
from adamant_torch.script import calls
from adamant_torch.script.layout import MARGIN, Argument, Expression, called
from adamant_torch.script.looking import expression, watched
from adamant_torch.script.loops import Lines, looped
from adamant_torch.script.numbers import Numbers


class Program:
    """The requests of which a script is made: what only looks and shows nothing is left out."""

    def __init__(self, session: Message) -> None:
        self.shows: Message = session["shows"]
        self.sides: dict[str, Message] = self.shows.get("sides", {})
        self.requests: list[Message] = session["requests"]
        self.offered: Message = session["options"]
        self.kept = {self.shows["request"], *(side["after"] for side in self.sides.values())}
        self.numbers_of = [n for n in range(1, len(self.requests)) if not self.is_left_out(n)]
        for number in self.numbers_of:
            calls.expect_known(self.requests[number])
        first = next(each for each in self.requests if each["request"] == "open")["fields"]
        self.order = [param["name"] for param in first["params"]]
        self.numbers = Numbers(session["files"], self.order)
        self.first = calls.of_open(first, self.order, self.offered)

    def is_left_out(self, number: int) -> bool:
        """Return whether nobody looks at its reply. An `open` closes the world that was there."""
        if number in self.kept:
            return False
        verb: str = self.requests[number]["request"]
        closes = verb == "close" and self.requests[number + 1]["request"] == "open"
        return verb == "state" or bool(closes)

    def opened(self) -> Message:
        """Return what all worlds are opened with, but for what a later one says."""
        return {key: at for key, at in self.first.items() if at != calls.USUAL.get(key, ...)}

    def lines(self) -> list[str]:
        """Return the calls, each with what is done and looked at around it."""
        return looped([self.block(number) for number in self.numbers_of])

    def block(self, number: int) -> Lines:
        """Return one request, by its verb where nothing more happens around it."""
        request = self.requests[number]
        shows = number == self.shows["request"] and not self.sides
        fails = set(request.get("outcomes", ["ok"])) - {"ok"}
        if fails and not shows and "crash" not in request["fields"]:
            raise SystemExit("a request before the one that shows it fails as well")
        function, arguments = self.call(number)
        if number in self.kept or {"damage", "keep"} & request.keys():
            return Lines.fixed("", self.around(number, function, arguments, shows))
        gradients = [arguments.pop(0)[1]] if request["request"] == "backward" else []

        def made(name: str, depth: int) -> list[str]:
            return called(function, [("", Expression(name)) for _ in gradients] + arguments, depth)

        return Lines(request["request"], made, gradients)

    # --- requests ---------------------------------------------------------------------------------

    def around(
        self, number: int, function: str, arguments: list[Argument], shows: bool
    ) -> list[str]:
        """Return a request with what is done to files around it, and what is looked at behind."""
        request = self.requests[number]
        lines = [MARGIN + calls.damage(calls.path, **each) for each in request.get("damage", [])]
        if shows:
            return lines + watched(called(function, arguments, 2))
        sides = {name: side for name, side in self.sides.items() if side["after"] == number}
        of_files = any(side["look"] == "files" for side in sides.values())
        if sides and request["request"] == "state" and not of_files:
            function = f"state = {function}"
        if request["request"] != "state" or not of_files:
            lines += called(function, arguments, 1)
        if "keep" in request:
            copied: list[Argument] = [("", calls.path(each)) for each in request["keep"]]
            lines += called("shutil.copytree", [*copied, ("dirs_exist_ok=", True)], 1)
        return [*lines, *(f"{MARGIN}{name} = {expression(side)}" for name, side in sides.items())]

    def call(self, number: int) -> tuple[str, list[Argument]]:
        """Return the method of a request with its arguments."""
        verb, fields = self.requests[number]["request"], self.requests[number]["fields"]
        if verb == "open":
            return "driver.open", self.of_open(fields)
        if verb == "backward":
            given: Argument = ("", self.numbers.gradients(fields["gradients"]))
            return "driver.backward", [given, *calls.unusual(fields)]
        if verb == "set":
            return "driver.set", calls.of_set(fields)
        of = calls.of_files if "directory" in fields else calls.unusual
        return f"driver.{verb}", of(fields)

    def of_open(self, fields: Message) -> list[Argument]:
        """Return initial values, and what this world has otherwise than the first."""
        mine = calls.of_open(fields, self.order, self.offered)
        changed = {key: value for key, value in mine.items() if value != self.first[key]}
        initial = ("", self.numbers.initial(fields["initial"]))
        return [initial, ("**OPEN | ", changed) if changed else ("**", Expression("OPEN"))]
