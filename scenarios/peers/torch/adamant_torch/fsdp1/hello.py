"""What FSDP1 can do: capabilities and options, as `hello` says them."""

from __future__ import annotations

from pathlib import Path

from adamant_torch.protocol import Message

KNOWN = Path(__file__).resolve().parent / "known" / "known.yaml"
SHARED = ("implementation", "template", "async_save", "missing_states", "empty_groups")


def capabilities(defaults: Message) -> Message:
    """Return what FSDP1 can; `defaults` are FSDP2's.

    Flat parameters have no place for what has no element. A load has the types of the save. What
    happens to files, by a crash or by damage, is DCP's, of which FSDP2's scenarios tell.
    """
    kept = {key: value for key, value in defaults.items() if key != "load_precisions"}
    return {
        **kept,
        "empty_tensors": False,
        "can_crash": False,
        "other_damage": [],
        "same_options": ["template", "state_dict", "async_save", "strategy"],
    }


def options(defaults: Message) -> Message:
    """Return all options with what they accept; the first is the default.

    The last ones choose ways around what is known of FSDP1.
    """
    return {
        **{name: defaults[name] for name in SHARED},
        "state_dict": ["helpers", "flat"],
        "strategy": ["full_shard", "shard_grad_op"],
        "scaler": ["sharded", "unscaled_first"],
        "missing_gradients": ["zeros", "none"],
        "division": ["fsdp1", "once"],
        "alone": ["hybrid", "no_shard"],
    }
