"""What this engine can do: capabilities and options, as `hello` says them."""

from __future__ import annotations

from adamant_torch import Engine
from adamant_torch.engine import known_beside
from adamant_torch.hello import BF16, FP16, FP32, UNHARMED, precision
from adamant_torch.protocol import Message

TRIED: dict[str, tuple[str, ...]] = {"deepspeed": ("0.19.8",), "torch": ("2.13.0",)}
UNSCALED = ["none"]
SAME_BITS = ["checkpoints", "reduce_scatter", "contiguous_gradients", "persist"]


def precisions() -> list[Message]:
    """Return the recipes: DeepSpeed scales losses with fp16, and with nothing else."""
    return [
        {**precision([FP32], [FP32], "none", FP32), "loss_scale": UNSCALED},
        {**precision([BF16], [FP32, BF16], FP32, FP32), "loss_scale": UNSCALED},
        precision([FP16], [FP32, FP16], FP32, FP32),
    ]


class Offer(Engine):
    """What DeepSpeed offers."""

    name = "deepspeed"
    tried = TRIED
    known_files = (known_beside(__file__),)
    compiled: bool  # whether its own step is there

    @classmethod
    def capabilities(cls, defaults: Message) -> Message:
        """Return what DeepSpeed can on CPUs; `defaults` are PyTorch's."""
        plain = {key: value for key, value in defaults.items() if key != "load_precisions"}
        return {
            **plain,
            "replicate_max": 1,
            "precisions": precisions(),
            "unscales_in_place": False,
            "gradients_in_place": False,
            "empty_tensors": False,
            "step_counters": ["group"],
            "gradients": ["exact", "normal"],
            "save": True,
            "load": True,
            "loads_in_any_order": False,
            **UNHARMED,
            "promises": ["repeated", "options", "resumed"],
            "same_options": SAME_BITS,
            "same_files": [],
        }

    @classmethod
    def options(cls, defaults: Message) -> Message:
        """Return all options with what they accept; the first is the default."""
        return {
            "zero": ["2", "1", "3"],
            "optimizer": ["torch_adam", "cpu_adam"] if cls.compiled else ["torch_adam"],
            "corrections": ["fp64", "fp32"],
            "tails": ["filled", "as_cut"],
            "checkpoints": ["by_world", "universal"],
            "universal_load": ["mended", "plain"],
            "reduce_scatter": ["true", "false"],
            "contiguous_gradients": ["true", "false"],
            "persist": ["true", "false"],
            "average": ["sum", "deepspeed"],
            "clip_factor": ["quotient", "reciprocal"],
            "missing_gradients": ["kept", "zeros"],
            "missing_states": ["made", "left"],
            "saves": ["emptied", "in_place"],
            "non_finite": ["stepped", "skipped"],
        }
