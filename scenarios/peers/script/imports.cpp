#include "scenarios/peers/script/imports.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace adamant::scenarios::python {

namespace {

// Ranks that fail raise it where they are started, with their own traceback as the text.
constexpr std::string_view hook =
    "sys.excepthook = lambda kind, error, at: "
    "(print(f\"line {at.tb_lineno}: {kind.__name__}: {error}\"), sys.exit(2))";

bool is_torch(std::string_view module) {
  return module == "torch" || module.starts_with("torch.") || module.starts_with("torch ");
}

}  // namespace

void Imports::add_as(std::string_view module, std::string_view name) {
  plain_.insert(fmt::format("{} as {}", module, name));
}

void Imports::add_from(std::string_view module, std::string_view name) {
  named_[std::string(module)].emplace(name);
}

void Imports::write(Code& code, Lines lines) const {
  write_modules(code, false, lines);
  write_names(code, false);
  code.line(hook);
  bool const needs_torch =
      std::ranges::any_of(plain_, is_torch) ||
      std::ranges::any_of(named_, [](auto const& from) { return is_torch(from.first); });
  if (!needs_torch) return;
  code.blank();
  write_modules(code, true, Lines::each);
  write_names(code, true);
}

void Imports::write_modules(Code& code, bool of_torch, Lines lines) const {
  std::vector<std::string> modules;
  for (std::string const& module : plain_)
    if (is_torch(module) == of_torch) modules.push_back(module);
  if (lines == Lines::one && !modules.empty())
    return code.line(fmt::format("import {}", fmt::join(modules, ", ")));
  for (std::string const& module : modules) code.line("import " + module);
}

void Imports::write_names(Code& code, bool of_torch) const {
  for (auto const& [module, names] : named_) {
    if (is_torch(module) != of_torch) continue;
    std::string const whole = fmt::format("from {} import {}", module, fmt::join(names, ", "));
    if (whole.size() <= columns_max) {
      code.line(whole);
      continue;
    }
    code.line(fmt::format("from {} import (", module));
    code.indent();
    for (std::string const& name : names) code.line(name + ",");
    code.dedent();
    code.line(")");
  }
}

}  // namespace adamant::scenarios::python
