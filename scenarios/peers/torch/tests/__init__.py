"""Tests of the adapter, over its own protocol."""
