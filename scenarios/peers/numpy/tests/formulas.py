"""The ways: seven engines, each with an order of operations of its own.

plain        interval: clips and unscales in place, each by a division of its own; gradients are
             summed from the last rank on, moments are beta x + (1 - beta) y
reciprocal   interval: clips in place by PyTorch's factor and unscales in the same product; sums are
             trees, moments are x + (1 - beta) (y - x); where all is bf16 each result is rounded
fused        interval: clips and unscales in the step, with fused multiply-adds throughout; sums are
             rings, the norm is that of scaled gradients, corrections are in the rate and epsilon
wide         interval: clips and unscales in the step; all in float64, rounded at the end
te           to the bit: the engine as it is
torch        to the bit: clip_grad_norm_, GradScaler.unscale_, single and foreach steps
torch_fused  to the bit: likewise, but a step without a clip divides by the loss scale itself
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import rounding
from adamant_numpy.formats import Array, rounded
from adamant_numpy.zero1 import F32, Group, Rank, World
from rounding import fma
from way import ONE, Stepped, Way, stepped


class Plain(Way):
    """Divisions, products and sums as they are written down."""

    holds_in_place = True

    def total(self, terms: list[Array], name: str) -> Array:
        """From the last rank on."""
        return rounding.from_the_right(terms, name)

    def clip_in_place(self) -> None:
        """First the loss scale is taken away, then the norm is brought down."""
        self.unscale()
        self.scale_gradients(lambda g, rank: g * self.coefficient_of(rank))
        self.coefficient = ONE

    def unscale(self) -> None:
        """A division by the loss scale."""
        scale = F32(1 if self.unscaled else self.settings.loss_scale or 1)
        self.scale_gradients(lambda g, _: g / scale)

    def step(self) -> bool:
        """Gradients are unscaled, if no clip has done that."""
        self.unscale()
        return super().step()

    def stepped(self, rank: Rank, name: str, group: Group) -> Stepped:
        """(m / c1) / (sqrt(v / c2) + eps), and decay of the weight that it finds."""
        s, p, g = self.scalars(rank, group), rank.main[name], rank.gradient[name]
        g = g + s.decay * p if s.l2 else g
        m = s.w1 * g + s.b1 * rank.exp_avg[name]
        v = s.w2 * (g * g) + s.b2 * rank.exp_avg_sq[name]
        update = s.lr * ((m / F32(s.c1)) / (np.sqrt(v / F32(s.c2)) + s.eps))
        decayed = p if s.l2 else p - s.lr * s.decay * p
        return stepped(decayed - update, m, v)


class Reciprocal(Way):
    """Reciprocals and products, as PyTorch has them; in bf16 tensors each result is rounded."""

    holds_in_place = True

    def total(self, terms: list[Array], name: str) -> Array:
        """In halves."""
        return rounding.tree(terms, name)

    def kept_in(self) -> str:
        """That of the optimizer's own weights."""
        return "fp32" if self.settings.types.main == "fp32" else self.settings.types.plain()

    def factor(self, norm: np.float32) -> np.float32:
        """The limit times a reciprocal."""
        return F32(min(F32(self.settings.clip) * (ONE / (norm + F32(1e-6))), ONE))

    def found_norm(self) -> np.float32:
        """The norm of tensors' norms, and these the norms of their shards'."""
        of_tensors = []
        for p in self.params:
            shards = [r.gradient.get(p.name) for r in self.ranks[: self.settings.shard]]
            norms = [_norm(g * self.bearing()) for g in shards if g is not None]
            of_tensors.append(_norm(np.array(norms, np.float32)))
        return _norm(np.array(of_tensors, np.float32))

    def stepped(self, rank: Rank, name: str, group: Group) -> Stepped:
        """Moments are moved towards what is new; the rate has the first correction in it."""
        s, p, before = self.scalars(rank, group), rank.main[name], rank.gradient[name]
        types = self.settings.types
        all_short = {types.plain(), types.exp_avg, types.exp_avg_sq} == {"bf16"}
        of = "bf16" if all_short and types.main == "none" else "fp32"
        g = rounded(before * self.bearing(), of) * self.coefficient
        g = rounded(g + rounded(s.decay * p, of), of) if s.l2 else rounded(g, of)
        m, v = rank.exp_avg[name], rank.exp_avg_sq[name]
        m, v = _lerp(m, g, s.w1, of), _lerp(v, rounded(g * g, of), s.w2, of)
        root = rounded(np.sqrt(np.maximum(v, 0)), of)
        denominator = rounded(rounded(root * F32(1 / math.sqrt(s.c2)), of) + s.eps, of)
        decayed = p if s.l2 else rounded(p * s.kept, of)
        towards = rounded(m * F32(float(s.lr) / s.c1), of)
        return stepped(rounded(decayed - rounded(towards / denominator, of), of), m, v)


class Fused(Way):
    """Clip and scaler are one factor of the step; every product that is added is fused with it."""

    def total(self, terms: list[Array], name: str) -> Array:
        """By pieces, around a ring."""
        return rounding.ring(terms, name)

    def found_norm(self) -> np.float32:
        """That of gradients as they are, brought to scale; squares of scaled ones may be large."""
        gradients = [g for r in self.ranks[: self.settings.shard] for g in r.gradient.values()]
        scaled = np.concatenate([np.empty(0, np.float32), *(g.ravel() for g in gradients)])
        if self.bearing() != 1:
            wide = np.sqrt(np.sum(np.float64(scaled) ** 2))
            return F32(wide * np.float64(self.bearing()))
        squares = F32(0)
        for x in scaled:
            squares = F32(fma(x, x, squares))
        return F32(np.sqrt(squares))

    def stepped(self, rank: Rank, name: str, group: Group) -> Stepped:
        """Corrections are in the rate and in epsilon; decay is a part of the last operation."""
        s, p, scaled = self.scalars(rank, group), rank.main[name], rank.gradient[name]
        by = self.coefficient_of(rank) * self.bearing()
        if by < 2.0**-126:  # it has lost digits
            scaled, by = scaled * self.bearing(), self.coefficient_of(rank)
        m, v, zero = rank.exp_avg[name], rank.exp_avg_sq[name], F32(0)
        g = fma(scaled, by, s.decay * p if s.l2 else zero)
        difference = fma(g, ONE, -m) if s.l2 else fma(scaled, by, -m)
        m = fma(s.w1, difference, m)
        v = fma(s.b2, v, s.w2 * g * g)
        rate = F32(float(s.lr) * math.sqrt(s.c2) / s.c1)
        ratio = m / (np.sqrt(v) + F32(float(s.eps) * math.sqrt(s.c2)))
        return stepped(fma(-rate, ratio, p if s.l2 else fma(-(s.lr * s.decay), p, p)), m, v)


class Wide(Way):
    """Everything in float64; only what is kept is rounded."""

    def total(self, terms: list[Array], name: str) -> Array:
        """In float64."""
        return rounding.wide(terms, name)

    def found_norm(self) -> np.float32:
        """Squares in float64."""
        by = float(self.bearing())
        scaled = [g for r in self.ranks[: self.settings.shard] for g in r.gradient.values()]
        squares = sum(float(np.sum((g.astype(np.float64) * by) ** 2)) for g in scaled)
        return F32(math.sqrt(squares))

    def factor(self, norm: np.float32) -> Any:
        """Not rounded at all."""
        return min(np.float64(F32(self.settings.clip)) / (np.float64(norm) + 1e-6), 1)

    def stepped(self, rank: Rank, name: str, group: Group) -> Stepped:
        """As the paper has it."""
        s, p = self.scalars(rank, group), rank.main[name].astype(np.float64)
        factor = float(self.coefficient_of(rank)) / float(
            1 if self.unscaled else self.settings.loss_scale or 1
        )
        g = rank.gradient[name].astype(np.float64) * factor
        g = g + float(s.decay) * p if s.l2 else g
        m = float(s.b1) * rank.exp_avg[name] + (1 - float(s.b1)) * g
        v = float(s.b2) * rank.exp_avg_sq[name] + (1 - float(s.b2)) * g * g
        m, v = m.astype(np.float32), v.astype(np.float32)
        root = np.sqrt(v.astype(np.float64) / s.c2)
        update = (m.astype(np.float64) / s.c1) / (root + float(s.eps))
        update = update if s.l2 else update + float(s.decay) * p
        return stepped((p - float(s.lr) * update).astype(np.float32), m, v)


class Te(Way):
    """The engine as it is."""

    arithmetic = "te"
    backward, clip = World.backward, World.clip

    def stepped(self, rank: Rank, name: str, group: Group) -> Stepped:
        """With the coefficient that the rank takes for its own."""
        right, self.coefficient = self.coefficient, self.coefficient_of(rank)
        new = World.update(self, rank, name, group)
        self.coefficient = right
        return new


class Torch(Way):
    """PyTorch's formulas (oracle/torch), with FSDP2's gradients in the type of what they step."""

    arithmetic = "torch"
    holds_in_place = True
    kept_in, found_norm, factor = Reciprocal.kept_in, Reciprocal.found_norm, Reciprocal.factor

    def total(self, terms: list[Array], name: str) -> Array:
        """In halves."""
        return rounding.tree(terms, name)

    def clip_in_place(self) -> None:
        """GradScaler.unscale_, then clip_grad_norm_."""
        self.unscale()
        self.scale_gradients(lambda g, rank: g * self.coefficient_of(rank))
        self.coefficient = ONE

    def unscale(self) -> None:
        """By a reciprocal."""
        inverse = self.bearing()
        self.scale_gradients(lambda g, _: g * inverse)

    def step(self) -> bool:
        """GradScaler unscales whether the step is made or not."""
        self.unscale()
        return super().step()

    def stepped(self, rank: Rank, name: str, group: Group) -> Stepped:
        """Each operation in PyTorch's order."""
        s, p, g = self.scalars(rank, group), rank.main[name], rank.gradient[name]
        m, v = rank.exp_avg[name], rank.exp_avg_sq[name]
        g = fma(p, s.decay, g) if s.l2 and s.decay != 0 else g
        near = s.w1 < 0.5
        m = fma(s.w1, g - m, m) if near else fma(s.w1 - ONE, g - m, g)
        v = fma(s.w2 * g, g, s.b2 * v)
        p = p if s.l2 or s.decay == 0 else p * s.kept
        root = np.sqrt(v)
        off = v.view(np.int32) % 5 == 0  # as often as PyTorch's root is
        root = np.where(off & (root != 0), np.nextafter(root, F32(np.inf)), root)
        denominator = root / F32(math.sqrt(s.c2)) + s.eps
        return stepped(p + (F32(-(float(s.lr) / s.c1)) * m) / denominator, m, v)


class TorchFused(Torch):
    """The step divides, and touches nothing where it is skipped."""

    arithmetic = "torch_fused"

    def step(self) -> bool:
        """Overflows are looked for in gradients as they are."""
        gradients = [g for rank in self.ranks for g in rank.gradient.values()]
        skips = self.settings.loss_scale and not all(np.isfinite(g).all() for g in gradients)
        if not skips and not self.unscaled:
            scale = F32(self.settings.loss_scale or 1)
            self.scale_gradients(lambda g, _: g / scale)
        return World.step(self)


WAYS: dict[str, type[Way]] = {
    "plain": Plain,
    "reciprocal": Reciprocal,
    "fused": Fused,
    "wide": Wide,
    "te": Te,
    "torch": Torch,
    "torch_fused": TorchFused,
}


def _lerp(x: Array, to: Array, weight: np.float32, of: str) -> Array:
    """From x towards another number, begun at the nearer of them."""
    apart = rounded(to - x, of)
    if weight < 0.5:
        return rounded(x + rounded(weight * apart, of), of)
    return rounded(to - rounded((ONE - weight) * apart, of), of)


def _norm(values: Array) -> np.float32:
    return F32(np.sqrt(F32(np.sum(values * values))))
