"""Whether an `open` asks for something that `hello` offers, so that what is not fails by name."""

from __future__ import annotations

from dataclasses import asdict

from adamant_torch.protocol import EngineError, Message
from adamant_torch.requests import Opening


def admit(opening: Opening, capabilities: Message, options: Message) -> None:
    """Raise `EngineError` where `opening` goes beyond what the engine says it can do."""
    limits = [
        ("ranks", opening.ranks, "ranks_max"),
        ("replicas", opening.replicate, "replicate_max"),
    ]
    for what, asked, limit in limits:
        if asked > capabilities[limit]:
            raise EngineError(
                f"open: {asked} {what}; this engine has at most {capabilities[limit]}"
            )
    if opening.mode not in capabilities["optimizers"]:
        raise EngineError(f"open: optimizer {opening.mode}; known: {capabilities['optimizers']}")
    if loss_scale(opening) not in loss_scales(opening, capabilities):
        raise EngineError(
            f"open: loss scale {opening.loss_scale} with {asdict(opening.precision)}; "
            f"known: {loss_scales(opening, capabilities)}"
        )
    for name, value in opening.options.items():
        if value not in options.get(name, []):
            known = options.get(name, sorted(options))
            raise EngineError(f"open: option {name}: {value}; known: {known}")


def loss_scale(opening: Opening) -> str:
    """Return the kind of loss scale that a scenario asks for."""
    return opening.loss_scale if isinstance(opening.loss_scale, str) else "fixed"


def loss_scales(opening: Opening, capabilities: Message) -> list[str]:
    """Return the kinds of loss scale that go with the scenario's recipe of types."""
    asked = asdict(opening.precision)
    for entry in [*capabilities["precisions"], *capabilities.get("load_precisions", [])]:
        if all(asked[key] in entry[key] for key in asked):
            kinds: list[str] = entry.get("loss_scale", capabilities["loss_scale"])
            return kinds
    raise EngineError(f"open: no recipe of this engine has {asked}")
