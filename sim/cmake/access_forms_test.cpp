// Is every shape of access seen? Each form is run where it is right and must be silent, then 16
// bytes too far, then on a source that nobody has written.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <optional>
#include <span>

#include "sim/cmake/access_forms.h"
#include "sim/sim.h"

extern "C" void access_forms_O0(std::span<adamant::sim::AccessForm const>* result);
extern "C" void access_forms_O2(std::span<adamant::sim::AccessForm const>* result);
extern "C" void access_forms_O3(std::span<adamant::sim::AccessForm const>* result);

namespace adamant::sim {
namespace {

constexpr std::size_t bytes = 64;

enum class Place { right, too_far, unwritten };

/// The law that the form broke, if any.
std::optional<Law> law_broken(AccessForm const& form, Place place) {
  Report const report = run(1, [&](int) {
    char* to = nullptr;
    char* from = nullptr;
    ASSERT_EQ(cudaMallocHost(&to, bytes), cudaSuccess);
    ASSERT_EQ(cudaMallocHost(&from, bytes), cudaSuccess);
    std::size_t const written = place == Place::unwritten ? 0 : bytes;
    ASSERT_EQ(cudaMemset(from, 0, written), cudaSuccess);
    form.touch(place == Place::too_far ? to + 16 : to, from, bytes);
    cudaFreeHost(to);
    cudaFreeHost(from);
  });
  if (report.ok()) return std::nullopt;
  return report.violations.front().law;
}

void expect_all_seen(void (*list)(std::span<AccessForm const>*), char const* level) {
  std::span<AccessForm const> forms;
  list(&forms);
  EXPECT_GE(forms.size(), 18U);
  for (AccessForm const& form : forms) {
    EXPECT_EQ(law_broken(form, Place::right), std::nullopt) << form.name << " at " << level;
    EXPECT_EQ(law_broken(form, Place::too_far), Law::access_bounds) << form.name << " at " << level;
    if (!form.reads) continue;
    EXPECT_EQ(law_broken(form, Place::unwritten), Law::access_uninitialized)
        << form.name << " at " << level;
  }
}

TEST(AccessForms, AreAllSeenAtEveryOptimisation) {
  if (!can_check) GTEST_SKIP() << "the sanitizers exclude the instrumentation";
  expect_all_seen(access_forms_O0, "-O0");
  expect_all_seen(access_forms_O2, "-O2");
  expect_all_seen(access_forms_O3, "-O3");
}

}  // namespace
}  // namespace adamant::sim
