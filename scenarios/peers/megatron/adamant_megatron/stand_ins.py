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

from adamant_torch import streams
from adamant_torch.streams import current_stream

Work = Callable[[], object]


class HostTensor(torch.Tensor):
    """A tensor that says it lies on the host; what is computed from it does, too."""


class Event(streams.Event):
    """A place in a stream's work."""

    def __init__(self, *_: object, **__: object) -> None:
        self.stream: Stream | None = None  # where it waits; None: nowhere, it has come to pass

    def synchronize(self) -> None:
        """Wait on the host."""
        if self.stream is not None:
            self.stream.do_until(self)

    def query(self) -> bool:
        """Return whether it has come to pass."""
        return self.stream is None


class Stream(streams.Stream):
    """Work in order. A side stream does it when it must, the current one of a thread at once."""

    event = Event
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

    def wait_event(self, event: Event) -> None:
        """Do nothing of what comes from now on before `event`."""
        if event.stream is not None:
            self.give(event.synchronize)

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


def install() -> None:
    """Put the stand-ins where Megatron looks for CUDA's. They stay for this process."""
    host = torch.device("cpu")
    streams.install(
        COMPUTE,
        default_stream=lambda _=None: COMPUTE,
        current_device=lambda: host,
        set_device=streams.nothing(),
        device_count=lambda: 1,
    )


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
        if current_stream().immediate or args == (tensor.dtype,):
            return func(tensor, *args, **kwargs)  # type: ignore[no-any-return]
        result: torch.Tensor = torch.full_like(func(tensor, *args, **kwargs), float("nan"))
        current_stream().give(lambda: torch.Tensor.copy_(result, tensor))
        return result

    @staticmethod
    def copy_(
        func: Any, to: torch.Tensor, source: torch.Tensor, non_blocking: bool = False
    ) -> torch.Tensor:
        """Copy, on a side stream late, unless the host waits for it."""
        if current_stream().immediate:
            return func(to, source)  # type: ignore[no-any-return]
        current_stream().give(lambda: func(to, source))
        if not non_blocking:
            current_stream().synchronize()
        return to


def on_device() -> OnDevice:
    """Return a context in which tensors lie on the device."""
    return OnDevice()
