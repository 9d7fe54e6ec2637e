"""What the scripts beside it share: ranks on CPUs, and stand-ins for CUDA's streams.

All work is done at once, in the order in which it is given. None of the defects is about streams.
"""

import os
import socket
import sys
import traceback
from types import SimpleNamespace

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

# What fails and is not the defect ends with 2.
sys.excepthook = lambda *error: (traceback.print_exception(*error), os._exit(2))


class Event:
    """An event that has come to pass."""

    def wait(self, *_):
        """Wait for nothing."""


class Stream:
    """A stream whose work is done."""

    device = torch.device("cpu")

    def wait_event(self, _):
        """Wait for nothing."""

    def record_event(self, *_):
        """Return an event."""
        return Event()

    def wait_stream(self, _):
        """Wait for nothing."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def stand_in():
    """Put the stand-ins in CUDA's places."""
    torch.cuda.Stream = Stream
    torch.cuda.stream = lambda chosen: chosen
    torch.cuda.current_stream = lambda *_: Stream()
    torch.cuda.current_device = lambda: 0
    torch.cuda.device = lambda _: Stream()
    torch.cuda.nvtx = SimpleNamespace(range_push=lambda _: None, range_pop=lambda: None)
    torch.Tensor.cuda = lambda self, *_: self


def mesh(ranks, *names):
    """Return a mesh of all ranks, with further dimensions of one."""
    sizes = (ranks, *(1 for _ in names[1:]))
    return dist.device_mesh.init_device_mesh("cpu", sizes, mesh_dim_names=names)


def sharded(module, ranks, **settings):
    """Return a module as `fully_shard_model` makes it, whole gradients being sums."""
    from megatron_fsdp import fully_shard_model

    given = {
        "device_mesh": mesh(ranks, "shard", "tp"),
        "dp_shard_dim": "shard",
        "tp_dim": "tp",
        "fsdp_unit_modules": [type(module)],
        "device": torch.device("cpu"),
        "calculate_per_token_loss": True,
    }
    return fully_shard_model(module, **{**given, **settings})


def _rank(rank, ranks, port, body, answers):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    stand_in()
    dist.init_process_group("gloo", rank=rank, world_size=ranks)
    try:
        answers.put((rank, body(rank, ranks)))
    except Exception as error:
        answers.put((rank, f"{type(error).__name__}: {error}"))


def on_ranks(ranks, body):
    """Return what `body(rank, ranks)` returns on the first rank that answers, errors as text."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context = mp.get_context("fork")
    answers = context.Queue()
    started = [
        context.Process(target=_rank, args=(rank, ranks, port, body, answers))
        for rank in range(ranks)
    ]
    for each in started:
        each.start()
    found = [answers.get(timeout=200)]
    while len(found) < ranks and not any(isinstance(what, str) for _, what in found):
        found.append(answers.get(timeout=200))
    for each in started:  # the others may wait for the one that failed
        each.kill()
    texts = [what for _, what in found if isinstance(what, str)]
    return texts[0] if texts else dict(found)[0]


def report(expected, actual, error=None):
    """Say both; end with 1 where they differ, and with 2 where that is by another error."""
    print("expected", expected)
    print("actual  ", actual)
    fails = isinstance(actual, str) and actual != expected
    if fails and (error is None or not actual.startswith(error)):
        sys.exit(2)
    sys.exit(int(expected != actual))
