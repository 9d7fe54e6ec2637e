"""What torchao can do of what adamant asks: capabilities and options, as `hello` says them."""

from __future__ import annotations

from pathlib import Path

from adamant_torch.protocol import Message

FOLDER = Path(__file__).resolve().parent / "known"
KNOWN = FOLDER / "known.yaml"
TRIED: dict[str, tuple[str, ...]] = {"torchao": ("0.18.0",), "torch": ("2.13.0",)}
KNOWN_AS_SHIPPED = FOLDER / "as_shipped" / "known.yaml"
FROM_PYTORCH = ("state_dict", "template", "async_save", "offload_policy")
AROUND = {
    "empty_groups": "dropped",
    "empty_tensors": "apart",
    "missing_states": "made",
    "saves": "new_directory",
    "files": "checked",
    "optimizer_keys": "names",
}


def capabilities(defaults: Message) -> Message:
    """Return PyTorch's capabilities without loads that give moments a type of their own.

    torchao's moments have the type of the weights that it is given, where they are not quantised.
    """
    return {**defaults, "load_precisions": []}


def options(defaults: Message) -> Message:
    """Return torchao's options and those of PyTorch's checkpoints that torchao's states meet.

    Where PyTorch's own defects have a way around, it is always taken: they are looked for in
    `adamant_torch`, and would hide what is torchao's.
    """
    return {
        "states": ["8bit", "4bit", "fp8"],
        **{name: defaults[name] for name in FROM_PYTORCH},
        **{name: [value] for name, value in AROUND.items()},
    }
