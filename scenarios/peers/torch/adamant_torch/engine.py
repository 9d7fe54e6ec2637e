"""The seam: what one rank does with a world, each verb a method that a subclass may replace.

    class MyEngine(adamant_torch.Engine):
        def make_optimizer(self, groups):
            return MyShardedAdam(groups)

    python -m adamant_torch --engine my_module:MyEngine

An engine lives from an `open` to the next, on every rank. It knows nothing of requests, pipes or
processes. What a method raises is reported as that rank's error, and the world is ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, cast

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import FSDPModule
from torch.distributed.tensor import DTensor

from adamant_torch import accumulation, arithmetic, around, checkpoint, model, optimizer, shards
from adamant_torch.protocol import Message
from adamant_torch.requests import Opening, Overflow
from adamant_torch.saving import Saving
from adamant_torch.scale import Scaling
from adamant_torch.several import Several, parts
from adamant_torch.shards import Shard, put, shard_of

SMALL = 2.0**-8  # a gradient that stays finite in fp16 under a loss scale of 65536


def known_beside(module: str, folder: str = "") -> str:
    """Return the path of the file of known defects beside a module, or in a folder there."""
    return str(Path(module).resolve().parent / "known" / folder / "known.yaml")


OF_PYTORCH = known_beside(__file__)


class Engine:
    """FSDP2, Adam or AdamW, GradScaler and distributed checkpoints, as PyTorch has them."""

    name = "torch"
    # Releases that the adapter was tried with, by the name of the distribution.
    tried: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "torch": ("2.8.0", "2.13.0", "2.14.1", "2.15.0")
    }
    known_files: tuple[str, ...] = (OF_PYTORCH,)  # its own first, then those of what is below it

    def __init__(self, opening: Opening, mesh: DeviceMesh, rank: int) -> None:
        self.opening = opening
        self.mesh = mesh
        self.rank = rank
        kind = opening.options.get("scaler", "dtensor")
        verdicts = opening.options.get("verdicts", "apart")
        self.scaling = Scaling(opening.loss_scale, opening.clip, kind, verdicts)
        self.own_groups: list[dist.ProcessGroup] = []
        self.model: nn.Module
        self.parameters: dict[str, nn.Parameter]
        self.optimizer: torch.optim.Optimizer
        self.saving: Saving | None = None  # a save that goes on

    # --- what a user replaces -----------------------------------------------------------------

    @classmethod
    def capabilities(cls, defaults: Message) -> Message:
        """Return what `hello` says that this engine can do; `defaults` is what PyTorch can."""
        return defaults

    @classmethod
    def options(cls, defaults: Message) -> Message:
        """Return the options of `hello` and what each accepts, the default first."""
        return defaults

    @classmethod
    def known(cls) -> str | list[str] | None:
        """Return the path of the file of known defects, or None: what `known_files` says.

        Of several the first has the engine's own, the others those of what it is built on.
        """
        first, *others = cls.known_files
        return [first, *others] if others else first

    @classmethod
    def versions(cls, defaults: dict[str, str]) -> dict[str, str]:
        """Return what a reader of a report must know; `defaults` tells of PyTorch and Python."""
        return defaults

    def arithmetic(self) -> str:
        """Return "torch" where PyTorch's own formulas hold bit for bit, else "interval".

        "torch_fused" is "torch" for a step that divides gradients by the loss scale itself. A world
        whose ranks do not say the same is held to "interval".
        """
        unscaled = self.scaling.unscales_before_steps(self.optimizer)
        return arithmetic.arithmetic(self.opening, self.shards().values(), unscaled=unscaled)

    def wrap(self, whole: model.Unit) -> nn.Module:
        """Shard the whole model over `self.mesh` and return it, ready for a backward."""
        before = set(dist.distributed_c10d._world.pg_map)
        model.shard(whole, self.mesh, self.opening)
        self.own_groups = [g for g in dist.distributed_c10d._world.pg_map if g not in before]
        return whole

    def make_optimizer(self, groups: list[optimizer.Settings]) -> torch.optim.Optimizer:
        """Return the optimizer over `groups` (params, name, lr, betas, eps, weight_decay)."""
        implementation = self.opening.options.get("implementation", "single")
        return optimizer.make(groups, self.opening.mode, implementation)

    def save(self, directory: str) -> list[str]:
        """Write a checkpoint, together with the other ranks; return what it does not carry."""
        options = checkpoint.Options.of(self.opening.options)
        self.saving = checkpoint.save(options, self._state(), directory)
        return options.not_carried()

    def before_load(self) -> None:
        """Bring the world to where a load finds it: see `load_into` and `old_gradients`."""
        options = self.opening.options
        into = options.get("load_into", "new")
        if into != "new":  # all ranks ask for all gradients: that may be a collective
            gradients = [self.has_gradient(name) for name in self.parameters]
            if not (self.optimizer.state or any(gradients)):
                self._train(steps=into == "stepped")
        if options.get("old_gradients") == "dropped":
            self.zero_grad(set_to_none=True)

    def load(self, directory: str) -> list[str]:
        """Read a checkpoint, together with the other ranks; return what it did not carry."""
        options = checkpoint.Options.of(self.opening.options)
        moments = model.moment_dtypes(self.opening.precision)
        return checkpoint.load(options, self._state(), moments, directory)

    def closed(self) -> None:
        """Let go of what outlives an engine: process groups that PyTorch made for its modules."""
        for group in self.own_groups:
            dist.destroy_process_group(group)

    def finish(self) -> None:
        """Wait for a save that goes on, together with the other ranks; there may be none."""
        saving, self.saving = self.saving, None
        if saving is not None:
            saving.wait()

    # --- verbs ----------------------------------------------------------------------------------

    def open(self, initial: Mapping[str, torch.Tensor]) -> None:
        """Build model and optimizer from the scenario's initial values."""
        whole = model.build(self.opening, initial)
        self.model = self.wrap(whole)
        found = {name.split(".")[-1]: value for name, value in self.model.named_parameters()}
        names = [param.name for param in self.opening.params]
        self.parameters = {name: found[model.module_name(name)] for name in names}
        if self.opening.options.get("lazy_init") == "at_open":
            self._run_forward_alone()
        groups = optimizer.param_groups(self.opening, self.parameters)
        if self.opening.options.get("optimizers") == "per_group":
            self.optimizer = Several([self.make_optimizer([group]) for group in groups])
        else:
            self.optimizer = self.make_optimizer(groups)
        for each in parts(self.optimizer) if self.opening.options.get("moments") == "kept" else ():
            around.step_in_type_of_moments(each)

    def backward(
        self,
        gradients: Mapping[str, torch.Tensor],
        without: list[str],
        overflow: Overflow | None,
    ) -> None:
        """Add the mean of all ranks' `gradients` to the gradients of the shards."""
        self.scaling.before_backward(self.optimizer)
        named = [param for param in self.opening.params if param.name not in without]
        apart = self.opening.options.get("empty_tensors") == "apart"
        made = [param for param in named if apart and 0 in param.shape]
        fed = {p.name: gradients[p.name].reshape(p.shape) for p in named if p not in made}
        if fed:
            self._run(fed, without)
        elif made:
            self.scaling.scale(torch.zeros(()))  # the loss of nothing: the scaler wants to see one
        around.make_gradients([self.parameters[param.name] for param in made])
        if overflow is not None:
            self.overwrite(overflow)

    def overwrite(self, overflow: Overflow) -> None:
        """Set an element of the reduced gradient where this rank holds it.

        Replicas hold the same gradient: an all-reduce would have brought the value to each.
        """
        if (overflow.rank - self.rank) % self.opening.shard == 0:
            put(self.parameters[overflow.name], overflow.index, overflow.value)

    def _run(self, fed: Mapping[str, torch.Tensor], without: list[str]) -> None:
        """Run forward and backward in as many passes as the option `accumulation` takes."""
        options = self.opening.options
        frozen = self._freeze(without) if options.get("without") == "frozen" else {}
        way = options.get("accumulation", "reduced")
        if way == "reduced":
            return self._pass({**fed, **frozen})
        parts = accumulation.passes(fed, options.get("passes", "elements"))
        for number, part in enumerate(parts, 1):
            accumulation.reduce(self.model, way, number == len(parts))
            self._pass({**part, **frozen})
        return None

    def _pass(self, fed: Mapping[str, torch.Tensor]) -> None:
        """Run one forward and one backward."""
        torch.autograd.backward(self.scaling.scale(self._loss(fed)))

    def _loss(self, fed: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Run a forward; return a loss whose gradients are `fed`."""
        names = model.full_names(self.opening)
        named = {full: fed[name] for name, full in names.items() if name in fed}
        return cast(torch.Tensor, self.model(model.tree(named)))

    @torch.no_grad()
    def _run_forward_alone(self) -> None:
        """Have FSDP2 set up all of the model while all of it trains, which a first forward does."""
        self._loss({param.name: torch.zeros(param.shape) for param in self.opening.params})
        for module in self.model.modules():
            if isinstance(module, FSDPModule):
                module.reshard()

    def _freeze(self, names: list[str]) -> dict[str, torch.Tensor]:
        """Freeze these parameters alone, and return what to feed them: they are in the forward."""
        for name, parameter in self.parameters.items():
            parameter.requires_grad_(name not in names)
        return {name: torch.ones(self.parameters[name].shape) for name in names}

    def clip(self) -> float:
        """Clip all gradients by their global norm; return the norm before."""
        return self.scaling.clip(self.model, self.optimizer)

    def step(self) -> bool:
        """Step the optimizer; return False where the scaler skipped it."""
        return self.scaling.step(self.optimizer)

    def loaded(self) -> None:
        """Begin anew after a load: no gradient is left, and no verdict."""
        self.zero_grad(set_to_none=True)
        self.scaling.loaded()

    def zero_grad(self, set_to_none: bool) -> None:
        """Drop the gradients, or fill them with zeros."""
        self.optimizer.zero_grad(set_to_none=set_to_none)
        self.scaling.gradients_gone()

    def set(self, change: Message) -> None:
        """Change settings of groups, the norm to clip to, the loss scale: what `change` names."""
        for group in change.get("groups", []):
            optimizer.set_group(self.optimizer, group)
        if "clip" in change:
            self.scaling.clip_to = change["clip"]
        if "loss_scale" in change:
            self.scaling.set_loss_scale(change["loss_scale"])

    # --- what a rank shows ----------------------------------------------------------------------

    def forget_shown(self) -> None:
        """Let go of what was gathered to be shown: a request begins, which may change it."""

    def shards(self) -> dict[str, Shard]:
        """Return which part of each parameter lies on this rank."""
        return {name: shard_of(parameter) for name, parameter in self.parameters.items()}

    def has_gradient(self, name: str) -> bool:
        """Return whether a parameter has a gradient, be it of zeros."""
        return self.parameters[name].grad is not None

    def tensors(self, name: str, *, whole: bool) -> dict[str, torch.Tensor]:
        """Return all that belongs to a parameter by suffix: this rank's part, or the whole.

        Whole tensors are gathered: all ranks ask for the same ones in the same order.
        """
        look = shards.whole if whole else shards.local
        parameter = self.parameters[name]
        found: dict[str, torch.Tensor] = {"": look(parameter)}
        if parameter.grad is not None:
            found["/gradient"] = look(parameter.grad)
        found.update({f"/{key}": look(value) for key, value in self.moments(name).items()})
        return model.with_main(self.opening.precision, found)

    def moments(self, name: str) -> dict[str, torch.Tensor]:
        """Return `exp_avg` and `exp_avg_sq` of a parameter, as far as they exist."""
        state = self.optimizer.state.get(self.parameters[name], {})
        return {key: state[key] for key in ("exp_avg", "exp_avg_sq") if key in state}

    def steps(self, name: str) -> int:
        """Return how many steps a parameter has taken."""
        state = self.optimizer.state.get(self.parameters[name], {})
        step = state.get("step", 0)
        return int(step.to_local() if isinstance(step, DTensor) else step)

    def groups(self) -> list[Message]:
        """Return the settings of all groups."""
        return optimizer.report(self.optimizer)

    def scale(self) -> Message:
        """Return loss scale, last verdict and last norm, as a reply to `state` has them."""
        return self.scaling.report()

    def _train(self, *, steps: bool) -> None:
        """Do a backward, and perhaps a step, as training has them.

        What they leave in weights and moments is in no checkpoint: what a load leaves out shows.
        """
        params = self.opening.params
        apart = self.opening.options.get("empty_tensors") == "apart"
        # FSDP2 has no backward of tensors without elements.
        empty = [param.name for param in params if 0 in param.shape and not apart]
        self.backward({param.name: torch.full(param.shape, SMALL) for param in params}, empty, None)
        if steps:
            self.step()
            self.zero_grad(set_to_none=True)
            self.scaling.set_loss_scale(self.opening.loss_scale)

    def _state(self) -> checkpoint.State:
        return self.model, self.optimizer, self.scaling.scaler
