#include "scenarios/language/yaml/write_parts.h"

namespace adamant::scenarios {

namespace {

std::string write_load(Load const& load) {
  Flow map = flow_map();
  map.add("from", write_text(load.from));
  if (load.world) map.add("world", write_world(*load.world));
  map.word("layout", load.layout);
  Flow const precision = write_precision(load.precision);
  if (!precision.empty()) map.add("precision", precision.text());
  if (load.offload) map.add("offload", write_offload(*load.offload));
  map.word("order", load.order);
  bool const name_alone = Load{.from = load.from} == load;
  return name_alone ? write_text(load.from) : map.text();
}

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

}  // namespace

std::string write_operation(Operation const& operation) {
  std::string const argument = std::visit(ArgumentWriter{}, operation.action);
  std::string const word(word_of(operation.action));
  return argument.empty() ? word : word + ": " + argument;
}

}  // namespace adamant::scenarios
