"""ZeRO-1 in NumPy: each rank has the whole weights, and the optimizer's state of its own rows.

All ranks live in one process; a collective is a loop over them. A float32 operation of NumPy rounds
once and fuses nothing, so in the order below a step has the bits of adamant's arithmetic `te`. It
knows nothing of files, processes or the protocol.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import reduce

import numpy as np

from .formats import Array, rounded, upper_half
from .recipes import Quantised, quantise, takes
from .scaled import RANGES, Scaled, kept, scale_of

F32 = np.float32
KINDS = ("main", "exp_avg", "exp_avg_sq")
BUGS = (
    "none",
    "shard_as_whole",
    "stale_step",
    "no_bias_correction",
    "no_checksums",
    "saves_in_place",
    "scale_of_own_rows",
    "states_too_small",
    "cast_from_stored",
    "remainder_cut_off",
    "values_before_rounding",
    "codes_too_small",
    "scales_of_before",
    "amax_of_before",
    "history_stands",
    "next_by_newest",
    "load_quantises",
    "load_drops_scale",
    "tail_rounds_otherwise",
    "loads_change_order",
    "saves_count_processes",
)
ROUNDS_OTHERWISE = ("tail_rounds_otherwise", "loads_change_order")  # within any order's bounds


@dataclass(frozen=True)
class Parameter:
    """A tensor of the model, and the number of its group."""

    name: str
    shape: tuple[int, ...]
    group: int


@dataclass
class Group:
    """Settings that parameters share; each is a binary32 number."""

    name: str
    lr: float
    betas: tuple[float, float]
    eps: float
    weight_decay: float
    bias_correction: bool


@dataclass(frozen=True)
class Types:
    """In what everything of a parameter is kept."""

    param: str = "fp32"  # or bf16, or a recipe
    main: str = "none"  # with fp32 alone; else fp32, fp16, remainder
    exp_avg: str = "fp32"  # or bf16, fp16, fp8
    exp_avg_sq: str = "fp32"
    state_scale: str = "global"  # or local: of the whole tensor, or of a rank's rows

    def recipe(self, p: Parameter) -> str | None:
        """By which this parameter is quantised; what cannot take it is bf16."""
        return self.param if takes(self.param, p.shape) else None

    def plain(self) -> str:
        """The type of a parameter without recipe."""
        return self.param if self.param == "fp32" else "bf16"

    def scaled(self) -> bool:
        """Is anything read with scales? That is known by its bits alone."""
        plain = self.main in ("none", "fp32") and self.param in ("fp32", "bf16")
        return not plain or {self.exp_avg, self.exp_avg_sq} & set(RANGES) != set()

    def of(self, kind: str) -> str:
        """In what rows of one of KINDS are kept. A remainder and its bf16 make an fp32."""
        name: str = getattr(self, kind)
        return "fp32" if name in ("none", "remainder") else name


@dataclass
class Settings:
    """What holds for a whole world."""

    shard: int
    replicate: int
    microbatches: int
    mode: str  # adamw | adam
    types: Types
    grad_type: str
    clip: float | None
    loss_scale: float | None
    bug: str = "none"


@dataclass(eq=False)
class Rank:
    """What one rank keeps: `weights` are whole tensors, everything else has its own rows.

    Numbers are what reading gives; `scaled` and `quantised` have what they are read from.
    """

    index: int  # along the dimension that shards
    weights: dict[str, Array] = field(default_factory=dict)
    quantised: dict[str, Quantised] = field(default_factory=dict)  # whole
    main: dict[str, Array] = field(default_factory=dict)
    exp_avg: dict[str, Array] = field(default_factory=dict)
    exp_avg_sq: dict[str, Array] = field(default_factory=dict)
    scaled: dict[tuple[str, str], Scaled] = field(default_factory=dict)  # by kind and name
    shown: dict[tuple[str, str], Array] = field(default_factory=dict)  # a bug's values of them
    gradient: dict[str, Array] = field(default_factory=dict)
    steps: int = 0


Rows = list[Array]  # of one tensor, by rank


def rows_of(count: int, shard: int, index: int) -> slice:
    """Rows of one rank: ceiling division; trailing ranks may own fewer, or none."""
    full = -(-count // shard)
    begin = min(count, index * full)
    return slice(begin, min(count, begin + full))


class World:
    """All ranks. Rank number = replica * shard + index."""

    def __init__(
        self, s: Settings, params: list[Parameter], groups: list[Group], initial: dict[str, Array]
    ) -> None:
        self.settings, self.params, self.groups = s, params, groups
        self.loaded = False
        self.ranks = [Rank(r % s.shard) for r in range(s.shard * s.replicate)]
        self.skipped, self.norm, self.coefficient = (
            False,
            F32(0),
            F32(1),
        )  # as clip() and step() found
        for p in params:
            quantised = s.types.recipe(p) is not None
            drawn = initial[p.name] if quantised else rounded(initial[p.name], s.types.plain())
            rows = [self.cut(rank, drawn) for rank in self.ranks]
            self.publish(p, rows)
            self.hold("main", p, rows)
            for kind in KINDS[1:]:
                self.hold(kind, p, [np.zeros_like(own) for own in rows])

    def cut(self, rank: Rank, whole: Array) -> Array:
        """A copy of this rank's rows."""
        return whole[rows_of(whole.shape[0], self.settings.shard, rank.index)].copy()

    def backward(self, sent: list[dict[str, Array]], without: list[str]) -> None:
        """Reduce-scatter: the sum over ranks, divided once, added to a gradient that is there."""
        s = self.settings
        self.norm, self.coefficient = F32(0), F32(1)
        for p in self.params:
            if p.name in without:
                continue
            scaled = [rounded(of[p.name] * F32(s.loss_scale or 1), s.grad_type) for of in sent]
            total = reduce(lambda a, b: rounded(a + b, s.grad_type), scaled)
            mean = total / F32(s.microbatches)
            for rank in self.ranks:
                rows = self.cut(rank, rounded(mean, s.grad_type))
                older = rank.gradient.get(p.name)
                new = rows if older is None else rounded(older + rows, s.grad_type)
                rank.gradient[p.name] = new

    def zero_grad(self, set_to_none: bool) -> None:
        """No gradients, or zeros for every parameter."""
        self.norm, self.coefficient = F32(0), F32(1)
        for rank in self.ranks:
            rows = {} if set_to_none else rank.main
            rank.gradient = {name: np.zeros_like(values) for name, values in rows.items()}

    def inverse(self) -> np.float32:
        """What undoes the loss scale."""
        return F32(1 / (self.settings.loss_scale or 1))

    def clip(self) -> float:
        """The global norm, its sum of squares exact; later steps scale gradients down to `clip`."""
        one_replica = self.ranks[: self.settings.shard]
        unscaled = [g * self.inverse() for rank in one_replica for g in rank.gradient.values()]
        squares = (x for g in unscaled for x in (g.astype(np.float64) ** 2).ravel().tolist())
        self.norm = F32(math.sqrt(math.fsum(squares)))
        limit = F32(self.settings.clip) / (self.norm + F32(1e-6))
        self.coefficient = np.minimum(limit, F32(1))
        return float(self.norm)

    def step(self) -> bool:
        """Steps each rank's rows and gathers the weights; not where a loss scale overflowed."""
        gradients = [g for rank in self.ranks for g in rank.gradient.values()]
        looks = self.settings.loss_scale is not None
        self.skipped = looks and not all(np.isfinite(g).all() for g in gradients)
        if self.skipped:
            return False
        for rank in self.ranks:
            rank.steps += 1
        for p in self.params:
            if p.name in self.ranks[0].gradient:
                self.step_parameter(p)
        return True

    def step_parameter(self, p: Parameter) -> None:
        """All ranks' rows. Parameters are made of new weights before these are rounded."""
        new = [self.update(rank, p.name, self.groups[p.group]) for rank in self.ranks]
        weights, *moments = (list(rows) for rows in zip(*new, strict=True))
        self.hold("main", p, weights)
        if self.settings.bug == "cast_from_stored":
            weights = [rank.main[p.name] for rank in self.ranks]
        self.publish(p, weights)
        for kind, rows in zip(KINDS[1:], moments, strict=True):
            self.hold(kind, p, rows)

    def update(self, rank: Rank, name: str, group: Group) -> tuple[Array, Array, Array]:
        """Adam on one rank's rows: each operation rounds once, in this order."""
        lr, decay, eps = F32(group.lr), F32(group.weight_decay), F32(group.eps)
        b1, b2 = F32(group.betas[0]), F32(group.betas[1])
        corrected = group.bias_correction and self.settings.bug != "no_bias_correction"
        c1 = F32(1 - float(b1) ** rank.steps) if corrected else F32(1)
        c2 = F32(1 - float(b2) ** rank.steps) if corrected else F32(1)
        g = rank.gradient[name] * self.inverse() * self.coefficient
        p = rank.main[name]
        if self.settings.mode == "adam":
            g = g + decay * p
        m = b1 * rank.exp_avg[name] + (F32(1) - b1) * g
        v = b2 * rank.exp_avg_sq[name] + self.squares(g, F32(1) - b2)
        update = (m / c1) / (np.sqrt(v / c2) + eps)
        if self.settings.mode == "adamw":
            update = update + decay * p
        return p - lr * update, m, v

    def squares(self, g: Array, factor: np.float32) -> Array:
        """`factor` times the square of each element: from the left, but for two bugs."""
        squares = (factor * g) * g
        other = factor * (g * g)
        if self.settings.bug == "tail_rounds_otherwise":
            whole = g.size - g.size % 8  # as vectors of eight leave the rest to other code
            squares.flat[whole:] = other.flat[whole:]
        changes = self.settings.bug == "loads_change_order" and self.loaded
        return other if changes else squares

    def hold(self, kind: str, p: Parameter, rows: Rows) -> None:
        """Each rank keeps its rows of a state, rounded once to the type that it has."""
        name = self.settings.types.of(kind)
        local = self.settings.types.state_scale == "local"  # each scale is of a rank's own rows
        local = local or self.settings.bug == "scale_of_own_rows"
        for rank, own in zip(self.ranks, rows, strict=True):
            if name not in RANGES:
                getattr(rank, kind)[p.name] = rounded(own, name)
                continue
            scale = scale_of([own] if local else rows, name)
            new = own * F32(0.96875) if self.settings.bug == "states_too_small" else own
            self.put_scaled(rank, kind, p, kept(new, scale, name))
            rank.shown[kind, p.name] = own

    def put_scaled(self, rank: Rank, kind: str, p: Parameter, scaled: Scaled) -> None:
        """What is kept, and what reading it gives."""
        rank.scaled[kind, p.name] = scaled
        getattr(rank, kind)[p.name] = scaled.values()

    def publish(self, p: Parameter, rows: Rows) -> None:
        """All-gather: the optimizer's new rows become everybody's parameter."""
        for begin in range(0, len(rows), self.settings.shard):
            replica = slice(begin, begin + self.settings.shard)
            self.publish_whole(p, self.ranks[replica], np.concatenate(rows[replica]))

    def publish_whole(self, p: Parameter, replica: list[Rank], whole: Array) -> None:
        """What each rank of a replica makes of new weights is the same."""
        recipe, quantised = self.settings.types.recipe(p), None
        if recipe:
            before = replica[0].quantised.get(p.name)
            quantised = quantise(whole, recipe, before, self.settings.bug)
        weights = quantised.values() if quantised else self.as_parameter(whole)
        for rank in replica:
            self.put_parameter(rank, p, weights, quantised)

    def put_parameter(
        self, rank: Rank, p: Parameter, weights: Array, quantised: Quantised | None
    ) -> None:
        """What a rank reads, and what it reads that from."""
        rank.weights[p.name] = weights
        if quantised:
            rank.quantised[p.name] = quantised

    def as_parameter(self, whole: Array) -> Array:
        """New weights in the type of a parameter without recipe."""
        types = self.settings.types
        if types.main == "remainder":
            return upper_half(whole, cut_off=self.settings.bug == "remainder_cut_off")
        return rounded(whole, types.plain())

    def whole(self, rank: Rank, kind: str, name: str) -> Array:
        """All rows of a tensor, from the ranks of this rank's replica."""
        replica = self.ranks.index(rank) // self.settings.shard * self.settings.shard
        peers = self.ranks[replica : replica + self.settings.shard]
        return np.concatenate([getattr(peer, kind)[name] for peer in peers])
