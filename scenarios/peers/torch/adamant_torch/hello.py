"""What this engine can do: capabilities and options, as `hello` says them."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from importlib.metadata import PackageNotFoundError, version
from inspect import signature

from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageWriter

from adamant_torch import arithmetic, listing
from adamant_torch.engine import Engine
from adamant_torch.importing import engine_class
from adamant_torch.model import AVERAGES
from adamant_torch.protocol import VERSION, Message

SAME_BITS = [
    *("format", "template", "state_dict", "load_into", "async_save", "offload_policy"),
    *("reshard_after_forward", "accumulation", "optimizers"),
]
SCRIPT = [sys.executable, "-m", "adamant_torch", "script"]
FP32, BF16, FP16 = "fp32", "bf16", "fp16"
UNHARMED = {"can_crash": False, "detects_damage": [], "other_damage": []}  # files are not tried


def precision(param: list[str], grad: list[str], main: str, moments: str) -> Message:
    """Return one entry of `precisions`."""
    return {
        "param": param,
        "grad": grad,
        "main": [main],
        "exp_avg": [moments],
        "exp_avg_sq": [moments],
    }


def precisions() -> list[Message]:
    """Return the recipes that FSDP2 has: moments have the type of the optimizer's own weights.

    Moments in fp16 have no scale here, and GradScaler refuses to unscale gradients in fp16.
    """
    return [
        precision([FP32], [FP32, BF16], "none", FP32),
        precision([BF16], [FP32, BF16], FP32, FP32),
        precision([FP16], [FP32, FP16], FP32, FP32),
        precision([BF16], [BF16], "none", BF16),
        {
            **precision([FP16], [FP16], "none", FP16),
            "state_scale": ["none"],
            "loss_scale": ["none"],
        },
    ]


def load_precisions() -> list[Message]:
    """Return what a load may change to beside those: moments wider than their weights.

    An optimizer of a user's own may keep such; what PyTorch's makes of them is for a load to show.
    """
    return [
        precision([BF16], [BF16], "none", FP32),
        {**precision([FP16], [FP16], "none", FP32), "loss_scale": ["none"]},
    ]


def without_scaler(defaults: Message) -> Message:
    """Return capabilities without loss scale, without fp16, which needs one, and such loads."""
    kept = [each for each in defaults["precisions"] if FP16 not in each["param"]]
    return {**defaults, "loss_scale": ["none"], "precisions": kept, "load_precisions": []}


def capabilities() -> Message:
    """Return what PyTorch can. DCP exchanges its plans by way of numpy."""
    checkpoints = has("numpy")
    return {
        "layouts": ["fsdp2"],
        "ranks_max": 8,
        "replicate_max": 4,
        "precisions": precisions(),
        "load_precisions": load_precisions(),
        "own_precision": False,
        "gradient_type": "both",
        "unscales_in_place": True,
        "gradients_in_place": True,
        "empty_tensors": True,
        "optimizers": ["adamw", "adam"],
        "step_counters": ["parameter"],
        "bias_correction": [True],
        "clip": True,
        "loss_scale": ["none", "fixed", "dynamic"],
        "set": ["lr", "betas", "eps", "weight_decay", "clip", "loss_scale"],
        "gradients": ["exact", "normal", "wild"],
        "zero_grad": ["none", "zeros"],
        "save": checkpoints,
        "load": checkpoints,
        "loads_in_any_order": checkpoints,
        "can_crash": checkpoints,
        "detects_damage": ["truncate", "remove_file"],
        "other_damage": ["flip_byte", "stale_file"],
        "local_gradients": True,
        "carries_groups": True,
        "promises": ["worlds", "repeated", *(["options", "resumed"] if checkpoints else [])],
        "same_options": SAME_BITS,
        "same_files": [".distcp"],
    }


def has(module: str) -> bool:
    """Return whether a module can be imported here."""
    return importlib.util.find_spec(module) is not None


def formats() -> list[str]:
    """Return the formats of checkpoints that can be written with what is installed.

    PyTorch 2.8 has a Hugging Face writer that cannot consolidate and is called in another way.
    """
    wanted = "enable_consolidation"
    if not has("safetensors") or wanted not in signature(HuggingFaceStorageWriter).parameters:
        return ["dcp"]
    return ["dcp", "hf_sharded", "hf_consolidated"]


def options() -> Message:
    """Return all options with what they accept; the first is the default.

    The last ones choose ways around known defects. Their defaults are what PyTorch's users write.
    """
    return {
        "implementation": ["single", "foreach", "fused"],
        "format": formats(),
        "template": ["allocate", "step"],
        "state_dict": ["helpers", "plain", "flat"],
        "load_into": ["new", "stepped", "gradients"],
        "async_save": ["false", "true", "overlapping"],
        "offload_policy": ["none", "cpu"],
        "scaler": ["dtensor", "sharded", "local"],
        "directory_order": listing.ORDERS,
        "division": ["hook", "factor"],
        "averages": ["once", *(["own"] if AVERAGES else [])],
        "reshard_after_forward": ["auto", "true", "false", "half"],
        "wrapping": ["units", "nested", "root"],
        "accumulation": ["reduced", "unsharded", "sharded"],
        "passes": ["elements", "parameters"],
        "optimizers": ["one", "per_group"],
        "without": ["unused", "frozen"],
        "lazy_init": ["by_forward", "at_open"],
        "verdicts": ["apart", "together"],
        "empty_groups": ["kept", "dropped"],
        "empty_tensors": ["as_others", "apart"],
        "old_gradients": ["kept", "dropped"],
        "missing_states": ["left", "made"],
        "step_shape": ["scalar", "vector"],
        "settings": ["written", "left_out"],
        "saves": ["in_place", "new_directory"],
        "files": ["trusted", "checked"],
        "optimizer_keys": ["positions", "names"],
        "moments": ["cast", "kept"],
        "load_types": ["template", "file"],
    }


def releases(kind: type[Engine]) -> dict[str, str]:
    """Return what is installed of what an engine tests, without how it was built."""
    found = {}
    for name in kind.tried:
        with contextlib.suppress(PackageNotFoundError):  # built where it lies
            found[name] = version(name).split("+")[0]
    return found


def untried(kind: type[Engine]) -> list[str]:
    """Return a sentence about each release that the adapter was not tried with."""
    return [
        f"{name} {found} was not tried with this adapter, which may be what fails; "
        f"tried: {', '.join(kind.tried[name])}"
        for name, found in releases(kind).items()
        if found not in kind.tried[name]
    ]


def reply(kind: type[Engine]) -> Message:
    """Return the reply to `hello`."""
    known = kind.known()
    found = engine_class(kind)
    return {
        "outcome": "ok",
        "version": VERSION,
        "engine": kind.name,
        "versions": kind.versions({**releases(kind), **arithmetic.versions()}),
        "arithmetic": "torch" if arithmetic.known() else "interval",
        "capabilities": kind.capabilities(capabilities()),
        "options": kind.options(options()),
        "asks": ["anew"],
        "notes": untried(kind),
        **({} if known is None else {"known": known}),
        **({} if found is None else {"engine_class": found, "script": SCRIPT}),
    }
