"""An engine that writes down what FSDP2 and the optimizers do inside of it, for tests to read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FSDPModule

from adamant_torch import Engine, model
from adamant_torch.several import parts


class Watched(Engine):
    """Rank 0 writes a line of JSON into `log` for each thing that happens."""

    log: Path

    def note(self, what: str, **fields: Any) -> None:
        """Write a line."""
        if self.rank == 0:
            with self.log.open("a") as file:
                file.write(json.dumps({"what": what, **fields}) + "\n")

    def wrap(self, whole: model.Unit) -> nn.Module:
        """Shard, and watch each module that FSDP2 shards."""
        wrapped = super().wrap(whole)
        self.note("wrapped", groups=len(dist.distributed_c10d._world.pg_map))
        for name, module in sharded(wrapped).items():
            held = [p._module_info.param_name for g in groups(module) for p in g.fsdp_params]
            self.note("module", name=name, held=held)
            module.register_forward_pre_hook(self._before(name))
            module.register_forward_hook(self._after(name))
        return wrapped

    def open(self, initial: Mapping[str, torch.Tensor]) -> None:
        """Open, and write down which optimizers there are."""
        super().open(initial)
        each = [[g["name"] for g in part.param_groups] for part in parts(self.optimizer)]
        self.note("optimizers", each=each)

    def _before(self, name: str) -> Any:
        def note(module: nn.Module, _: Any) -> None:
            self.note("forward", name=name, sees=seen(module), states=self.states())

        return note

    def _after(self, name: str) -> Any:
        def note(module: nn.Module, _: Any, loss: Any) -> None:
            self.note("forwarded", name=name, states=self.states())
            if loss.requires_grad:  # some of what it is made of is not frozen
                loss.register_hook(lambda _: self.note("backward", name=name, sees=seen(module)))

        return note

    def states(self) -> dict[str, list[str]]:
        """Return how the parameters of each sharded module are, by the module's name."""
        return {
            name: [group._sharded_state.name for group in groups(module)]
            for name, module in sharded(self.model).items()
        }

    def _pass(self, fed: Mapping[str, torch.Tensor]) -> None:
        """Run a pass, and write down where gradients are after it."""
        super()._pass(fed)
        found = [group for module in sharded(self.model).values() for group in groups(module)]
        params = [param for group in found for param in group.fsdp_params]
        self.note(
            "pass",
            sharded=any(p.grad is not None for p in self.parameters.values()),
            unsharded=any(
                p.unsharded_accumulated_grad is not None or gathered_gradient(p) is not None
                for p in params
            ),
            partial=any(group._partial_reduce_output is not None for group in found),
            trains=[name for name, p in self.parameters.items() if p.requires_grad],
        )


def gathered_gradient(param: Any) -> torch.Tensor | None:
    """Return the gradient of a gathered parameter of FSDP2, if it was ever gathered."""
    return param._unsharded_param.grad if hasattr(param, "_unsharded_param") else None


def sharded(model: nn.Module) -> dict[str, Any]:
    """Return the modules that FSDP2 shards, by name."""
    return {n: module for n, module in model.named_modules() if isinstance(module, FSDPModule)}


def groups(module: Any) -> list[Any]:
    """Return the parameter groups that FSDP2 has for a module."""
    state = module._get_fsdp_state()
    if hasattr(state, "_fsdp_param_groups"):
        return list(state._fsdp_param_groups)
    return [state._fsdp_param_group] if state._fsdp_param_group else []  # PyTorch 2.8


def seen(module: nn.Module) -> dict[str, list[float]]:
    """Return the parameters that a module itself has, as plain numbers."""
    own = module.named_parameters(recurse=False)
    return {name: value.detach().flatten().tolist() for name, value in own}


def lines(log: Path, what: str) -> list[dict[str, Any]]:
    """Return what was written of one thing."""
    written = [json.loads(line) for line in log.read_text().splitlines()]
    return [line for line in written if line["what"] == what]
