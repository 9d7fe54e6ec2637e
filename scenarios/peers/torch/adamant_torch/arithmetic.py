"""Which formulas the oracle must follow, and what this machine computes with."""

from __future__ import annotations

import platform

import torch

from adamant_torch.model import weight_dtype
from adamant_torch.requests import Opening

FUSED_MULTIPLY_ADD = ("AVX2", "AVX512")


def instruction_set() -> str:
    """Return the instruction set that PyTorch's CPU kernels use here."""
    return str(torch.backends.cpu.get_cpu_capability())


def known() -> bool:
    """Return whether kernels here round as the oracle's formulas do: with fused multiply-adds."""
    return instruction_set() in FUSED_MULTIPLY_ADD


def arithmetic(opening: Opening) -> str:
    """Return "torch" where both moments are known bit for bit, else "interval"."""
    plain = opening.options.get("implementation") in ("single", "foreach")
    wide = weight_dtype(opening.precision) == torch.float32
    return "torch" if plain and wide and known() else "interval"


def versions() -> dict[str, str]:
    """Return what a reader of a report must know to see the same numbers."""
    return {
        "torch": torch.__version__,
        "python": platform.python_version(),
        "instruction_set": instruction_set(),
    }
