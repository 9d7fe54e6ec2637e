"""What Megatron-FSDP can do on CPU ranks of what adamant asks, as `hello` says it."""

from __future__ import annotations

from adamant_torch import Engine
from adamant_torch.engine import known_beside
from adamant_torch.hello import BF16, FP32, UNHARMED, precision
from adamant_torch.protocol import Message

TRIED: dict[str, tuple[str, ...]] = {"megatron-fsdp": ("0.6.1",), "torch": ("2.13.0",)}


def precisions() -> list[Message]:
    """Return the recipes: gradients in the parameters' type or in fp32, no loss scale."""
    return [
        precision([FP32], [FP32], "none", FP32),
        precision([BF16], [FP32], FP32, FP32),
    ]


class Offer(Engine):
    """What Megatron-FSDP offers."""

    name = "megatron_fsdp"
    tried = TRIED
    known_files: tuple[str, ...] = (known_beside(__file__),)

    @classmethod
    def capabilities(cls, defaults: Message) -> Message:
        """Return what Megatron-FSDP can; `defaults` are PyTorch's."""
        return {
            **defaults,
            "precisions": precisions(),
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
