"""Several optimizers of one model, as one for all that does not have to tell them apart.

What has to, takes them one by one from `parts`: GradScaler, which judges each, and checkpoints.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

StateDict = dict[str, Any]


class Several(torch.optim.Optimizer):
    """Optimizers that are stepped one after another; it has no group and no state of its own."""

    def __init__(self, optimizers: list[torch.optim.Optimizer]) -> None:
        self.optimizers = optimizers

    @property
    def param_groups(self) -> list[StateDict]:  # type: ignore[override]
        """Return the groups of all, which may be changed."""
        return [group for each in self.optimizers for group in each.param_groups]

    @property
    def state(self) -> Mapping[torch.Tensor, Any]:  # type: ignore[override]
        """Return the states of all, to look at."""
        return {key: value for each in self.optimizers for key, value in each.state.items()}

    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """Step each."""
        for each in self.optimizers:
            each.step()

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of each, or fill them with zeros."""
        for each in self.optimizers:
            each.zero_grad(set_to_none=set_to_none)

    def state_dict(self) -> StateDict:
        """Return the state dict that one optimizer with all groups would have."""
        found: StateDict = {"state": {}, "param_groups": []}
        first = 0
        for each in self.optimizers:
            own = with_keys(each.state_dict(), first.__add__)
            found["state"].update(own["state"])
            found["param_groups"] += own["param_groups"]
            first += sum(len(group["params"]) for group in own["param_groups"])
        return found

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Load into each its part of such a state dict, whatever positions that has."""
        groups = list(state_dict["param_groups"])
        for each in self.optimizers:
            own, groups = groups[: len(each.param_groups)], groups[len(each.param_groups) :]
            held = {position for group in own for position in group["params"]}
            states = {key: value for key, value in state_dict["state"].items() if key in held}
            each.load_state_dict({"state": states, "param_groups": own})


def with_keys(optim: StateDict, key: Callable[[Any], Any]) -> StateDict:
    """Return an optimizer's own state dict with other keys for its parameters."""
    return {
        "state": {key(old): state for old, state in optim["state"].items()},
        "param_groups": [
            {**group, "params": [key(old) for old in group["params"]]}
            for group in optim["param_groups"]
        ],
    }


def parts(optimizer: torch.optim.Optimizer) -> tuple[torch.optim.Optimizer, ...]:
    """Return the optimizers that PyTorch knows."""
    return tuple(optimizer.optimizers) if isinstance(optimizer, Several) else (optimizer,)
