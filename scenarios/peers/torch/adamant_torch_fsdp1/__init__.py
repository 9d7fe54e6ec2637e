"""The name by which `--engine torch_fsdp1` finds `adamant_torch.fsdp1:FSDP1`."""
