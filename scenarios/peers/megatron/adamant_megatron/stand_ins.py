"""What stands in for a GPU: where tensors lie, and streams whose copies come late.

Megatron asks tensors where they lie (`is_cuda`, `type()`), makes others on "cuda" and copies
between both on streams. Here all memory is the host's. Inside `on_device()` every tensor says that
it lies on the device, but for those that `cpu()` made and what is computed from them.

Streams do what a GPU may do at worst. Work that was given to a side stream with `non_blocking` is
kept until something waits for it, and the memory that it fills is unlike any value until then. A
wait that is missing therefore shows at every run, and not at one in a thousand. The current stream
does its work at once, as it looks to whoever uses what it made.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

Work = Callable[[], object]


class HostTensor(torch.Tensor):
    """A tensor that says it lies on the host; what is computed from it does, too."""


class Event:
    """A place in a stream's work."""

    def __init__(self, *_: object, **__: object) -> None:
        self.stream: Stream | None = None  # where it waits; None: nowhere, it has come to pass

    def record(self, stream: Stream | None = None) -> None:
        """Stand behind all that the stream was given so far."""
        (stream or current_stream()).place(self)

    def wait(self, stream: Stream | None = None) -> None:
        """Make a stream go on only after this event."""
        (stream or current_stream()).wait_event(self)

    def synchronize(self) -> None:
        """Wait on the host."""
        if self.stream is not None:
            self.stream.do_until(self)

    def query(self) -> bool:
        """Return whether it has come to pass."""
        return self.stream is None


class Stream:
    """Work in order. A side stream does it when it must, the current one of a thread at once."""

    late = True  # False: side streams do their work at once, too

    def __init__(self, *_: object, immediate: bool = False, **__: object) -> None:
        self.immediate = immediate
        self.todo: deque[Event | Work] = deque()

    def give(self, work: Work) -> None:
        """Take work to do after all that came before."""
        if self.immediate or not Stream.late:
            work()
        else:
            self.todo.append(work)

    def place(self, event: Event) -> None:
        """Put an event behind all that came before."""
        event.stream = None
        if self.todo:
            event.stream = self
            self.todo.append(event)

    def record_event(self, event: Event | None = None) -> Event:
        """Return an event behind all that came before."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Do nothing of what comes from now on before `event`."""
        if event.stream is not None:
            self.give(event.synchronize)

    def wait_stream(self, stream: Stream) -> None:
        """Do nothing of what comes from now on before what `stream` was given so far."""
        self.wait_event(stream.record_event())

    def synchronize(self) -> None:
        """Wait on the host for all of it."""
        self.record_event().synchronize()

    def do_until(self, event: Event) -> None:
        """Do what stands before `event`, and let it come to pass."""
        while event.stream is self:
            work = self.todo.popleft()
            if isinstance(work, Event):
                work.stream = None
            else:
                work()


COMPUTE = Stream(immediate=True)
_current = COMPUTE


def current_stream(_: object = None) -> Stream:
    """Return the stream that work is given to."""
    return _current


class stream:  # noqa: N801 (CUDA's name)
    """Give work to `chosen` for a while. As CUDA's, one may be entered again and again."""

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


def nothing() -> Callable[..., None]:
    """Return a function that does nothing: there is no device to set, to empty or to wait for.

    Each is another function, since torch.compile wants each name of `torch.cuda` to be its own.
    """
    return lambda *_, **__: None


def install() -> None:
    """Put the stand-ins where Megatron looks for CUDA's. They stay for this process."""
    host = torch.device("cpu")
    replaced: dict[str, Any] = {
        "Stream": Stream,
        "Event": Event,
        "stream": stream,
        "current_stream": current_stream,
        "default_stream": lambda _=None: COMPUTE,
        "current_device": lambda: host,
        "synchronize": nothing(),
        "empty_cache": nothing(),
        "set_device": nothing(),
        "device_count": lambda: 1,
    }
    for name, value in replaced.items():
        setattr(torch.cuda, name, value)


def is_device(place: object) -> bool:
    """Return whether `place` names the device."""
    return str(place).startswith("cuda")


class OnDevice(TorchFunctionMode):
    """All tensors say that they lie on the device, but for `HostTensor`."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Answer what asks for places, keep what a stream does later, let the rest pass."""
        kwargs = dict(kwargs or {})
        if is_device(kwargs.get("device")):
            kwargs["device"] = "cpu"
        kwargs.pop("pin_memory", None)
        name = getattr(func, "__name__", "")
        if func == torch.Tensor.is_cuda.__get__:  # type: ignore[attr-defined]
            return not isinstance(args[0], HostTensor)
        own = getattr(self, name, None) if args and isinstance(args[0], torch.Tensor) else None
        if name in ("type", "cpu", "cuda", "to", "pin_memory", "copy_") and own is not None:
            return own(func, *args, **kwargs)
        return func(*args, **kwargs)

    @staticmethod
    def type(func: Any, tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        """Name a tensor's type with its place."""
        answer = func(tensor, *args, **kwargs)
        if args or kwargs or isinstance(tensor, HostTensor):
            return answer
        return answer.replace("torch.", "torch.cuda.", 1)

    @staticmethod
    def cpu(_: Any, tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        """Return a tensor on the host, a copy where it was not there."""
        if isinstance(tensor, HostTensor):
            return tensor
        return tensor.detach().clone().as_subclass(HostTensor)

    @staticmethod
    def cuda(_: Any, tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        """Return a tensor on the device, a copy where it was not there."""
        if isinstance(tensor, HostTensor):
            return tensor.detach().clone().as_subclass(torch.Tensor)
        return tensor

    @staticmethod
    def pin_memory(_: Any, tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        """Return the tensor: there is no other memory than the host's."""
        return tensor

    @staticmethod
    def to(func: Any, tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        """Move between places, or cast; a cast on a side stream comes late."""
        if args and is_device(args[0]):
            return OnDevice.cuda(func, tensor)
        if args == ("cpu",) or args == (torch.device("cpu"),):
            return OnDevice.cpu(func, tensor)
        if _current.immediate or args == (tensor.dtype,):
            return func(tensor, *args, **kwargs)  # type: ignore[no-any-return]
        result: torch.Tensor = torch.full_like(func(tensor, *args, **kwargs), float("nan"))
        _current.give(lambda: torch.Tensor.copy_(result, tensor))
        return result

    @staticmethod
    def copy_(
        func: Any, to: torch.Tensor, source: torch.Tensor, non_blocking: bool = False
    ) -> torch.Tensor:
        """Copy, on a side stream late, unless the host waits for it."""
        if _current.immediate:
            return func(to, source)  # type: ignore[no-any-return]
        _current.give(lambda: func(to, source))
        if not non_blocking:
            _current.synchronize()
        return to


def on_device() -> OnDevice:
    """Return a context in which tensors lie on the device."""
    return OnDevice()
