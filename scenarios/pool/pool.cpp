#include "scenarios/pool/pool.h"

#include <poll.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <memory>
#include <new>
#include <system_error>
#include <vector>

#include "scenarios/pool/interrupt.h"
#include "scenarios/pool/rows.h"

namespace adamant::scenarios {

namespace {

using Clock = std::chrono::steady_clock;

class Pool {
 public:
  Pool(PoolOptions const& options, Work const& work, std::function<void(JobEnd const&)> const& done)
      : options_(options), work_(work), done_(done), rows_(options.jobs, options.row_of) {}

  void run() {
    std::signal(SIGPIPE, SIG_IGN);  // a dead worker is seen by its pipe's end, not by a signal
    while (!ends_early()) {
      hand_out();
      if (workers_.empty()) return;
      wait();
      for (auto& worker : workers_)
        if (!ends_early()) collect(worker);
      std::erase(workers_, nullptr);
    }
  }

 private:
  bool ends_early() const { return must_stop() || (options_.enough && options_.enough()); }

  bool has_next() const {
    if (options_.until && Clock::now() >= *options_.until) return false;
    return rows_.has_next();
  }

  /// Idle workers get a job, missing ones are made, and those that nothing is left for go.
  void hand_out() {
    for (auto& worker : workers_) {
      if (worker->is_busy()) continue;
      if (has_next()) {
        give_next(*worker);
      } else {
        worker.reset();
      }
    }
    std::erase(workers_, nullptr);
    while (has_next() && static_cast<int>(workers_.size()) < options_.workers) {
      workers_.push_back(std::make_unique<Worker>(work_, [this] { close_siblings(); }));
      give_next(*workers_.back());
    }
  }

  void give_next(Worker& worker) { worker.give(rows_.next(worker.process())); }

  /// A worker that held its siblings' pipes would keep their ends from being seen.
  void close_siblings() const {
    for (auto const& worker : workers_) worker->close_descriptors();
  }

  void wait() const {
    std::vector<pollfd> descriptors;
    for (auto const& worker : workers_) {
      descriptors.push_back({.fd = worker->descriptor(), .events = POLLIN, .revents = 0});
    }
    descriptors.push_back({.fd = interrupt_descriptor(), .events = POLLIN, .revents = 0});
    bool const awake = options_.job_time_max || options_.while_waiting;
    int const timeout_ms = awake ? 200 : -1;
    ::poll(descriptors.data(), descriptors.size(), timeout_ms);
    if (options_.while_waiting) options_.while_waiting();
  }

  void collect(std::unique_ptr<Worker>& worker) {
    std::uint64_t const job = worker->job();
    if (auto answer = worker->poll_answer()) {
      if (worker->is_spent()) {
        rows_.gone(worker->process());
        worker.reset();
      }
      done_({.job = job, .answer = std::move(answer), .death = {}});
    } else if (worker->is_gone()) {
      rows_.gone(worker->process());
      std::string const how = worker->reap();
      worker.reset();
      done_({.job = job, .answer = {}, .death = how});
    } else if (is_late(*worker)) {
      rows_.gone(worker->process());
      worker.reset();
      auto const seconds = std::to_string(options_.job_time_max->count());
      done_(
          {.job = job, .answer = {}, .death = "no answer within " + seconds + " s", .late = true});
    }
  }

  bool is_late(Worker const& worker) const {
    return options_.job_time_max && Clock::now() - worker.given_at() > *options_.job_time_max;
  }

  PoolOptions const& options_;
  Work const& work_;
  std::function<void(JobEnd const&)> const& done_;
  Rows rows_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace

void run_jobs(PoolOptions const& options, Work const& work,
              std::function<void(JobEnd const&)> const& done) {
  Pool(options, work, done).run();
}

int default_workers() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (::sched_getaffinity(0, sizeof usable, &usable) != 0) return 1;
  return std::max(1, CPU_COUNT(&usable));
}

SharedCounts::SharedCounts() {
  int const access = PROT_READ | PROT_WRITE;
  void* const page = ::mmap(nullptr, sizeof(Page), access, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  page_ = new (page) Page;
}

SharedCounts::~SharedCounts() {
  ::munmap(page_, sizeof(Page));
}

void SharedCounts::write(Counts counts) {
  page_->done.store(counts.done, std::memory_order_relaxed);
  page_->total.store(counts.total, std::memory_order_relaxed);
}

SharedCounts::Counts SharedCounts::read() const {
  return {.done = page_->done.load(std::memory_order_relaxed),
          .total = page_->total.load(std::memory_order_relaxed)};
}

}  // namespace adamant::scenarios
