"""Tests of the adapter for Megatron-FSDP."""
