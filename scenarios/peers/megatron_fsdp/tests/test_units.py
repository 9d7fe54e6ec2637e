"""A backward goes by units in the order in which they stand, not by that of the scenario."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch

from adamant_megatron_fsdp import MegatronFsdpEngine, model
from adamant_torch.requests import Opening, ParamSpec, Precision

PARAMS = [
    ParamSpec("late", (2, 3), unit=1),
    ParamSpec("first", (2, 3)),
    ParamSpec("last", (2, 3), unit=1),
    ParamSpec("second", (2, 3)),
]


def opening() -> Opening:
    """Return a world of one rank whose second unit is registered first."""
    return Opening(
        shard=1,
        replicate=1,
        microbatches=1,
        params=PARAMS,
        groups=[],
        mode="adamw",
        clip=None,
        loss_scale="none",
        precision=Precision("fp32", "fp32", "none", "fp32", "fp32"),
        options={"units": "given", "cut_rows": "met", "missing_gradients": "zeros"},
        initial="",
    )


def test_units_are_run_in_their_order() -> None:
    engine: Any = MegatronFsdpEngine.__new__(MegatronFsdpEngine)
    ran: list[list[str]] = []

    class Recorder:
        """Stands for the sharded model."""

        def __call__(self, gradients: dict[str, dict[str, torch.Tensor]]) -> Any:
            """Take note of what is run."""
            ran.append([f"{unit}.{name}" for unit, named in gradients.items() for name in named])
            return SimpleNamespace(backward=lambda: None)

        def zero_grad_buffer(self) -> None:
            """Do nothing."""

    engine.opening = opening()
    engine.names = model.full_names(engine.opening)
    engine.model = Recorder()
    engine.buffers = SimpleNamespace(parameter_groups=[], update_main_grads=lambda: None)
    engine.with_gradient = set()
    ones = {param.name: torch.ones(param.shape) for param in PARAMS}
    engine.backward(ones, ["last"], None)
    assert ran == [["unit0.first", "unit0.second", "unit1.late"]]
    assert engine.with_gradient == {"late", "first", "second"}
