"""Keeps a context on the first GPU until its input ends, so that no program pays for waking the driver.

Its input is a pipe of the script's: it ends however the script does. A GPU that takes one process at
a time is left alone.
"""

import ctypes
import sys

COMPUTE_MODE = 20  # of CUdevice_attribute; 0 lets processes share


def hold():
    """Whether there is a context now."""
    driver = ctypes.CDLL("libcuda.so.1")
    device, mode, context = ctypes.c_int(), ctypes.c_int(), ctypes.c_void_p()
    return (
        driver.cuInit(0) == 0
        and driver.cuDeviceGet(ctypes.byref(device), 0) == 0
        and driver.cuDeviceGetAttribute(ctypes.byref(mode), COMPUTE_MODE, device) == 0
        and mode.value == 0
        and driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) == 0
    )


if __name__ == "__main__":
    if hold():
        sys.stdin.read()
