"""What accelerate can do on CPU ranks of what adamant asks, as `hello` says it."""

from __future__ import annotations

from pathlib import Path

from adamant_torch.protocol import Message

KNOWN = Path(__file__).resolve().parent / "known" / "known.yaml"
TRIED: dict[str, tuple[str, ...]] = {"accelerate": ("1.15.0",), "torch": ("2.13.0",)}
# Ways around defects of PyTorch's own: looked for in `adamant_torch`, they would hide accelerate's.
AROUND = {"empty_groups": ["dropped"]}


def capabilities(defaults: Message) -> Message:
    """Return PyTorch's capabilities but for loss scales and parameters without elements.

    accelerate has no scaler on a CPU, and knows a parameter by its address, which such have none.
    """
    kept = [each for each in defaults["precisions"] if "fp16" not in each["param"]]
    return {
        **defaults,
        "loss_scale": ["none"],
        "precisions": kept,
        "load_precisions": [],
        "empty_tensors": False,
    }


def options(defaults: Message) -> Message:
    """Return accelerate's own options, and PyTorch's that hold here."""
    return {
        "implementation": defaults["implementation"],
        "accumulate": ["1", "2", "4"],
        "mixed_precision": ["policy", "bf16"],
        "state_dict_type": ["SHARDED_STATE_DICT", "FULL_STATE_DICT"],
        "cpu_ram_efficient_loading": ["false", "true"],
        "missing_states": ["made", "left"],
        **AROUND,
    }
