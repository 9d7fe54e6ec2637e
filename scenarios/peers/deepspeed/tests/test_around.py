"""What the adapter reads by itself of DeepSpeed's files."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
import torch
from deepspeed.runtime.fp16.loss_scaler import DynamicLossScaler
from deepspeed.runtime.zero.config import ZeroStageEnum

from adamant_deepspeed.around import unpickled


def test_what_deepspeed_saves_is_read(tmp_path: Path) -> None:
    scaler = DynamicLossScaler(4.0, 2.0, 1000, 1.0, 2, False, torch.float16)
    saved = {"zero_stage": ZeroStageEnum(2), "loss_scaler": scaler, "param_groups": [{"lr": 0.5}]}
    torch.save(saved, tmp_path / "a.pt")
    assert unpickled(tmp_path / "a.pt")["param_groups"] == [{"lr": 0.5}]


def test_a_file_that_names_another_class_is_refused(tmp_path: Path) -> None:
    torch.save({"param_groups": Path("x")}, tmp_path / "a.pt")
    with pytest.raises(pickle.UnpicklingError, match="pathlib"):
        unpickled(tmp_path / "a.pt")
