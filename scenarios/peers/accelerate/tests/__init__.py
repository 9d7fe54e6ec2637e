"""Tests of the adapter for accelerate."""
