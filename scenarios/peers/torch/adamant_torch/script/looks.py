"""What ranks of a plain script leave of what shows a defect, and how both sides are compared."""

from __future__ import annotations

from adamant_torch.model import DTYPES
from adamant_torch.protocol import Message
from adamant_torch.script.checkpoints import place
from adamant_torch.script.layout import COLUMNS_MAX, MARGIN, source
from adamant_torch.script.world import World
from adamant_torch.tensor_file import TYPES

FILES = "files"
OF_ELEMENT = ".item().hex()"


def left(name: str, side: Message, world: World) -> list[str]:
    """Return the lines by which one rank leaves a side in a file of its name."""
    told = expression(side, world)
    whole = str(side.get("of")).startswith("whole/")  # which is gathered by all
    lines = [f"{MARGIN}{name} = {told}"] if whole else []
    alone = world.opening.ranks == 1
    head, margin = ([], MARGIN) if alone else ([f"{MARGIN}if rank == {side['rank']}:"], MARGIN * 2)
    write = f'{margin}Path(folder, "{name}").write_text({name if whole else told})'
    if len(write) > COLUMNS_MAX and not told.endswith(OF_ELEMENT):
        head.append(f"{margin}{name} = {told}")
        write = f'{margin}Path(folder, "{name}").write_text({name})'
    elif len(write) > COLUMNS_MAX:
        line = f"{margin}element = {told.removesuffix(OF_ELEMENT)}"
        inside = f"{margin}{MARGIN}{told.removesuffix(OF_ELEMENT)}"
        wide = [f"{margin}element = (", inside, f"{margin})"]
        head += wide if len(line) > COLUMNS_MAX else [line]
        write = f'{margin}Path(folder, "{name}").write_text(element{OF_ELEMENT})'
    return [*lines, *head, write]


def expression(side: Message, world: World) -> str:
    """Return what has to be looked at, as a text."""
    kind = side["look"]
    if kind == "number":
        return number(side, world)
    if kind == "dtype":
        return f"str({tensor(side['of'], world)[0]}.dtype)"
    if kind == "presence":
        _, there = tensor(side["of"], world)
        return f'"a tensor" if {there} else "nothing"'
    if kind == "steps":
        name = side["of"]
        state = f"{world.optimizer_of(name)}.state[{world.parameter(name)}]"
        return f'str(int({state}.get("step", 0)))'
    if kind == "gradient":
        there = f"{world.parameter(side['of'])}.grad is not None"
        return f'"a gradient" if {there} else "no gradient"'
    if kind == "scale":
        return of_scale(side, world)
    if kind == "setting":
        return setting(side, world)
    raise SystemExit("it shows in what PyTorch alone does not say")


def number(side: Message, world: World) -> str:
    """Return an element of what a rank holds, or of the whole tensor."""
    shown, _ = tensor(side["of"], world, side.get("may_be_missing", False))
    return f"{shown}.flatten()[{side['index']}]{OF_ELEMENT}"


def tensor(key: str, world: World, may_be_missing: bool = False) -> tuple[str, str]:
    """Return a tensor by its key in a rank's file, and whether it is there.

    A moment that may be missing is zeros then.
    """
    way, _, rest = key.partition("/")
    way = "to_local()" if way == "local" else "full_tensor()"
    names = [param.name for param in world.opening.params]
    name = max((n for n in names if rest == n or rest.startswith(f"{n}/")), key=len)
    part, parameter = rest.removeprefix(name), world.parameter(name)
    main = world.opening.precision.main != "none"
    if part in ("", "/main"):
        shown = f"{parameter}.{way}"
        cast = main and part == ""
        return (f"{shown}.to({DTYPES[world.opening.precision.param]})" if cast else shown), "True"
    if part == "/gradient":
        return f"{parameter}.grad.{way}", f"{parameter}.grad is not None"
    state = f"{world.optimizer_of(name)}.state[{parameter}]"
    moment = source(part[1:])
    zeros = f"{state}.get({moment}, torch.zeros_like({parameter}))"
    shown = zeros if may_be_missing else f"{state}[{moment}]"
    return f"{shown}.{way}", f"{moment} in {state}"


def of_scale(side: Message, world: World) -> str:
    """Return the loss scale, or the norm that gradients were clipped to."""
    if side["of"] == "norm":
        return "float(norm.full_tensor()).hex()"
    if side["of"] == "loss_scale":
        return "scaler.get_scale().hex()"
    raise SystemExit(f"`{side['of']}` is kept by the adapter alone")


def setting(side: Message, world: World) -> str:
    """Return a setting of a group, as many digits as tell it from its neighbours."""
    group = world.group_named(side["group"])
    if group is None:
        raise SystemExit("the optimizer has no such group")
    key = repr(side["of"]) + (f"][{side['beta']}" if "beta" in side else "")
    return f'f"{{torch.tensor({group}[{key}]).item():.9g}}"'


def read(name: str, side: Message) -> str:
    """Return the line that reads a side in the script's own process."""
    if side["look"] == FILES:
        return f"{name} = digests(Path({place(side['checkpoint'])}), {source(side['pattern'])})"
    return f'{name} = Path(folder, "{name}").read_text()'


def expected_of(shows: Message) -> object:
    """Return what `actual` has to be, in the words of these scripts."""
    expected = shows.get("expected")
    if shows.get("sides", {}).get("actual", {}).get("look") == "dtype":
        return str(TYPES[str(expected)])
    return expected
