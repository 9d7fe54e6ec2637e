"""Loss scale and norm, as DeepSpeed's ZeRO optimizers have them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from adamant_torch.protocol import Message, number

from adamant_deepspeed.config import half


@dataclass
class Scales:
    """What a rank reports of its scaler."""

    norm: float = 0.0
    skipped: bool = False

    def report(self, zero: Any) -> Message:
        """Return loss scale, last verdict, last norm and progress."""
        return {
            "loss_scale": number(float(zero.loss_scale)),
            "skipped": self.skipped,
            "norm": number(self.norm),
            "growth_tracker": progress(zero.loss_scaler),
        }


def progress(scaler: Any) -> int:
    """Return for how many steps a dynamic scale has gone without overflow."""
    return int(scaler.cur_iter - scaler.last_overflow_iter - 1) if scaler.dynamic else 0


def true_norm(zero: Any, found: float) -> float:
    """Return a norm without loss scale; DeepSpeed's word for one that is not finite is -1."""
    return math.inf if found < 0 else found / float(zero.loss_scale)


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
