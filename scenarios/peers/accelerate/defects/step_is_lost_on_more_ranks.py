"""A load on more processes than saved leaves the count of accumulated steps at 0 on the new ones.

The count is in the file of a rank's random states. Where that is missing the error is swallowed,
and the rank goes on from 0: in the next backward it keeps its gradients while others reduce.
"""

import os
import sys
import tempfile
import traceback

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from accelerate import Accelerator

SAVED_ON, LOADED_ON = 2, 3
# What fails and is not the defect ends with 2.
sys.excepthook = lambda *error: (traceback.print_exception(*error), os._exit(2))


def run(rank: int, folder: str, ranks: int) -> None:
    """One rank of the world that saves or of the one that loads."""
    names = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": ranks, "LOCAL_WORLD_SIZE": ranks}
    os.environ.update({name: str(value) for name, value in names.items()}, OMP_NUM_THREADS="1")
    dist.init_process_group("gloo", f"file://{folder}/store{ranks}", rank=rank, world_size=ranks)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    model = torch.nn.Linear(2, 2)
    model, _ = accelerator.prepare(model, torch.optim.AdamW(model.parameters()))
    if ranks == SAVED_ON:
        with accelerator.accumulate(model):
            accelerator.backward(model(torch.ones(1, 2)).sum())
        accelerator.save_state(f"{folder}/checkpoint")
    else:
        accelerator.load_state(f"{folder}/checkpoint")
        with accelerator.accumulate(model):
            reduces = torch.tensor([float(accelerator.sync_gradients)])
        every = [torch.empty(1) for _ in range(ranks)]
        dist.all_gather(every, reduces)
        if rank == 0:
            said = [bool(each) for each in every]
            print(f"does the second backward reduce? expected {[True] * ranks}, actual {said}")
            if not all(said):
                open(f"{folder}/defect", "w").close()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        for ranks in SAVED_ON, LOADED_ON:
            mp.start_processes(run, (place, ranks), ranks, start_method="fork")
        sys.exit(os.path.exists(f"{place}/defect"))
