#include "scenarios/peers/script/imports.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace adamant::scenarios::python {

namespace {

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

void Imports::add_installed(std::string_view module, std::string_view name) {
  installed_.emplace(module);
  add_from(module, name);
}

bool Imports::is_installed(std::string const& module) const {
  return is_torch(module) || installed_.contains(module);
}

void Imports::write(Code& code) const {
  write_section(code, false);
  bool const needs_installed =
      std::ranges::any_of(plain_, is_torch) ||
      std::ranges::any_of(named_, [&](auto const& from) { return is_installed(from.first); });
  if (!needs_installed) return;
  code.blank();
  write_section(code, true);
}

void Imports::write_section(Code& code, bool installed) const {
  for (std::string const& module : plain_)
    if (is_installed(module) == installed) code.line("import " + module);
  for (auto const& [module, names] : named_) {
    if (is_installed(module) != installed) continue;
    std::string joined;
    for (std::string const& name : names) joined.append(joined.empty() ? "" : ", ").append(name);
    std::string const whole = fmt::format("from {} import {}", module, joined);
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
