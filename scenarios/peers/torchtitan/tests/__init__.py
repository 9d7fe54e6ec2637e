"""Tests of the adapter for torchtitan."""
