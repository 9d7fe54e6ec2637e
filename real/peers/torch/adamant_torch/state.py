"""What a rank shows: raw bits of its shards with offsets, and whole tensors when asked."""

from __future__ import annotations

import torch
from torch.distributed.tensor import DTensor

from adamant_torch import tensor_file
from adamant_torch.engine import Engine
from adamant_torch.model import DTYPES
from adamant_torch.protocol import Message
from adamant_torch.shards import local


def whole(tensor: torch.Tensor) -> torch.Tensor:
    """Return the whole tensor as this rank gathers it. A collective where it is sharded."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def tensors(engine: Engine, name: str) -> dict[str, torch.Tensor]:
    """Return all that belongs to a parameter, by suffix; a sharded tensor stays one.

    With main weights the parameter that FSDP2 keeps is the main weight, and the parameter that
    the model sees is what a gather casts it to.
    """
    parameter = engine.parameters[name].detach()
    precision = engine.opening.precision
    if precision.main == "none":
        result = {"": parameter}
    else:
        result = {"": parameter.to(DTYPES[precision.param]), "/main": parameter}
    gradient = engine.parameters[name].grad
    if gradient is not None:
        result["/gradient"] = gradient
    result.update({f"/{key}": value for key, value in engine.moments(name).items()})
    return result


def write(engine: Engine, prefix: str, with_whole: bool) -> Message:
    """Write this rank's state file and return what the reply says of it."""
    path = f"{prefix}-rank-{engine.rank}.safetensors"
    shown: dict[str, torch.Tensor] = {}
    shards = []
    for name, box in engine.shards().items():
        for suffix, tensor in tensors(engine, name).items():
            shown[f"local/{name}{suffix}"] = local(tensor)
            if with_whole:
                shown[f"whole/{name}{suffix}"] = whole(tensor)
        shards.append(
            {
                "name": name,
                "offsets": list(box.offsets),
                "shape": list(box.shape),
                "steps": engine.steps(name),
                "has_gradient": engine.parameters[name].grad is not None,
            }
        )
    tensor_file.write(path, shown)
    return {
        "outcome": "ok",
        "file": path,
        "shards": shards,
        "groups": engine.groups(),
        "scale": engine.scaling.report(),
    }
