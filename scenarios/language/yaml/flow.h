// YAML's flow collections, "{a: 1, b: 2}" and "[1, 2]", put together from parts in order. It knows
// nothing of what they say about a scenario.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scenarios/language/yaml/scalar.h"

namespace adamant::scenarios {

class Flow {
 public:
  explicit Flow(char open, char close) : open_(open), close_(close) {}

  void add(std::string const& part) { parts_ += (parts_.empty() ? "" : ", ") + part; }
  void add(std::string_view key, std::string const& value) { add(std::string(key) + ": " + value); }
  bool empty() const { return parts_.empty(); }
  std::string text() const { return open_ + parts_ + close_; }

 private:
  char open_;
  char close_;
  std::string parts_;
};

inline Flow flow_map() {
  return Flow('{', '}');
}
inline Flow flow_list() {
  return Flow('[', ']');
}

inline std::string write_names(std::vector<std::string> const& names) {
  Flow list = flow_list();
  for (std::string const& name : names) list.add(write_text(name));
  return list.text();
}

template <typename Number>
std::string write_numbers(std::vector<Number> const& numbers) {
  Flow list = flow_list();
  for (Number const number : numbers) list.add(std::to_string(number));
  return list.text();
}

}  // namespace adamant::scenarios
