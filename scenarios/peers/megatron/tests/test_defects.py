"""What is known of Megatron-core has scripts that show it, made of scenarios or by hand."""

import defect_scripts
from adamant_megatron import Engine


class TestDefects(defect_scripts.ShowDefects):
    engine = Engine
