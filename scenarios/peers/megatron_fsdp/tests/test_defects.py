"""What is known of Megatron-FSDP has scripts that show it, made of scenarios or by hand."""

import defect_scripts
from adamant_megatron_fsdp import MegatronFsdpEngine


class TestDefects(defect_scripts.ShowDefects):
    engine = MegatronFsdpEngine
