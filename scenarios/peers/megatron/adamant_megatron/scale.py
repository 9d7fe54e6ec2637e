"""Loss scale, verdicts and norm, by Megatron's grad scaler."""

from __future__ import annotations

from typing import Any

from adamant_torch.protocol import Message, number
from adamant_torch.scale import Scaling


class Scale(Scaling):
    """What a rank says of its loss scale. The scaler is that of Megatron's optimizer."""

    def __init__(self, clip: float | None) -> None:
        super().__init__("none", clip)
        self.scaler_of: Any = None  # the DistributedOptimizer
        self.found = False  # a gradient that was handed over is not finite

    def unscale(self) -> None:
        """Undo the scale of the gradients that the inner optimizer has; look for infinities."""
        self.unscaled = True
        if self.scaler_of.grad_scaler:
            self.found = bool(self.scaler_of._unscale_main_grads_and_check_for_nan())

    def verdict(self) -> bool:
        """Tell the scaler what was found; return whether the step is skipped."""
        scaler = self.scaler_of.grad_scaler if self.unscaled else None
        if scaler:
            scaler.update(self.found)
        self.skipped = bool(scaler) and self.found
        return self.skipped

    def begin(self) -> None:
        """Begin a new backward, or one from zeros: verdict and norm are of gradients gone."""
        self.norm = 0.0
        self.found = False
        self.unscaled = False

    def report(self) -> Message:
        """Return loss scale, last verdict, last norm and growth tracker."""
        return {
            "loss_scale": number(float(self.scaler_of.get_loss_scale())),
            "skipped": self.skipped,
            "norm": number(self.norm),
            "growth_tracker": int(getattr(self.scaler_of.grad_scaler, "_growth_tracker", 0)),
            "gradients_unscaled": self.unscaled,
        }
