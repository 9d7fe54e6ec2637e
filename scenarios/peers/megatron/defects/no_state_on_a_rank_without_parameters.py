"""Without Transformer Engine and Apex, a rank that owns no parameter has no state dict.

Buffers are padded to 128 elements and cut evenly, so a small model leaves ranks without any. The
others wait for such a rank in the save.
"""

import multiprocessing

import torch.distributed as dist
from without_gpu import device, end, join, train


def rank(number, path, results):
    """Step, ask for the state dict and tell what came."""
    with device():
        join(number, 2, dist.FileStore(path, 2))
        _, optimizer = train({"weight": (4,)})
        try:
            optimizer.state_dict()
            results.put((number, "a state dict"))
        except AssertionError as error:
            results.put((number, f"AssertionError {error}"))


if __name__ == "__main__":
    import tempfile

    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    path = tempfile.mktemp()
    ranks = [context.Process(target=rank, args=(n, path, queue)) for n in range(2)]
    for each in ranks:
        each.start()
    found = dict(sorted(queue.get(timeout=120) for _ in ranks))
    end("a state dict on both ranks", found, set(found.values()) == {"a state dict"})
