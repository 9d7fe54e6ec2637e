"""What the engines can do: capabilities and options, as `hello` says them."""

from __future__ import annotations

from adamant_torch import Engine
from adamant_torch.engine import known_beside
from adamant_torch.hello import BF16, FP16, FP32, UNHARMED, precision
from adamant_torch.protocol import Message

TRIED: dict[str, tuple[str, ...]] = {"megatron-core": ("0.16.1",), "torch": ("2.13.0",)}


def precisions() -> list[Message]:
    """Return the recipes: gradients, main weights, where there are any, and moments are fp32.

    Megatron adds up and reduces gradients of 16 bits in fp32 unless it is told otherwise. It makes
    a dynamic scale for fp16 alone, and takes no fp16 without a scale.
    """
    return [
        {**precision([FP32], [FP32], "none", FP32), "loss_scale": ["none", "fixed"]},
        {**precision([BF16], [FP32], FP32, FP32), "loss_scale": ["none", "fixed"]},
        {**precision([FP16], [FP32], FP32, FP32), "loss_scale": ["fixed", "dynamic"]},
    ]


class Offer(Engine):
    """What Megatron-core offers."""

    name = "megatron"
    tried = TRIED
    known_files: tuple[str, ...] = (known_beside(__file__),)

    @classmethod
    def capabilities(cls, defaults: Message) -> Message:
        """Return what the DistributedOptimizer can do on processes without a GPU."""
        kept = {key: value for key, value in defaults.items() if key != "load_precisions"}
        return {
            **kept,
            "precisions": precisions(),
            "empty_tensors": False,
            "set": ["lr", "betas", "eps", "weight_decay", "clip"],
            "save": True,
            "load": True,
            "loads_in_any_order": True,
            **UNHARMED,
            "promises": ["worlds", "repeated", "resumed"],
            "same_options": [],
        }

    @classmethod
    def options(cls, defaults: Message) -> Message:
        """Return the options with what they accept; the first is the default."""
        return {
            "buckets": ["one", "small"],
            "format": ["fully_reshardable"],
            "groups": ["multiplied", "as_is"],
            "states": ["mended", "as_is"],
            "nan_norm": ["clips", "as_is"],
        }


def hybrid_options() -> Message:
    """Return the options of the offload; `streams` is about what stands in for CUDA's."""
    return {
        "precision_aware": ["true", "false"],
        "fraction": ["1.0", "0.5"],
        "overlap": ["true", "false"],
        "streams": ["late", "at_once"],
        "old_gradients": ["dropped", "kept"],
    }
