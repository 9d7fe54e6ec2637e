"""Tests of the adapter for DeepSpeed."""
