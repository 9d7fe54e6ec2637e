// The dynamic shared memory of the block that runs now. One block runs at a time, so there is one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace adamant::sim {

inline constexpr std::size_t shared_bytes_max = 48 << 10;  // more needs cudaFuncSetAttribute

/// A kernel asks for so much. It ends where no memory is, up to its alignment of 16: whoever goes
/// beyond faults.
void set_shared_bytes(std::size_t bytes);
/// What a block finds in it is nothing that an earlier one left.
void poison_shared();
void* dynamic_shared();
std::size_t dynamic_shared_bytes();
/// How far behind its end an address lies, if it does.
std::optional<std::uint64_t> bytes_behind_shared(std::uintptr_t address);

}  // namespace adamant::sim
