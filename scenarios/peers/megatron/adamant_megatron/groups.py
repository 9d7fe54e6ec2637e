"""Megatron's process groups, one set for each form of a mesh, made once in a rank.

Megatron keeps them in globals of a module. A world is opened again with another form, so the
globals of each form are put aside and back.
"""

from __future__ import annotations

from megatron.core import parallel_state

Form = tuple[int, int]
_made: dict[Form, dict[str, object]] = {}
_untouched: dict[str, object] = {}


def enter(shard: int, replicate: int) -> None:
    """Make the groups of a mesh the ones that Megatron sees. A collective the first time.

    Replicas are Megatron's instances of the distributed optimizer: each holds all states, sharded
    over `shard` ranks, and gradients are reduced among instances as well.
    """
    if not _untouched:
        _untouched.update(_globals())
    form = (shard, replicate)
    vars(parallel_state).update(_made.get(form, _untouched))
    if form not in _made:
        parallel_state.initialize_model_parallel(
            num_distributed_optimizer_instances=replicate, create_gloo_process_groups=False
        )
        _made[form] = _globals()


def _globals() -> dict[str, object]:
    """Return what Megatron keeps of its groups."""
    return {
        name: dict(value) if isinstance(value, dict) else value
        for name, value in vars(parallel_state).items()
        if name.startswith("_") and name.isupper()
    }
