"""Without Transformer Engine and Apex, a load leaves all parameters with one and the same counter.

The counter from the checkpoint is one tensor that is put into every state, and torch's Adam adds 1
to it for each parameter. With two parameters every step counts as two.
"""

from without_gpu import device, end, join, train

with device():
    join()
    shapes = {"first": (4,), "second": (4,)}
    _, saving = train(shapes)
    model, loading = train(shapes)
    loading.load_state_dict(saving.state_dict())
    model.zero_grad_buffer()
    model().backward()
    model.finish_grad_sync()
    loading.step()
    steps = [int(state["step"]) for state in loading.chained_optimizers[0].state.values()]
    end("step counters [2, 2] one step after a load of step 1", steps, steps == [2, 2])
