"""The model under test as Megatron-FSDP is given it: units of parameters, in a mesh with names.

The gradient of each parameter goes through the real buffers and the real reduce-scatter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import torch
from megatron_fsdp import DistributedDataParallelConfig
from megatron_fsdp.param_and_grad_buffer import build_data_parallel_buffer_index
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh

from adamant_torch import model
from adamant_torch.model import DTYPES
from adamant_torch.requests import Opening, ParamSpec

Shape = tuple[int, ...]


class Unit(model.Unit):
    """Parameters that are gathered and reduced together."""

    def seen(self) -> dict[str, torch.Tensor]:
        """Return copies of the parameters as they are now."""
        return {key: value.detach().clone() for key, value in self.named_parameters()}


class Model(model.Unit):
    """All units, which Megatron-FSDP knows by their class."""

    def __init__(self, values: model.Tree, dtype: torch.dtype = torch.float32) -> None:
        super().__init__({})
        for name, unit in values.items():
            self.add_module(name, Unit(unit, dtype))


def full_names(opening: Opening) -> dict[str, str]:
    """Return the name of each parameter in the model."""
    units = enumerate(units_of(opening))
    return {p.name: f"unit{n}.{model.module_name(p.name)}" for n, params in units for p in params}


def build(opening: Opening, initial: Mapping[str, torch.Tensor]) -> Model:
    """Return the model with the scenario's initial values, rounded to the parameters' type."""
    names = full_names(opening)
    whole = {names[p.name]: initial[p.name].reshape(p.shape).clone() for p in opening.params}
    return Model(model.tree(whole), DTYPES[opening.precision.param])


def units_of(opening: Opening) -> list[list[ParamSpec]]:
    """Return which parameters make a unit.

    With `cut_rows: avoided` a unit of which Megatron-FSDP would cut a row is taken apart, on every
    world alike: keys of checkpoints have the units' numbers.
    """
    count = 1 + max(param.unit for param in opening.params)
    given = [[p for p in opening.params if p.unit == unit] for unit in range(count)]
    if opening.options["units"] == "one":
        given = [list(opening.params)]
    if opening.options["cut_rows"] == "met":
        return given
    result: list[list[ParamSpec]] = []
    for params in given:
        apart = any(cuts_a_row([p.shape for p in params], ranks) for ranks in range(2, 9))
        result += [[param] for param in params] if apart else [params]
    return result


def cuts_a_row(shapes: Sequence[Shape], ranks: int) -> bool:
    """Return whether Megatron-FSDP would put a row of these parameters on two ranks.

    Asked of its own layout. It sorts by the sizes of rows, larger ones first; where they divide
    no common size it takes the least common multiple.
    """
    ordered = sorted(shapes, key=lambda shape: math.prod(shape[1:]), reverse=True)
    chunk = chunk_size(ordered)
    config = DistributedDataParallelConfig(data_parallel_sharding_strategy="optim")
    sizes = [torch.Size(shape) for shape in ordered]
    items, bucket, _ = build_data_parallel_buffer_index(
        sizes, 0, ranks, True, config, chunk_size_factor=chunk
    )
    share = bucket.size // ranks
    for number, shape in enumerate(ordered):
        begin, row = items[number].global_data_index, math.prod(shape[1:])
        end = begin + math.prod(shape)
        edges = range(-(-begin // share) * share, end, share)
        if any((edge - begin) % row != 0 for edge in edges):
            return True
    return False


def chunk_size(shapes: Sequence[Shape]) -> int:
    """Return the size that Megatron-FSDP fits a unit's parameters into."""
    chunk = math.prod(shapes[0][1:])
    for shape in shapes:
        row, numel = math.prod(shape[1:]), math.prod(shape)
        fits = row == chunk or (chunk % row == 0 and numel % chunk == 0) or numel < chunk
        chunk = chunk if fits else math.lcm(chunk, row)
    return chunk


@cache  # a mesh makes process groups, which are kept while the process lives
def mesh(shard: int, replicate: int) -> DeviceMesh:
    """Return the mesh of a form. Megatron-FSDP asks for a dimension of tensor parallelism."""
    sizes = {"replicate": replicate, "shard": shard, "tp": 1}
    if replicate == 1:
        del sizes["replicate"]
    return init_device_mesh("cpu", tuple(sizes.values()), mesh_dim_names=tuple(sizes))


def policy(opening: Opening) -> dict[str, Any]:
    """Return the types of a recipe as Megatron-FSDP's policy has them.

    fp32 parameters may be their own main weights (`main_weights: shared`).
    """
    own = opening.precision.main != "none" or opening.options["main_weights"] == "own"
    return {
        "main_params_dtype": torch.float32 if own else None,
        "main_grads_dtype": DTYPES[opening.precision.grad],
        "grad_comm_dtype": DTYPES[opening.precision.grad],
    }
