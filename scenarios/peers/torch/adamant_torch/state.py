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
    """Return the whole tensor as this rank gathers it. A collective where it is sharded.

    What has no element is not gathered: FSDP2 keeps fewer rows of it than its DTensor says, and
    PyTorch finds that they do not fit together.
    """
    if tensor.numel() == 0:
        return torch.empty(tensor.shape, dtype=tensor.dtype)
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def tensors(engine: Engine, name: str) -> dict[str, torch.Tensor]:
    """Return all that belongs to a parameter, by suffix; a sharded tensor stays one."""
    parameter = engine.parameters[name]
    result: dict[str, torch.Tensor] = {"": parameter}
    if parameter.grad is not None:
        result["/gradient"] = parameter.grad
    result.update({f"/{key}": value for key, value in engine.moments(name).items()})
    return result


def with_main(engine: Engine, plain: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return plain tensors with the main weight under its own name, where there is one.

    With main weights the parameter that FSDP2 keeps is the main weight, and the parameter that
    the model sees is what a gather casts it to.
    """
    precision = engine.opening.precision
    if precision.main == "none":
        return plain
    return {**plain, "": plain[""].to(DTYPES[precision.param]), "/main": plain[""]}


@torch.no_grad()
def write(engine: Engine, prefix: str, with_whole: bool) -> Message:
    """Write this rank's state file and return what the reply says of it."""
    path = f"{prefix}-rank-{engine.rank}.safetensors"
    shown: dict[str, torch.Tensor] = {}
    shards = []
    for name, box in engine.shards().items():
        found = tensors(engine, name)
        for part, look in (("local", local), ("whole", whole)):
            if part == "local" or with_whole:
                plain = {suffix: look(tensor) for suffix, tensor in found.items()}
                for suffix, tensor in with_main(engine, plain).items():
                    shown[f"{part}/{name}{suffix}"] = tensor
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
