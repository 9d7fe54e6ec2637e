// Law:        a seed and an index name the same scenario with every compiler and on every machine.
// Sense:      the text of the cases has the checksum that stands here.
// Not said:   that these cases are better than others. An edit of the generator that was meant to
//             change them puts the printed table here.
// Must catch: any mistake in the generator that still leads to scenarios which are well-formed.
#include <gtest/gtest.h>

#include <string>

#include "properties/same/row.h"
#include "scenarios/language/yaml/write.h"
#include "scenarios/search/generate/generate.h"
#include "scenarios/search/generate/testing/boldest_peer.h"

namespace adamant::properties {
namespace {

using namespace scenarios;

constexpr std::uint64_t cases = 500;

std::string row(char const* what, GenerateOptions options, bool growing = false) {
  std::string texts;
  for (std::uint64_t i = 0; i < cases; ++i) {
    if (growing) options.size = static_cast<int>(i % 101);
    texts += write_scenario(generate_scenario(3, i, options));
  }
  return row_of(what, texts);
}

GenerateOptions models() {
  Capabilities peer = boldest_peer();
  peer.loss_scale = {LossScale::Kind::fixed};
  peer.options = {
      {"corrections", {"fp64", "fp32"}}, {"fused", {"false", "true"}}, {"x", {"a", "b"}}};
  return {.scenarios_of_model = 16,
          .faults = true,
          .capabilities = peer,
          .usual_options = {{.name = "corrections", .value = "fp32"},
                            {.name = "fused", .value = "true", .seldom_needed = true}}};
}

TEST(SameCases, OfASeedStayTheSame) {
  EXPECT_EQ("\n" + row("simulator", {}) + row("faults", {.faults = true}) +
                row("growing", {.faults = true}, true) +
                row("peer", {.capabilities = capable_peer()}) +
                row("bold peer", {.faults = true, .capabilities = boldest_peer()}) +
                row("models", models()),
            R"(
simulator                4ac9b79051e5545a
faults                   fd3c371ef0a0df7d
growing                  851a4791bb7be6b6
peer                     2d5b388a4f08cdfc
bold peer                726208205078ca2a
models                   92ed652ab4b34737
)");
}

}  // namespace
}  // namespace adamant::properties
