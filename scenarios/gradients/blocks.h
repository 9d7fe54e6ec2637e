// Loops of gradients/values.h over consecutive elements, for CPUs: vectorised, and compiled without
// the simulator's instrumentation, so that they may touch private memory only. Kernels on a CPU
// fill a block here and then copy it to device memory, which reports the access as a whole.
#pragma once

#include <cstdint>
#include <span>

#include "scenarios/gradients/values.h"
#include "scenarios/language/world.h"

namespace adamant::scenarios {

/// Hashes of elements [begin, begin + hashes.size()) of a tensor.
void hash_block(TensorKey key, std::uint64_t begin, std::span<std::uint32_t> hashes);

/// Initial values of the elements hashed.
void initial_block(std::span<std::uint32_t const> hashes, float* out);

/// One microbatch's gradients of the elements hashed.
void gradient_block(GradientClass kind, MicrobatchKey const& key,
                    std::span<std::uint32_t const> hashes, float* out);

/// values[i] = fl32(values[i] scale)
void scale_block(float scale, std::span<float> values);

/// out[i] += addend[i]
void add_block(std::span<float const> addend, float* out);

/// The share of these elements in their tensor's fingerprint.
std::uint64_t fingerprint_block(std::span<std::uint32_t const> hashes, float const* values);

}  // namespace adamant::scenarios
