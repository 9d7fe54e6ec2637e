#include "scenarios/report/memory_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string_view>

#include "scenarios/report/markup.h"

namespace adamant::scenarios {

namespace {

constexpr std::size_t blocks_shown_max = 4;

/// A column of a table: its head, and of each purpose a number.
struct Column {
  std::string head;
  std::array<std::int64_t, purpose_count> bytes{};
};

std::string with_commas(std::int64_t bytes) {
  return grouped(static_cast<std::uint64_t>(bytes), ",");
}

std::int64_t sum_of(Column const& column) {
  std::int64_t sum = 0;
  for (std::int64_t const bytes : column.bytes) sum += bytes;
  return sum;
}

Column column_of(std::string head, BytesByPurpose const& bytes, std::int64_t LiveBytes::*place) {
  Column column{.head = std::move(head)};
  for (std::size_t i = 0; i < bytes.size(); ++i) column.bytes[i] = bytes[i].*place;
  return column;
}

std::string binary(std::int64_t bytes) {
  constexpr std::string_view units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto number = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; number >= 1024 && unit + 1 < std::size(units); ++unit) number /= 1024;
  return fmt::format("{:.{}f} {}", number, unit == 0 ? 0 : 2, units[unit]);
}

using Cell = std::function<std::string(Column const&)>;

std::string row_of(std::string_view label, std::span<Column const> columns, Cell const& cell) {
  std::string row = fmt::format("    {:<22}", label);
  for (Column const& column : columns) {
    std::size_t const width = std::max<std::size_t>(15, column.head.size());
    row += fmt::format("  {:>{}}", cell(column), width);
  }
  return row + "\n";
}

/// Purposes that have nothing anywhere are left out.
std::string table_of(std::string_view label, std::span<Column const> columns) {
  std::string table = row_of(label, columns, [](Column const& column) { return column.head; });
  for (std::size_t i = 0; i < purpose_count; ++i) {
    bool const any = std::any_of(columns.begin(), columns.end(),
                                 [&](Column const& column) { return column.bytes[i] != 0; });
    if (any)
      table += row_of(purpose_names[i], columns,
                      [&](Column const& column) { return with_commas(column.bytes[i]); });
  }
  table +=
      row_of("together", columns, [](Column const& column) { return with_commas(sum_of(column)); });
  return table + row_of("", columns, [](Column const& column) { return binary(sum_of(column)); });
}

std::string in_words(std::string_view noun, Numbers const& numbers) {
  if (numbers.first == numbers.last) return fmt::format("{} {}", noun, numbers.first);
  return fmt::format("{}s {}-{}", noun, numbers.first, numbers.last);
}

std::string in_words(RankBlock const& block, Mesh const& mesh) {
  bool const all_shards = block.shards == Numbers{.first = 0, .last = mesh.shards - 1};
  if (!all_shards && mesh.replicas > 1)
    return fmt::format("{} of {}", in_words("shard", block.shards),
                       in_words("replica", block.replicas));
  return in_words("rank", {.first = block.replicas.first * mesh.shards + block.shards.first,
                           .last = block.replicas.last * mesh.shards + block.shards.last});
}

std::string who(PlannedMemory const& planned) {
  std::string text;
  std::size_t const shown = std::min(planned.ranks.size(), blocks_shown_max);
  for (std::size_t i = 0; i < shown; ++i)
    text += (i == 0 ? "" : ", ") + in_words(planned.ranks[i], planned.mesh);
  if (shown < planned.ranks.size()) text += ", …";
  if (planned.from_operation > 0)
    text += fmt::format(", from operation {} on", planned.from_operation);
  return text;
}

}  // namespace

std::string table_of(BytesByPurpose const& peak) {
  Column const columns[] = {column_of("device", peak, &LiveBytes::device),
                            column_of("pinned", peak, &LiveBytes::pinned)};
  if (sum_of(columns[0]) == 0 && sum_of(columns[1]) == 0) return {};
  return table_of("the fullest rank's peak", columns);
}

std::string tables_of(std::vector<PlannedMemory> const& all) {
  std::string text;
  for (PlannedMemory const& planned : all) {
    Column const columns[] = {column_of("at start", planned.at_start, &LiveBytes::device),
                              column_of("between operations", planned.between, &LiveBytes::device),
                              column_of("peak", planned.peak, &LiveBytes::device),
                              column_of("pinned", planned.peak, &LiveBytes::pinned)};
    text += fmt::format("    {}\n", who(planned)) + table_of("  bytes", columns);
  }
  return text;
}

}  // namespace adamant::scenarios
