"""Streams that are stood in for know who waits for whom; Megatron-FSDP waits for what it uses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
import torch.distributed as dist
from megatron_fsdp import fully_shard_model
from torch.testing._internal.distributed.fake_pg import FakeStore

from adamant_megatron_fsdp import model
from adamant_megatron_fsdp.stand_ins import MAIN, Event, Stream
from adamant_torch import streams


@pytest.fixture
def two_ranks() -> Iterator[None]:
    """Be one of two ranks whose collectives do nothing."""
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
    yield
    model.mesh.cache_clear()
    dist.destroy_process_group()


def knows(stream: Stream, other: Stream) -> bool:
    """Return whether all that `other` was given so far comes before what `stream` does next."""
    done = other.clock.get(id(other), 0)
    return stream.clock.get(id(other), 0) == done


def reduced() -> Any:
    """Return a model after a backward."""
    sharded = fully_shard_model(
        model.Model({"unit0": {"w": torch.ones(4, 3)}}),
        device_mesh=model.mesh(2, 1),
        dp_shard_dim="shard",
        tp_dim="tp",
        fsdp_unit_modules=[model.Unit],
        device=torch.device("cpu"),
        calculate_per_token_loss=True,
    )
    sharded({"unit0": {"w": torch.ones(4, 3)}}).backward()
    return sharded


def test_a_wait_brings_what_was_done_before() -> None:
    one, other = Stream(), Stream()
    one.record_event()
    assert not knows(other, one)
    other.wait_stream(one)
    assert knows(other, one)
    one.record_event()
    assert not knows(other, one)


def test_a_stream_is_the_current_one_for_a_while() -> None:
    side = Stream()
    with streams.stream(side):
        assert streams.current_stream() is side
    assert streams.current_stream() is MAIN


@pytest.mark.usefixtures("two_ranks")
def test_reductions_are_waited_for() -> None:
    sharded = reduced()
    reducing = sharded.side_stream_for_buffer_copy_and_grad_accum
    assert reducing.clock[id(reducing)] > 0, "no reduction was given to the stream"
    assert knows(MAIN, reducing)


@pytest.mark.usefixtures("two_ranks")
def test_a_missing_wait_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Event, "wait", lambda *_: None)
    sharded = reduced()
    assert not knows(MAIN, sharded.side_stream_for_buffer_copy_and_grad_accum)
