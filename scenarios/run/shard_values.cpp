#include "oracle/formats/formats.h"
#include "scenarios/run/engine_seam.h"

namespace adamant::scenarios {

std::span<float const> values_of(Shard const& shard, std::vector<float>& room) {
  auto const numel = static_cast<std::size_t>(shard.numel());
  if (shard.format == NumberFormat::fp32)
    return {reinterpret_cast<float const*>(shard.bytes.data()), numel};
  room.resize(numel);
  oracle::decode(shard.format, shard.bytes, room);
  return room;
}

}  // namespace adamant::scenarios
