// Clone of CUDA's make_* functions for the types of vector_types.h.
#pragma once

#include "vector_types.h"

#define ADAMANT_SIM_MAKE_FUNCTIONS(name, element)                                \
  constexpr name##1 make_##name##1(element x) {                                  \
    return {x};                                                                  \
  }                                                                              \
  constexpr name##2 make_##name##2(element x, element y) {                       \
    return {x, y};                                                               \
  }                                                                              \
  constexpr name##3 make_##name##3(element x, element y, element z) {            \
    return {x, y, z};                                                            \
  }                                                                              \
  constexpr name##4 make_##name##4(element x, element y, element z, element w) { \
    return {x, y, z, w};                                                         \
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
