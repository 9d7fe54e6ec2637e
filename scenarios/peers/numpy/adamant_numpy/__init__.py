"""An engine in NumPy: ZeRO-1 with Adam, small enough to read."""
