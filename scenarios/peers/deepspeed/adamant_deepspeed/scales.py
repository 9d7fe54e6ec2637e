"""Loss scale and norm, as DeepSpeed's ZeRO optimizers have them."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.distributed as dist

from adamant_deepspeed.config import half
from adamant_torch.protocol import Message, number
from adamant_torch.scale import Scaling


class Scales(Scaling):
    """What a rank says of its loss scale. The scaler is that of DeepSpeed's optimizer."""

    zero: Any = None  # which has the opening's scale from its beginning

    def set_loss_scale(self, loss_scale: float | str) -> None:
        """Begin, change or end the loss scale."""
        self.skipped = False
        self.setting = loss_scale
        if self.zero is not None:
            renew(self.zero, loss_scale)

    def report(self) -> Message:
        """Return loss scale, last verdict, last norm and progress."""
        return {
            "loss_scale": number(float(self.zero.loss_scale)),
            "skipped": self.skipped,
            "norm": number(self.norm),
            "growth_tracker": progress(self.zero.loss_scaler),
        }


def progress(scaler: Any) -> int:
    """Return for how many steps a dynamic scale has gone without overflow."""
    return int(scaler.cur_iter - scaler.last_overflow_iter - 1) if scaler.dynamic else 0


def true_norm(zero: Any, found: float, gradients: list[torch.Tensor]) -> float:
    """Return a norm without loss scale. A collective where it is not finite.

    DeepSpeed's word for that is -1; the ranks' gradients say whether one is no number.
    """
    if 0.0 <= found < math.inf:
        return found / float(zero.loss_scale)
    no_number = torch.tensor(float(any(bool(flat.isnan().any()) for flat in gradients)))
    dist.all_reduce(no_number, op=dist.ReduceOp.MAX)
    return math.nan if no_number else math.inf


def renew(zero: Any, loss_scale: float | str) -> None:
    """Begin a scale anew, as DeepSpeed does when it makes its optimizer."""
    from deepspeed.runtime.fp16.loss_scaler import CreateLossScaler

    section = half(loss_scale)
    zero.loss_scaler = CreateLossScaler(
        dtype=zero.dtype,
        static_loss_scale=section["loss_scale"],
        dynamic_scaling=loss_scale == "dynamic",
        dynamic_loss_args={
            "init_scale": 2.0 ** section["initial_scale_power"],
            "scale_window": section["loss_scale_window"],
            "delayed_shift": section["hysteresis"],
            "consecutive_hysteresis": False,
            "min_scale": section["min_loss_scale"],
        },
    )
    zero.dynamic_loss_scale = zero.loss_scaler.dynamic
