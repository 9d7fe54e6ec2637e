"""Saves and loads of a session as lines of plain PyTorch, as in `adamant_torch.checkpoint`."""

from __future__ import annotations

from dataclasses import dataclass

from adamant_torch import model
from adamant_torch.checkpoint import Options
from adamant_torch.script.calls import RUN
from adamant_torch.script.layout import MARGIN, Argument, Expression, called
from adamant_torch.script.world import World


@dataclass
class Held:
    """What is known of a world's optimizer and scaler where a line stands."""

    scaler: bool
    states: bool | None = False  # None: it depends on whether a step was skipped


def place(directory: str) -> str:
    """Return where a checkpoint or a file of it lies, as source."""
    if not directory.startswith(RUN):
        raise SystemExit("it loads a checkpoint that it did not save")
    return f'f"{{folder}}/{directory.removeprefix(RUN)}"'


class Checkpoints:
    """The lines of one world's saves and loads."""

    def __init__(self, world: World, ordered: bool) -> None:
        self.world = world
        self.options = Options.of(world.opening.options)
        self.ordered = ordered  # whether it counts in which order a directory is listed
        if self.options.saves != "in_place" or self.options.files != "trusted":
            raise SystemExit("its saves take a way around a known defect that takes many lines")

    @property
    def optimizers(self) -> str:
        """The optimizer, or all of several, as PyTorch's helpers take them."""
        return "optimizers" if self.world.several else "optimizer"

    # --- saves ------------------------------------------------------------------------------------

    def save(self, directory: str, held: Held) -> list[str]:
        """Return the lines of a save."""
        lines = self.made() if self.options.missing_states == "made" else []
        lines += self.gathered(held.scaler) + self.stored("content")
        how = {"false": "dcp.save", "true": "dcp.async_save"}.get(self.options.async_save)
        made, writer = self.writer(directory)
        lines += made
        arguments = [("", Expression("content")), ("storage_writer=", Expression(writer))]
        if how is None:
            lines.append(f'{MARGIN}of_saves = dist.new_group(backend="gloo")')
            arguments.append(("process_group=", Expression("of_saves")))
            return [*lines, *called("saving = dcp.async_save", arguments, 1)]
        end = ".result()" if self.options.async_save == "true" else ""
        return [*lines, *called(how, arguments, 1, end)]

    def gathered(self, scaler: bool) -> list[str]:
        """Return the lines that make `content`."""
        if self.options.state_dict != "plain":
            flat = "".join(f", {key}={on}" for key, on in self.options.of_helpers().items())
            lines = [f"{MARGIN}content = by_helpers(model, {self.optimizers}{flat})"]
        else:
            if self.world.several:
                raise SystemExit("several optimizers have no state dict of their own")
            own = "optimizer.state_dict()"
            if self.options.optimizer_keys == "names":
                own = f"by_name({own}, names_in_order(model, optimizer))"
            lines = [f'{MARGIN}content = {{"model": model.state_dict(), "optim": {own}}}']
        return lines + ([f'{MARGIN}content["scaler"] = scaler.state_dict()'] if scaler else [])

    def stored(self, name: str) -> list[str]:
        """Return the lines that leave in `content` what a checkpoint holds."""
        lines = []
        if self.options.tensors_only:
            lines.append(f"{name} = tensors_of(content)")
        if self.options.step_shape == "vector":
            of = name if lines else "content"
            shaped = f'with_steps_of_shape({of}["optim"], (1,))'
            lines.append(f'{name} = {{**{of}, "optim": {shaped}}}')
        if self.options.empty_tensors == "apart":
            lines.append(f"{name} = without_empty({name if lines else 'content'})")
        return [MARGIN + line for line in lines]

    def tensors_alone(self) -> bool:
        """Return whether all that is loaded is a part of `content`, which a load fills in place."""
        others = ("step_shape", "empty_tensors", "load_types")
        return all(getattr(self.options, name) == getattr(Options, name) for name in others)

    def made(self) -> list[str]:
        """Return the lines that make the states that are missing."""
        return self.world.for_each_optimizer("make_missing_states({})")

    def writer(self, directory: str) -> tuple[list[str], str]:
        """Return what writes a checkpoint, and the lines that it takes before."""
        to = place(directory)
        if not self.options.hugging_face:
            return [], f"dcp.FileSystemWriter({to})"
        consolidates = self.options.format == "hf_consolidated"
        if self.ordered:
            return [], f'Writer({to}, "{self.options.directory_order}", {consolidates})'
        made: list[Argument] = [("", Expression(to)), ("save_distributed=", True)]
        made += [("enable_consolidation=", True)] if consolidates else []
        return called("writer = dcp.HuggingFaceStorageWriter", made, 1), "writer"

    def reader(self, directory: str) -> str:
        """Return what reads a checkpoint."""
        of = place(directory)
        if not self.options.hugging_face:
            return f"dcp.FileSystemReader({of})"
        if self.ordered:
            return f'Reader({of}, "{self.options.directory_order}")'
        return f"dcp.HuggingFaceStorageReader({of})"

    # --- loads ------------------------------------------------------------------------------------

    def load(self, directory: str, held: Held, saved_scaler: bool) -> list[str]:
        """Return the lines of a load."""
        scaler = held.scaler and saved_scaler and not self.options.tensors_only
        lines = self.prepared(held.states) + self.gathered(scaler)
        further = self.stored("loaded")
        content = "loaded" if further else "content"
        lines += further
        reader = self.reader(directory)
        if self.options.load_types == "file":
            lines.append(f"{MARGIN}stored = {reader}.read_metadata()")
            lines.append(f"{MARGIN}loaded = in_types_of_file({content}, stored)")
            content = "loaded"
        arguments = [("", Expression(content)), ("storage_reader=", Expression(reader))]
        lines += called("dcp.load", arguments, 1)
        if self.options.step_shape == "vector":
            shaped = 'with_steps_of_shape(loaded["optim"], ())'
            lines.append(f'{MARGIN}loaded = {{**loaded, "optim": {shaped}}}')
        if not self.tensors_alone():
            lines.append(f"{MARGIN}content = completed(loaded, content)")
        return lines + self.keeping(self.given(scaler))

    def prepared(self, states: bool | None) -> list[str]:
        """Return the lines that make states to fill."""
        moments = ", ".join(map(str, model.moment_dtypes(self.world.opening.precision)))
        line = ""
        if self.options.template == "allocate":
            line = f"allocate({{}}, ({moments}))"
        elif self.options.state_dict == "plain":
            line = "step_without_effect({})"
        lines = [] if states or not line else self.world.for_each_optimizer(line)
        if states is None and lines:
            of = "optimizers[0]" if self.world.several else "optimizer"
            lines = [f"{MARGIN}if not {of}.state:", *(MARGIN + each for each in lines)]
        return lines + (self.made() if states and self.options.missing_states == "made" else [])

    def given(self, scaler: bool) -> list[str]:
        """Return the lines that give `content` to the model, the optimizer and the scaler."""
        if self.options.state_dict != "plain":
            flat = "".join(f", {key}={on}" for key, on in self.options.of_helpers().items())
            lines = [f"{MARGIN}set_by_helpers(model, {self.optimizers}, content{flat})"]
        else:
            own = 'content["optim"]'
            if self.options.optimizer_keys == "names":
                own = f"by_position({own}, names_in_order(model, optimizer))"
            lines = [f'{MARGIN}model.load_state_dict(content["model"])']
            lines.append(f"{MARGIN}optimizer.load_state_dict({own})")
        return lines + ([f'{MARGIN}scaler.load_state_dict(content["scaler"])'] if scaler else [])

    def keeping(self, lines: list[str]) -> list[str]:
        """Return these lines, in which moments keep their types where that is asked for."""
        if self.options.moments != "kept":
            return lines
        if self.world.several:
            raise SystemExit("of several optimizers each would have to keep its moments")
        moments = ", ".join(map(str, model.moment_dtypes(self.world.opening.precision)))
        head = f"{MARGIN}with keeping_moments(optimizer, ({moments})):"
        return [head, *(MARGIN + line for line in lines)]
