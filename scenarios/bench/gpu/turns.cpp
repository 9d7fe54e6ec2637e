#include "scenarios/bench/gpu/turns.h"

#include <algorithm>
#include <utility>

#include "scenarios/bench/placed_memory.h"

namespace adamant::scenarios {

Turns::Turns(std::string suite, int rounds, std::size_t copy_bytes)
    : suite_(std::move(suite)),
      rounds_(rounds),
      copy_bytes_(copy_bytes),
      from_(copied_.room(copy_bytes)),
      to_(copied_.room(copy_bytes)) {
  copied_.zero(from_, copy_bytes);
  copied_.stream.synchronize();
}

/// Units: bytes a millisecond, read and written.
double Turns::copy_rate() {
  double const time = watch_.time(copied_.stream, [&] {
    ADAMANT_TRY(
        cudaMemcpyAsync(to_, from_, copy_bytes_, cudaMemcpyDeviceToDevice, copied_.stream.get()));
  });
  return 2.0 * static_cast<double>(copy_bytes_) / std::max(time, least_milliseconds);
}

void Turns::take(std::vector<Contender> const& contenders) {
  std::vector<std::vector<double>> parts(contenders.size());
  std::vector<std::vector<double>> times(contenders.size());
  for (int round = -1; round < rounds_; ++round) {  // the first warms up
    double const rate = copy_rate();
    if (round >= 0) copy_rates_.push_back(rate);
    for (std::size_t c = 0; c < contenders.size(); ++c) {
      contenders[c].before();
      device_.stream.synchronize();
      double const time =
          std::max(watch_.time(device_.stream, contenders[c].enqueue), least_milliseconds);
      if (round < 0) continue;
      times[c].push_back(time);
      parts[c].push_back(contenders[c].bytes / time / rate);
    }
  }
  for (std::size_t c = 0; c < contenders.size(); ++c) add(contenders[c].name, parts[c], times[c]);
}

void Turns::add(std::string const& name, std::vector<double> const& parts,
                std::vector<double> const& times) {
  rows_.push_back({suite_, name, quantile(parts, 0.5), "of copy"});
  rows_.push_back({suite_, name + "_least", quantile(parts, 0), "of copy"});
  rows_.push_back({suite_, name + "_most", quantile(parts, 0.999), "of copy"});
  rows_.push_back({suite_, name + "_time", quantile(times, 0.5), "ms"});
}

void Turns::note_wrong(std::string const& name, std::int64_t bytes) {
  rows_.push_back({suite_, name, static_cast<double>(bytes), std::string(wrong_bits_unit)});
}

std::vector<Row> Turns::rows() const {
  std::vector<Row> rows;
  if (!rows_.empty()) {
    rows.push_back(rows_.front());
    rows.front().name = suite_;
  }
  rows.insert(rows.end(), rows_.begin(), rows_.end());
  if (!copy_rates_.empty())
    rows.push_back({suite_, "copy", quantile(copy_rates_, 0.5) * 1e-9, "TB/s"});
  return rows;
}

}  // namespace adamant::scenarios
