"""Writes oracle/golden/torch_adam.h: what PyTorch's Adam and AdamW compute.

In binary64, where the settings are the binary32 ones, so that the only difference left to the
oracle is rounding; single steps of each kernel in each format, bit for bit, from values that are
ordinary and from others; what clip_grad_norm_ does; how GradScaler moves.
Usage: python3 torch_adam.py > torch_adam.h && clang-format-14 -style=file -i torch_adam.h
Needs torch; the header records its version, the instruction set and the date. Bits of single steps
are those of AVX2 and AVX512.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

STEPS, NUMEL = 4, 8
STEP_NUMEL = 37  # two vector lanes of AVX512 and a tail
FORMATS = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


def rounded(x: float) -> float:
    """The binary64 value of a setting after rounding to binary32."""
    return float(np.float32(x))


def inputs() -> tuple[torch.Tensor, torch.Tensor]:
    """Values of many magnitudes, exact in binary32."""
    draw = torch.Generator().manual_seed(13)
    magnitude = 10.0 ** (6 * torch.rand(STEPS, NUMEL, generator=draw, dtype=torch.float64) - 4)
    sign = torch.randint(0, 2, (STEPS, NUMEL), generator=draw) * 2 - 1
    start = torch.randn(NUMEL, generator=draw, dtype=torch.float64)
    return (magnitude * sign).float().double(), start.float().double()


def run(
    optimizer_class: Any, weight_decay: float, gradients: torch.Tensor, start: torch.Tensor
) -> dict[str, list[list[float]]]:
    """The parameter and both moments after each step."""
    p = start.clone().requires_grad_()
    optimizer = optimizer_class(
        [p],
        lr=rounded(1e-3),
        betas=(rounded(0.9), rounded(0.999)),
        eps=rounded(1e-8),
        weight_decay=weight_decay,
        foreach=False,
    )
    after: dict[str, list[list[float]]] = {"param": [], "exp_avg": [], "exp_avg_sq": []}
    for g in gradients:
        p.grad = g.clone()
        optimizer.step()
        after["param"].append(p.detach().tolist())
        for moment in ("exp_avg", "exp_avg_sq"):
            after[moment].append(optimizer.state[p][moment].tolist())
    return after


@dataclass(frozen=True)
class Case:
    """One step of one kernel."""

    name: str
    kernel: str  # single, foreach, fused
    number_format: str = "fp32"
    decoupled: bool = True
    lr: float = 1e-3
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    weight_decay: float = 0.01
    step: int = 1
    wild: bool = False


CASES = (
    Case("adamw_single", "single", step=3),
    Case("adamw_foreach", "foreach", step=100, lr=0.1, weight_decay=0.1),
    Case("adam_single", "single", decoupled=False, step=2),
    Case("adam_foreach_without_decay", "foreach", decoupled=False, weight_decay=0.0),
    Case("low_betas", "foreach", beta1=0.3, beta2=0.3, step=7),
    Case("betas_of_zero", "single", beta1=0.0, beta2=0.0, eps=0.001),
    Case("wild_adamw", "single", step=5, wild=True),
    Case("wild_adam", "foreach", decoupled=False, step=5, beta1=0.5, wild=True),
    Case("fused", "fused", step=3),
    Case("fused_wild", "fused", step=3, wild=True),
    Case("bf16_single", "single", "bf16", step=3, lr=0.01),
    Case("bf16_foreach", "foreach", "bf16", step=3, lr=0.1, weight_decay=0.1),
    Case("bf16_fused", "fused", "bf16", step=3, lr=0.01),
    Case("fp16_foreach", "foreach", "fp16", step=3, lr=0.1, eps=0.001, weight_decay=0.1),
    Case("fp16_fused", "fused", "fp16", decoupled=False, step=3, eps=0.001),
)


def values_of(case: Case, draw: np.random.Generator) -> torch.Tensor:
    """Ordinary numbers, or any patterns with zeros, subnormals, huge values, infinities, NaN."""
    ordinary = draw.standard_normal(STEP_NUMEL)
    if not case.wild:
        return torch.tensor(ordinary).to(FORMATS[case.number_format])
    patterns = draw.integers(0, 2**32, STEP_NUMEL, dtype=np.uint32).view(np.float32)
    special = draw.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 3e38], STEP_NUMEL)
    kind = draw.integers(0, 3, STEP_NUMEL)
    return torch.tensor(np.select([kind == 0, kind == 1], [ordinary, special], patterns)).float()


def bits(values: torch.Tensor) -> list[int]:
    """Patterns of the values in binary32; any NaN as one."""
    wide = values.detach().float().numpy()
    return [0x7FC00000 if np.isnan(x) else int(x.view(np.uint32)) for x in wide]


def one_step(case: Case, draw: np.random.Generator) -> list[list[int]]:
    """Gradient, parameter and moments before the step, then parameter and moments after it."""
    g, p, m = (values_of(case, draw) for _ in range(3))
    v = (g * g).float().mul(0.5).to(g.dtype) if not case.wild else values_of(case, draw).abs()
    kernel = {"fused": True} if case.kernel == "fused" else {"foreach": case.kernel == "foreach"}
    after = p.clone().requires_grad_()
    after.grad = g.clone()
    optimizer = (torch.optim.AdamW if case.decoupled else torch.optim.Adam)(
        [after],
        lr=rounded(case.lr),
        betas=(rounded(case.beta1), rounded(case.beta2)),
        eps=rounded(case.eps),
        weight_decay=rounded(case.weight_decay),
        **kernel,
    )
    state = {"exp_avg": m.clone(), "exp_avg_sq": v.clone()}
    optimizer.state[after] = {"step": torch.tensor(float(case.step - 1)), **state}
    optimizer.step()
    moments = (optimizer.state[after][name] for name in state)
    return [bits(x) for x in (g, p, m, v, after, *moments)]


def clips() -> list[str]:
    """Rows of format, largest norm, norm, and one gradient before and after."""
    draw = np.random.default_rng(21)
    found = []
    for number_format, dtype in FORMATS.items():
        for size in (0.01, 1.0, 30.0):
            gradient = torch.tensor(draw.standard_normal(5) * size).to(dtype)
            p = torch.zeros_like(gradient).requires_grad_()
            p.grad = gradient.clone()
            norm = torch.nn.utils.clip_grad_norm_([p], rounded(0.7))
            numbers = [bits(x.reshape(-1)[:1])[0] for x in (norm, gradient, p.grad)]
            found.append(
                f"{{NumberFormat::{number_format}, 0.7F, " + ", ".join(map(hex, numbers)) + "}"
            )
    return found


def scales() -> list[str]:
    """Rows of (overflowed, how often in a row, the scale after it)."""
    scaler = torch.amp.GradScaler("cpu")
    p = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([p], lr=1.0)
    scaler.scale(p.sum())
    found = []
    for overflowed, count in ((0, 1999), (0, 1), (1, 1), (1, 2), (0, 1999), (1, 1), (0, 2000)):
        for _ in range(count):
            p.grad = torch.full((1,), torch.inf if overflowed else 1.0)
            scaler.step(optimizer)
            scaler.update()
        found.append(f"{{{overflowed}, {count}, {scaler.get_scale()}F}}")
    return found


def rows(values: Sequence[Sequence[float]]) -> str:
    """Doubles in hexadecimal, a row each."""
    return ",\n".join("{" + ", ".join(x.hex() for x in row) + "}" for row in values)


def case_text(case: Case, numbers: list[list[int]]) -> str:
    """A case as an initialiser."""
    mode = "adamw" if case.decoupled else "adam"
    settings = (
        f".mode = AdamMode::{mode}, .learning_rate = {case.lr}F, .beta1 = {case.beta1}F, "
        f".beta2 = {case.beta2}F, .epsilon = {case.eps}F, .weight_decay = {case.weight_decay}F"
    )
    tensors = ",\n".join("{" + ", ".join(map(hex, row)) + "}" for row in numbers)
    return (
        f'{{"{case.name}", "{case.kernel}", NumberFormat::{case.number_format}, {{{settings}}}, '
        f"{case.step}, {tensors}}}"
    )


def main() -> None:
    """Prints the header."""
    gradients, start = inputs()
    adamw = run(torch.optim.AdamW, rounded(0.01), gradients, start)
    adam = run(torch.optim.Adam, 0.0, gradients, start)
    draw = np.random.default_rng(11)
    cases = ",\n".join(case_text(case, one_step(case, draw)) for case in CASES)
    made_by = f"torch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}"
    print(f"""// What PyTorch computes: in binary64 for a small problem under Adam (without decay) and AdamW, one
// row a step; single steps of its kernels, clipping and loss scales, bit for bit. Data only. Made by
// golden/torch_adam.py with {made_by}, on {datetime.date.today()}.
#pragma once

#include <cstdint>

#include "oracle/types.h"

namespace adamant::torch_golden {{

inline constexpr int steps = {STEPS};
inline constexpr int numel = {NUMEL};

inline constexpr float start[numel] = {rows([start.tolist()])};
inline constexpr float gradients[steps][numel] = {{{rows(gradients.tolist())}}};

// Both have the same moments: decay touches none.
inline constexpr double exp_avg[steps][numel] = {{{rows(adamw["exp_avg"])}}};
inline constexpr double exp_avg_sq[steps][numel] = {{{rows(adamw["exp_avg_sq"])}}};
inline constexpr double adamw_param[steps][numel] = {{{rows(adamw["param"])}}};
inline constexpr double adam_param[steps][numel] = {{{rows(adam["param"])}}};

/// One step of one kernel; numbers are patterns of binary32, widened where they are shorter.
struct Step {{
  char const* name;
  char const* kernel;
  NumberFormat format;
  AdamConfig config;
  int step;
  std::uint32_t gradient[{STEP_NUMEL}];
  std::uint32_t param[{STEP_NUMEL}];
  std::uint32_t exp_avg[{STEP_NUMEL}];
  std::uint32_t exp_avg_sq[{STEP_NUMEL}];
  std::uint32_t param_after[{STEP_NUMEL}];
  std::uint32_t exp_avg_after[{STEP_NUMEL}];
  std::uint32_t exp_avg_sq_after[{STEP_NUMEL}];
}};
inline constexpr int step_numel = {STEP_NUMEL};
inline constexpr Step single_steps[] = {{{cases}}};

/// What clip_grad_norm_ made of one gradient.
struct Clipped {{
  NumberFormat format;
  float max_norm;
  std::uint32_t norm;
  std::uint32_t gradient;
  std::uint32_t gradient_after;
}};
inline constexpr Clipped clips[] = {{{", ".join(clips())}}};

/// Where GradScaler is after so many steps of one kind, from where it was before.
struct Scaled {{
  bool overflowed;
  int count;
  float scale;
}};
inline constexpr Scaled scales[] = {{{", ".join(scales())}}};

}}  // namespace adamant::torch_golden""")
    assert adam["exp_avg"] == adamw["exp_avg"] and adam["exp_avg_sq"] == adamw["exp_avg_sq"]


if __name__ == "__main__":
    main()
