"""Megatron-FSDP under adamant: fully_shard, its buffers and pipelines, its optimizer, DCP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
import torch.distributed as dist
from megatron_fsdp import MixedPrecisionPolicy, fully_shard_model, fully_shard_optimizer
from torch.distributed.checkpoint.state_dict_loader import load
from torch.distributed.checkpoint.state_dict_saver import save

from adamant_megatron_fsdp import hello, model
from adamant_megatron_fsdp.places import Part, put_together, shown
from adamant_torch import Engine, optimizer
from adamant_torch.model import module_name
from adamant_torch.optimizer import Settings
from adamant_torch.protocol import Message
from adamant_torch.requests import Overflow
from adamant_torch.shards import Shard

MOMENTS = ("exp_avg", "exp_avg_sq")


class MegatronFsdpEngine(Engine):
    """A model and an optimizer that Megatron-FSDP has sharded."""

    name = "megatron_fsdp"
    tried = hello.TRIED
    undoes_first_step = True  # the one that `fully_shard_optimizer` takes

    @classmethod
    def capabilities(cls, defaults: Message) -> Message:
        """Return what Megatron-FSDP has on a CPU."""
        return hello.capabilities(defaults)

    @classmethod
    def options(cls, _: Message) -> Message:
        """Return Megatron-FSDP's options and those of the adapter."""
        return hello.options()

    @classmethod
    def known(cls, default: str) -> str | list[str]:
        """Return the file of what is known of Megatron-FSDP."""
        return str(hello.KNOWN)

    # --- building -------------------------------------------------------------------------------

    def open(self, initial: Mapping[str, torch.Tensor]) -> None:
        """Build a model, and let Megatron-FSDP shard it and an optimizer over it."""
        opening, options = self.opening, self.opening.options
        self.model: Any = fully_shard_model(
            model.build(opening, initial),
            device_mesh=model.mesh(opening.shard, opening.replicate),
            dp_shard_dim="shard",
            tp_dim="tp",
            dp_outer_dim="replicate" if opening.replicate > 1 else None,
            hybrid_fsdp_group=dist.group.WORLD if opening.replicate > 1 else None,
            fsdp_unit_modules=[model.Unit],
            zero_dp_strategy=options["zero"],
            outer_dp_sharding_strategy="optim" if self._shards_outer() else "no_shard",
            device=torch.device("cpu"),
            mixed_precision_policy=MixedPrecisionPolicy(**model.policy(opening)),
            calculate_per_token_loss=True,  # sums: the other factors are NCCL's
        )
        self.buffers: Any = self.model.param_and_grad_buffer
        found = {name.split(".")[-1]: p for name, p in self.model.module.named_parameters()}
        names = [param.name for param in opening.params]
        self.parameters = {name: found[module_name(name)] for name in names}
        self.optimizer = self.make_optimizer(optimizer.param_groups(opening, self.parameters))
        self.with_gradient: set[str] = set()
        self.wholes: dict[str, torch.Tensor] | None = None

    def make_optimizer(self, groups: list[Settings]) -> torch.optim.Optimizer:
        """Return PyTorch's optimizer as `fully_shard_optimizer` has changed it.

        That takes a step with gradients of zeros; weights, counters and moments are put back.
        """
        made = optimizer.make(groups, self.opening.mode, self.opening.options["implementation"])
        before = {p: p.detach().clone() for p in self.parameters.values()}
        fully_shard_optimizer(made)
        if self.undoes_first_step:
            for parameter, value in before.items():
                parameter.detach().copy_(value)
            for state in made.state.values():
                for value in state.values():
                    value.zero_()
        return made

    def _shards_outer(self) -> bool:
        options = self.opening.options
        whole = options["zero"] == "optim_grads_params" and self.opening.replicate > 1
        return whole and options["outer"] == "optim"

    # --- verbs ----------------------------------------------------------------------------------

    def backward(
        self,
        gradients: Mapping[str, torch.Tensor],
        without: list[str],
        overflow: Overflow | None,
    ) -> None:
        """Add the mean of all ranks' gradients to what the buffers hold.

        Megatron-FSDP's reductions sum, into buffers that are zero; the adapter divides once, and
        adds what was there before.
        """
        named = {
            module_name(param.name): gradients[param.name].reshape(param.shape)
            for param in self.opening.params
            if param.name not in without
        }
        self.wholes = None
        if named:
            before = [buffer.data.clone() for buffer in self._gradient_buffers()]
            self.model.zero_grad_buffer()
            self.model(named).backward()
            for buffer, held in zip(self._gradient_buffers(), before, strict=True):
                buffer.data.div_(self.opening.microbatches).add_(held)
            self.with_gradient |= {p.name for p in self.opening.params if p.name not in without}
        if overflow is not None:
            self._put(overflow)
        self._attach_gradients()

    def step(self) -> bool:
        """Step the optimizer, which hands the weights back to the model."""
        self.wholes = None
        self.optimizer.step()
        return True

    def zero_grad(self, set_to_none: bool) -> None:
        """Drop the gradients, or fill them with zeros.

        Megatron-FSDP's `zero_grad` always drops them; where they are to be zeros the emptied
        buffers are attached again.
        """
        self.wholes = None
        self.optimizer.zero_grad(set_to_none=set_to_none)
        if set_to_none:
            self.with_gradient.clear()
        else:
            self._attach_gradients()

    def _attach_gradients(self) -> None:
        """Give the optimizer its parts of the buffers; none of a parameter without gradient."""
        self.buffers.update_main_grads()
        if self.opening.options["missing_gradients"] == "dropped":
            for name, parameter in self.parameters.items():
                if name not in self.with_gradient:
                    parameter.grad = None

    def _put(self, overflow: Overflow) -> None:
        """Set an element of a reduced gradient, wherever it lies."""
        begin, values = self._own(overflow.name, "main_grad_buffer")
        if begin <= overflow.index < begin + values.numel():
            values[overflow.index - begin] = overflow.value

    # --- checkpoints ----------------------------------------------------------------------------

    def save(self, directory: str) -> list[str]:
        """Write a checkpoint as Megatron-FSDP's page tells."""
        save(self._content(), checkpoint_id=directory)
        return ["clip"]

    def load(self, directory: str) -> list[str]:
        """Read a checkpoint as Megatron-FSDP's page tells."""
        self.wholes = None
        content = self._content()
        load(content, checkpoint_id=directory)
        self.model.load_state_dict(content["model"], strict=False)
        self.optimizer.load_state_dict(content["optimizer"])
        return ["clip"]

    def _content(self) -> dict[str, Any]:
        return {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}

    # --- what a rank shows ----------------------------------------------------------------------

    def shards(self) -> dict[str, Shard]:
        """Return the rows that this rank shows of each parameter."""
        index, shard = self.rank % self.opening.shard, self.opening.shard
        return {p.name: shown(p.shape, index, shard) for p in self.opening.params}

    def has_gradient(self, name: str) -> bool:
        """Return whether a parameter has a gradient, be it of zeros."""
        return name in self.with_gradient

    def tensors(self, name: str, *, whole: bool) -> dict[str, torch.Tensor]:
        """Return what this rank gathers of the parameter, and its rows of what is sharded."""
        wholes = self._wholes()
        suffixes = ["", *(["/main"] if self.opening.precision.main != "none" else [])]
        suffixes += ["/gradient"] if self.has_gradient(name) else []
        suffixes += [f"/{key}" for key in MOMENTS]
        found = {suffix: wholes[name + suffix] for suffix in suffixes}
        if whole:
            return found
        box = self.shards()[name]
        begin = box.offsets[0]
        return {suffix: tensor[begin : begin + box.shape[0]] for suffix, tensor in found.items()}

    def steps(self, name: str) -> int:
        """Return a parameter's counter, as its first owner has it."""
        self._wholes()
        return self.counters[name]

    # --- where things are -----------------------------------------------------------------------

    def _gradient_buffers(self) -> list[Any]:
        return [group.main_grad_buffer for group in self.buffers.parameter_groups]

    def _own(self, name: str, kind: str) -> tuple[int, torch.Tensor]:
        """Return this rank's part of a parameter in a buffer, flat, and where it begins."""
        parameter: Any = self.parameters[name]
        raw = parameter.orig_param
        group = self.buffers.parameter_groups[self.buffers.param_to_param_group[raw]]
        buffer = getattr(group, kind)
        item = buffer.param_idx[raw]
        begin, _ = buffer._get_item_slice_in_shard(item)
        values: torch.Tensor = buffer.get_item(item, only_shard=True)
        return begin, values

    def _held(self) -> dict[str, Part]:
        """Return all parts that this rank owns, by name and suffix."""
        result = {}
        for name, parameter in self.parameters.items():
            begin, values = self._own(name, "main_grad_buffer")
            if values.numel() == 0:
                continue
            state = self.optimizer.state.get(parameter, {})
            mine = {"/main": parameter, **{f"/{key}": state[key] for key in MOMENTS}}
            result[f"{name}/gradient"] = Part(begin, values.clone())
            for suffix, tensor in mine.items():
                local: Any = tensor.detach()
                result[name + suffix] = Part(begin, local.to_local().reshape(-1).clone())
        return result

    def _wholes(self) -> dict[str, torch.Tensor]:
        """Return all tensors whole. A collective once after each verb."""
        if self.wholes is None:
            group = dist.group.WORLD if self._shards_outer() else self.mesh.get_group("shard")
            kinds = ("/main", "/gradient", *(f"/{key}" for key in MOMENTS))
            shapes = {p.name + kind: p.shape for p in self.opening.params for kind in kinds}
            assert group is not None
            self.wholes = {**put_together(self._held(), shapes, group), **self._gathered()}
            self._count(group)
        return self.wholes

    @torch.no_grad()
    def _gathered(self) -> dict[str, torch.Tensor]:
        """Return the parameters as this rank computes with them, by Megatron-FSDP's gather."""
        seen: dict[str, torch.Tensor] = {}
        units = list(self.model.module.children())
        hooks = [u.register_forward_pre_hook(lambda m, _: seen.update(m.seen())) for u in units]
        # Each unit's own hook comes first: it was registered before, and gathers.
        names = [module_name(param.name) for param in self.opening.params]
        self.model({name: torch.zeros(()) for name in names})
        for hook in hooks:
            hook.remove()
        self.model.synchronize_param_gather()
        return {name: seen[module_name(name)] for name in self.parameters}

    def _count(self, group: dist.ProcessGroup) -> None:
        """Read the step counters: the first owner's of each parameter."""
        own = {
            name: int(self.optimizer.state[parameter]["step"])
            for name, parameter in self.parameters.items()
            if parameter in self.optimizer.state
        }
        gathered: list[dict[str, int]] = [{} for _ in range(group.size())]
        dist.all_gather_object(gathered, own, group=group)
        merged: dict[str, int] = {}
        for each in reversed(gathered):
            merged.update(each)
        self.counters = {**merged, **own}


class AsItIs(MegatronFsdpEngine):
    """The same with the step that `fully_shard_optimizer` takes: nothing it does is right then."""

    undoes_first_step = False

    @classmethod
    def known(cls, default: str) -> list[str]:
        """Return the files of what is known: what the first step does, before the rest."""
        return [str(hello.KNOWN_AS_IT_IS), str(hello.KNOWN)]
