// Which machine-made mistakes of the harness its own tests and the catalogue's bugs notice:
//
//   adamant-harness-mutants TESTS SECONDS [ID...]
//
// Each is tried by the tests that reach its function, until one notices it, or
// as many seconds of tests are over: then it is undecided, for a test that was left out may notice
// it. With ids, only these. The file TESTS keeps what is known of the tests.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "properties/mutants/mutants.h"
#include "properties/mutants/tests.h"

namespace adamant::properties {

namespace {

using Mutants = std::vector<bugs::Bug const*>;

Mutants asked_for(std::vector<std::string> const& ids) {
  Mutants found;
  for (bugs::Bug const& mutant : bugs::catalogue_of_harness())
    if (ids.empty() || std::ranges::find(ids, mutant.id) != ids.end()) found.push_back(&mutant);
  return found;
}

constexpr double undecided_share_max = 0.05;

class Hunt {
 public:
  Hunt(std::vector<Test> tests, double seconds_max)
      : tests_(std::move(tests)), seconds_max_(seconds_max) {}

  void run(Mutants const& mutants) {
    std::size_t const jobs = std::max(1U, std::thread::hardware_concurrency());
    std::vector<Trial> running;
    for (auto next = mutants.begin(); next != mutants.end() || !running.empty();) {
      while (running.size() < jobs && next != mutants.end()) {
        running.emplace_back(**next, that_reach(tests_, place_of(**next), seconds_max_));
        ++next;
      }
      std::erase_if(running, [&](Trial& trial) { return trial.has_ended() && note(trial); });
      ::usleep(2000);
    }
  }

  /// Whether the tests are good enough.
  bool report() const {
    for (bugs::Bug const* const mutant : undecided_)
      std::printf("UNDECIDED %s\n%s", std::string(mutant->id).c_str(),
                  std::string(mutant->diff).c_str());
    std::printf("%zu mistakes: %zu noticed, %zu undecided after %g s of tests each or less\n",
                noticed_ + undecided_.size(), noticed_, undecided_.size(), seconds_max_);
    auto const all = static_cast<double>(noticed_ + undecided_.size());
    return static_cast<double>(undecided_.size()) <= undecided_share_max * all;
  }

 private:
  bool note(Trial const& trial) {
    std::string const& by = trial.noticed_by();
    std::string const id(trial.mutant().id);
    std::printf("%s: %s\n", id.c_str(), by.empty() ? "undecided" : by.c_str());
    std::fflush(stdout);
    if (by.empty())
      undecided_.push_back(&trial.mutant());
    else
      ++noticed_;
    return true;
  }

  std::vector<Test> tests_;
  double seconds_max_;
  std::size_t noticed_ = 0;
  Mutants undecided_;
};

}  // namespace

}  // namespace adamant::properties

int main(int argc, char** argv) {
  using namespace adamant::properties;
  testing::InitGoogleTest(&argc, argv);
  if (argc < 3) {
    std::fputs("usage: adamant-harness-mutants TESTS SECONDS [ID...]\n", stderr);
    return 2;
  }
  try {
    Hunt hunt(run_once(argv[1]), std::stod(argv[2]));
    hunt.run(asked_for({argv + 3, argv + argc}));
    return hunt.report() ? 0 : 1;
  } catch (std::exception const& error) {
    std::fprintf(stderr, "adamant-harness-mutants: %s\n", error.what());
    return 2;
  }
}
