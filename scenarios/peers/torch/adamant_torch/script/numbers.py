"""What a session hands over: initial values and gradients, under names of constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from adamant_torch.protocol import Message
from adamant_torch.script.layout import Expression, source

HERE = "$HERE/"
NUMBERS = ".numbers.pt"  # the ending of their file, where they lie beside a script


@dataclass(frozen=True)
class Values:
    """The numbers of one tensor, row-major, as a session has them: `inf` and `nan` are texts."""

    shape: tuple[int, ...]
    values: tuple[float | str, ...]

    def nested(self) -> Any:
        """Return lists in lists, or a call where these do not say the shape."""
        if 0 in self.shape[:-1]:
            return Expression(f"torch.zeros({', '.join(map(str, self.shape))})")
        if len(self.shape) == 1:
            return [Expression(v) if isinstance(v, str) else float(v) for v in self.values]
        size = len(self.values) // self.shape[0]
        rows = [self.values[row * size :][:size] for row in range(self.shape[0])]
        return [Values(self.shape[1:], row).nested() for row in rows]

    def tensor(self) -> torch.Tensor:
        """Return them as a file beside a script has them."""
        numbers = [float(value) for value in self.values]
        return torch.tensor(numbers, dtype=torch.float32).reshape(self.shape)


Set = dict[str, Values]  # by parameter


class Numbers:
    """Sets of tensors by names; equal ones have one."""

    def __init__(self, files: Mapping[str, Message], order: Sequence[str]) -> None:
        self.files = files
        self.order = order
        self.named: dict[str, Set | list[Set]] = {}

    def initial(self, file: str) -> Expression:
        """Return the name of what an `open` is given."""
        return self.name("INITIAL", self.set_of(file))

    def gradients(self, files: Sequence[str]) -> Expression:
        """Return the name of what a backward is given, a set for each rank."""
        return self.name("GRADIENTS", [self.set_of(file) for file in files])

    def constants(self) -> dict[str, Any]:
        """Return all as they are written out."""
        return {name: _each(found, Values.nested) for name, found in self.named.items()}

    def tensors(self) -> dict[str, Any]:
        """Return all as tensors."""
        return {name: _each(found, Values.tensor) for name, found in self.named.items()}

    def beside(self) -> list[str]:
        """Return the line that reads them where they lie beside a script."""
        comma = "," if len(self.named) == 1 else ""
        loaded = f"torch.load(Path(__file__).with_suffix({source(NUMBERS)})).values()"
        return [f"{', '.join(self.named)}{comma} = {loaded}"]

    def set_of(self, file: str) -> Set:
        """Return what a file of the session holds."""
        tensors = self.files[file.removeprefix(HERE)]
        there = {name: tensors[name] for name in self.order or tensors if name in tensors}
        return {name: Values(tuple(t["shape"]), tuple(t["values"])) for name, t in there.items()}

    def name(self, stem: str, value: Set | list[Set]) -> Expression:
        """Return the name of a constant; equal ones have one."""
        alike = [name for name in self.named if name.startswith(stem)]
        same = [name for name in alike if self.named[name] == value]
        name = same[0] if same else f"{stem}_{len(alike) + 1}" if alike else stem
        self.named[name] = value
        return Expression(name)


def _each(found: Set | list[Set], of: Any) -> Any:
    if isinstance(found, list):
        return [_each(one, of) for one in found]
    return {name: of(values) for name, values in found.items()}
