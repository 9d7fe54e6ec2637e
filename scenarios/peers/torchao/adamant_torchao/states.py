"""States before torchao makes them: for checkpoints, and for counters in fp64.

The latter are a way around a known defect. torchao takes `beta ** step` in the type of the counter,
which it makes in fp32: in the first steps few digits of `1 - beta2 ** step` are right. A counter in
fp64 has them all.
"""

from __future__ import annotations

from typing import Any

import torch

State = dict[str, torch.Tensor]


def new_state(optimizer: Any, parameter: torch.Tensor) -> State:
    """Return what torchao's first step of a parameter begins with."""
    return {
        "step": torch.tensor(0.0),
        "exp_avg": optimizer._new_buffer(parameter, True),
        "exp_avg_sq": optimizer._new_buffer(parameter, False),
    }


def make_missing(optimizer: Any) -> list[State]:
    """Give each parameter without state a new one; return those."""
    made = []
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if not optimizer.state.get(parameter):
                optimizer.state[parameter] = new_state(optimizer, parameter)
                made.append(optimizer.state[parameter])
    return made


def count_in_fp64(optimizer: Any) -> None:
    """Have each step find a counter in fp64 for every parameter that it will advance."""

    def before(*_: Any) -> None:
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    if not optimizer.state[parameter]:
                        optimizer.state[parameter] = new_state(optimizer, parameter)
                    state = optimizer.state[parameter]
                    state["step"] = state["step"].to(torch.float64)

    optimizer.register_step_pre_hook(before)
