"""What engines that are right in different ways have in common, and a place for mistakes in them.

It replaces what the engine does to gradients before a step; how they are summed, scaled and used is
each way's own (formulas.py).
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from adamant_numpy.formats import Array, rounded
from adamant_numpy.zero1 import F32, Group, Parameter, Rank, Rows, World

ONE = F32(1)
MISTAKES = (
    "none",
    "short_beta",
    "decay_twice",
    "stale_count",
    "local_norm",
    "no_correction",
    "stale_rate",
)
Stepped = tuple[Array, Array, Array]  # weight and both moments


@dataclasses.dataclass(frozen=True)
class Scalars:
    """A group's settings as a step needs them."""

    lr: np.float32
    b1: np.float32
    b2: np.float32
    eps: np.float32
    decay: np.float32
    c1: float  # bias corrections in double
    c2: float
    l2: bool

    @property
    def w1(self) -> np.float32:
        """What a moment takes of a gradient."""
        return F32(1 - float(self.b1))

    @property
    def w2(self) -> np.float32:
        """Likewise of its square."""
        return F32(1 - float(self.b2))

    @property
    def kept(self) -> np.float32:
        """What decay leaves of a weight."""
        return F32(1 - float(self.lr) * float(self.decay))


def stepped(weight: Any, exp_avg: Any, exp_avg_sq: Any) -> Stepped:
    """As a step returns them, whatever NumPy's types say of products."""
    assert {values.dtype for values in (weight, exp_avg, exp_avg_sq)} == {np.dtype(np.float32)}
    return weight, exp_avg, exp_avg_sq


class Way(World):
    """One order of operations."""

    arithmetic = "interval"
    holds_in_place = False  # clip and scaler change gradients where they are
    mistake = "none"
    unscaled = False  # gradients bear no loss scale any more

    # ---- mistakes ----

    def update(self, rank: Rank, name: str, group: Group) -> Stepped:
        """A step of what the engine takes for its settings."""
        steps = rank.steps
        if self.mistake == "short_beta":
            upper = F32(group.betas[0]).view(np.uint32) & np.uint32(0xFFFF0000)
            group = dataclasses.replace(group, betas=(float(upper.view(F32)), group.betas[1]))
        if self.mistake == "decay_twice":
            group = dataclasses.replace(group, weight_decay=2 * group.weight_decay)
        if self.mistake == "stale_count":
            steps = max(1, steps - 1)
        if self.mistake == "no_correction":
            group = dataclasses.replace(group, bias_correction=False)
        if self.mistake == "stale_rate":
            group = dataclasses.replace(group, lr=self.rate_before(rank, name, group.lr))
        return self.stepped(dataclasses.replace(rank, steps=steps), name, group)

    def rate_before(self, rank: Rank, name: str, lr: float) -> float:
        """That of the step before this one."""
        rates: dict[str, float] = vars(self).setdefault("rates", {})
        key = f"{self.ranks.index(rank)}/{name}"
        before = rates.get(key, lr)
        rates[key] = lr
        return before

    def stepped(self, rank: Rank, name: str, group: Group) -> Stepped:
        """What a rank's rows become."""
        raise NotImplementedError

    def coefficient_of(self, rank: Rank) -> np.float32:
        """What the clip multiplies by."""
        if self.mistake != "local_norm" or self.norm == 0:
            return self.coefficient
        own = [float(np.sum(g.astype(np.float64) ** 2)) for g in rank.gradient.values()]
        return self.factor(F32(math.sqrt(sum(own))) * self.bearing())

    # ---- gradients ----

    def kept_in(self) -> str:
        """The type of reduced gradients."""
        return self.settings.grad_type

    def total(self, terms: list[Array], name: str) -> Array:
        """The sum over ranks, of numbers and in numbers of that type."""
        raise NotImplementedError

    def backward(self, sent: list[dict[str, Array]], without: list[str]) -> None:
        """The same sum in the order of this way."""
        s, kept = self.settings, self.kept_in()
        self.unscaled, self.norm, self.coefficient = False, F32(0), ONE
        for p in (p for p in self.params if p.name not in without):
            scaled = [rounded(of[p.name] * F32(s.loss_scale or 1), s.grad_type) for of in sent]
            mean = rounded(self.total(scaled, s.grad_type) / F32(s.microbatches), s.grad_type)
            for rank in self.ranks:
                rows, older = self.cut(rank, mean), rank.gradient.get(p.name)
                new = rows if older is None else older + rows
                rank.gradient[p.name] = rounded(new, kept)

    def zero_grad(self, set_to_none: bool) -> None:
        """Likewise new ones."""
        super().zero_grad(set_to_none)
        self.unscaled = False

    def bearing(self) -> np.float32:
        """What undoes the loss scale of gradients as they are."""
        return ONE if self.unscaled else self.inverse()

    def scale_gradients(self, scaled: Any) -> None:
        """Each becomes `scaled` of it and its rank, rounded to the type that it has."""
        for rank in self.ranks:
            new = {name: scaled(g, rank) for name, g in rank.gradient.items()}
            rank.gradient = {name: rounded(g, self.kept_in()) for name, g in new.items()}
        self.unscaled = True

    def clip(self) -> float:
        """The norm; and gradients by it, where they are scaled in place."""
        self.norm = self.found_norm()
        self.coefficient = self.factor(self.norm)
        if self.holds_in_place:
            self.clip_in_place()
        return float(self.norm)

    def clip_in_place(self) -> None:
        """By one product, with the loss scale in it; in float32 that factor may vanish."""
        by = 1 / (1 if self.unscaled else self.settings.loss_scale or 1)
        wide = np.float64
        self.scale_gradients(lambda g, rank: F32(wide(g) * (wide(self.coefficient_of(rank)) * by)))
        self.coefficient = ONE

    def found_norm(self) -> np.float32:
        """Of all gradients without their loss scale, in fp32."""
        one_replica = self.ranks[: self.settings.shard]
        return F32(np.sqrt(sum((self.squares_of(rank) for rank in one_replica), F32(0))))

    def squares_of(self, rank: Rank) -> np.float32:
        """The sum over a rank's own rows."""
        unscaled = [g * self.bearing() for g in rank.gradient.values()]
        return F32(sum((F32(np.sum(g * g)) for g in unscaled), F32(0)))

    def factor(self, norm: np.float32) -> np.float32:
        """What gradients are multiplied by so that their norm is at most the limit."""
        return F32(min(F32(self.settings.clip) / (norm + F32(1e-6)), ONE))

    # ---- step ----

    def hold(self, kind: str, p: Parameter, rows: Rows) -> None:
        """Without main weights a parameter in bf16 is all that there is of it."""
        types = self.settings.types
        if kind == "main" and types.main == "none":
            rows = [rounded(own, types.plain()) for own in rows]
        super().hold(kind, p, rows)

    def scalars(self, rank: Rank, group: Group) -> Scalars:
        """Corrections are computed in double."""
        b1, b2 = (F32(beta) for beta in group.betas)
        corrected = group.bias_correction
        return Scalars(
            lr=F32(group.lr), b1=b1, b2=b2, eps=F32(group.eps), decay=F32(group.weight_decay),
            c1=1 - float(b1) ** rank.steps if corrected else 1.0,
            c2=1 - float(b2) ** rank.steps if corrected else 1.0,
            l2=self.settings.mode == "adam",
        )  # fmt: skip
