"""A world of a session in plain PyTorch: what each of its ranks opens it with.

What the adapter decides by an opening's options is asked of the adapter.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import torch
from torch.distributed.fsdp import MixedPrecisionPolicy

from adamant_torch import model, optimizer
from adamant_torch.requests import Opening
from adamant_torch.script.layout import Argument, Expression, called, laid, source

NAMES_OF_MESH = ("replicate", "shard")


class World:
    """The names of an opened world's things, and the lines that make them."""

    def __init__(self, opening: Opening, is_exact: bool) -> None:
        self.opening = opening
        self.initial = ""  # the name of its values
        self.names = model.full_names(opening)
        self.is_exact = is_exact  # groups are given what a checkpoint holds, in that order
        whole = model.Unit(model.tree({self.names[p.name]: [0.0] for p in opening.params}))
        self.in_order = [name for name, _ in whole.named_parameters()]
        drops = self.option("empty_groups", "kept") == "dropped"
        self.groups = [n for n in range(len(opening.groups)) if not drops or self.params_of(n)]
        self.several = self.option("optimizers", "one") == "per_group"

    def option(self, name: str, otherwise: str) -> str:
        """Return what an option is."""
        return self.opening.options.get(name, otherwise)

    def params_of(self, group: int) -> list[str]:
        """Return the names in the model of a group's parameters."""
        return [self.names[p.name] for p in self.opening.params if p.group == group]

    def parameter(self, name: str) -> str:
        """Return a parameter by the scenario's name."""
        return expression_of(self.names[name])

    def optimizer_of(self, name: str) -> str:
        """Return the optimizer that has this parameter."""
        group = next(p.group for p in self.opening.params if p.name == name)
        return f"optimizers[{self.groups.index(group)}]" if self.several else "optimizer"

    def group_named(self, name: str) -> str | None:
        """Return an optimizer's group, if there is one of this name."""
        named = [n for n in self.groups if self.opening.groups[n].name == name]
        if not named:
            return None
        at = self.groups.index(named[0])
        where = (f"optimizers[{at}]", 0) if self.several else ("optimizer", at)
        return f"{where[0]}.param_groups[{where[1]}]"

    # --- lines ------------------------------------------------------------------------------------

    @property
    def form(self) -> tuple[int, ...]:
        """The sizes of its mesh."""
        opening = self.opening
        return (opening.replicate, opening.shard) if opening.replicate > 1 else (opening.shard,)

    @property
    def things(self) -> list[str]:
        """What its lines make, but for the process group."""
        names = ["model", "optimizers" if self.several else "optimizer"]
        made = [line.split()[0] for line in self.of_scaler()]
        return [*names, *made]

    def lines(self, store: str, form: tuple[object, ...], initial: str) -> list[str]:
        """Return the lines that join the world and make all that is in it."""
        ranks = form[0] if len(form) == 1 else self.opening.ranks
        joined = f'"gloo", f"file://{store}", rank=rank, world_size={ranks}'
        return [
            f"    dist.init_process_group({joined})",
            *self.of_model(form, initial),
            *self.of_optimizer(),
            *self.of_scaler(),
        ]

    def of_model(self, form: tuple[object, ...], initial: str) -> list[str]:
        """Return the lines that make the model."""
        dtype = model.weight_dtype(self.opening.precision)
        made = [("", Expression(initial))]
        made += [] if dtype == torch.float32 else [("dtype=", Expression(str(dtype)))]
        nested = self.option("wrapping", "units") == "nested"
        root = self.option("wrapping", "units") == "root"
        names = f"mesh_dim_names={source(NAMES_OF_MESH[-len(form) :])}"
        sizes = source(tuple(Expression(size) for size in form))
        mesh = f'dist.init_device_mesh("cpu", {sizes}, {names})'
        policy = {key: in_words(value) for key, value in model.policy(self.opening).items()}
        policy = {"mesh": mesh, **policy}
        kind, _, fields = policy.get("mp_policy", "").partition("(")
        types = called(f"policy = {kind}", [("", Expression(fields[:-1]))], 1) if kind else []
        policy |= {"mp_policy": "policy"} if kind else {}
        wraps = "fully_shard" if root else "shard_units"
        arguments = [(f"{key}=", Expression(value)) for key, value in policy.items()]
        return [
            *called(f"model = {'Nested' if nested else 'Unit'}", made, 1),
            *types,
            *called(wraps, [("", Expression("model")), *arguments], 1),
        ]

    def of_division(self) -> list[str]:
        """Return the lines that have gradients divided once."""
        root = self.option("wrapping", "units") == "root"
        divide = model.division(self.opening)
        if divide is None:
            return []
        divisor = float(self.opening.microbatches)
        if root:
            return [f"    {divide.__name__}(model, {divisor})"]
        loop = "    for unit in units_of(model):"
        return [loop, f"        {divide.__name__}(unit, {divisor})"]

    def of_optimizer(self) -> list[str]:
        """Return the lines that make the optimizer, or several."""
        kind = f"torch.optim.{optimizer.KINDS[self.opening.mode].__name__}"
        chosen = optimizer.implementations(self.option("implementation", "single"))
        further: list[Argument] = [(f"{key}=", value) for key, value in chosen.items()]
        common: list[Argument] = [(f"{key}=", value) for key, value in self.common.items()]
        further = common + further
        alone = len(self.groups) == 1 and not self.several and bool(common)
        if alone and self.params_of(self.groups[0]) == self.in_order:
            made = [("", Expression("model.parameters()")), *further]
            lines = called(f"optimizer = {kind}", made, 1)
        elif self.several:
            groups = [self.group(number) for number in self.groups]
            lines = laid("groups = ", groups, depth=1)
            more = ", ".join(f"{key}{source(value)}" for key, value in further)
            lines.append(f"    optimizers = tuple({kind}([each], {more}) for each in groups)")
        else:
            groups = [self.group(number) for number in self.groups]
            lines = called(f"optimizer = {kind}", [("", groups), *further], 1)
        if self.option("moments", "cast") == "kept":
            lines += self.for_each_optimizer("step_in_type_of_moments({})")
        return lines

    def group(self, number: int) -> dict[str, Any]:
        """Return what an optimizer is given of a group."""
        own = [Expression(expression_of(name)) for name in self.params_of(number)]
        group = self.opening.groups[number]
        settings = optimizer.settings(group)
        apart = {key: at for key, at in settings.items() if self.common.get(key, ...) != at}
        return {"params": own, "name": group.name, **apart}

    @property
    def common(self) -> dict[str, Any]:
        """The settings of groups that have no others."""
        if self.is_exact or self.several:
            return {}
        return optimizer.settings(self.opening.groups[self.groups[0]])

    def for_each_optimizer(self, line: str) -> list[str]:
        """Return a line for the optimizer, or for each of several."""
        if not self.several:
            return [f"    {line.format('optimizer')}"]
        return ["    for optimizer in optimizers:", f"        {line.format('optimizer')}"]

    def of_scaler(self) -> list[str]:
        """Return the line that makes the scaler, if there is one."""
        lines = scaler_lines(self.opening.loss_scale, self.option("scaler", "dtensor"))
        if lines and self.option("scaler", "dtensor") == "local":
            lines.append("    shards = LocalShards(optimizer)")
        return lines


def scaler_lines(loss_scale: float | str, kind: str) -> list[str]:
    """Return the line that makes a scaler, or none."""
    if loss_scale == "none":
        return []
    name = "torch.amp.GradScaler" if kind == "dtensor" else "ShardedGradScaler"
    if loss_scale == "dynamic":
        return [f'    scaler = {name}("cpu", init_scale={2.0**16})']
    fixed = f"init_scale={float(loss_scale)}, growth_interval=NEVER"
    return [f'    scaler = {name}("cpu", {fixed})']


def expression_of(name: str) -> str:
    """Return a parameter by its name in the model."""
    plain = all(part.isidentifier() for part in name.split("."))
    return f"model.{name}" if plain else f"model.get_parameter({source(name)})"


def in_words(value: Any) -> str:
    """Return what makes a value; fields that it has by itself are left out."""
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return repr(value)
    usual = MixedPrecisionPolicy() if isinstance(value, MixedPrecisionPolicy) else type(value)()
    named = {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
    said = (f"{key}={at!r}" for key, at in named.items() if at != getattr(usual, key))
    return f"{type(value).__name__}({', '.join(said)})"
