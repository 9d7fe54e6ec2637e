#include "sim/cmake/access_forms.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace adamant::sim {
namespace {

struct Block {
  char bytes[64];
};
struct alignas(16) Quad {
  float x, y, z, w;
};

template <typename T>
T* as(char* at) {
  return reinterpret_cast<T*>(at);
}
template <typename T>
T const* as(char const* at) {
  return reinterpret_cast<T const*>(at);
}

template <typename T>
void copy_by_loop(char* to, char const* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes / sizeof(T); ++i) as<T>(to)[i] = as<T>(from)[i];
}
template <typename T>
void fill_by_loop(char* to, char const*, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes / sizeof(T); ++i) as<T>(to)[i] = T{};
}

void copy_volatile(char* to, char const* from, std::size_t bytes) {
  int volatile* const target = as<int>(to);
  for (std::size_t i = 0; i < bytes / 4; ++i) target[i] = as<int>(from)[i];
}
void copy_atomic(char* to, char const* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes / 4; ++i) {
    int const value = __atomic_load_n(as<int>(from) + i, __ATOMIC_RELAXED);
    __atomic_store_n(as<int>(to) + i, value, __ATOMIC_RELAXED);
  }
}
void copy_small_blocks(char* to, char const* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += 4) std::memcpy(to + i, from + i, 4);
}

AccessForm const forms[] = {
    {"loop of bytes", copy_by_loop<char>, true},
    {"loop of floats", copy_by_loop<float>, true},
    {"loop of doubles", copy_by_loop<double>, true},
    {"loop of 16-byte structures", copy_by_loop<Quad>, true},
    {"loop of volatile integers", copy_volatile, true},
    {"loop of atomic integers", copy_atomic, true},
    {"assignment of a structure",
     [](char* to, char const* from, std::size_t) { *as<Block>(to) = *as<Block>(from); }, true},
    {"memcpy of a constant size",
     [](char* to, char const* from, std::size_t) { std::memcpy(to, from, 64); }, true},
    {"memcpy of 4 bytes", copy_small_blocks, true},
    {"memcpy", [](char* to, char const* from, std::size_t n) { std::memcpy(to, from, n); }, true},
    {"memmove", [](char* to, char const* from, std::size_t n) { std::memmove(to, from, n); }, true},
    {"std::copy_n", [](char* to, char const* from, std::size_t n) { std::copy_n(from, n, to); },
     true},
    {"std::transform",
     [](char* to, char const* from, std::size_t n) {
       std::transform(from, from + n, to, [](char c) { return static_cast<char>(c + 1); });
     },
     true},
    {"loop of zeros", fill_by_loop<float>, false},
    {"assignment of zeros", [](char* to, char const*, std::size_t) { *as<Block>(to) = Block{}; },
     false},
    {"memset of a constant size",
     [](char* to, char const*, std::size_t) { std::memset(to, 1, 64); }, false},
    {"memset", [](char* to, char const*, std::size_t n) { std::memset(to, 1, n); }, false},
    {"std::fill_n", [](char* to, char const*, std::size_t n) { std::fill_n(to, n, 'x'); }, false},
};

}  // namespace
}  // namespace adamant::sim

/// Compiled several times, under several names.
extern "C" void ADAMANT_VARIANT(std::span<adamant::sim::AccessForm const>* result) {
  *result = adamant::sim::forms;
}
