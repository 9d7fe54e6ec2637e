"""Redoes the optimizer steps of a dump with torch.optim.Adam and AdamW and compares the states.

    python3 redo_in_torch.py DUMP

Every step is redone by itself: PyTorch starts from the dumped state before it, takes the dumped
gradient, and its result is held against the dumped state after it. The two order their operations
differently, so bits differ; how far is derived here, not chosen. A third computation, in binary64,
stands between them. With u = 2^-24 and every operation rounded to nearest, one step is off by at
most

    exp_avg     b1 m + (1 - b1) g; PyTorch: m + (1 - b1)(g - m)
                k u (|m| + |g|)           with k = 4 roundings on the way of either term
    exp_avg_sq  b2 v + ((1 - b2) g) g in both, perhaps fused
                k u (b2 v + (1 - b2) g^2)
    parameter   p - lr ((m / c1) / (sqrt(v / c2) + eps) + wd p)
                PyTorch: p (1 - lr wd) - (lr / c1) m / (sqrt(v) / sqrt(c2) + eps)
                what both moments are off by, carried through, and k = 8 roundings

plus one more rounding where a tensor is stored in 16 or 8 bits. A parameter that is quantised from
its main weight is left to that: what is redone is the main weight. What is stored with a scale is put
on that of the dump, which in turn has to be what the largest new magnitude makes it. PyTorch is given the binary32 values of
all settings, as adamant uses them: with the decimal 0.999 its second moment would differ by
1.3e-5, which is no matter of order.

Exit status: 0 all within, 1 something is outside, 2 no dump, 77 PyTorch cannot be imported.
"""

from __future__ import annotations

import json
import math
import struct
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

try:
    import torch
except ImportError as error:
    print(f"skipped: PyTorch cannot be imported ({error})")
    sys.exit(77)

Tensors = dict[str, torch.Tensor]

DTYPES = {"F32": torch.float32, "BF16": torch.bfloat16, "F16": torch.float16, "U8": torch.uint8}
FP8 = torch.float8_e4m3fn  # what U8 holds
WIDEN = {torch.float32: 1, torch.bfloat16: 2**16, torch.float16: 2**13, FP8: 2**20}  # steps, in those of binary32
FINEST = {torch.float32: 0.0, torch.bfloat16: 0.0, torch.float16: 2.0**-24, FP8: 2.0**-9}  # step of the smallest
RANGES = {torch.float16: 32752.0, FP8: 448.0}  # what a scale brings the largest magnitude to
SMALLEST_SCALE = 2.0**-126
UNIT = 2.0**-24
SMALLEST = 2.0**-149
LARGEST = 2.0**128 - 2.0**103  # what rounds to infinity lies above
ROUNDINGS_OF_MOMENTS = 4
ROUNDINGS_OF_PARAMETER = 8


def read_safetensors(path: Path) -> tuple[Tensors, dict[str, str]]:
    """The tensors of a file and its metadata."""
    data = bytearray(path.read_bytes())
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        dtype = DTYPES[entry["dtype"]]
        flat = torch.frombuffer(data[begin:end], dtype=dtype) if end > begin else torch.empty(0, dtype=dtype)
        tensors[name] = flat.reshape(entry["shape"])
    return tensors, metadata


Shards = list[list[list[int]]]


@dataclass
class Kept:
    """How a tensor is kept: in a type, perhaps each number divided by a scale, which all share or
    those of a rank."""

    dtype: torch.dtype
    scales: torch.Tensor | None = None
    shards: Shards | None = None

    def each(self, numel: int) -> Shards:
        """The elements behind each scale."""
        return [[[0, numel]]] if self.shards is None else self.shards

    def spread(self, scales: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
        """The scale of every element."""
        flat = torch.ones(like.numel(), dtype=scales.dtype)
        for scale, ranges in zip(scales, self.each(like.numel()), strict=True):
            for begin, end in ranges:
                flat[begin:end] = scale
        return flat.reshape(like.shape)

    def amaxes(self, values: torch.Tensor) -> torch.Tensor:
        """The largest finite magnitude behind each scale."""
        flat = torch.where(values.isfinite(), values.abs(), torch.zeros_like(values)).flatten()
        shards = [torch.cat([flat[:0]] + [flat[b:e] for b, e in ranges]) for ranges in self.each(flat.numel())]
        return torch.stack([x.max() if x.numel() else flat.new_zeros(()) for x in shards])

    def fresh(self, values: torch.Tensor) -> Kept:
        """The same with the scales that these values make."""
        if self.scales is None:
            return self
        amaxes = self.amaxes(values)
        scales = torch.where(amaxes == 0, torch.ones_like(amaxes), (amaxes / RANGES[self.dtype]).clamp(min=SMALLEST_SCALE))
        return Kept(self.dtype, scales, self.shards)

    def read(self, values: torch.Tensor) -> torch.Tensor:
        """What binary32 numbers are worth once they are kept."""
        if self.scales is None:
            return values.to(self.dtype).float()
        scale = self.spread(self.scales, values)
        scaled = values * (1 / scale)
        if self.dtype == FP8:
            scaled = torch.where(scaled.abs() > RANGES[FP8], scaled.sign() * RANGES[FP8], scaled)
        return scaled.to(self.dtype).float() * scale

    def rounding(self, exact: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The distance of neighbours at binary64 numbers, and what keeping takes from them."""
        scale = torch.ones_like(exact) if self.scales is None else self.spread(self.scales.double(), exact)
        kept = (exact / scale).float().to(self.dtype).float()
        ulp = (unit_in_last_place(kept) * WIDEN[self.dtype]).clamp(min=FINEST[self.dtype]) * scale
        if self.dtype == torch.float32:
            return ulp, torch.zeros_like(ulp)
        return ulp, ulp / 2 + (0 if self.scales is None else 3 * UNIT * exact.abs() + SMALLEST)


@dataclass
class State:
    """One parameter's tensors, as binary32, and how they are kept."""

    weight: torch.Tensor  # what the optimizer steps: the main weight, or the parameter
    parameter: torch.Tensor
    exp_avg: torch.Tensor
    exp_avg_sq: torch.Tensor
    has_main: bool
    quantised: bool  # the parameter, which then is no rounding of the main weight
    kept: dict[str, Kept]


def state_of(tensors: Tensors, metadata: dict[str, str], name: str) -> State:
    def kept(key: str) -> Kept:
        raw = tensors.get(f"{key}/raw")
        dtype = torch.float32 if raw is None else FP8 if raw.dtype == torch.uint8 else raw.dtype
        shards = json.loads(metadata.get("shards", "{}")).get(name)
        return Kept(dtype, tensors.get(f"{key}/scale"), shards)

    main = tensors.get(f"{name}/main")
    # The raw bits of a parameter itself are under NAME/raw, as NAME has no second component.
    keys = {"parameter": name, "exp_avg": f"{name}/exp_avg", "exp_avg_sq": f"{name}/exp_avg_sq"}
    keys["weight"] = name if main is None else f"{name}/main"
    return State(
        quantised=f"{name}/scale" in tensors,
        weight=tensors[keys["weight"]],
        parameter=tensors[name],
        exp_avg=tensors[keys["exp_avg"]],
        exp_avg_sq=tensors[keys["exp_avg_sq"]],
        has_main=main is not None,
        kept={kind: kept(key) for kind, key in keys.items()},
    )


def initial_state(initial: torch.Tensor, like: State) -> State:
    zeros = torch.zeros_like(initial)
    weight = like.kept["weight"].fresh(initial).read(initial)
    return State(weight, initial, zeros, zeros.clone(), like.has_main, like.quantised, like.kept)


def stepped_by_torch(before: State, gradient: torch.Tensor, s: dict[str, Any]) -> dict[str, torch.Tensor]:
    weight = torch.nn.Parameter(before.weight.clone())
    optimizer_class = torch.optim.AdamW if s["mode"] == "adamw" else torch.optim.Adam
    optimizer = optimizer_class(
        [weight], lr=s["lr"], betas=(s["beta1"], s["beta2"]), eps=s["eps"], weight_decay=s["weight_decay"], foreach=False
    )
    optimizer.state[weight] = {
        "step": torch.tensor(float(s["step"] - 1)),
        "exp_avg": before.exp_avg.clone(),
        "exp_avg_sq": before.exp_avg_sq.clone(),
    }
    weight.grad = gradient.clone()
    optimizer.step()
    moments = optimizer.state[weight]
    return {"weight": weight.detach(), "exp_avg": moments["exp_avg"], "exp_avg_sq": moments["exp_avg_sq"]}


def between(before: State, gradient: torch.Tensor, s: dict[str, Any]) -> dict[str, tuple[torch.Tensor, torch.Tensor]]:
    """The step in binary64, and how far a binary32 one may be from it."""
    p, m, v, g = (x.double() for x in (before.weight, before.exp_avg, before.exp_avg_sq, gradient))
    b1, b2, decay, lr, eps = (s[key] for key in ("beta1", "beta2", "weight_decay", "lr", "eps"))
    c1, c2 = 1 - b1 ** s["step"], 1 - b2 ** s["step"]
    k = ROUNDINGS_OF_MOMENTS
    g_off = torch.zeros_like(g)
    if s["mode"] == "adam":
        g_off = 2 * UNIT * (g.abs() + decay * p.abs())
        g = g + decay * p
    m_new = b1 * m + (1 - b1) * g
    m_off = k * UNIT * (m.abs() + g.abs()) + g_off + 4 * SMALLEST
    v_new = b2 * v + (1 - b2) * g * g
    v_off = k * UNIT * v_new + 2 * (1 - b2) * (g.abs() + g_off) * g_off + 4 * SMALLEST
    # What overflows binary32 is infinite for the rest of the step, and so is its root: no update.
    v_new = torch.where(v_new > LARGEST, torch.full_like(v_new, math.inf), v_new)
    v_off = torch.where(v_new.isinf(), torch.zeros_like(v_off), v_off)
    # A root is steep at 0: between v - off and v + off it moves by this much.
    root = (v_new / c2).sqrt()
    root_off = ((v_new + v_off) / c2).sqrt() - ((v_new - v_off).clamp(min=0) / c2).sqrt()
    root_off = torch.where(root.isinf(), torch.zeros_like(root), root_off)
    divisor, divisor_low = root + eps, (root - root_off).clamp(min=0) + eps * (1 - UNIT)
    quotient = m_new / c1 / divisor
    quotient_off = m_off / c1 / divisor_low + quotient.abs() * (root_off / divisor_low).nan_to_num(0.0)
    decayed = decay * p if s["mode"] == "adamw" else torch.zeros_like(p)
    p_new = p - lr * (quotient + decayed)
    p_off = lr * quotient_off + ROUNDINGS_OF_PARAMETER * UNIT * (p.abs() + lr * (quotient.abs() + decayed.abs())) + 4 * SMALLEST
    return {"weight": (p_new, p_off), "exp_avg": (m_new, m_off), "exp_avg_sq": (v_new, v_off)}


def unit_in_last_place(x: torch.Tensor) -> torch.Tensor:
    """The distance from |x| to the next larger binary32 number, in binary64."""
    magnitude = x.abs()
    return torch.nextafter(magnitude, torch.tensor(math.inf)).double() - magnitude.double()


@dataclass
class Tally:
    elements: int = 0
    equal: int = 0
    largest_ulp: float = 0.0
    room_used: float = 0.0
    outside: list[str] = field(default_factory=list)

    def add(self, where: str, dumped: torch.Tensor, redone: torch.Tensor, exact: torch.Tensor, off: torch.Tensor, kept: Kept) -> None:
        """`dumped` is what is read of a tensor that is kept so, `redone` what is about to be."""
        self.add_scales(where, exact, off, kept)
        if dumped.numel() == 0:
            return
        ulp, rounding = kept.rounding(exact)
        room = off + rounding
        finite = torch.isfinite(exact.float()) & torch.isfinite(room)
        read = kept.read(redone)
        distance = (dumped.double() - read.double()).abs()
        self.elements += dumped.numel()
        same = (dumped == read) | (dumped.isnan() & read.isnan())
        self.equal += int(same.sum())
        checked = finite & ~same
        self.largest_ulp = max(self.largest_ulp, float((distance / ulp)[checked].max()) if checked.any() else 0.0)
        used = torch.maximum((dumped.double() - exact).abs(), (redone.double() - exact).abs() - (room - off)) / room
        used = torch.where(finite, used, torch.zeros_like(used))
        self.room_used = max(self.room_used, float(used.max()))
        # What overflows or is no number has no room: both must be of the same class.
        bad = (finite & (used > 1)) | (~finite & ~same & ~(dumped.isinf() | redone.isinf()))
        for index in bad.flatten().nonzero().flatten().tolist()[:3]:
            values = (float(x.flatten()[index]) for x in (dumped, redone, exact, room))
            self.outside.append("{}[{}]: dumped {!r}, redone {!r}, exact {!r} within {!r}".format(where, index, *values))

    def add_scales(self, where: str, exact: torch.Tensor, off: torch.Tensor, kept: Kept) -> None:
        """Each scale is what the largest new magnitude makes it, give or take what that is off by."""
        if kept.scales is None:
            return
        exact = torch.where(torch.isfinite(exact.float()) & torch.isfinite(off), exact, torch.zeros_like(exact))
        off = torch.where(torch.isfinite(off), off, torch.zeros_like(off))
        low, high = kept.amaxes((exact.abs() - off).clamp(min=0)), kept.amaxes(exact.abs() + off)
        for i, scale in enumerate(kept.scales.double().tolist()):
            least, most = (float(x[i]) / RANGES[kept.dtype] for x in (low, high))
            inside = least * (1 - UNIT) <= scale <= max(most * (1 + UNIT), SMALLEST_SCALE)
            if not inside and not (scale == 1 and least == 0):
                self.outside.append(f"{where}/scale[{i}]: dumped {scale!r}, exact between {least!r} and {most!r}")


def check_unchanged(where: str, then: State, now: State, tally: Tally) -> None:
    for kind in ("parameter", "weight", "exp_avg", "exp_avg_sq"):
        if kind == "parameter" and now.quantised:  # at first only the main weight is dumped
            continue
        before, after = (getattr(state, kind).nan_to_num(7.0) for state in (then, now))
        if not torch.equal(before, after):
            tally.outside.append(f"{where}/{kind} changed in a skipped step")


def redo_step(
    number: int,
    before: Tensors,
    gradients: Tensors,
    settings: dict[str, Any],
    after: Tensors,
    metadata: tuple[dict[str, str], dict[str, str]],
    tallies: dict[str, Tally],
) -> int:
    """Compares one step, with the metadata of both states; the number of parameters that PyTorch has
    no words for."""
    left_out = 0
    for name, gradient in gradients.items():
        s = settings[name]
        now = state_of(after, metadata[1], name)
        then = state_of(before, metadata[0], name) if f"{name}/exp_avg" in before else initial_state(before[name], now)
        if s["skipped"]:  # something was not finite under a loss scale: nothing may have changed
            check_unchanged(f"step {number}: {name}", then, now, tallies["weight"])
            continue
        if not s["bias_correction"]:
            left_out += 1
            continue
        redone = stepped_by_torch(then, gradient, s)
        computed = between(then, gradient, s)
        for kind, dumped in (("weight", now.weight), ("exp_avg", now.exp_avg), ("exp_avg_sq", now.exp_avg_sq)):
            exact, off = computed[kind]
            tallies[kind].add(f"step {number}: {name}/{kind}", dumped, redone[kind], exact, off, now.kept[kind])
        if now.has_main and not now.quantised:  # rounded from the result, not from what is kept of it
            exact, off = computed["weight"]
            kept = now.kept["parameter"]
            tallies["weight"].add(f"step {number}: {name}", now.parameter, redone["weight"], exact, off, kept)
    return left_out


def redo(dump: Path) -> int:
    tallies = {kind: Tally() for kind in ("weight", "exp_avg", "exp_avg_sq")}
    before, of_before = read_safetensors(dump / "initial.safetensors")
    steps = left_out = 0
    for gradient_file in sorted(dump.glob("grad_*.safetensors")):
        number = gradient_file.stem.removeprefix("grad_")
        gradients, metadata = read_safetensors(gradient_file)
        after, of_after = read_safetensors(dump / f"state_{number}.safetensors")
        settings = json.loads(metadata["optimizer"])
        left_out += redo_step(int(number), before, gradients, settings, after, (of_before, of_after), tallies)
        before, of_before = after, of_after
        steps += 1
    print(f"{steps} steps redone with PyTorch {torch.__version__}")
    if left_out:
        print(f"left out: {left_out} updates without bias correction, which PyTorch always does")
    for kind, tally in tallies.items():
        share = 100 * tally.equal / max(tally.elements, 1)
        print(
            f"{kind:<11} {tally.elements} values, {share:.1f} % equal, at most {tally.largest_ulp:g} ulp apart, "
            f"{100 * tally.room_used:.0f} % of the derived room used"
        )
        for text in tally.outside:
            print(f"  outside: {text}")
    return 1 if any(tally.outside for tally in tallies.values()) else 0


def main() -> int:
    if len(sys.argv) != 2 or not (Path(sys.argv[1]) / "initial.safetensors").is_file():
        print("usage: redo_in_torch.py DUMP, a directory that `adamant run --dump` wrote", file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    return redo(Path(sys.argv[1]))


if __name__ == "__main__":
    sys.exit(main())
