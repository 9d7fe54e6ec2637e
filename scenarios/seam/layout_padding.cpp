#include "scenarios/seam/layout_padding.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "scenarios/language/registry.h"

namespace adamant::scenarios {

namespace {

constexpr double padding_max = 2147483648.0;  // 2^31 elements
constexpr std::int64_t alignment = 8;         // of starts in flat buffers

bool share_buffer(ParameterSpec const& a, ParameterSpec const& b) {
  return a.unit == b.unit && a.formats == b.formats;
}

double rounded_up(double value, double multiple) {
  return std::ceil(value / multiple) * multiple;
}

double flat_padding(std::vector<ParameterSpec const*> const& members, double ranks) {
  double numel = 0;
  double end = 0;
  for (ParameterSpec const* spec : members) {
    numel += static_cast<double>(spec->numel());
    end = rounded_up(end, alignment) + static_cast<double>(spec->numel());
  }
  return rounded_up(end, alignment * ranks) - numel;
}

/// Shards are multiples of a common multiple of all rows, so that no row is cut.
double bucketed_padding(std::vector<ParameterSpec const*> const& members, double ranks) {
  double numel = 0;
  double multiple = 1;
  for (ParameterSpec const* spec : members) {
    if (spec->numel() == 0) continue;
    numel += static_cast<double>(spec->numel());
    if (multiple > padding_max) continue;
    multiple = static_cast<double>(
        std::lcm(static_cast<std::int64_t>(multiple),
                 std::min<std::int64_t>(spec->row_numel(), std::int64_t{1} << 31)));
  }
  return rounded_up(numel, multiple * ranks) - numel;
}

}  // namespace

std::vector<BufferPadding> padding_of(Layout layout, World const& world,
                                      std::span<ParameterSpec const> registered) {
  std::vector<BufferPadding> all;
  if (layout == Layout::fsdp2) return all;
  double const ranks =
      static_cast<double>(world.outer == Outer::optim ? world.rank_count() : world.shard);
  std::vector<bool> placed(registered.size());
  for (std::size_t first = 0; first < registered.size(); ++first) {
    if (placed[first]) continue;
    std::vector<ParameterSpec const*> members;
    for (std::size_t p = first;
         p < registered.size() && registered[p].unit == registered[first].unit; ++p) {
      if (placed[p] || !share_buffer(registered[first], registered[p])) continue;
      placed[p] = true;
      members.push_back(&registered[p]);
    }
    all.push_back({.first = static_cast<int>(first),
                   .elements = layout == Layout::flat ? flat_padding(members, ranks)
                                                      : bucketed_padding(members, ranks)});
  }
  return all;
}

std::optional<Refusal> refuse_padding(Scenario const& setting, SourceLine line) {
  if (setting.layout == Layout::fsdp2) return std::nullopt;  // has no buffers
  auto const registered = registered_specs(setting);
  for (BufferPadding const& buffer : padding_of(setting.layout, setting.world, registered)) {
    if (buffer.elements <= padding_max) continue;
    return unsupported("layout_padding",
                       "the buffer of parameter `" +
                           registered[static_cast<std::size_t>(buffer.first)].name +
                           "` would have more than 2^31 elements of padding; supported: up to so "
                           "many; take fewer ranks, shapes whose rows have sizes with a smaller "
                           "common multiple, or layout: fsdp2",
                       line);
  }
  return std::nullopt;
}

}  // namespace adamant::scenarios
