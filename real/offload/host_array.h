// An array of the host's memory, pinned or pageable. It knows nothing of what is in it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "real/shard/memory.h"

namespace adamant::real {

/// Arrays of 2^k bytes that are walked side by side meet in the same sets of a cache: large ones
/// begin a few pages and lines apart.
inline constexpr std::size_t stagger_bytes = 65 * 64;
inline constexpr std::size_t staggered_from_bytes = 1 << 20;

class HostArray {
 public:
  struct Shape {
    std::size_t bytes = 0;
    int slot = 0;  // among the arrays that are walked side by side: how often it is staggered
    bool pinned = false;
  };

  HostArray() = default;
  /// Nothing where there are no bytes; otherwise it begins at a multiple of 64 bytes. Pageable
  /// memory holds zeros. Errors: CudaError, std::bad_alloc.
  HostArray(Ledger& ledger, Purpose purpose, Shape const& shape);

  std::byte* data() const { return data_; }

 private:
  struct Free {
    void operator()(void* memory) const;
  };

  std::unique_ptr<PinnedBuffer> pinned_;
  std::unique_ptr<void, Free> pageable_;
  std::byte* data_ = nullptr;
};

}  // namespace adamant::real
