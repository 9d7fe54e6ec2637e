"""Megatron-core's HybridDeviceOptimizer in its DistributedOptimizer: Adam partly on the host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from megatron.core.optimizer import optimizer_config

from adamant_megatron import around, settings
from adamant_megatron.engine import Engine
from adamant_torch.engine import known_beside
from adamant_torch.protocol import Message


class Hybrid(Engine):
    """Moments and main weights of a fraction of the elements lie on the host and are stepped there.

    With `precision_aware` the inner optimizer has the model's own shards and keeps main weights by
    itself, as Megatron's instructions for the offload say; without, it has Megatron's main weights.
    """

    name = "megatron_hybrid"
    known_files = (known_beside(__file__, "hybrid"), *Engine.known_files)

    @classmethod
    def capabilities(cls, defaults: Message) -> Message:
        """Return what is offered: decoupled decay alone, and no fp32 parameters.

        Of those Megatron hands over views, which the optimizer refuses as they are no leaves.
        """
        offered = super().capabilities(defaults)
        narrow = [entry for entry in offered["precisions"] if entry["param"] != ["fp32"]]
        return {
            **offered,
            "optimizers": ["adamw"],
            "precisions": narrow,
            "promises": [*offered["promises"], "options"],
            "same_options": ["fraction", "overlap", "streams"],
        }

    @classmethod
    def options(cls, defaults: Message) -> Message:
        """Return the choices of this engine; `streams` is about what stands in for CUDA's."""
        return {
            **super().options(defaults),
            "precision_aware": ["true", "false"],
            "fraction": ["1.0", "0.5"],
            "overlap": ["true", "false"],
            "streams": ["late", "at_once"],
            "old_gradients": ["dropped", "kept"],
        }

    def open(self, initial: Mapping[str, torch.Tensor]) -> None:
        """Build model, DDP and optimizer."""
        super().open(initial)
        if self._mends():
            around.load_nothing_of_nobody(self.optimizer)

    def config(self) -> Any:
        """Return Megatron's settings of the optimizer, with the offload's."""
        options = self.opening.options
        # Megatron compares the version of Transformer Engine here, also where there is none.
        optimizer_config.is_te_min_version = lambda *_: False
        return settings.config(
            self.opening,
            optimizer_cpu_offload=True,
            optimizer_offload_fraction=float(options["fraction"]),
            overlap_cpu_optimizer_d2h_h2d=options["overlap"] == "true",
            use_precision_aware_optimizer=self._precision_aware(),
        )

    def load(self, directory: str) -> list[str]:
        """Read a checkpoint as Megatron does."""
        try:
            return super().load(directory)
        except KeyError as error:
            if isinstance(error.args[0], torch.Tensor):  # its text is the numbers in it
                raise KeyError("a parameter that has no fp32 copy") from error
            raise

    def main(self, name: str) -> torch.Tensor:
        """Return this rank's part of the main weight, where the optimizer keeps it."""
        own = self.inner(name)
        if self._precision_aware():
            own = self.optimizer.param_to_inner_param[own]  # type: ignore[attr-defined]
        return own.detach()

    def drop_gradient(self, name: str) -> None:
        """Take away the gradient that the inner optimizer was given."""
        own: Any = self.inner(name)
        own.grad = None
        if self._precision_aware():
            own.decoupled_grad = None
        if self.opening.options["old_gradients"] == "dropped":
            around.drop_old_gradient(self.optimizer, own)

    def _precision_aware(self) -> bool:
        return self.opening.options["precision_aware"] == "true"
