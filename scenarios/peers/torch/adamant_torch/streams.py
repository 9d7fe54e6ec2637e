"""What stands in for CUDA's streams where an engine looks for them and there is no GPU.

Here is who gives work to which stream, and who waits for whom. When a stream does its work, and
what an event knows of it, is an adapter's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


class Event:
    """A place in a stream's work."""

    def __init__(self, *_: object, **__: object) -> None: ...

    def record(self, stream: Stream | None = None) -> None:
        """Stand behind all that the stream was given so far."""
        (stream or current_stream()).place(self)

    def wait(self, stream: Stream | None = None) -> None:
        """Make a stream go on only after this event."""
        (stream or current_stream()).wait_event(self)


class Stream:
    """Work in order. An adapter's says `place` and `wait_event`."""

    event: type[Event]  # of its events

    def place(self, event: Any) -> None:
        """Put an event behind all that came before."""
        raise NotImplementedError

    def wait_event(self, event: Any) -> None:
        """Do nothing of what comes from now on before `event`."""
        raise NotImplementedError

    def record_event(self, event: Any = None) -> Any:
        """Return an event behind all that came before."""
        event = self.event() if event is None else event
        event.record(self)
        return event

    def wait_stream(self, stream: Stream) -> None:
        """Do nothing of what comes from now on before what `stream` was given so far."""
        self.wait_event(stream.record_event())


_entered: list[Any] = []  # the main stream, and those within it


def current_stream(_: object = None) -> Any:
    """Return the stream that work is given to."""
    return _entered[-1]


class stream:  # noqa: N801 (CUDA's name)
    """Give work to `chosen` for a while. As CUDA's, one may be entered again and again."""

    def __init__(self, chosen: Stream | None) -> None:
        self.chosen = chosen

    def __enter__(self) -> None:
        _entered.append(self.chosen or current_stream())

    def __exit__(self, *_: object) -> None:
        _entered.pop()


def nothing() -> Callable[..., None]:
    """Return a function that does nothing: there is no device to set, to empty or to wait for.

    Each is another function, since torch.compile wants each name of `torch.cuda` to be its own.
    """
    return lambda *_, **__: None


def install(main: Stream, **others: object) -> None:
    """Put stand-ins, and `others`, where an engine looks for CUDA's. They stay for this process."""
    _entered[:] = [main]
    replaced: dict[str, object] = {
        "Stream": type(main),
        "Event": main.event,
        "stream": stream,
        "current_stream": current_stream,
        "synchronize": nothing(),
        "empty_cache": nothing(),
    }
    for name, value in (replaced | others).items():
        setattr(torch.cuda, name, value)
