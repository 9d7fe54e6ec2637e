"""Safetensors files, written and read without any package."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from adamant_torch import tensor_file


def test_what_was_written_is_read_bit_for_bit(tmp_path: Path) -> None:
    path = str(tmp_path / "file")
    tensors = {
        "a": torch.tensor([[1.5, float("nan")], [-0.0, float("inf")]]),
        "b": torch.arange(3, dtype=torch.bfloat16),
        "c": torch.arange(3, dtype=torch.float16)[1:],
        "none": torch.empty(0, 4),
    }
    tensor_file.write(path, tensors)
    read = tensor_file.read(path)
    assert list(read) == list(tensors)
    for name, tensor in tensors.items():
        assert read[name].dtype == tensor.dtype
        assert read[name].shape == tensor.shape
        assert tensor_file.raw_bytes(read[name]) == tensor_file.raw_bytes(tensor)


def test_a_transposed_tensor_is_written_row_major(tmp_path: Path) -> None:
    path = str(tmp_path / "file")
    tensor_file.write(path, {"a": torch.arange(6.0).reshape(2, 3).t()})
    assert tensor_file.read(path)["a"].tolist() == [[0, 3], [1, 4], [2, 5]]


def test_other_programs_read_it(tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors.torch", reason="safetensors is not installed")
    path = str(tmp_path / "file")
    tensor_file.write(path, {"a": torch.arange(6.0).reshape(2, 3)})
    assert safetensors.load_file(path)["a"].tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[:4], "not a safetensors file"),
        (lambda data: data[:20], "not a safetensors file"),
        (lambda data: data[:-1], "bytes 0 to 8 of 7"),
        (lambda data: data.replace(b"F32", b"F99"), "dtype F99"),
        (lambda data: data.replace(b"[2]", b"[9]"), "for shape"),
    ],
)
def test_a_file_that_lies_is_refused_by_name(tmp_path: Path, change, message) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "file"
    tensor_file.write(str(path), {"a": torch.ones(2)})
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(ValueError, match=message) as error:
        tensor_file.read(str(path))
    assert str(path) in str(error.value)
