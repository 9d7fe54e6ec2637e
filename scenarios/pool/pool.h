// Many jobs on a few worker processes: each job runs in a process that may die without taking
// anything else with it, or say that it is spoilt, and a fresh one goes on in its place. It knows
// nothing of scenarios; jobs are numbers and answers are lines.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "scenarios/pool/worker.h"

namespace adamant::scenarios {

/// How one job ended: with an answer, or with the end of its process.
struct JobEnd {
  std::uint64_t job = 0;
  std::optional<std::string> answer;
  std::string death;  // how the process ended; empty with an answer
  bool late = false;  // it was killed, since it took longer than it may
};

struct PoolOptions {
  int workers = 1;
  /// Jobs are numbered from 0 to `jobs` - 1, or go on until `until`.
  std::optional<std::uint64_t> jobs;
  std::optional<std::chrono::steady_clock::time_point> until;
  /// Consecutive jobs with the same number from it go to one worker, as long as each worker has
  /// such a row of its own (rows.h). What ran when `until` came is then no longer the first so
  /// many.
  std::function<std::uint64_t(std::uint64_t job)> row_of = std::identity{};
  /// A job that takes longer is killed: death "no answer within … s". Absent: jobs may take
  /// forever.
  std::optional<std::chrono::seconds> job_time_max;
  /// Asked before each job and after each end; true ends like an interrupt. Absent: never.
  std::function<bool()> enough = {};
  /// Called several times a second while jobs are under way.
  std::function<void()> while_waiting = {};
};

/// Runs `work` on all jobs, gives `done` the ends as they come (in any order), and returns when no
/// job is under way: after the last one, past `until`, or where must_stop() (interrupt.h) or
/// `enough` say so, which leave unfinished jobs unreported.
///
/// REQUIRES: workers >= 1; `jobs` or `until` is given; this process has no other thread.
/// Errors: std::system_error where no process can be made; what `done` throws.
void run_jobs(PoolOptions const& options, Work const& work,
              std::function<void(JobEnd const&)> const& done);

/// The number of cores that this process may use.
int default_workers();

/// Numbers that a worker process writes and its parent reads while the job is under way.
class SharedCounts {
 public:
  struct Counts {
    std::uint64_t done = 0;
    std::uint64_t total = 0;
  };

  /// REQUIRES: made before the workers that write it. Errors: std::system_error, without memory.
  SharedCounts();
  ~SharedCounts();
  SharedCounts(SharedCounts const&) = delete;  // one page, one owner
  SharedCounts& operator=(SharedCounts const&) = delete;

  void write(Counts counts);
  /// What was written last, or part of it and the rest from before: for people alone.
  Counts read() const;

 private:
  struct Page {
    std::atomic<std::uint64_t> done = 0;
    std::atomic<std::uint64_t> total = 0;
  };
  Page* page_;
};

}  // namespace adamant::scenarios
