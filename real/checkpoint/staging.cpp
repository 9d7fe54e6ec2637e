#include "real/checkpoint/staging.h"

namespace adamant::real {

Staging::Staging(Ledger& ledger, std::size_t slot_bytes, Stream const& stream)
    : memory_(ledger, Purpose::checkpoint, 2 * slot_bytes),
      slot_bytes_(slot_bytes),
      stream_(stream) {}

Staging::~Staging() {
  static_cast<void>(cudaStreamSynchronize(stream_.get()));
}

std::span<std::byte> Staging::slot(std::size_t turn) {
  done_[turn % 2].synchronize();  // G1
  return {memory_.as<std::byte>() + turn % 2 * slot_bytes_, slot_bytes_};
}

}  // namespace adamant::real
