"""Writes oracle/golden/torch_adam.h: what PyTorch's Adam and AdamW compute in binary64.

The settings are the binary32 ones, so that the only difference left to the oracle is rounding.
Usage: python3 torch_adam.py > torch_adam.h && clang-format-14 -style=file -i torch_adam.h
Needs torch; the header records its version and the date.
"""

import datetime

import numpy as np
import torch

STEPS, NUMEL = 4, 8


def rounded(x):
    """The binary64 value of a setting after rounding to binary32."""
    return float(np.float32(x))


def inputs():
    """Values of many magnitudes, exact in binary32."""
    draw = torch.Generator().manual_seed(13)
    magnitude = 10.0 ** (6 * torch.rand(STEPS, NUMEL, generator=draw, dtype=torch.float64) - 4)
    sign = torch.randint(0, 2, (STEPS, NUMEL), generator=draw) * 2 - 1
    start = torch.randn(NUMEL, generator=draw, dtype=torch.float64)
    return (magnitude * sign).float().double(), start.float().double()


def run(optimizer_class, weight_decay, gradients, start):
    """The parameter and both moments after each step."""
    p = start.clone().requires_grad_()
    optimizer = optimizer_class([p], lr=rounded(1e-3), betas=(rounded(0.9), rounded(0.999)),
                                eps=rounded(1e-8), weight_decay=weight_decay, foreach=False)
    after = {"param": [], "exp_avg": [], "exp_avg_sq": []}
    for g in gradients:
        p.grad = g.clone()
        optimizer.step()
        after["param"].append(p.detach().tolist())
        for moment in ("exp_avg", "exp_avg_sq"):
            after[moment].append(optimizer.state[p][moment].tolist())
    return after


def rows(values):
    return ",\n".join("{" + ", ".join(x.hex() for x in row) + "}" for row in values)


def main():
    gradients, start = inputs()
    adamw = run(torch.optim.AdamW, rounded(0.01), gradients, start)
    adam = run(torch.optim.Adam, 0.0, gradients, start)
    print(f"""// What PyTorch computes in binary64 for a small problem under Adam (without decay) and AdamW, one
// a step. Data only. Made by golden/torch_adam.py with torch {torch.__version__} on {datetime.date.today()}.
#pragma once

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

}}  // namespace adamant::torch_golden""")
    assert adam["exp_avg"] == adamw["exp_avg"] and adam["exp_avg_sq"] == adamw["exp_avg_sq"]


main()
