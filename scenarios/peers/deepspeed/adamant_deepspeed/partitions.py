"""What DeepSpeed's ZeRO optimizers hold of gradients, weights and moments, by group.

Two classes of one form, because ZeRO 1 and 2 are one class in DeepSpeed and ZeRO 3 is another. They
read attributes that DeepSpeed has no public names for; there is no other way to see raw bits.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn

from adamant_deepspeed.places import Place


class Flats:
    """A rank's flat tensors, one of each kind a group."""

    def __init__(self, optimizer: Any) -> None:
        self.zero = optimizer

    def reduced(self) -> list[torch.Tensor]:
        """Return copies of the gradients that the last backward has reduced."""
        return [
            torch.cat([part.reshape(-1) for part in self.zero.averaged_gradients[group]])
            for group in range(len(self.weights()))
        ]

    def weights(self) -> list[torch.Tensor]:
        """Return the optimizer's own weights."""
        raise NotImplementedError


class CutGroups(Flats):
    """ZeRO 1 and 2: a group is one flat tensor, cut into equal parts."""

    def places(self, parameters: dict[str, nn.Parameter]) -> dict[str, Place]:
        """Return where each parameter lies."""
        names = {id(parameter): name for name, parameter in parameters.items()}
        found = {}
        for group, members in enumerate(self.zero.round_robin_bit16_groups):
            offsets = self.zero.round_robin_bit16_offsets[group]
            for member, offset in zip(members, offsets, strict=True):
                found[names[id(member)]] = Place(group, int(offset), member.numel(), None)
        return found

    def weights(self) -> list[torch.Tensor]:
        """Return the optimizer's own weights."""
        return list(self.zero.single_partition_of_fp32_groups)

    def hand(self, gradients: list[torch.Tensor]) -> None:
        """Let the next step find these gradients, as if a backward had reduced them."""
        for group, gradient in enumerate(gradients):
            self.zero.averaged_gradients[group] = [gradient.clone()]

    def drop(self) -> None:
        """Let the next backward begin with no gradients."""
        self.zero.zero_grad(set_to_none=True)
        for group in range(len(self.zero.bit16_groups)):
            self.zero.averaged_gradients[group] = None
            self.zero.all_grad_tensors[group] = None

    def refresh(self) -> None:
        """Make the model's parameters of the optimizer's weights. A collective."""
        self.zero.update_lp_params()

    def norm(self) -> torch.Tensor:
        """Return DeepSpeed's global norm of the gradients that the next step would find."""
        found: torch.Tensor = self.zero.scaled_global_norm()
        return found

    def computed(self) -> list[torch.Tensor]:
        """Return this rank's parts of the parameters as the model computes with them."""
        rank = torch.distributed.get_rank()
        return [parts[rank] for parts in self.zero.parallel_partitioned_bit16_groups]

    def held_whole(self, parameter: nn.Parameter) -> torch.Tensor | None:
        """Return the whole parameter: every rank has all of them."""
        return parameter.data


class CutParameters(Flats):
    """ZeRO 3: each parameter is cut by itself. DeepSpeed's groups are here its sub-groups."""

    def places(self, parameters: dict[str, nn.Parameter]) -> dict[str, Place]:
        """Return where each parameter lies."""
        names = {id(parameter): name for name, parameter in parameters.items()}
        found = {}
        for group, members in enumerate(self.zero.fp16_groups):
            start = 0
            for member in members:
                share = int(member.partition_numel())
                found[names[id(member)]] = Place(group, start, int(member.ds_numel), share)
                start += share
        return found

    def weights(self) -> list[torch.Tensor]:
        """Return the optimizer's own weights."""
        return list(self.zero.fp32_partitioned_groups_flat)

    def hand(self, gradients: list[torch.Tensor]) -> None:
        """Let the next step find these gradients."""
        for group, (gradient, members) in enumerate(
            zip(gradients, self.zero.fp16_groups, strict=True)
        ):
            shares = [int(member.partition_numel()) for member in members]
            self.zero.averaged_gradients[group] = list(torch.split(gradient.clone(), shares))
        # Where DeepSpeed looks for an overflow. What a backward left there would count, too.
        self.zero.grad_partitions_flat_buffer.copy_(torch.cat(gradients))

    def drop(self) -> None:
        """Let the next backward begin with no gradients, as DeepSpeed's own zero_grad does."""
        self.zero.zero_grad(set_to_none=True)

    def refresh(self) -> None:
        """Make the model's parameters of the optimizer's weights, as the end of a step does."""
        flats = zip(self.zero.fp16_partitioned_groups_flat, self.weights(), strict=True)
        for group, (computed, weights) in enumerate(flats):
            computed.data.copy_(weights.data)
            self.zero._reassign_or_swap_out_partitioned_parameters(group)
        if self.zero.persistent_parameters:
            self.zero.persistent_parameters[0].partition(self.zero.persistent_parameters)
            self.zero.persistent_parameters[0].all_gather(self.zero.persistent_parameters)

    def norm(self) -> torch.Tensor:
        """Return DeepSpeed's global norm."""
        from deepspeed.runtime.utils import combine_grad_norm_groups

        found: torch.Tensor = combine_grad_norm_groups(self.zero._get_norm_groups())
        return found

    def computed(self) -> list[torch.Tensor]:
        """Return this rank's parts of the parameters."""
        return [
            torch.cat([member.ds_tensor.data.reshape(-1) for member in members])
            for members in self.zero.fp16_groups
        ]

    def held_whole(self, parameter: nn.Parameter) -> torch.Tensor | None:
        """Return the whole parameter where DeepSpeed lets it stay on every rank."""
        full = tuple(parameter.ds_shape)  # type: ignore[attr-defined]
        persists: bool = parameter.ds_persist  # type: ignore[attr-defined]
        if persists and math.prod(full) == parameter.data.numel():
            return parameter.data.reshape(full)
        return None


Partitions = CutGroups | CutParameters


def of(optimizer: Any, stage: int) -> Partitions:
    """Return what a ZeRO optimizer of that stage holds."""
    return CutParameters(optimizer) if stage == 3 else CutGroups(optimizer)
