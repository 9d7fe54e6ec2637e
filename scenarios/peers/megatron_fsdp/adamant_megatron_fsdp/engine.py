"""Megatron-FSDP under adamant: fully_shard, its buffers and pipelines, its optimizer, DCP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
import torch.distributed as dist
from megatron_fsdp import MixedPrecisionPolicy, fully_shard_model, fully_shard_optimizer
from torch.distributed.checkpoint.state_dict_loader import load
from torch.distributed.checkpoint.state_dict_saver import save

from adamant_megatron_fsdp import model
from adamant_torch import optimizer
from adamant_torch.engine import known_beside
from adamant_torch.hello import BF16, FP32, UNHARMED, precision
from adamant_torch.model import module_name, tree
from adamant_torch.optimizer import Settings
from adamant_torch.protocol import Message
from adamant_torch.requests import Overflow
from adamant_torch.rows import PutTogether, Tensors
from adamant_torch.shards import local

MOMENTS = ("exp_avg", "exp_avg_sq")


class MegatronFsdpEngine(PutTogether):
    """A model and an optimizer that Megatron-FSDP has sharded."""

    name = "megatron_fsdp"
    tried: ClassVar = {"megatron-fsdp": ("0.6.1",), "torch": ("2.13.0",)}
    known_files: tuple[str, ...] = (known_beside(__file__),)
    undoes_first_step = True  # the one that `fully_shard_optimizer` takes

    # --- what is offered ------------------------------------------------------------------------

    @classmethod
    def capabilities(cls, defaults: Message) -> Message:
        """Return what Megatron-FSDP can; `defaults` are PyTorch's."""
        return {
            **defaults,
            "precisions": [
                precision([FP32], [FP32], "none", FP32),
                precision([BF16], [FP32], FP32, FP32),
            ],
            "load_precisions": [],
            "unscales_in_place": False,
            "empty_tensors": False,
            "clip": False,
            "loss_scale": ["none"],
            "set": ["lr", "betas", "eps", "weight_decay"],
            "gradients": ["exact", "normal"],
            "loads_in_any_order": False,
            **UNHARMED,
            "promises": ["worlds", "repeated", "options", "resumed"],
            "same_options": ["zero", "outer", "units", "main_weights"],
        }

    @classmethod
    def options(cls, defaults: Message) -> Message:
        """Return all options with what they accept; the first is the default.

        The last ones choose ways around known defects. Of PyTorch's implementations the fused one
        is left out: its bits depend on the world, which is known of PyTorch.
        """
        return {
            "implementation": ["single", "foreach"],
            "zero": ["optim_grads_params", "optim_grads", "optim"],
            "outer": ["no_shard", "optim"],
            "main_weights": ["own", "shared"],
            "units": ["given", "one"],
            "missing_gradients": ["dropped", "zeros"],
            "cut_rows": ["avoided", "met"],
            "empty_groups": ["dropped", "kept"],
        }

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
        self.names = model.full_names(opening)
        found = dict(self.model.module.named_parameters())
        self.parameters = {name: found[full] for name, full in self.names.items()}
        self.optimizer = self.make_optimizer(optimizer.param_groups(opening, self.parameters))

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
        shapes = {param.name: param.shape for param in self.opening.params}
        named = {
            full: gradients[name].reshape(shapes[name])
            for name, full in self.names.items()  # in the order in which units stand
            if name not in without
        }
        if named:
            before = [buffer.data.clone() for buffer in self._gradient_buffers()]
            self.model.zero_grad_buffer()
            self.model(tree(named)).backward()
            for buffer, held in zip(self._gradient_buffers(), before, strict=True):
                buffer.data.div_(self.opening.microbatches).add_(held)
            self.with_gradient |= {p.name for p in self.opening.params if p.name not in without}
        if overflow is not None:
            self._put(overflow)
        self._attach_gradients()

    def zero_grad(self, set_to_none: bool) -> None:
        """Drop the gradients, or fill them with zeros.

        Megatron-FSDP's `zero_grad` always drops them; where they are to be zeros the emptied
        buffers are attached again.
        """
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
        content = self._content()
        load(content, checkpoint_id=directory)
        self.model.load_state_dict(content["model"], strict=False)
        self.optimizer.load_state_dict(content["optimizer"])
        return ["clip"]

    def _content(self) -> dict[str, Any]:
        return {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}

    # --- what a rank shows ----------------------------------------------------------------------

    def computed(self, name: str) -> torch.Tensor:
        """Return what this rank gathers of a parameter."""
        return self.gathered[name]

    def wholes(self) -> dict[str, torch.Tensor | None]:
        """Return all tensors whole. A collective once a request."""
        if self._wholes is None:
            self.gathered = self._gathered()
        return super().wholes()

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

    def holders(self) -> dist.ProcessGroup:
        """Return the ranks that hold each element once."""
        group = dist.group.WORLD if self._shards_outer() else self.mesh.get_group("shard")
        assert group is not None
        return group

    def run(self, name: str) -> tuple[int, Tensors]:
        """Return what this rank owns of a parameter: gradient, main weight and moments are fp32."""
        begin, gradient = self._own(name, "main_grad_buffer")
        if gradient.numel() == 0:
            return begin, {}
        parameter = self.parameters[name]
        state = self.optimizer.state.get(parameter, {})
        stepped = {"/main": parameter, **{f"/{key}": state[key] for key in MOMENTS}}
        own = {suffix: local(tensor.detach()) for suffix, tensor in stepped.items()}
        return begin, {"/gradient": gradient, **own}

    def own_steps(self, name: str) -> int | None:
        """Return this rank's counter of a parameter that it steps."""
        state = self.optimizer.state
        parameter = self.parameters[name]
        return int(state[parameter]["step"]) if parameter in state else None

    @torch.no_grad()
    def _gathered(self) -> dict[str, torch.Tensor]:
        """Return the parameters as this rank computes with them, by Megatron-FSDP's gather."""
        seen: dict[str, torch.Tensor] = {}
        units = list(self.model.module.children())
        hooks = [u.register_forward_pre_hook(lambda m, _: seen.update(m.seen())) for u in units]
        # Each unit's own hook comes first: it was registered before, and gathers.
        self.model(tree({full: torch.zeros(()) for full in self.names.values()}))
        for hook in hooks:
            hook.remove()
        self.model.synchronize_param_gather()
        return {name: seen[module_name(name)] for name in self.parameters}


class AsItIs(MegatronFsdpEngine):
    """The same with the step that `fully_shard_optimizer` takes: nothing it does is right then."""

    undoes_first_step = False
    known_files = (known_beside(__file__, "as_it_is"), *MegatronFsdpEngine.known_files)
