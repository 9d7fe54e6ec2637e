#include "scenarios/language/program.h"

namespace adamant::scenarios {

std::string_view word_of(Action const& action) {
  // In the order of Action's alternatives.
  static constexpr std::string_view words[] = {
      "train",   "backward", "clip",    "step",   "zero_grad", "set",  "overflow",
      "offload", "reload",   "capture", "replay", "save",      "load", "check"};
  static_assert(std::size(words) == std::variant_size_v<Action>);
  return words[action.index()];
}

std::int64_t operation_count(std::vector<Operation> const& program) {
  std::int64_t count = 0;
  for (Operation const& operation : program) {
    ++count;
    if (auto const* capture = std::get_if<Capture>(&operation.action)) {
      count += operation_count(capture->body);
    }
  }
  return count;
}

}  // namespace adamant::scenarios
