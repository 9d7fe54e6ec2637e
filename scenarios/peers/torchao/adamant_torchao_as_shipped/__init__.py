"""The name by which `--engine torchao_as_shipped` finds `adamant_torchao:AsShippedEngine`."""
