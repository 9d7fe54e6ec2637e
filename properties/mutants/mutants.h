// Does any test notice a mistake of the harness? Each is tried in a process of its own, which may
// crash, hang or eat memory: then it is noticed as well.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "properties/mutants/tests.h"
#include "scenarios/bugs/catalogue.h"

namespace adamant::properties {

/// Where the functions that the mistake is made in are noted.
std::size_t place_of(bugs::Bug const& mutant);

class Trial {
 public:
  /// Starts it. `tests` outlive this.
  /// Errors: std::runtime_error where no process can be started.
  Trial(bugs::Bug const& mutant, std::vector<Test const*> tests);
  Trial(Trial&& other) noexcept;
  Trial& operator=(Trial&& other) noexcept;
  ~Trial();

  bugs::Bug const& mutant() const { return *mutant_; }
  bool has_ended();
  /// What noticed it; empty where nothing did. REQUIRES: it has ended.
  std::string const& noticed_by() const { return noticed_by_; }

 private:
  void run() const;
  double seconds() const;
  void end(std::string how);

  bugs::Bug const* mutant_;
  std::vector<Test const*> tests_;
  char* running_ = nullptr;  // the test that runs; shared with the process
  pid_t process_ = 0;        // 0: it has ended
  std::string noticed_by_;
};

}  // namespace adamant::properties
