"""What stands in for a GPU on CPU ranks: streams and events, and what asks for a device.

Megatron-FSDP gives its collectives to streams of their own and makes others wait for them. Here
the work is done at once, on the host, in the order in which it is given: an order that the waits
allow. Who waits for whom is written down, so that a test can ask whether a wait was there: each
stream carries a clock, and a wait brings the clocks of what was waited for.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch

Clock = dict[int, int]


def later(one: Clock, other: Clock) -> Clock:
    """Return the clock of what comes after both."""
    return {key: max(one.get(key, 0), other.get(key, 0)) for key in one.keys() | other.keys()}


class Event:
    """A place in a stream's work."""

    def __init__(self, *_: object, **__: object) -> None:
        self.clock: Clock = {}

    def record(self, stream: Stream | None = None) -> None:
        """Stand behind all that the stream was given so far."""
        self.clock = (stream or current_stream()).tick()

    def wait(self, stream: Stream | None = None) -> None:
        """Make a stream go on only after this event."""
        (stream or current_stream()).wait_event(self)

    def synchronize(self) -> None:
        """Wait on the host, which gives work to the main stream."""
        MAIN.wait_event(self)

    def query(self) -> bool:
        """Return whether it has come to pass: work is done when it is given."""
        return True


class Stream:
    """Work in order, with a clock that says what is known to be done before it."""

    def __init__(self, *_: object, **__: object) -> None:
        self.clock: Clock = {}
        self.device = torch.device("cpu")

    def tick(self) -> Clock:
        """Begin a new piece of work; return the clock of all before."""
        done = dict(self.clock)
        done[id(self)] = done.get(id(self), 0) + 1
        self.clock = done
        return dict(done)

    def record_event(self, event: Event | None = None) -> Event:
        """Return an event behind all that came before."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Do nothing of what comes from now on before `event`."""
        self.clock = later(self.clock, event.clock)

    def wait_stream(self, stream: Stream) -> None:
        """Do nothing of what comes from now on before what `stream` was given so far."""
        self.wait_event(stream.record_event())

    def synchronize(self) -> None:
        """Wait on the host for all of it."""
        MAIN.wait_stream(self)


MAIN = Stream()
_current = MAIN


def current_stream(_: object = None) -> Stream:
    """Return the stream that work is given to."""
    return _current


class stream:  # noqa: N801 (CUDA's name)
    """Give work to `chosen` for a while."""

    def __init__(self, chosen: Stream | None) -> None:
        self.chosen = chosen
        self.before: list[Stream] = []

    def __enter__(self) -> None:
        global _current
        self.before.append(_current)
        _current = self.chosen or _current

    def __exit__(self, *_: object) -> None:
        global _current
        _current = self.before.pop()


class device:  # noqa: N801 (CUDA's name)
    """There is one device."""

    def __init__(self, _: object) -> None: ...

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def nothing(*_: object, **__: object) -> None:
    """Do nothing: there is no device to empty or to wait for."""


def install() -> None:
    """Put the stand-ins where Megatron-FSDP looks for CUDA's. They stay for this process."""
    replaced: dict[str, Any] = {
        "Stream": Stream,
        "Event": Event,
        "stream": stream,
        "device": device,
        "current_stream": current_stream,
        "current_device": lambda: 0,
        "synchronize": nothing,
        "empty_cache": nothing,
        "nvtx": SimpleNamespace(range_push=nothing, range_pop=nothing),
    }
    for name, value in replaced.items():
        setattr(torch.cuda, name, value)
    torch.Tensor.cuda = lambda self, *_, **__: self  # type: ignore[method-assign]
