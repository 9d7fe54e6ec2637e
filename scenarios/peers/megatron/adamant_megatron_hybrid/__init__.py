"""The name by which `--engine megatron_hybrid` finds adamant_megatron's other engine."""
