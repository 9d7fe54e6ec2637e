"""Streams do their work when something waits for it, and tensors say where they lie."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from adamant_megatron import stand_ins
from adamant_torch import streams


@pytest.fixture(autouse=True)
def late() -> Iterator[None]:
    """Let side streams be late, as they are by default."""
    stand_ins.Stream.late = True
    with stand_ins.on_device():
        yield


def test_a_copy_on_a_side_stream_comes_when_it_is_waited_for() -> None:
    to, side = torch.zeros(2), stand_ins.Stream()
    with streams.stream(side):
        to.copy_(torch.ones(2), non_blocking=True)
    assert to.tolist() == [0, 0]
    side.record_event().synchronize()
    assert to.tolist() == [1, 1]


def test_a_blocking_copy_is_there_at_once() -> None:
    to = torch.zeros(2)
    with streams.stream(stand_ins.Stream()):
        to.copy_(torch.ones(2))
    assert to.tolist() == [1, 1]


def test_the_current_stream_waits_for_another() -> None:
    to, side = torch.zeros(2), stand_ins.Stream()
    with streams.stream(side):
        to.copy_(torch.ones(2), non_blocking=True)
    streams.current_stream().wait_stream(side)
    assert to.tolist() == [1, 1]


def test_a_chain_of_streams_is_followed() -> None:
    first, second = stand_ins.Stream(), stand_ins.Stream()
    a, b = torch.zeros(1), torch.zeros(1)
    with streams.stream(first):
        a.copy_(torch.ones(1), non_blocking=True)
    second.wait_stream(first)
    with streams.stream(second):
        b.copy_(a, non_blocking=True)
    second.synchronize()
    assert b.tolist() == [1]


def test_an_event_leaves_what_comes_after_it() -> None:
    to, side = torch.zeros(1), stand_ins.Stream()
    with streams.stream(side):
        to.copy_(torch.ones(1), non_blocking=True)
        event = side.record_event()
        to.copy_(torch.full((1,), 2.0), non_blocking=True)
    event.synchronize()
    assert to.tolist() == [1]


def test_a_cast_on_a_side_stream_is_unlike_any_number_until_it_is_there() -> None:
    side = stand_ins.Stream()
    with streams.stream(side):
        cast = torch.ones(1, dtype=torch.bfloat16).to(torch.float32)
    assert cast.isnan().all()
    side.synchronize()
    assert cast.tolist() == [1]


def test_a_stream_is_entered_again_and_again() -> None:
    side = stand_ins.Stream()
    entered = streams.stream(side)
    for _ in range(2):
        with entered:
            assert streams.current_stream() is side
    assert streams.current_stream() is stand_ins.COMPUTE


def test_tensors_lie_on_the_device_but_for_what_cpu_made() -> None:
    tensor = torch.zeros(2, device="cuda", dtype=torch.bfloat16)
    assert tensor.is_cuda
    assert tensor.type() == "torch.cuda.BFloat16Tensor"
    host = tensor.cpu().pin_memory().float()
    assert not host.is_cuda
    assert host.type() == "torch.FloatTensor"
    assert host.to("cuda").is_cuda
