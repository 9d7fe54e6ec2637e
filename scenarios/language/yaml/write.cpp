#include "scenarios/language/yaml/write.h"

#include "scenarios/language/yaml/write_value.h"

namespace adamant::scenarios {

namespace {

/// One file: keys in the order of the format on one line each, lists with a line for every item.
class Document {
 public:
  template <typename Kind, typename Value>
  void add(std::string_view key, Kind const& kind, Value const& value) {
    line(key, " " + write_value(kind, value));
  }
  void add(std::string_view key, kinds::Params kind, kinds::Params::Value const& params) {
    if (params.model) return line(key, " " + write_value(kind, params));
    line(key);
    for (Param const& param : params.list) item(write_map(param));
  }
  void add(std::string_view key, kinds::Operations, std::vector<Operation> const& program) {
    line(key);
    for (Operation const& operation : program) item(write_action(operation.action));
  }
  template <typename T>
  void add(std::string_view key, kinds::Maps<T> const&, std::vector<T> const& maps) {
    line(key);
    for (T const& map : maps) item(write_map(map));
  }
  void gap() { text_ += "\n"; }
  std::string const& text() const { return text_; }

 private:
  void line(std::string_view key, std::string const& value = "") {
    text_ += std::string(key) + ":" + value + "\n";
  }
  void item(std::string const& value) { text_ += "  - " + value + "\n"; }

  std::string text_;
};

}  // namespace

// Gaps set apart what the scenario is called, what it sets, its program, and all behind that.
std::string write_scenario(Scenario const& scenario) {
  Document document;
  bool program_ended = false;
  for_each_written_key(scenario, [&](auto const& row, auto const& value) {
    if (row.key == "world" || row.key == "worlds" || row.key == "program" || program_ended)
      document.gap();
    document.add(row.key, row.kind, value);
    program_ended = row.key == "program";
  });
  return document.text();
}

}  // namespace adamant::scenarios
