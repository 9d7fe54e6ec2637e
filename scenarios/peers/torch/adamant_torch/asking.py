"""Parts of an `open` as a caller of `driving.Driver` gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from adamant_torch.protocol import Message

Tensors = dict[str, torch.Tensor]
Values = Mapping[str, Any]  # tensors, or the nested lists that torch.tensor takes
Settings = Mapping[str, Any]


def tensors(values: Values) -> Tensors:
    """Return values as tensors; lists are of fp32."""
    return {
        name: value if isinstance(value, torch.Tensor) else torch.tensor(value, dtype=torch.float32)
        for name, value in values.items()
    }


def params(
    initial: Values,
    order: Sequence[str] | None,
    units: Mapping[str, int],
    parts: Mapping[str, Sequence[str]],
    groups: Mapping[str, Settings],
) -> list[Message]:
    """Return `params`: those of `initial`, in `order` if there is one."""
    whole = tensors(initial)
    group = {name: at for at, own in enumerate(groups.values(), 1) for name in own["params"]}
    return [
        {
            "name": name,
            "shape": list(whole[name].shape),
            "group": group.get(name, 0),
            "unit": units.get(name, 0),
            **({"parts": list(parts[name])} if name in parts else {}),
        }
        for name in order or whole
    ]


def groups(first: Settings, further: Mapping[str, Settings]) -> list[Message]:
    """Return groups that have what the first one has, but for settings of their own."""
    return [
        {**first, "name": name, **{key: own[key] for key in own if key != "params"}}
        for name, own in further.items()
    ]
