// Who gets which job: jobs that belong together go to one worker, as long as others have jobs of
// their own. What the worker has set up for one serves the next.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace adamant::scenarios {

/// Deals jobs from 0 on, each once. Consecutive jobs with the same number from `row_of` are a row.
///
/// REQUIRES: rows end.
class Rows {
 public:
  using Worker = pid_t;  // its process

  /// `jobs` absent: they do not end.
  Rows(std::optional<std::uint64_t> jobs, std::function<std::uint64_t(std::uint64_t job)> row_of)
      : jobs_(jobs), row_of_(std::move(row_of)) {}

  bool has_next() const { return !rows_.empty() || begins_another(); }

  /// The next job of the worker's row; else of one that nobody has, or the first of a new one; else
  /// of the longest that another has.
  ///
  /// REQUIRES: has_next().
  std::uint64_t next(Worker worker);

  /// The worker is no more: its row is nobody's.
  void gone(Worker worker);

 private:
  struct Row {
    std::uint64_t next;
    std::uint64_t end;
    std::optional<Worker> worker;
  };

  bool begins_another() const { return !jobs_ || end_ < *jobs_; }
  Row& row_for(Worker worker);
  Row& begin_row();

  std::optional<std::uint64_t> jobs_;
  std::function<std::uint64_t(std::uint64_t)> row_of_;
  std::uint64_t end_ = 0;  // of the last row that was begun
  std::vector<Row> rows_;  // that have jobs left, in their order
};

}  // namespace adamant::scenarios
