// threadIdx and its kin, which the toolkit has here as well.
#pragma once

#include "cuda_runtime.h"
