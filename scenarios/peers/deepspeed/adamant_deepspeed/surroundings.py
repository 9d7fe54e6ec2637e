"""What has to be so before DeepSpeed is imported, and its C++ step, which is compiled once.

DeepSpeed compiles its CPU Adam when an optimizer is made: two minutes of one core, in each process
that finds nothing in the cache. A launcher has not got these. So the step is compiled when the
environment is made (`python -m adamant_deepspeed.build`), beneath that environment, and a launcher
loads what is there. Who was killed while he compiled leaves a file `lock` behind, for which
everyone after him would wait without end; here the kernel's lock decides, and such files go.
"""

from __future__ import annotations

import fcntl
import importlib.util
import logging
import os
import shutil
import sys
from pathlib import Path
from typing import Any

OPERATOR = "cpu_adam"


def cache() -> Path:
    """Return the folder of what is compiled; it belongs to this Python environment."""
    return Path(sys.prefix) / "adamant-deepspeed" / "torch_extensions"


def library() -> Path:
    """Return where the compiled step is, or will be."""
    return cache() / OPERATOR / f"{OPERATOR}.so"


def prepare() -> None:
    """Make DeepSpeed choose the CPU, keep quiet, and compile into `cache()`."""
    os.environ["DS_ACCELERATOR"] = "cpu"
    os.environ["TORCH_EXTENSIONS_DIR"] = str(cache())
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ["PATH"] = os.pathsep.join(
        [str(Path(sys.prefix) / "bin"), os.environ.get("PATH", "")]
    )  # where pip puts ninja
    logging.getLogger("DeepSpeed").setLevel(logging.ERROR)
    os.environ.setdefault("DS_LOG_LEVEL", "error")


def say_who(rank: int, ranks: int) -> None:
    """Say in the environment which rank this is, where DeepSpeed looks for it."""
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks))


def settle() -> None:
    """Do to an imported DeepSpeed all that this machine and scenarios need."""
    without_shared_memory()
    with_fp16()
    with_zero_1_in_bf16()
    import_all()


def without_shared_memory() -> None:
    """Keep DeepSpeed from compiling its all-reduce for inference, which no training calls."""
    import deepspeed.ops

    deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False


def with_fp16() -> None:
    """Let DeepSpeed train in fp16 here. It asks whether the CPU multiplies matrices in fp16.

    Few do, and no scenario multiplies any: what is left of fp16 runs on each CPU.
    """
    from deepspeed.accelerator import get_accelerator

    get_accelerator().is_fp16_supported = lambda: True


def with_zero_1_in_bf16() -> None:
    """Let ZeRO 1 in bf16 with gradients in fp32 be ZeRO 1, as it is in fp16.

    DeepSpeed takes another class there, `BF16_Optimizer`, which this adapter cannot read.
    """
    from deepspeed.runtime import engine

    kind = engine.DeepSpeedEngine
    original = kind._do_optimizer_sanity_check

    def chosen(self: Any, optimizer: Any) -> Any:
        found = original(self, optimizer)
        unread = found == engine.BFLOAT16 and self.zero_optimization()
        return engine.ZERO_OPTIMIZATION if unread else found

    kind._do_optimizer_sanity_check = chosen


def import_all() -> None:
    """Import what DeepSpeed imports as it makes its first optimizer, so that ranks inherit it.

    An optimizer that nobody asked for brings PyTorch's compiler along, 600 modules. Ranks that
    each import them take longer for their first `open` than a busy machine has.
    """
    for name in (
        "deepspeed.checkpoint.ds_to_universal",
        "deepspeed.runtime.zero.muon.muon_optimizer",
        "deepspeed.runtime.zero.stage3",
        "deepspeed.runtime.zero.stage_1_and_2",
    ):
        importlib.import_module(name)


def why_not_compiled() -> str:
    """Return why there is no compiled step here, or nothing where it is loaded."""
    if not library().exists():
        return f"no {library()}; `python -m adamant_deepspeed.build` compiles it"
    try:
        _load()
    except (ImportError, OSError) as error:
        return f"{library()}: {error}"
    return ""


def _load() -> None:
    """Load the compiled step as DeepSpeed's builder would, which first looks for a compiler."""
    from deepspeed.ops.op_builder.builder import OpBuilder

    loaded: dict[str, Any] = OpBuilder._loaded_ops
    if OPERATOR in loaded:
        return
    spec = importlib.util.spec_from_file_location(OPERATOR, library())
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    loaded[OPERATOR] = module


def compile_step() -> str:
    """Compile the step unless it is there; return why that failed, or nothing."""
    if library().exists():
        return ""
    compiler = os.environ.get("CXX", "c++")
    if shutil.which(compiler) is None:
        return f"there is no C++ compiler here ({compiler})"
    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / "adamant.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the kernel takes it back however its owner ends
        (cache() / OPERATOR / "lock").unlink(missing_ok=True)
        from deepspeed.ops.op_builder import CPUAdamBuilder

        try:
            CPUAdamBuilder().load(verbose=False)
        except Exception as error:
            return f"DeepSpeed's CPU Adam does not compile here: {error}"
    return ""
