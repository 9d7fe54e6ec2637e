"""The name by which `--engine megatron_fsdp_as_it_is` finds `adamant_megatron_fsdp:AsItIs`."""
