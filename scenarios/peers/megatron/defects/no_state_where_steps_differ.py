"""Without Transformer Engine and Apex, there is no state dict where step counters differ.

Torch's Adam counts the steps of each parameter, and one that had no gradient has fewer. A state
dict has room for one counter of all.
"""

from without_gpu import device, end, join, train

with device():
    join()
    _, optimizer = train({"first": (4,), "second": (4,)}, steps=2)
    first, _ = optimizer.chained_optimizers[0].optimizer.state.values()
    first["step"] -= 1  # as if it had had no gradient in one of the steps
    try:
        optimizer.state_dict()
        found = "a state dict"
    except AssertionError as error:
        found = f"AssertionError {error}"
    end("a state dict", found, found == "a state dict")
