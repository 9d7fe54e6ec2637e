#include "scenarios/language/program.h"

#include "scenarios/language/verbs.h"

namespace adamant::scenarios {

std::string_view word_of(Action const& action) {
  return verb_words<Action>[action.index()];
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
