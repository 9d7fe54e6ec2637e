"""A checkpoint of step 0 has all, and weights alone are loaded of it; `load` says True.

A folder `step-0` is taken for a seed checkpoint, whatever is in it.
"""

from shared import end_with, job, step


def show(folder: str) -> bool:
    """Save all at step 0, and load it into a new optimizer."""
    model, optimizer, manager = job(folder)
    step(model, optimizer)
    manager.save(0)
    model, optimizer, manager = job(folder)
    said = manager.load()
    state = optimizer.optimizers[0].state.get(model.weight, {})
    print(f"load said {said}; step counter: expected 1, actual {int(state.get('step', 0))}")
    return said and int(state.get("step", 0)) != 1


if __name__ == "__main__":
    end_with(show)
