"""A `fully_reshardable` save of a model with more than one bucket writes states of other places.

The states of all buckets are put together without the padding at the end of each, and are looked
for where they would lie with it. What lies behind the end is filled with zeros, with a warning.
"""

import torch
from without_gpu import device, end, join, train

with device():
    join()
    # Gradients overlap with the backward, so buckets are small: here one for each parameter.
    model, optimizer = train({"first": (4,), "second": (4,)}, small_buckets=True)
    saved = optimizer.sharded_state_dict(
        model.module.sharded_state_dict(),
        metadata={"distrib_optim_sharding_type": "fully_reshardable"},
    )
    states = {each["exp_avg"].key: each["exp_avg"].data for each in saved["param_state"].values()}
    first = states["optimizer.state.exp_avg.first"]
    inner = optimizer.chained_optimizers[0].optimizer
    right = all(bool((s["exp_avg"] > 0).all()) for s in inner.state.values())
    assert right, "the gradients were ones, so no first moment is zero"
    end(
        "the first moments that the optimizer has, none of them 0",
        f"{first.tolist()} in the save",
        bool(torch.all(first > 0)),
    )
