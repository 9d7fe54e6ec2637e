"""adamant's adapter for PyTorch: an engine outside the process, driven by JSON lines.

`Engine` is the seam: subclass it to put your own wrapper, optimizer or checkpoints under test.
"""

from adamant_torch.engine import Engine

__version__ = "0.1.0"

__all__ = ["Engine", "__version__"]
