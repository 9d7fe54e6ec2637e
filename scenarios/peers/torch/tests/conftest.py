"""One launcher for all tests that leave it usable, and worlds in folders of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.peer import Launcher, World


@pytest.fixture(scope="session")
def launcher() -> Iterator[Launcher]:
    """Return a launcher that all tests share."""
    with Launcher() as shared:
        yield shared


@pytest.fixture
def world(launcher: Launcher, tmp_path: Path) -> Callable[..., World]:
    """Return a maker of worlds, by the fields of `World`."""

    def make(**fields: Any) -> World:
        return World(launcher, tmp_path, **fields)

    return make
