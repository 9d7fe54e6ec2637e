#include "scenarios/peers/script/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string_view>

#include "scenarios/language/units.h"

namespace adamant::scenarios::script {

namespace {

/// Words that Python keeps for itself.
constexpr std::array<std::string_view, 35> keywords = {
    "and",    "as",   "assert", "async",  "await",    "break", "class", "continue", "def",
    "del",    "elif", "else",   "except", "finally",  "for",   "from",  "global",   "if",
    "import", "in",   "is",     "lambda", "nonlocal", "not",   "or",    "pass",     "raise",
    "return", "try",  "while",  "with",   "yield",    "False", "None",  "True"};

/// What nn.Module, FSDPModule and the script's own model have already.
constexpr std::array<std::string_view, 57> attributes = {"T_destination",
                                                         "add_module",
                                                         "apply",
                                                         "bfloat16",
                                                         "buffers",
                                                         "call_super_init",
                                                         "children",
                                                         "compile",
                                                         "cpu",
                                                         "cuda",
                                                         "double",
                                                         "dump_patches",
                                                         "eval",
                                                         "extra_repr",
                                                         "float",
                                                         "forward",
                                                         "get_buffer",
                                                         "get_extra_state",
                                                         "get_parameter",
                                                         "get_submodule",
                                                         "half",
                                                         "ipu",
                                                         "load_state_dict",
                                                         "modules",
                                                         "mtia",
                                                         "named_buffers",
                                                         "named_children",
                                                         "named_modules",
                                                         "named_parameters",
                                                         "parameters",
                                                         "register_backward_hook",
                                                         "register_buffer",
                                                         "register_forward_hook",
                                                         "register_forward_pre_hook",
                                                         "register_full_backward_hook",
                                                         "register_full_backward_pre_hook",
                                                         "register_load_state_dict_post_hook",
                                                         "register_load_state_dict_pre_hook",
                                                         "register_module",
                                                         "register_parameter",
                                                         "register_state_dict_post_hook",
                                                         "register_state_dict_pre_hook",
                                                         "requires_grad_",
                                                         "reshard",
                                                         "set_extra_state",
                                                         "set_submodule",
                                                         "share_memory",
                                                         "state_dict",
                                                         "to",
                                                         "to_empty",
                                                         "train",
                                                         "training",
                                                         "type",
                                                         "units",
                                                         "unshard",
                                                         "xpu",
                                                         "zero_grad"};

bool is_one_of(std::span<std::string_view const> words, std::string_view name) {
  return std::find(words.begin(), words.end(), name) != words.end();
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_attribute(std::string_view name) {
  if (name.empty() || !is_letter(name[0])) return false;  // _parameters and the like are taken
  bool const of_word = std::all_of(name.begin(), name.end(), [](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_';
  });
  return of_word && !is_one_of(keywords, name) && !is_one_of(attributes, name) &&
         !name.starts_with("set_");  // FSDPModule's settings
}

std::string last_part(std::string const& name) {
  return name.substr(name.rfind('.') + 1);
}

}  // namespace

Names::Names(Scenario const& scenario) {
  for (Param const& param : scenario.params) {
    original_.push_back(param.name);
    names_.push_back(last_part(param.name));
  }
  units_ = assign_units(original_);
  std::set<std::string> const distinct(names_.begin(), names_.end());
  if (distinct.size() == names_.size() && std::all_of(names_.begin(), names_.end(), is_attribute))
    return;
  for (std::size_t i = 0; i < names_.size(); ++i) names_[i] = fmt::format("p{}", i);
}

std::string Names::in_model(int parameter) const {
  if (unit_count() == 1) return "model." + attribute(parameter);
  return fmt::format("model.units[{}].{}", unit(parameter), attribute(parameter));
}

std::string Names::in_state(int parameter) const {
  if (unit_count() == 1) return attribute(parameter);
  return fmt::format("units.{}.{}", unit(parameter), attribute(parameter));
}

int Names::find(std::string_view name) const {
  auto const found = std::find(original_.begin(), original_.end(), name);
  return found == original_.end() ? -1 : static_cast<int>(found - original_.begin());
}

}  // namespace adamant::scenarios::script
