"""The requests of one world as lines of plain PyTorch, as its ranks execute them."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from adamant_torch import accumulation
from adamant_torch.engine import SMALL
from adamant_torch.protocol import Message
from adamant_torch.script.calls import damage
from adamant_torch.script.checkpoints import Checkpoints, Held, place
from adamant_torch.script.layout import MARGIN, source
from adamant_torch.script.loops import GIVEN, Lines
from adamant_torch.script.numbers import Numbers, Set, Values
from adamant_torch.script.world import World, scaler_lines


class Ranks:
    """What is done in one world, request by request."""

    def __init__(self, world: World, checkpoints: Checkpoints, numbers: Numbers) -> None:
        self.world = world
        self.checkpoints = checkpoints
        self.numbers = numbers
        self.held = Held(world.opening.loss_scale != "none")
        self.clip_to = world.opening.clip
        self.gradients: set[str] = set()  # parameters that have one
        self.frozen: set[str] = set()
        self.unscaled = False
        self.judges = True  # the scaler, in the step that comes: no clip has had it unscale
        self.may_be_fixed = isinstance(world.opening.loss_scale, float)
        self.overflowed = False
        self.keeps_norm = False  # what it comes to is looked at
        self.saving = False

    def of(self, request: Message, saved_scalers: dict[str, bool]) -> Lines:
        """Return the lines of a request."""
        verb, fields = request["request"], request["fields"]
        if verb == "backward":
            return self.backward(fields)
        if verb == "save":
            saved_scalers[fields["directory"]] = self.held.scaler
            return Lines.fixed(verb, self.waited() + self.save(fields))
        if verb == "load":
            scaler = saved_scalers.get(fields["directory"], False)
            return Lines.fixed(verb, self.waited() + self.load(fields, scaler))
        if verb in ("finish", "close"):
            return Lines.fixed(verb, self.waited())
        made = {"clip": self.clip, "step": self.step, "zero_grad": self.zero_grad, "set": self.set}
        if verb not in made:
            raise SystemExit(f"PyTorch alone has nothing for `{verb}`")
        return Lines.fixed(verb, made[verb](fields))

    # --- gradients --------------------------------------------------------------------------------

    def backward(self, fields: Message) -> Lines:
        """Return the lines of a backward, in as many passes as it takes."""
        without = fields.get("without", [])
        fed, made = self.fed(fields, without)
        lines = self.rescaled() + (self.freezing(without) if fed else [])
        passes = [str(self.numbers.name("GRADIENTS", sets)) for sets in self.passes(fed)]
        for number, name in enumerate(passes, 1):
            lines += self.sync(number == len(passes))
            lines.append(self.one_pass(f"{name if len(passes) > 1 else GIVEN}[rank]"))
        if made:
            parameters = ", ".join(self.world.parameter(name) for name in made)
            lines.append(f"{MARGIN}make_gradients([{parameters}])")
        self.gradients |= {p.name for p in self.world.opening.params if p.name not in without}
        self.unscaled = False
        alone = passes if len(passes) == 1 else []
        return Lines.fixed("backward", lines + self.overflow(fields), alone)

    def one_pass(self, gradients: str) -> str:
        """Return the line of a forward and a backward."""
        loss = f"model({gradients})"
        loss = f"scaler.scale({loss})" if self.held.scaler else loss
        return f"{MARGIN}{loss}.backward()"

    def fed(self, fields: Message, without: Sequence[str]) -> tuple[list[Set], list[str]]:
        """Return gradients of each rank by name in the model, and who gets an empty one."""
        params = [param for param in self.world.opening.params if param.name not in without]
        apart = self.world.option("empty_tensors", "as_others") == "apart"
        made = [param.name for param in params if apart and 0 in param.shape]
        names = {p.name: self.world.names[p.name] for p in params if p.name not in made}
        sets = [self.numbers.set_of(file) for file in fields["gradients"]]
        fed = [{full: found[name] for name, full in names.items()} for found in sets]
        return (fed if names else []), made

    def way(self) -> str:
        """Return the option `accumulation`."""
        return self.world.option("accumulation", "reduced")

    def passes(self, fed: list[Set]) -> list[list[Set]]:
        """Return the gradients of each pass, with those of ones that frozen parameters are fed."""
        if not fed:
            return []
        way = self.world.option("passes", "elements")
        parts = [fed] if self.way() == "reduced" else in_passes(fed, way)
        frozen = {self.world.names[name]: self.ones(name) for name in sorted(self.frozen)}
        return [[{**each, **frozen} for each in sets] for sets in parts]

    def ones(self, name: str) -> Values:
        """Return what a frozen parameter is fed, which is in the forward and gets no gradient."""
        shape = next(p.shape for p in self.world.opening.params if p.name == name)
        return Values(shape, (1.0,) * torch.Size(shape).numel())

    def sync(self, reduces: bool) -> list[str]:
        """Return the line by which the next backward reduces gradients or does not."""
        if self.way() == "reduced":
            return []
        what = {"unsharded": "gradient_sync", "sharded": "all_reduce"}[self.way()]
        return [f"{MARGIN}model.set_requires_{what}({reduces})"]

    def freezing(self, without: Sequence[str]) -> list[str]:
        """Return the lines that freeze parameters, and let others train again."""
        if self.world.option("without", "unused") != "frozen":
            return []
        changed, self.frozen = sorted({*without} ^ self.frozen), set(without)
        return [
            f"{MARGIN}{self.world.parameter(name)}.requires_grad_({name not in without})"
            for name in changed
        ]

    def overflow(self, fields: Message) -> list[str]:
        """Return the lines that put a value into the gradient of the ranks that hold it."""
        overflow = fields.get("overflow")
        if overflow is None:
            return []
        self.overflowed = True
        opening, name = self.world.opening, overflow["name"]
        shape = next(param.shape for param in opening.params if param.name == name)
        numbers = torch.arange(torch.Size(shape).numel()).reshape(shape)
        rows = numbers.chunk(opening.shard)[overflow["rank"] % opening.shard]
        at = rows.flatten().tolist().index(overflow["index"])
        gradient = f"{self.world.parameter(name)}.grad.to_local()"
        line = f"{gradient}.view(-1)[{at}] = {overflow['value']}"
        if opening.shard == 1:
            return [MARGIN + line]
        holder = f"rank % {opening.shard} == {overflow['rank'] % opening.shard}"
        return [f"{MARGIN}if {holder}:", MARGIN * 2 + line]

    def rescaled(self) -> list[str]:
        """Return the line that brings gradients that are left over to the scale of others."""
        if not (self.unscaled and self.held.scaler and self.gradients):
            return []
        if self.overflowed:
            raise SystemExit("what gradients are scaled by depends on a step that was skipped")
        return self.world.for_each_optimizer("rescale(scaler, {})")

    def zero_grad(self, fields: Message) -> list[str]:
        """Return the line that drops gradients."""
        self.unscaled = False
        if fields.get("set_to_none", True):
            self.gradients.clear()
            return self.world.for_each_optimizer("{}.zero_grad()")
        return self.world.for_each_optimizer("{}.zero_grad(set_to_none=False)")

    # --- clip and step ----------------------------------------------------------------------------

    @property
    def judged(self) -> str:
        """The optimizer as the scaler sees it."""
        return "shards" if self.world.option("scaler", "dtensor") == "local" else "optimizer"

    def scaled(self) -> bool:
        """Return whether a scaler judges the gradients that there are."""
        if not (self.held.scaler and self.gradients):
            return False
        if self.world.several:
            raise SystemExit("the verdicts of several optimizers are the adapter's to combine")
        return True

    def clip(self, _: Message) -> list[str]:
        """Return the lines of a clip."""
        lines = []
        if self.scaled() and not self.unscaled:
            lines.append(f"{MARGIN}scaler.unscale_({self.judged})")
            self.unscaled, self.judges = True, False
        limit = f"(model.parameters(), {self.clip_to})"
        kept = "norm = " if self.keeps_norm else ""
        return [*lines, f"{MARGIN}{kept}torch.nn.utils.clip_grad_norm_{limit}"]

    def step(self, _: Message) -> list[str]:
        """Return the lines of a step."""
        if self.gradients:
            self.held.states = self.held.states or (None if self.overflowed else True)
        if not self.scaled():
            return self.world.for_each_optimizer("{}.step()")
        rescaled = self.rescaled() if self.judges else []
        self.unscaled = self.judges = True
        lines = [f"scaler.step({self.judged})"]
        lines.append("update(scaler)" if self.may_be_fixed else "scaler.update()")
        return rescaled + [MARGIN + line for line in lines]

    def set(self, fields: Message) -> list[str]:
        """Return the lines that change settings."""
        lines = []
        for group in fields.get("groups", []):
            where = self.world.group_named(group["name"])
            given = {k: tuple(v) if k == "betas" else v for k, v in group.items() if k != "name"}
            said = ", ".join(f"{key}={source(value)}" for key, value in given.items())
            lines += [f"{MARGIN}{where}.update({said})"] if where and said else []
        self.clip_to = fields.get("clip", self.clip_to)
        if "loss_scale" in fields:
            if self.unscaled and self.gradients:
                raise SystemExit("a scale changes while there are gradients without it")
            self.held.scaler = fields["loss_scale"] != "none"
            self.may_be_fixed = fields["loss_scale"] != "dynamic"
            lines += scaler_lines(fields["loss_scale"], self.world.option("scaler", "dtensor"))
        return lines

    # --- checkpoints ------------------------------------------------------------------------------

    def save(self, fields: Message) -> list[str]:
        """Return the lines of a save."""
        lines = self.checkpoints.save(fields["directory"], self.held)
        options = self.checkpoints.options
        self.saving = options.async_save == "overlapping"
        if options.state_dict != "plain" or options.missing_states == "made":
            self.held.states = True
        return lines

    def load(self, fields: Message, saved_scaler: bool) -> list[str]:
        """Return the lines of a load, and of what is done before it."""
        lines = self.before_load()
        lines += self.checkpoints.load(fields["directory"], self.held, saved_scaler)
        lines += self.world.for_each_optimizer("{}.zero_grad()") if self.gradients else []
        self.held.states = self.may_be_fixed = True  # as it was saved
        self.unscaled = False
        self.gradients.clear()
        return lines

    def before_load(self) -> list[str]:
        """Return the lines after which the world is what a load is to find."""
        way = self.world.option("load_into", "new")
        lines = []
        if not self.held.states and not self.gradients and way != "new":
            shapes = {self.world.names[p.name]: p.shape for p in self.world.opening.params}
            count = {name: torch.Size(shape).numel() for name, shape in shapes.items()}
            small = {n: Values(shape, (SMALL,) * count[n]) for n, shape in shapes.items()}
            if 0 in count.values():
                raise SystemExit("parameters without elements take no part in what a load finds")
            if self.way() != "reduced":
                raise SystemExit("what a load finds takes several backwards")
            lines.append(self.one_pass(f"{self.numbers.name('GRADIENTS', [small])}[0]"))
            self.gradients = set(self.world.names)
            if way == "stepped":
                lines += self.step({}) + self.zero_grad({})
                lines += self.world.of_scaler()
        if self.world.option("old_gradients", "kept") == "dropped":
            lines += self.zero_grad({})
        return lines

    def waited(self) -> list[str]:
        """Return the line that waits for a save, if one goes on."""
        lines = [f"{MARGIN}saving.result()"] if self.saving else []
        self.saving = False
        return lines

    # --- what is done to files --------------------------------------------------------------------

    def damaged(self, damages: list[Message]) -> list[str]:
        """Return the lines by which rank 0 damages files while others wait."""
        lines = [damage(place, **each) for each in damages]
        if self.world.opening.ranks == 1:
            return [MARGIN + line for line in lines]
        barrier = f"{MARGIN}dist.barrier()"
        inside = [MARGIN * 2 + line for line in lines]
        return [barrier, f"{MARGIN}if rank == 0:", *inside, barrier]

    def kept(self, places: list[str]) -> list[str]:
        """Return the lines that copy a checkpoint."""
        of, to = (place(each) for each in places)
        copied = f"shutil.copytree({of}, {to})"
        if self.world.opening.ranks == 1:
            return [MARGIN + copied]
        return [f"{MARGIN}if rank == 0:", MARGIN * 2 + copied]


def in_passes(fed: list[Set], way: str) -> list[list[Set]]:
    """Return what each of several backwards is given, of each rank."""
    ranks = [accumulation.passes({n: v.tensor() for n, v in one.items()}, way) for one in fed]
    return [
        [
            {name: part_of(one[name], tensor) for name, tensor in ranks[rank][number].items()}
            for rank, one in enumerate(fed)
        ]
        for number in range(len(ranks[0]))
    ]


def part_of(values: Values, tensor: torch.Tensor) -> Values:
    """Return a part of values as it is written; other elements are zeros of their sign."""
    kept = zip(values.values, values.tensor().flatten(), tensor.flatten(), strict=True)
    return Values(values.shape, tuple(v if a.equal(b) else float(b) for v, a, b in kept))
