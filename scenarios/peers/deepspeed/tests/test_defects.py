"""What is known of DeepSpeed has scripts that show it, made of scenarios or by hand."""

import defect_scripts
from adamant_deepspeed import surroundings
from adamant_deepspeed.engine import ZeroEngine


class TestDefects(defect_scripts.ShowDefects):
    engine = ZeroEngine

    def lacking(self, cause: defect_scripts.Known) -> str:
        """Return that the compiled step is not here, where it is needed."""
        compiled = "optimizer: cpu_adam" in cause.scenario.read_text(encoding="utf-8")
        if compiled and not surroundings.library().exists():
            return "CPU Adam is not compiled: python -m adamant_deepspeed.build"
        return ""
