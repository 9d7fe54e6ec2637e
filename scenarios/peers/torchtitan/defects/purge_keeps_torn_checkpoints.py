"""Folders without a checkpoint count as the latest ones, so a save can delete what it has written.

A job that saved at steps 10 and 20 died in both. It is started from its beginning, and saves at 5:
the two latest are kept, which are torn, and the new one goes.
"""

import os

from shared import end_with, job, step


def show(folder: str) -> bool:
    """Save beside two torn checkpoints of later steps."""
    model, optimizer, manager = job(folder, keep=2)
    for torn in 10, 20:
        os.makedirs(f"{folder}/step-{torn}")
    step(model, optimizer)
    manager.save(5)
    manager.close()  # waits for the thread that deletes
    there = sorted(os.listdir(folder))
    print(f"folders after a save at step 5: expected step-5 among them, actual {there}")
    return "step-5" not in there


if __name__ == "__main__":
    end_with(show)
