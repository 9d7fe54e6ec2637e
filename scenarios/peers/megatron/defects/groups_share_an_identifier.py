"""A load gives the settings of one parameter group to others.

Groups are known again by wd_mult, lr_mult, is_expert_parallel and is_decoupled_lr. Groups that
differ in the learning rate alone (max_lr and min_lr, or lr) have the same of all four.
"""

from without_gpu import device, end, join, train

with device():
    from megatron.core.optimizer import ParamKey

    join()
    slow = {ParamKey(name="*slow"): {"max_lr": 1e-3, "min_lr": 1e-3, "lr": 1e-3}}
    _, saving = train({"fast": (4,), "slow": (4,)}, slow)
    _, loading = train({"fast": (4,), "slow": (4,)}, slow)
    before = [group["lr"] for group in saving.param_groups]
    loading.load_state_dict(saving.state_dict())
    after = [group["lr"] for group in loading.param_groups]
    end(f"learning rates {before} after a load", after, before == after)
