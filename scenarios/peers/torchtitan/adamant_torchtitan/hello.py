"""What torchtitan's optimizer and checkpoints can do of what adamant asks, as `hello` says it."""

from __future__ import annotations

from pathlib import Path

from adamant_torch.protocol import Message

KNOWN = Path(__file__).resolve().parent / "known" / "known.yaml"
TRIED: dict[str, tuple[str, ...]] = {"torchtitan": ("0.3.0",), "torch": ("2.13.0",)}
# Ways around defects of PyTorch's own: looked for in `adamant_torch`, they would hide torchtitan's.
AROUND = {"empty_groups": ["dropped"], "empty_tensors": ["apart"]}


def capabilities(defaults: Message) -> Message:
    """Return PyTorch's capabilities but for loss scales, which torchtitan has none of.

    That flipped bits go unnoticed is DCP's own, and there is no way around it here. Without its
    `.metadata` a checkpoint is none to torchtitan, which loads an older one.
    """
    kept = [each for each in defaults["precisions"] if "fp16" not in each["param"]]
    damage = {"detects_damage": ["truncate"], "other_damage": ["stale_file"]}
    scale = {"loss_scale": ["none"]}
    return {**defaults, **damage, **scale, "precisions": kept, "load_precisions": []}


def options(_: Message) -> Message:
    """Return torchtitan's options by its own names, and the ways around known defects."""
    return {
        "implementation": ["for-loop", "foreach", "fused"],
        "async_mode": ["disabled", "async"],
        "keep_latest_k": ["10", "2"],
        "missing_states": ["made", "left"],
        **AROUND,
    }
