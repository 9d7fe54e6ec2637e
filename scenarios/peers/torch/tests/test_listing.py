"""The order in which a directory is listed is the scenario's, for reader and consolidation."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageWriter

from adamant_torch import listing
from tests.peer import World, different, need_format

Maker = Callable[..., World]


@pytest.fixture(autouse=True)
def _needs_numpy() -> None:
    pytest.importorskip("numpy", reason="PyTorch's checkpoints need numpy")


def doubled(one: World, directory: Path, shards: Path) -> list[dict[str, torch.Tensor]]:
    """Save twice, and leave the first save's shard of rank 0 beside the second's, by a later name.

    `shards` is where the shards lie; the second save is asked for with the older shard there.
    Returns what was saved.
    """
    one.open().train()
    one.launcher.must("save", directory=str(directory))
    saved = [one.whole()]
    first = sorted(shards.glob("shard-00001*"))[0]
    (shards / first.name.replace("00001", "00009")).write_bytes(first.read_bytes())
    one.train()
    saved.append(one.whole())
    one.launcher.must("save", directory=str(directory))
    return saved


@pytest.mark.parametrize("form", ["hf_sharded", "hf_consolidated"])
@pytest.mark.parametrize("order", listing.ORDERS)
def test_of_two_files_with_the_same_rows_the_last_one_listed_counts(
    world: Maker, tmp_path: Path, form: str, order: str
) -> None:
    chosen = {"format": form, "settings": "left_out", "directory_order": order}
    one = world(options=chosen)
    directory = tmp_path / "checkpoint"
    shards = directory / "sharded" if form == "hf_consolidated" else directory
    older, younger = doubled(one, directory, shards)
    one.open(initial_seed=9).launcher.must("load", directory=str(directory))
    found, counts = one.whole(), older if order == "sorted" else younger
    rows = 3  # of a.weight's five, those of rank 0
    assert torch.equal(found["a.weight"][:rows], counts["a.weight"][:rows])
    assert torch.equal(found["a.weight"][rows:], younger["a.weight"][rows:])
    assert not torch.equal(older["a.weight"][:rows], younger["a.weight"][:rows])
    assert (different(found, younger) == []) == (order == "reversed")


@pytest.mark.parametrize("order", listing.ORDERS)
@pytest.mark.parametrize("said", [["b", "c", "a"], ["c", "a", "b"]])
def test_what_the_file_system_says_first_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: str, said: list[str]
) -> None:
    monkeypatch.setattr(os, "listdir", lambda _: list(said))
    found = [Path(path).name for path in listing.Listed(order).ls(str(tmp_path))]
    assert found == (["a", "b", "c"] if order == "sorted" else ["c", "b", "a"])


def test_a_consolidation_leaves_the_listing_of_others_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_format("hf_consolidated")
    listed, seen = glob.glob, []

    def finish(*_: Any, **__: Any) -> None:
        seen.append(glob.glob is listed)

    monkeypatch.setattr(HuggingFaceStorageWriter, "finish", finish)
    listing.Writer(str(tmp_path), "sorted", True).finish(None, [])
    assert seen == [False]
    assert glob.glob is listed
