"""Without Transformer Engine and Apex, no `fully_reshardable` checkpoint can be loaded.

The format leaves out the step counter of each parameter, and the load copies into every tensor that
a state has. Torch's Adam has the counter there.
"""

import torch
from without_gpu import device, end, join, train

with device():
    join()
    model, optimizer = train({"weight": (4,)})
    asked = optimizer.sharded_state_dict(
        model.module.sharded_state_dict(),
        metadata={"distrib_optim_sharding_type": "fully_reshardable"},
    )
    asked["param_state"] = {
        number: {key: torch.clone(sharded.data) for key, sharded in state.items()}
        for number, state in asked["param_state"].items()
    }
    try:
        optimizer.load_state_dict(asked)
        found = "what was saved is loaded"
    except KeyError as error:
        found = f"KeyError: {error}"
    end("what was saved is loaded", found, found == "what was saved is loaded")
