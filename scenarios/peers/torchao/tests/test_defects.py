"""What is known of torchao has scripts that show it, made of scenarios or by hand."""

import defect_scripts
from adamant_torchao import TorchaoEngine


class TestDefects(defect_scripts.ShowDefects):
    engine = TorchaoEngine
