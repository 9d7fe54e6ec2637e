"""Checkpoints by PyTorch DCP: what goes into the state dict, and how one is made to load into.

Three formats: DCP's own, and Hugging Face safetensors as shards or consolidated. The state dict
comes from PyTorch's helpers (names as keys, nested or flat) or is that of model and optimizer as
they are (the optimizer's keys are positions). A load fills a state dict that is already there; what
a new optimizer has not made yet is allocated, or made by a step that changes nothing. By default
nothing is renamed, checked or forgiven here: it is what PyTorch's users write. Options choose ways
around known defects, which are in `around` and `saves`.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, fields
from math import nan
from typing import Any

import torch
from torch import nn
from torch.distributed.checkpoint.filesystem import FileSystemReader, FileSystemWriter
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_state_dict,
    set_state_dict,
)
from torch.distributed.checkpoint.state_dict_loader import load as dcp_load
from torch.distributed.checkpoint.state_dict_saver import save as dcp_save
from torch.distributed.checkpoint.storage import StorageReader, StorageWriter

from adamant_torch import around, listing, saves
from adamant_torch.saving import Saving
from adamant_torch.several import parts

StateDict = dict[str, Any]
Optimizers = torch.optim.Optimizer | tuple[torch.optim.Optimizer, ...]
State = tuple[nn.Module, torch.optim.Optimizer, "torch.amp.GradScaler | None"]


@dataclass(frozen=True)
class Options:
    """How a checkpoint is written and read; see the options of `hello`."""

    format: str = "dcp"
    template: str = "allocate"
    state_dict: str = "helpers"
    async_save: str = "false"
    missing_states: str = "left"
    step_shape: str = "scalar"
    saves: str = "in_place"
    directory_order: str = "sorted"
    settings: str = "written"
    empty_tensors: str = "as_others"
    files: str = "trusted"
    optimizer_keys: str = "positions"
    moments: str = "cast"
    load_types: str = "template"

    @classmethod
    def of(cls, options: dict[str, str]) -> Options:
        """Return the options that are about checkpoints."""
        names = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in options.items() if name in names})

    @property
    def hugging_face(self) -> bool:
        """Whether the files are Hugging Face's."""
        return self.format != "dcp"

    @property
    def tensors_only(self) -> bool:
        """Whether a checkpoint holds tensors and nothing else."""
        return self.hugging_face and self.settings == "left_out"

    def of_helpers(self) -> dict[str, bool]:
        """Return the options of PyTorch's helpers."""
        return {"flatten_optimizer_state_dict": True} if self.state_dict == "flat" else {}

    def not_carried(self) -> list[str]:
        """Return what does not come back from a load."""
        return ["groups", "scaler", "clip"] if self.tensors_only else ["clip"]


def save(options: Options, state: State, directory: str) -> Saving | None:
    """Write a checkpoint. A collective.

    Returns what is left to wait for, where saves may overlap with what comes after.
    """
    _, optimizer, _ = state
    if options.missing_states == "made":
        for each in parts(optimizer):
            around.make_missing_states(each)
    content = stored(options, gather(options, state))
    target = saves.new_directory(directory) if options.saves == "new_directory" else directory

    def complete() -> None:
        if options.files == "checked":
            saves.seal(target)
        if target != directory:
            saves.replace(directory, target)

    if options.async_save == "false":
        dcp_save(content, storage_writer=writer(options, target))
        complete()
        return None
    overlaps = options.async_save == "overlapping"
    saving = Saving.begin(content, writer(options, target), complete, apart=overlaps)
    if overlaps:
        return saving
    saving.wait()
    return None


def load(
    options: Options, state: State, moments: tuple[torch.dtype, torch.dtype], directory: str
) -> list[str]:
    """Read a checkpoint into `state`; return what did not come. A collective.

    `moments` are the types that the scenario names for them. A scaler takes part where there is
    one here and was one at the save.
    """
    model, optimizer, scaler = state
    if options.files == "checked":
        saves.check(directory)
    for each in parts(optimizer):
        prepare(options, each, moments)
    if scaler is not None and not holds_scaler(options, directory):
        state = model, optimizer, None
    content = gather(options, state)
    loaded = stored(options, content)
    if options.load_types == "file":
        loaded = around.in_types_of_file(loaded, reader(options, directory).read_metadata())
    dcp_load(loaded, storage_reader=reader(options, directory))
    if options.step_shape == "vector":
        loaded = {**loaded, "optim": around.with_steps_of_shape(loaded["optim"], ())}
    with ExitStack() as keeping:
        for each in parts(optimizer) if options.moments == "kept" else ():
            keeping.enter_context(around.keeping_moments(each, moments))
        spread(options, state, around.completed(loaded, content))
    missing = options.not_carried()
    return missing if "scaler" in content or "scaler" in missing else [*missing, "scaler"]


def prepare(
    options: Options, optimizer: torch.optim.Optimizer, moments: tuple[torch.dtype, torch.dtype]
) -> None:
    """Make the states that a load fills, where there are none."""
    if not optimizer.state and options.template == "allocate":
        allocate(optimizer, moments)
    elif not optimizer.state and options.state_dict == "plain":  # the helpers step by themselves
        step_without_effect(optimizer)
    elif optimizer.state and options.missing_states == "made":
        around.make_missing_states(optimizer)


def stored(options: Options, content: StateDict) -> StateDict:
    """Return what a checkpoint holds of a state dict."""
    if options.tensors_only:
        content = tensors_of(content)
    if options.step_shape == "vector":
        content = {**content, "optim": around.with_steps_of_shape(content["optim"], (1,))}
    if options.empty_tensors == "apart":
        content = around.without_empty(content)
    return content


def holds_scaler(options: Options, directory: str) -> bool:
    """Return whether a scaler was saved. Of what cannot be read the load has to complain."""
    if options.tensors_only:
        return False
    try:
        metadata = reader(options, directory).read_metadata()
    except Exception:
        return True
    return any(name.startswith("scaler.") for name in metadata.state_dict_metadata)


def writer(options: Options, directory: str) -> StorageWriter:
    """Return DCP's writer for a format, with its defaults."""
    if not options.hugging_face:
        return FileSystemWriter(directory)
    consolidates = options.format == "hf_consolidated"
    return listing.Writer(directory, options.directory_order, consolidates)


def reader(options: Options, directory: str) -> StorageReader:
    """Return DCP's reader for a format."""
    if not options.hugging_face:
        return FileSystemReader(directory)
    return listing.Reader(directory, options.directory_order)


def gather(options: Options, state: State) -> StateDict:
    """Return the state dict to save, or to load into."""
    model, optimizer, scaler = state
    if options.state_dict == "plain":
        own = optimizer.state_dict()
        if options.optimizer_keys == "names":
            own = around.by_name(own, around.names_in_order(model, optimizer))
        content: StateDict = {"model": model.state_dict(), "optim": own}
    else:
        content = by_helpers(model, parts(optimizer), **options.of_helpers())
    if scaler is not None:
        content["scaler"] = scaler.state_dict()
    return content


def by_helpers(model: nn.Module, optimizers: Optimizers, **options: Any) -> StateDict:
    """Return the state dict that PyTorch's helpers make."""
    states = get_state_dict(model, optimizers, options=StateDictOptions(**options))
    return dict(zip(("model", "optim"), states, strict=True))


def set_by_helpers(
    model: nn.Module, optimizers: Optimizers, content: StateDict, **options: Any
) -> None:
    """Give such a state dict to model and optimizer."""
    found = {f"{name}_state_dict": content[name] for name in ("model", "optim")}
    set_state_dict(model, optimizers, **found, options=StateDictOptions(**options))


def tensors_of(content: StateDict) -> StateDict:
    """Return the part of a state dict that a format of tensors alone can hold."""
    own = content["optim"]  # nested, or flat
    states = {key: own[key] for key in own if key == "state" or key.startswith("state.")}
    return {"model": content["model"], "optim": states}


def spread(options: Options, state: State, content: StateDict) -> None:
    """Give a loaded state dict to model, optimizer and scaler."""
    model, optimizer, scaler = state
    if options.state_dict == "plain":
        own = content["optim"]
        if options.optimizer_keys == "names":
            own = around.by_position(own, around.names_in_order(model, optimizer))
        model.load_state_dict(content["model"])
        optimizer.load_state_dict(own)
    else:
        set_by_helpers(model, parts(optimizer), content, **options.of_helpers())
    if scaler is not None:
        scaler.load_state_dict(content["scaler"])


def allocate(optimizer: torch.optim.Optimizer, moments: tuple[torch.dtype, torch.dtype]) -> None:
    """Make all states, with moments of these types and values unlike any saved one."""
    for parameter in [each for group in optimizer.param_groups for each in group["params"]]:
        first, second = [torch.full_like(parameter, nan, dtype=dtype) for dtype in moments]
        state = {"step": torch.tensor(0.0), "exp_avg": first, "exp_avg_sq": second}
        optimizer.state[parameter] = state


def step_without_effect(optimizer: torch.optim.Optimizer) -> None:
    """Make all states by a step with gradients of zeros and a learning rate of zero."""
    rates = [group["lr"] for group in optimizer.param_groups]
    for group, rate in zip(optimizer.param_groups, rates, strict=True):
        group["lr"] = torch.zeros_like(rate) if isinstance(rate, torch.Tensor) else 0.0
        for parameter in group["params"]:
            parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    optimizer.zero_grad()
    for group, rate in zip(optimizer.param_groups, rates, strict=True):
        group["lr"] = rate
