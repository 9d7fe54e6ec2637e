#include "scenarios/yaml/write.h"

#include <utility>

#include "scenarios/yaml/scalar.h"
#include "scenarios/yaml/vocabulary.h"

namespace adamant::scenarios {

namespace {

/// A flow collection, "{a: 1, b: 2}" or "[1, 2]", from its parts in order.
class Flow {
 public:
  explicit Flow(char open, char close) : open_(open), close_(close) {}

  void add(std::string const& part) { parts_ += (parts_.empty() ? "" : ", ") + part; }
  void add(std::string_view key, std::string const& value) { add(std::string(key) + ": " + value); }
  void flag(std::string_view key, bool value, bool default_value) {
    if (value != default_value) add(key, value ? "true" : "false");
  }
  template <typename Enum>
  void word(std::string_view key, Enum value, Enum default_value) {
    if (value != default_value) add(key, std::string(word_for(value)));
  }
  template <typename Enum>
  void word(std::string_view key, std::optional<Enum> const& value) {
    if (value) add(key, std::string(word_for(*value)));
  }
  template <typename Number>
  void number(std::string_view key, std::optional<Number> const& value) {
    if (value) add(key, std::to_string(*value));
  }
  void real(std::string_view key, std::optional<float> const& value) {
    if (value) add(key, write_number(*value));
  }
  bool empty() const { return parts_.empty(); }
  std::string text() const { return open_ + parts_ + close_; }

 private:
  char open_;
  char close_;
  std::string parts_;
};

Flow flow_map() {
  return Flow('{', '}');
}
Flow flow_list() {
  return Flow('[', ']');
}

std::string write_names(std::vector<std::string> const& names) {
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

std::string write_betas(float beta1, float beta2) {
  Flow list = flow_list();
  list.add(write_number(beta1));
  list.add(write_number(beta2));
  return list.text();
}

std::string write_clip(Clip const& clip) {
  return clip ? write_number(*clip) : "none";
}

std::string write_loss_scale(LossScale const& scale) {
  if (scale.kind == LossScale::Kind::fixed) return write_number(scale.value);
  return scale.kind == LossScale::Kind::dynamic ? "dynamic" : "none";
}

std::string write_world(World const& world) {
  Flow map = flow_map();
  map.add("shard", std::to_string(world.shard));
  if (world.replicate != 1) map.add("replicate", std::to_string(world.replicate));
  return map.text();
}

std::string write_offload(Offload const& offload) {
  if (auto const* states = std::get_if<OffloadedStates>(&offload)) {
    Flow map = flow_map();
    map.flag("moments", states->moments, true);
    map.flag("main", states->main, true);
    return "{states: " + map.text() + "}";
  }
  if (auto const* hybrid = std::get_if<HybridOffload>(&offload)) {
    HybridOffload const defaults;
    Flow map = flow_map();
    if (hybrid->fraction != defaults.fraction) map.add("fraction", write_number(hybrid->fraction));
    map.flag("overlap", hybrid->overlap, defaults.overlap);
    map.flag("pin_grads", hybrid->pin_grads, defaults.pin_grads);
    map.flag("pin_params", hybrid->pin_params, defaults.pin_params);
    return "{hybrid: " + map.text() + "}";
  }
  return "none";
}

Flow write_precision(PrecisionOverride const& precision) {
  Flow map = flow_map();
  map.word("param", precision.param);
  map.word("grad", precision.grad);
  map.word("main", precision.main);
  map.word("exp_avg", precision.exp_avg);
  map.word("exp_avg_sq", precision.exp_avg_sq);
  map.word("state_scale", precision.state_scale);
  return map;
}

Flow write_precision(Precision const& precision) {
  Precision const defaults;
  Flow map = flow_map();
  map.word("param", precision.param, defaults.param);
  map.word("grad", precision.grad, defaults.grad);
  map.word("main", precision.main, defaults.main);
  map.word("exp_avg", precision.exp_avg, defaults.exp_avg);
  map.word("exp_avg_sq", precision.exp_avg_sq, defaults.exp_avg_sq);
  map.word("state_scale", precision.state_scale, defaults.state_scale);
  return map;
}

void write_adam(Flow& map, AdamOverride const& settings) {
  map.real("lr", settings.lr);
  if (settings.betas) map.add("betas", write_betas((*settings.betas)[0], (*settings.betas)[1]));
  map.real("eps", settings.eps);
  map.real("weight_decay", settings.weight_decay);
  if (settings.bias_correction)
    map.add("bias_correction", *settings.bias_correction ? "true" : "false");
}

/// What an optimizer's settings override of the defaults.
AdamOverride changes(AdamConfig const& adam) {
  AdamConfig const defaults;
  AdamOverride changed;
  if (adam.learning_rate != defaults.learning_rate) changed.lr = adam.learning_rate;
  if (adam.beta1 != defaults.beta1 || adam.beta2 != defaults.beta2)
    changed.betas = {adam.beta1, adam.beta2};
  if (adam.epsilon != defaults.epsilon) changed.eps = adam.epsilon;
  if (adam.weight_decay != defaults.weight_decay) changed.weight_decay = adam.weight_decay;
  if (adam.bias_correction != defaults.bias_correction)
    changed.bias_correction = adam.bias_correction;
  return changed;
}

Flow write_optimizer(Optimizer const& optimizer) {
  Optimizer const defaults;
  Flow map = flow_map();
  map.word("mode", optimizer.adam.mode, defaults.adam.mode);
  write_adam(map, changes(optimizer.adam));
  map.flag("decoupled_grad", optimizer.decoupled_grad, defaults.decoupled_grad);
  map.flag("keep_cast_grad", optimizer.keep_cast_grad, defaults.keep_cast_grad);
  map.word("step_counter", optimizer.step_counter, defaults.step_counter);
  map.flag("capturable", optimizer.capturable, defaults.capturable);
  if (optimizer.clip) map.add("clip", write_clip(optimizer.clip));
  if (optimizer.loss_scale != defaults.loss_scale)
    map.add("loss_scale", write_loss_scale(optimizer.loss_scale));
  return map;
}

std::string write_param(Param const& param) {
  Flow map = flow_map();
  map.add("name", write_text(param.name));
  map.add("shape", write_numbers(param.shape));
  if (!param.group.empty()) map.add("group", write_text(param.group));
  Flow const precision = write_precision(param.precision);
  if (!precision.empty()) map.add("precision", precision.text());
  return map.text();
}

std::string write_groups(std::vector<Group> const& groups) {
  Flow map = flow_map();
  for (Group const& group : groups) {
    Flow settings = flow_map();
    write_adam(settings, group.settings);
    map.add(write_text(group.name), settings.text());
  }
  return map.text();
}

std::string write_set(SettingsChange const& change) {
  Flow map = flow_map();
  write_adam(map, change.adam);
  if (change.clip) map.add("clip", write_clip(*change.clip));
  if (change.loss_scale) map.add("loss_scale", write_loss_scale(*change.loss_scale));
  return map.text();
}

std::string write_load(Load const& load) {
  Flow map = flow_map();
  map.add("from", write_text(load.from));
  if (load.world) map.add("world", write_world(*load.world));
  map.word("layout", load.layout);
  Flow const precision = write_precision(load.precision);
  if (!precision.empty()) map.add("precision", precision.text());
  if (load.offload) map.add("offload", write_offload(*load.offload));
  bool const name_alone = Load{.from = load.from} == load;
  return name_alone ? write_text(load.from) : map.text();
}

std::string write_operation(Operation const& operation);

/// What stands behind an operation's word; empty for a bare word.
struct ArgumentWriter {
  std::string operator()(Train const& train) const { return std::to_string(train.count); }
  std::string operator()(Replay const& replay) const { return std::to_string(replay.count); }
  std::string operator()(Backward const& backward) const {
    return backward.without.empty() ? "" : "{without: " + write_names(backward.without) + "}";
  }
  std::string operator()(ZeroGrad const& zero_grad) const {
    return zero_grad.set_to_none ? "" : "{set_to_none: false}";
  }
  std::string operator()(Set const& set) const { return write_set(set.change); }
  std::string operator()(Capture const& capture) const {
    Flow list = flow_list();
    for (Operation const& operation : capture.body) {
      std::string const text = write_operation(operation);
      list.add(text.find(": ") == std::string::npos ? text : "{" + text + "}");
    }
    return list.text();
  }
  std::string operator()(Save const& save) const { return write_text(save.checkpoint); }
  std::string operator()(Load const& load) const { return write_load(load); }
  template <typename Bare>
  std::string operator()(Bare const&) const {
    return "";
  }
};

std::string write_operation(Operation const& operation) {
  std::string const argument = std::visit(ArgumentWriter{}, operation.action);
  std::string const word(word_of(operation.action));
  return argument.empty() ? word : word + ": " + argument;
}

std::string write_engine(EngineChoice const& engine) {
  Flow map = flow_map();
  if (engine.name != EngineChoice{}.name) map.add("name", write_text(engine.name));
  Flow options = flow_map();
  for (auto const& [key, value] : engine.options) options.add(write_text(key), write_text(value));
  if (!options.empty()) map.add("options", options.text());
  return map.text();
}

std::string write_schedule(Schedule const& schedule) {
  Flow map = flow_map();
  map.word("strategy", schedule.strategy, Schedule{}.strategy);
  map.number("seed", schedule.seed);
  map.number("depth", schedule.depth);
  if (schedule.choices) map.add("choices", write_numbers(*schedule.choices));
  return map.text();
}

std::string write_fault(Fault const& fault) {
  Flow map = flow_map();
  map.add("at", std::string(word_for(fault.at)));
  map.number("nth", fault.nth);
  map.number("rank", fault.rank);
  map.number("file", fault.file);
  map.number("after_bytes", fault.after_bytes);
  map.add("then", std::string(word_for(fault.then)));
  map.number("byte", fault.byte);
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
