"""Tests of the adapter."""

from importlib.util import find_spec

import pytest

if find_spec("megatron") is None:
    pytest.skip("the package megatron-core is not installed", allow_module_level=True)
