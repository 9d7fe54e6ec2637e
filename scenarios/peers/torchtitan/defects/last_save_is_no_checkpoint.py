"""The last save holds weights alone by default, is the latest, and no next job can load it.

A job that ended well and is started again with more steps stops at its load, although a whole
checkpoint lies beside.
"""

from shared import end_with, job, step


def show(folder: str) -> bool:
    """Save a whole checkpoint and a last one; load in a new job."""
    model, optimizer, manager = job(folder)
    step(model, optimizer)
    manager.save(1)
    step(model, optimizer)
    manager.save(2, last_step=True)
    _, _, manager = job(folder)
    try:
        loaded = str(manager.load())
    except BaseException as error:
        loaded = str(error).strip().splitlines()[-1]
    print(f"load in the next job: expected True, actual {loaded}")
    return loaded != "True"


if __name__ == "__main__":
    end_with(show)
