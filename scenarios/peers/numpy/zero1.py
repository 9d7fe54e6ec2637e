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

from tensors import Array, rounded

F32 = np.float32
BUGS = ("none", "shard_as_whole", "stale_step", "no_bias_correction", "no_checksums")


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


@dataclass
class Settings:
    """What holds for a whole world."""

    shard: int
    replicate: int
    microbatches: int
    mode: str  # adamw | adam
    param_type: str
    grad_type: str
    clip: float | None
    loss_scale: float | None
    bug: str = "none"


@dataclass(eq=False)
class Rank:
    """What one rank keeps: `weights` are whole tensors, everything else has its own rows."""

    index: int  # along the dimension that shards
    weights: dict[str, Array] = field(default_factory=dict)
    main: dict[str, Array] = field(default_factory=dict)
    exp_avg: dict[str, Array] = field(default_factory=dict)
    exp_avg_sq: dict[str, Array] = field(default_factory=dict)
    gradient: dict[str, Array] = field(default_factory=dict)
    steps: int = 0


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
        self.ranks = [Rank(r % s.shard) for r in range(s.shard * s.replicate)]
        self.forget_backward()
        for rank in self.ranks:
            for p in params:
                rank.weights[p.name] = rounded(initial[p.name], s.param_type)
                rank.main[p.name] = self.cut(rank, rank.weights[p.name])
                rank.exp_avg[p.name] = np.zeros_like(rank.main[p.name])
                rank.exp_avg_sq[p.name] = np.zeros_like(rank.main[p.name])

    def cut(self, rank: Rank, whole: Array) -> Array:
        """A copy of this rank's rows."""
        return whole[rows_of(whole.shape[0], self.settings.shard, rank.index)].copy()

    def forget_backward(self) -> None:
        """What clip() and step() found of gradients that are no longer these."""
        self.skipped, self.norm, self.coefficient = False, F32(0), F32(1)

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
                if p.name in rank.gradient:
                    self.update(rank, p.name, self.groups[p.group])
        self.gather()
        return True

    def update(self, rank: Rank, name: str, group: Group) -> None:
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
        v = b2 * rank.exp_avg_sq[name] + ((F32(1) - b2) * g) * g
        update = (m / c1) / (np.sqrt(v / c2) + eps)
        if self.settings.mode == "adamw":
            update = update + decay * p
        rank.exp_avg[name], rank.exp_avg_sq[name], rank.main[name] = m, v, p - lr * update

    def whole(self, rank: Rank, kind: str, name: str) -> Array:
        """All rows of a tensor, from the ranks of this rank's replica."""
        replica = self.ranks.index(rank) // self.settings.shard * self.settings.shard
        peers = self.ranks[replica : replica + self.settings.shard]
        return np.concatenate([getattr(peer, kind)[name] for peer in peers])

    def gather(self) -> None:
        """All-gather: the optimizer's rows become everybody's weights."""
        for rank in self.ranks:
            for p in self.params:
                whole = self.whole(rank, "main", p.name)
                rank.weights[p.name] = rounded(whole, self.settings.param_type)
