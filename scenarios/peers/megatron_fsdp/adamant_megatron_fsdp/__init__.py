"""adamant's adapter for Megatron-FSDP, over the seam of `adamant_torch`."""

from adamant_megatron_fsdp import stand_ins

stand_ins.install()  # before Megatron-FSDP is imported

from adamant_megatron_fsdp.engine import AsItIs, MegatronFsdpEngine  # noqa: E402

__all__ = ["AsItIs", "MegatronFsdpEngine"]
