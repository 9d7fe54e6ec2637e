"""Where the programs and their data are: a checkout with the preset `cuda` built, or a pack.

A pack has the folders of a checkout as far as they are needed, and `bin` and `lib` beside them. All
programs run in the root, by which they find their data.
"""

import json
import pathlib
import re

from kit.refusal import BadInput

BUILT_IN = {
    "adamant-cuda": "",
    "real_gpu_tests": "real/gpu",
    "conformance_gpu_tests": "properties/conformance/gpu",
    "engine_on_gpu_tests": "properties/engine/gpu",
    "scenarios.cuda_tests": "scenarios/engines/cuda",
    "scenarios.program_gpu_tests": "scenarios/program/cuda",
}
HOW_TO_BUILD = (
    "build it by .ci/setup --cuda && cmake --preset cuda && cmake --build --preset cuda,"
    " or run from a pack, which --pack DIR makes of a build"
)
NOTE = "pack.json"  # in the root of a pack


class Place:
    """A root, its programs by name, and what is known of their making."""

    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        self.is_pack = (self.root / NOTE).exists()
        self.build = self.root / "build" / "dev"

    def program(self, name):
        """The path of a program; where it is not there, BadInput."""
        path = self.root / "bin" / name if self.is_pack else self.build / BUILT_IN[name] / name
        if not path.exists():
            what_to_do = "make the pack anew" if self.is_pack else HOW_TO_BUILD
            raise BadInput(f"{path} is missing: {what_to_do}")
        return path

    def check(self):
        """BadInput unless all programs are there."""
        for name in BUILT_IN:
            self.program(name)

    def made_with(self):
        """The toolkit that the programs were compiled with."""
        if self.is_pack:
            return json.loads((self.root / NOTE).read_text(encoding="utf-8"))
        return {"toolkit": toolkit_of(self.build)}


def toolkit_of(build):
    """The version of nvcc that CMake noted in a build folder, or `unknown`."""
    for noted in sorted(build.glob("CMakeFiles/*/CMakeCUDACompiler.cmake")):
        found = re.search(r'CMAKE_CUDA_COMPILER_VERSION "([\d.]+)"', noted.read_text(encoding="utf-8"))
        if found:
            return found[1]
    return "unknown"
