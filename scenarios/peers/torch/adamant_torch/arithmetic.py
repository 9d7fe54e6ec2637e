"""Which formulas the oracle must follow, and what this machine computes with."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from math import prod

import torch

from adamant_torch.model import weight_dtype
from adamant_torch.requests import Opening
from adamant_torch.shards import Shard

# Kernels with fused multiply-adds, and how many fp32 values a vector of theirs has.
LANES = {"AVX2": 8, "AVX512": 16}


def instruction_set() -> str:
    """Return the instruction set that PyTorch's CPU kernels use here."""
    return str(torch.backends.cpu.get_cpu_capability())


def known() -> bool:
    """Return whether kernels here round as the oracle's formulas do: with fused multiply-adds."""
    return instruction_set() in LANES


def whole_vectors(shards: Iterable[Shard]) -> bool:
    """Return whether no element of these shards is left over by a vector.

    The fused kernel computes those that are left over by another loop, in which the compiler is
    free to round a product before its sum or not. Its vectors do what the others do.
    """
    lanes = LANES.get(instruction_set())
    return lanes is not None and all(prod(shard.shape) % lanes == 0 for shard in shards)


def arithmetic(opening: Opening, shards: Iterable[Shard]) -> str:
    """Return "torch" where both moments are known bit for bit, else "interval".

    `shards` are this rank's parts of all parameters; other ranks may come to another answer.
    """
    implementation = opening.options.get("implementation")  # an engine of a user's may have none
    if weight_dtype(opening.precision) != torch.float32 or not known():
        return "interval"
    if implementation == "fused":
        return "torch" if whole_vectors(shards) else "interval"
    return "torch" if implementation in ("single", "foreach") else "interval"


def versions() -> dict[str, str]:
    """Return what a reader of a report must know to see the same numbers."""
    return {
        "torch": torch.__version__,
        "python": platform.python_version(),
        "instruction_set": instruction_set(),
    }
