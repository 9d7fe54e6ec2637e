"""A folder that has `step-` and a number anywhere in its name is taken for a checkpoint.

One that a user put aside is deleted by the next save, and one with a larger number keeps the
latest checkpoint from being loaded.
"""

import os

from shared import end_with, job, step


def show(folder: str) -> bool:
    """Put one checkpoint aside and save on; copy one under a larger number and load."""
    model, optimizer, manager = job(folder, keep=2)
    step(model, optimizer)
    manager.save(1)
    os.rename(f"{folder}/step-1", f"{folder}/best-of-step-1")
    for number in 2, 3:
        manager.save(number)
    manager.close()
    kept = os.path.exists(f"{folder}/best-of-step-1")
    print(f"is what was put aside still there? expected True, actual {kept}")
    model, _, manager = job(folder)
    os.rename(f"{folder}/step-2", f"{folder}/step-7.old")
    try:
        loaded = str(manager.load())
    except FileNotFoundError as error:
        loaded = f"{type(error).__name__}: {error}"
    print(f"load of the latest: expected True, actual {loaded[:90]}")
    return not kept or loaded != "True"


if __name__ == "__main__":
    end_with(show)
