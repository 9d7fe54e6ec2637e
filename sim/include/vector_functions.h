// Clone of CUDA's make_* functions for the types of vector_types.h.
#pragma once

#include "vector_types.h"

// Inlined always: of a structure that a call returns, g++ does not report the store.
#define ADAMANT_SIM_MAKE constexpr __attribute__((always_inline))

#define ADAMANT_SIM_MAKE_FUNCTIONS(name, element)                                       \
  ADAMANT_SIM_MAKE name##1 make_##name##1(element x) {                                  \
    return {x};                                                                         \
  }                                                                                     \
  ADAMANT_SIM_MAKE name##2 make_##name##2(element x, element y) {                       \
    return {x, y};                                                                      \
  }                                                                                     \
  ADAMANT_SIM_MAKE name##3 make_##name##3(element x, element y, element z) {            \
    return {x, y, z};                                                                   \
  }                                                                                     \
  ADAMANT_SIM_MAKE name##4 make_##name##4(element x, element y, element z, element w) { \
    return {x, y, z, w};                                                                \
  }

ADAMANT_SIM_MAKE_FUNCTIONS(char, signed char)
ADAMANT_SIM_MAKE_FUNCTIONS(uchar, unsigned char)
ADAMANT_SIM_MAKE_FUNCTIONS(short, short)
ADAMANT_SIM_MAKE_FUNCTIONS(ushort, unsigned short)
ADAMANT_SIM_MAKE_FUNCTIONS(int, int)
ADAMANT_SIM_MAKE_FUNCTIONS(uint, unsigned int)
ADAMANT_SIM_MAKE_FUNCTIONS(longlong, long long int)
ADAMANT_SIM_MAKE_FUNCTIONS(ulonglong, unsigned long long int)
ADAMANT_SIM_MAKE_FUNCTIONS(float, float)
ADAMANT_SIM_MAKE_FUNCTIONS(double, double)
#undef ADAMANT_SIM_MAKE_FUNCTIONS
#undef ADAMANT_SIM_MAKE
