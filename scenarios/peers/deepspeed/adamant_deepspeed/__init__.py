"""adamant's adapter for DeepSpeed: ZeRO 1 to 3 on CPU processes, driven by JSON lines.

`adamant_deepspeed.engine.ZeroEngine` is the engine; importing it imports DeepSpeed, which reads
its environment. `surroundings.prepare` comes before.
"""
