#include "scenarios/bench/gpu/turns.h"

#include "scenarios/bench/rounds.h"

namespace adamant::scenarios {

Turns::Turns(SuiteRows& rows, GpuSizes const& sizes)
    : rows_(rows),
      rounds_(sizes.rounds),
      copy_bytes_(sizes.copy_bytes),
      from_(copied_.room(copy_bytes_)),
      to_(copied_.room(copy_bytes_)) {
  copied_.zero(from_, copy_bytes_);
  copied_.stream.synchronize();
}

/// Units: bytes a millisecond, read and written.
double Turns::copy_rate() {
  double const time = watch_.time(copied_.stream, [&] {
    ADAMANT_TRY(
        cudaMemcpyAsync(to_, from_, copy_bytes_, cudaMemcpyDeviceToDevice, copied_.stream.get()));
  });
  return 2.0 * static_cast<double>(copy_bytes_) / time;
}

void Turns::take(std::vector<Contender> const& contenders) {
  std::vector<std::function<double()>> measures = {[this] { return copy_rate(); }};
  for (Contender const& contender : contenders)
    measures.push_back([&] {
      contender.before();
      device_.stream.synchronize();
      return watch_.time(device_.stream, contender.enqueue);
    });
  auto const times = by_turns(rounds_, measures);
  std::vector<double> const& rates = times.front();
  copy_rates_.insert(copy_rates_.end(), rates.begin(), rates.end());
  for (std::size_t c = 0; c < contenders.size(); ++c) {
    auto const& [name, bytes, enqueue, before] = contenders[c];
    std::vector<double> parts = times[c + 1];
    for (std::size_t round = 0; round < parts.size(); ++round)
      parts[round] = bytes / parts[round] / rates[round];
    rows_.add_spread(name, parts, "of copy");
    rows_.add(name + "_time", median(times[c + 1]), "ms");
  }
}

void Turns::note_wrong(std::string const& name, std::int64_t bytes) {
  rows_.add(name, static_cast<double>(bytes), wrong_bits_unit);
}

void Turns::finish() {
  rows_.repeat_first_as_main();
  if (!copy_rates_.empty()) rows_.add("copy", median(copy_rates_) * 1e-9, "TB/s");
}

}  // namespace adamant::scenarios
