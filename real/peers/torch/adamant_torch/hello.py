"""What this engine can do: capabilities and options, as `hello` says them."""

from __future__ import annotations

import importlib.util

from adamant_torch import arithmetic
from adamant_torch.engine import Engine
from adamant_torch.protocol import VERSION, Message

FP32, BF16, FP16 = "fp32", "bf16", "fp16"


def precision(param: list[str], grad: list[str], main: str, moments: str) -> Message:
    """Return one entry of `precisions`."""
    return {
        "param": param,
        "grad": grad,
        "main": [main],
        "exp_avg": [moments],
        "exp_avg_sq": [moments],
    }


def precisions() -> list[Message]:
    """Return the recipes that FSDP2 has: moments have the type of the optimizer's own weights."""
    return [
        precision([FP32], [FP32], "none", FP32),
    ]


def capabilities() -> Message:
    """Return what PyTorch can."""
    return {
        "layouts": ["fsdp2"],
        "ranks_max": 8,
        "replicate_max": 1,
        "precisions": precisions(),
        "own_precision": False,
        "gradient_type": "grad",
        "optimizers": ["adamw", "adam"],
        "step_counters": ["parameter"],
        "bias_correction": [True],
        "clip": True,
        "loss_scale": ["none"],
        "set": ["lr", "betas", "eps", "weight_decay", "clip"],
        "gradients": ["exact", "normal", "wild"],
        "zero_grad": ["none", "zeros"],
        "save": False,
        "load": False,
        "loads_in_any_order": False,
        "can_crash": False,
        "detects_damage": [],
        "local_gradients": True,
        "carries_groups": False,
    }


def formats() -> list[str]:
    """Return the formats of checkpoints that can be written with what is installed."""
    has_safetensors = importlib.util.find_spec("safetensors") is not None
    return ["dcp", "hf_sharded", "hf_consolidated"] if has_safetensors else ["dcp"]


def options() -> Message:
    """Return all options with what they accept; the first is the default."""
    return {
        "implementation": ["single", "foreach", "fused"],
    }


def reply(kind: type[Engine]) -> Message:
    """Return the reply to `hello`."""
    return {
        "outcome": "ok",
        "version": VERSION,
        "engine": kind.name,
        "versions": arithmetic.versions(),
        "arithmetic": "torch" if arithmetic.known() else "interval",
        "capabilities": kind.capabilities(capabilities()),
        "options": options(),
    }
