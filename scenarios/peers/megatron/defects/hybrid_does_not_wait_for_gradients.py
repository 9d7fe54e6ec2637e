"""HybridDeviceOptimizer's GPU part steps with gradients that another stream may not have made yet.

With low-precision parameters, overlap and a part of them on the device, their gradients are cast on
the stream of copies to the host. The stream of the step does not wait for it. This script notes
which stream waits for which; on a GPU it is a race.
"""

import contextlib

import torch
from without_gpu import Stream, device, end

COMPUTE = Stream()
now = [COMPUTE]
waited = []


class Noting(Stream):
    """A stream that notes who waits for it."""

    def record_event(self):
        made = self

        class Event(Stream):
            def wait(self, stream=None):
                waited.append((stream or now[-1], made))

        return Event()


@contextlib.contextmanager
def stream(chosen):
    """Do work on another stream for a while."""
    now.append(chosen)
    yield
    now.pop()


class NotingCompute(Noting):
    """The stream of the step."""

    def wait_stream(self, other):
        waited.append((self, other))


COMPUTE = NotingCompute()
now[:] = [COMPUTE]
torch.cuda.Stream = Noting
torch.cuda.current_stream = lambda _=None: now[-1]
torch.cuda.stream = stream
steps = []


class Watched(torch.optim.AdamW):
    """Notes what its stream has waited for when it steps."""

    def step(self, closure=None):
        steps.append([other for waiting, other in waited if waiting is COMPUTE])
        return super().step(closure)


with device():
    from megatron.core.optimizer.cpu_offloading import HybridDeviceOptimizer

    weights = [torch.nn.Parameter(torch.ones(4, dtype=torch.bfloat16)) for _ in range(2)]
    optimizer = HybridDeviceOptimizer(
        weights,
        offload_fraction=0.5,
        cpu_optimizer_cls=torch.optim.AdamW,
        gpu_optimizer_cls=Watched,
        param_update_in_fp32=True,
        overlap_cpu_optimizer_d2h_h2d=True,
        lr=0.1,
    )
    for weight in weights:
        weight.grad = torch.ones_like(weight)
    optimizer.step()
    right = optimizer._d2h_stream in steps[0]
    end(
        "the step waits for the stream on which gradients were cast",
        "it does" if right else "it waits for no stream",
        right,
    )
