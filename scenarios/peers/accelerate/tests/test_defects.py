"""What is known of accelerate has scripts that show it, made of scenarios or by hand."""

import defect_scripts
from adamant_accelerate import AccelerateEngine


class TestDefects(defect_scripts.ShowDefects):
    engine = AccelerateEngine
