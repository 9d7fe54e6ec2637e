"""For the scripts beside this one: how far weights move, and ranks of small worlds."""

import os
import sys
import tempfile
import traceback

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torchao.optim import AdamW4bit, AdamW8bit, AdamWFp8

torch.compiler.set_stance("force_eager")  # the same compiled
# What fails and is not the defect ends with 2.
sys.excepthook = lambda *error: (traceback.print_exception(*error), os._exit(2))


def moved(kind: type, gradient: torch.Tensor, steps: int) -> float:
    """Return how far the first weight moves where each step has the same gradient."""
    weight = torch.nn.Parameter(torch.zeros_like(gradient))
    optimizer = kind([weight], lr=1.0, weight_decay=0.0)
    for _ in range(steps):
        weight.grad = gradient.clone()
        optimizer.step()
    return -weight[0, 0].item()


def end_with_moves(gradients: dict[str, torch.Tensor], steps: int) -> None:
    """Print moves beside PyTorch's; end with 1 where one is not half of that, or is twice that."""
    wrong = False
    for words, gradient in gradients.items():
        expected = moved(torch.optim.AdamW, gradient, steps)
        for kind in AdamW8bit, AdamW4bit, AdamWFp8:
            actual = moved(kind, gradient, steps)
            wrong = wrong or not 0.5 < actual / expected < 2
            print(
                f"gradients of {words}: expected a move of {expected:.1f}, "
                f"actual {actual:.1f} ({kind.__name__})"
            )
    sys.exit(wrong)


def _rank(rank: int, run, folder: str, ranks: int) -> None:
    dist.init_process_group("gloo", f"file://{folder}/store{ranks}", rank=rank, world_size=ranks)
    if run(rank, ranks, folder):
        open(f"{folder}/defect-{rank}", "w").close()
    sys.stdout.flush()
    os._exit(0)  # others may wait for this one


def end_with_worlds(run, *worlds: int) -> None:
    """Run each of so many ranks, one world after the other; end with 1 where one says True."""
    with tempfile.TemporaryDirectory() as place:
        for ranks in worlds:
            mp.start_processes(_rank, (run, place, ranks), ranks, start_method="fork")
        sys.exit(any(name.startswith("defect") for name in os.listdir(place)))
