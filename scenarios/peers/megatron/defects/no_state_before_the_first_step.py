"""Without Transformer Engine and Apex, a DistributedOptimizer has no state dict before a step.

The one step counter of all parameters is looked for in a set that is empty. A load begins with the
new optimizer's own state dict, so nothing can be loaded into it either.
"""

from without_gpu import device, end, join, train

with device():
    join()
    _, optimizer = train({"weight": (4,)}, steps=0)
    try:
        optimizer.state_dict()
        found = "a state dict"
    except AssertionError as error:
        found = f"AssertionError {error}"
    end("a state dict", found, found == "a state dict")
