"""What is run, in order of value, and for how many seconds at most. What a step leaves of its
seconds the later ones have; tests that a step could not reach are gone on with at the end."""

from kit.programs import Bench, Corpus, Fuzz
from kit.tests_step import Tests
from kit.tools import Counters, Sanitizer

KERNELS = "*Kernel*.*:Launch.*:Toolkit.*"  # of real_gpu_tests, without their instances' prefixes
FILES = "CheckpointPytorch.*"  # they take half a minute to import PyTorch, and ask nothing of a GPU
RATIOS = ("gpu_step_over_copy", "gpu_passes_over_copy", "gpu_quantise_over_copy")
OVER_TORCH = ("gpu_step_over_torch",)
HOST_TIME = ("gpu_captured_step",)


def all_steps():
    return [
        Tests("kernels", "kernels beside their readable twins", 45, "real_gpu_tests", KERNELS),
        Bench("ratios", "kernels as ratios of a copy of the same run", 45, RATIOS),
        Bench("torch", "the fused step over PyTorch's of the same run", 90, OVER_TORCH),
        Tests("conformance", "CUDA's rules as the simulator has them", 50, "conformance_gpu_tests", "*"),
        Tests("properties", "the engine on a GPU beside the oracle", 50, "engine_on_gpu_tests", "*"),
        Corpus("corpus", "all scenarios of the corpus on the engine cuda", 90),
        Fuzz("fuzz", "generated scenarios on the engine cuda", 50),
        Tests("engine", "the engine's other tests", 60, "real_gpu_tests", f"*-{KERNELS}:{FILES}"),
        Bench("host", "the host's time of captured steps", 20, HOST_TIME),
        Tests("runner", "the engine cuda under the runner", 20, "scenarios.cuda_tests", "*"),
        Tests("program", "adamant-cuda as its users call it", 20, "scenarios.program_gpu_tests", "*"),
        Sanitizer("memcheck", 30, KERNELS, "--track-stream-ordered-races", "all"),
        Sanitizer("racecheck", 50, KERNELS),
        Sanitizer("initcheck", 30, KERNELS),
        Counters("counters", "what Nsight Compute counts of the steps' kernels", 90, "gpu_step_over_copy"),
    ]
