// Records of the operations of a run, by id. A run of a million steps makes tens of millions, of
// which reports ask for the first (what was made when an engine was built) and for the latest:
// those in between are forgotten.
//
// Invariants:
//   H1 of a run of up to kept_first + kept_last records none is forgotten
//   H2 the first kept_first and the last kept_last are never forgotten
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/world/operation.h"

namespace adamant::sim {

class History {
 public:
  static constexpr std::size_t kept_first = 65'536;
  static constexpr std::size_t kept_last = 262'144;

  /// `all`: nothing is to be forgotten, as where a trace will show it.
  void clear(bool all) {
    records_.clear();
    next_ = 0;
    last_ = all ? SIZE_MAX : kept_last;
  }

  /// The id of what is added. Ids count up from 0.
  std::uint32_t add(OperationRecord const& record) {
    if (next_ < kept_first || next_ - kept_first < last_)
      records_.push_back(record);
    else
      records_[place_of(next_)] = record;
    return next_++;
  }

  /// What is forgotten reads as an operation of nobody, called "something long ago".
  OperationRecord const& operator[](std::uint32_t id) const {
    static OperationRecord const forgotten{.rank = -1, .name = "something long ago"};
    return is_kept(id) ? records_[place_of(id)] : forgotten;
  }

  /// To add what becomes known later. Null where it is forgotten.
  OperationRecord* find(std::uint32_t id) {
    return is_kept(id) ? &records_[place_of(id)] : nullptr;
  }

 private:
  std::size_t place_of(std::size_t id) const {
    return id < kept_first ? id : kept_first + (id - kept_first) % last_;
  }
  bool is_kept(std::uint32_t id) const { return id < kept_first || next_ - id <= last_; }

  std::vector<OperationRecord> records_;
  std::size_t last_ = kept_last;
  std::uint32_t next_ = 0;
};

}  // namespace adamant::sim
