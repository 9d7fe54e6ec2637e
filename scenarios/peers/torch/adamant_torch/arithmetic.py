"""Which formulas the oracle must follow, and what this machine computes with."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from math import prod

import torch

from adamant_torch.model import weight_dtype
from adamant_torch.requests import Opening
from adamant_torch.shards import Shard

VECTOR = {"AVX2": 8, "AVX512": 16}  # fp32 values in one; both have fused multiply-adds


def instruction_set() -> str:
    """Return the instruction set that PyTorch's CPU kernels use here."""
    return str(torch.backends.cpu.get_cpu_capability())


def known() -> bool:
    """Return whether kernels here round as the oracle's formulas do: with fused multiply-adds."""
    return instruction_set() in VECTOR


def arithmetic(opening: Opening, shards: Iterable[Shard], *, unscaled: bool = False) -> str:
    """Return the formulas that give both moments of a rank's shards bit for bit, or "interval".

    Fused steps round as the others do where their vectors leave nothing over. They divide by the
    loss scale themselves, unless `unscaled` says that they find gradients divided.
    """
    if weight_dtype(opening.precision) != torch.float32 or not known():
        return "interval"
    implementation = opening.options.get("implementation")
    if implementation in ("single", "foreach"):
        return "torch"
    left_over = any(prod(shard.shape) % VECTOR[instruction_set()] for shard in shards)
    if implementation != "fused" or left_over:
        return "interval"
    return "torch" if unscaled else "torch_fused"


def together(answers: Iterable[str]) -> str:
    """Return what all ranks may be judged by."""
    words = set(answers)
    return words.pop() if len(words) == 1 else "interval"


def versions() -> dict[str, str]:
    """Return what a reader of a report must know to see the same numbers."""
    return {
        "torch": torch.__version__,
        "python": platform.python_version(),
        "instruction_set": instruction_set(),
    }
