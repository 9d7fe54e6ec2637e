"""What a rank shows: raw bits of its shards with offsets, and whole tensors when asked."""

from __future__ import annotations

import torch

from adamant_torch import tensor_file
from adamant_torch.engine import Engine
from adamant_torch.protocol import Message


@torch.no_grad()
def write(engine: Engine, prefix: str, with_whole: bool) -> Message:
    """Write this rank's state file and return what the reply says of it."""
    path = f"{prefix}-rank-{engine.rank}.safetensors"
    shown: dict[str, torch.Tensor] = {}
    shards = []
    for name, box in engine.shards().items():
        for part in ("local", "whole") if with_whole else ("local",):
            for suffix, tensor in engine.tensors(name, whole=part == "whole").items():
                shown[f"{part}/{name}{suffix}"] = tensor
        counted = {"steps": engine.steps(name), "has_gradient": engine.has_gradient(name)}
        shards.append({**box.named(name), **counted})
    tensor_file.write(path, shown)
    return {
        "outcome": "ok",
        "file": path,
        "shards": shards,
        "groups": engine.groups(),
        "scale": engine.scale(),
    }
