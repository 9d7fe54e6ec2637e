"""What stands in for a GPU on CPU ranks: streams and events, and what asks for a device.

Megatron-FSDP gives its collectives to streams of their own and makes others wait for them. Here
the work is done at once, on the host, in the order in which it is given: an order that the waits
allow. Who waits for whom is written down, so that a test can ask whether a wait was there: each
stream carries a clock, and a wait brings the clocks of what was waited for.
"""

from __future__ import annotations

from types import SimpleNamespace

import torch

from adamant_torch import streams

Clock = dict[int, int]


def later(one: Clock, other: Clock) -> Clock:
    """Return the clock of what comes after both."""
    return {key: max(one.get(key, 0), other.get(key, 0)) for key in one.keys() | other.keys()}


class Event(streams.Event):
    """A place in a stream's work."""

    def __init__(self, *_: object, **__: object) -> None:
        self.clock: Clock = {}

    def synchronize(self) -> None:
        """Wait on the host, which gives work to the main stream."""
        MAIN.wait_event(self)

    def query(self) -> bool:
        """Return whether it has come to pass: work is done when it is given."""
        return True


class Stream(streams.Stream):
    """Work in order, with a clock that says what is known to be done before it."""

    event = Event

    def __init__(self, *_: object, **__: object) -> None:
        self.clock: Clock = {}
        self.device = torch.device("cpu")

    def place(self, event: Event) -> None:
        """Begin a new piece of work, of which the event knows, and of all before."""
        self.clock = {**self.clock, id(self): self.clock.get(id(self), 0) + 1}
        event.clock = self.clock

    def wait_event(self, event: Event) -> None:
        """Do nothing of what comes from now on before `event`."""
        self.clock = later(self.clock, event.clock)

    def synchronize(self) -> None:
        """Wait on the host for all of it."""
        MAIN.wait_stream(self)


MAIN = Stream()


class device:  # noqa: N801 (CUDA's name)
    """There is one device."""

    def __init__(self, _: object) -> None: ...

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def install() -> None:
    """Put the stand-ins where Megatron-FSDP looks for CUDA's. They stay for this process."""
    nothing = streams.nothing()
    streams.install(
        MAIN,
        device=device,
        current_device=lambda: 0,
        nvtx=SimpleNamespace(range_push=nothing, range_pop=nothing),
    )
    torch.Tensor.cuda = lambda self, *_, **__: self  # type: ignore[method-assign]
