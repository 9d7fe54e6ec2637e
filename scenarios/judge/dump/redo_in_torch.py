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

plus one more rounding where a tensor is stored in 16 bits. PyTorch is given the binary32 values of
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

DTYPES = {"F32": torch.float32, "BF16": torch.bfloat16, "F16": torch.float16}
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


@dataclass
class State:
    """One parameter's tensors, as binary32, and the types in which they are kept."""

    weight: torch.Tensor  # what the optimizer steps: the main weight, or the parameter
    parameter: torch.Tensor
    exp_avg: torch.Tensor
    exp_avg_sq: torch.Tensor
    has_main: bool
    dtypes: dict[str, torch.dtype]


def state_of(tensors: Tensors, name: str) -> State:
    def kept(key: str) -> torch.dtype:
        raw = tensors.get(f"{key}/raw")
        return torch.float32 if raw is None else raw.dtype

    main = tensors.get(f"{name}/main")
    keys = {"exp_avg": f"{name}/exp_avg", "exp_avg_sq": f"{name}/exp_avg_sq"}
    # The raw bits of a parameter itself are under NAME/raw, as NAME has no second component.
    dtypes = {"parameter": kept(name)} | {kind: kept(key) for kind, key in keys.items()}
    return State(
        weight=tensors[name] if main is None else main,
        parameter=tensors[name],
        exp_avg=tensors[keys["exp_avg"]],
        exp_avg_sq=tensors[keys["exp_avg_sq"]],
        has_main=main is not None,
        dtypes=dtypes,
    )


def initial_state(initial: torch.Tensor, like: State) -> State:
    zeros = torch.zeros_like(initial)
    return State(initial, initial, zeros, zeros.clone(), like.has_main, like.dtypes)


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
    """The distance from |x| to the next larger number of its type, in binary64."""
    magnitude = x.abs()
    up = torch.nextafter(magnitude.float(), torch.tensor(math.inf)).double() - magnitude.double()
    widen = {torch.float32: 1, torch.bfloat16: 2**16, torch.float16: 2**13}[x.dtype]
    return up * widen


@dataclass
class Tally:
    elements: int = 0
    equal: int = 0
    largest_ulp: float = 0.0
    room_used: float = 0.0
    outside: list[str] = field(default_factory=list)

    def add(self, where: str, dumped: torch.Tensor, redone: torch.Tensor, exact: torch.Tensor, off: torch.Tensor, kept: torch.dtype) -> None:
        """Both are binary32 images of tensors kept in `kept`."""
        if dumped.numel() == 0:
            return
        ulp = unit_in_last_place(exact.to(kept))
        room = off + (ulp / 2 if kept != torch.float32 else 0)
        finite = torch.isfinite(exact.float()) & torch.isfinite(room)
        distance = (dumped.double() - redone.to(kept).double()).abs()
        self.elements += dumped.numel()
        same = (dumped == redone.to(kept).float()) | (dumped.isnan() & redone.isnan())
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


def check_unchanged(where: str, before: Tensors, after: Tensors, name: str, tally: Tally) -> None:
    for key in ("", "/main", "/exp_avg", "/exp_avg_sq"):
        now = after.get(name + key)
        if now is None:
            continue
        then = before.get(name + key, before[name] if key == "/main" else torch.zeros_like(now))
        if not torch.equal(then.nan_to_num(7.0), now.nan_to_num(7.0)):
            tally.outside.append(f"{where}{key} changed in a skipped step")


def redo_step(number: int, before: Tensors, gradients: Tensors, settings: dict[str, Any], after: Tensors, tallies: dict[str, Tally]) -> int:
    """Compares one step; the number of parameters that PyTorch has no words for."""
    left_out = 0
    for name, gradient in gradients.items():
        s = settings[name]
        if s["skipped"]:  # something was not finite under a loss scale: nothing may have changed
            check_unchanged(f"step {number}: {name}", before, after, name, tallies["weight"])
            continue
        if not s["bias_correction"]:
            left_out += 1
            continue
        now = state_of(after, name)
        then = state_of(before, name) if f"{name}/exp_avg" in before else initial_state(before[name], now)
        redone = stepped_by_torch(then, gradient, s)
        computed = between(then, gradient, s)
        weight_kept = torch.float32 if now.has_main else now.dtypes["parameter"]
        for kind, dumped, kept in (
            ("weight", now.weight, weight_kept),
            ("exp_avg", now.exp_avg, now.dtypes["exp_avg"]),
            ("exp_avg_sq", now.exp_avg_sq, now.dtypes["exp_avg_sq"]),
        ):
            exact, off = computed[kind]
            tallies[kind].add(f"step {number}: {name}/{kind}", dumped, redone[kind], exact, off, kept)
        if now.has_main and not torch.equal(
            now.weight.to(now.dtypes["parameter"]).float().nan_to_num(7.0), now.parameter.nan_to_num(7.0)
        ):
            tallies["weight"].outside.append(f"step {number}: {name} is not its main weight, rounded")
    return left_out


def redo(dump: Path) -> int:
    tallies = {kind: Tally() for kind in ("weight", "exp_avg", "exp_avg_sq")}
    before, _ = read_safetensors(dump / "initial.safetensors")
    steps = left_out = 0
    for gradient_file in sorted(dump.glob("grad_*.safetensors")):
        number = gradient_file.stem.removeprefix("grad_")
        gradients, metadata = read_safetensors(gradient_file)
        after, _ = read_safetensors(dump / f"state_{number}.safetensors")
        left_out += redo_step(int(number), before, gradients, json.loads(metadata["optimizer"]), after, tallies)
        before = after
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
