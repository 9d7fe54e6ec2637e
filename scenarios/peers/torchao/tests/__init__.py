"""Tests of the adapter for torchao."""
