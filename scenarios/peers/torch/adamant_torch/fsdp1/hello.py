"""What FSDP1 can do: capabilities and options, as `hello` says them."""

from __future__ import annotations

from pathlib import Path

from adamant_torch.protocol import Message

KNOWN = Path(__file__).resolve().parent / "known" / "known.yaml"
OF_CHECKPOINTS = (
    "format",
    "template",
    "async_save",
    "directory_order",
    "missing_states",
    "step_shape",
    "settings",
    "saves",
    "files",
)


def capabilities(defaults: Message) -> Message:
    """Return what FSDP1 can; `defaults` are FSDP2's.

    Flat parameters have no place for what has no element. A load has the types of the save.
    """
    kept = {key: value for key, value in defaults.items() if key != "load_precisions"}
    return {
        **kept,
        "empty_tensors": False,
        "same_options": ["format", "template", "state_dict", "async_save", "strategy"],
    }


def options(defaults: Message) -> Message:
    """Return all options with what they accept; the first is the default."""
    return {
        "implementation": defaults["implementation"],
        "strategy": ["full_shard", "shard_grad_op"],
        **{name: defaults[name] for name in OF_CHECKPOINTS},
        "state_dict": ["helpers", "flat"],
        "empty_groups": defaults["empty_groups"],
        "scaler": ["sharded", "unscaled_first"],
        "missing_gradients": ["zeros", "none"],
        "alone": ["hybrid", "no_shard"],
    }
