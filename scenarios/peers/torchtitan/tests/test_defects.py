"""What is known of torchtitan has scripts that show it, made of scenarios or by hand."""

import defect_scripts
from adamant_torchtitan import TorchtitanEngine


class TestDefects(defect_scripts.ShowDefects):
    engine = TorchtitanEngine
