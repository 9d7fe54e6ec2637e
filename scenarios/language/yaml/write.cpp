#include "scenarios/language/yaml/write.h"

#include "scenarios/language/yaml/write_parts.h"

namespace adamant::scenarios {

namespace {

std::string write_param(Param const& param) {
  Flow map = flow_map();
  map.add("name", write_text(param.name));
  map.add("shape", write_numbers(param.shape));
  if (!param.group.empty()) map.add("group", write_text(param.group));
  Flow const precision = write_precision(param.precision);
  if (!precision.empty()) map.add("precision", precision.text());
  return map.text();
}

std::string write_expect(Expectation const& expect) {
  return (expect.kind == Expectation::Kind::violates ? "{violates: " : "{refused: ") + expect.id +
         "}";
}

/// One file: keys in the order of the format, one line each but for the two lists.
class Document {
 public:
  void key(std::string_view key, std::string const& value) {
    text_ += std::string(key) + ": " + value + "\n";
  }
  void item(std::string const& value) { text_ += "  - " + value + "\n"; }
  void list(std::string_view key) { text_ += std::string(key) + ":\n"; }
  void gap() { text_ += "\n"; }
  std::string const& text() const { return text_; }

 private:
  std::string text_;
};

void write_head(Document& document, Scenario const& scenario) {
  document.key("adamant", "1");
  document.key("name", write_text(scenario.name));
  if (scenario.about) document.key("about", write_text(*scenario.about));
  if (scenario.source) document.key("source", write_text(*scenario.source));
  if (scenario.seed) document.key("seed", std::to_string(*scenario.seed));
}

void write_params(Document& document, Scenario const& scenario) {
  if (scenario.model) return document.key("params", "{model: " + write_text(*scenario.model) + "}");
  document.list("params");
  for (Param const& param : scenario.params) document.item(write_param(param));
}

void write_setting(Document& document, Scenario const& scenario) {
  document.key("world", write_world(scenario.world));
  if (scenario.layout != Layout::fsdp2)
    document.key("layout", std::string(word_for(scenario.layout)));
  write_params(document, scenario);
  if (!scenario.groups.empty()) document.key("groups", write_groups(scenario.groups));
  Flow const precision = write_precision(scenario.precision);
  if (!precision.empty()) document.key("precision", precision.text());
  Flow const optimizer = write_optimizer(scenario.optimizer);
  if (!optimizer.empty()) document.key("optimizer", optimizer.text());
  if (scenario.offload.index() != 0) document.key("offload", write_offload(scenario.offload));
  if (scenario.gradients != GradientClass::exact) {
    document.key("gradients", std::string(word_for(scenario.gradients)));
  }
  if (scenario.microbatches) document.key("microbatches", std::to_string(*scenario.microbatches));
}

void write_program(Document& document, Scenario const& scenario) {
  document.list("program");
  for (Operation const& operation : scenario.program) document.item(write_operation(operation));
}

void write_circumstances(Document& document, Scenario const& scenario) {
  Scenario const defaults;
  if (scenario.engine != defaults.engine) document.key("engine", write_engine(scenario.engine));
  if (scenario.schedule != defaults.schedule)
    document.key("schedule", write_schedule(scenario.schedule));
  if (!scenario.faults.empty()) document.list("faults");
  for (Fault const& fault : scenario.faults) document.item(write_fault(fault));
  if (scenario.bug) document.key("bug", write_text(*scenario.bug));
  if (scenario.expect != defaults.expect) document.key("expect", write_expect(scenario.expect));
}

}  // namespace

std::string write_scenario(Scenario const& scenario) {
  Document document;
  write_head(document, scenario);
  document.gap();
  write_setting(document, scenario);
  document.gap();
  write_program(document, scenario);
  Document circumstances;
  write_circumstances(circumstances, scenario);
  if (!circumstances.text().empty()) document.gap();
  return document.text() + circumstances.text();
}

}  // namespace adamant::scenarios
