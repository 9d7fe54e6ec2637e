#include "scenarios/pool/rows.h"

#include <algorithm>

namespace adamant::scenarios {

std::uint64_t Rows::next(Worker worker) {
  Row& row = row_for(worker);
  std::uint64_t const job = row.next++;
  std::erase_if(rows_, [](Row const& each) { return each.next == each.end; });
  return job;
}

void Rows::gone(Worker worker) {
  for (Row& row : rows_)
    if (row.worker == worker) row.worker.reset();
}

Rows::Row& Rows::row_for(Worker worker) {
  auto const row_of_owner = [&](std::optional<Worker> const& owner) {
    return std::ranges::find(rows_, owner, &Row::worker);
  };
  if (auto const own = row_of_owner(worker); own != rows_.end()) return *own;
  if (auto const nobodys = row_of_owner({}); nobodys != rows_.end()) {
    nobodys->worker = worker;
    return *nobodys;
  }
  if (begins_another()) {
    Row& row = begin_row();
    row.worker = worker;
    return row;
  }
  return *std::ranges::max_element(rows_, {}, [](Row const& row) { return row.end - row.next; });
}

Rows::Row& Rows::begin_row() {
  std::uint64_t const begin = end_;
  std::uint64_t const row = row_of_(begin);
  do {
    ++end_;
  } while (begins_another() && row_of_(end_) == row);
  return rows_.emplace_back(Row{.next = begin, .end = end_, .worker = {}});
}

}  // namespace adamant::scenarios
