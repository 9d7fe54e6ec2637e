// Reads a page as XML does, so that a test sees what is in it and that all of it is closed. It
// knows neither comments nor sections that are not in pages.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace adamant::scenarios {

struct Markup {
  std::string name = {};
  std::map<std::string, std::string> attributes = {};
  std::string text = {};  // its own and that of what is in it
  std::vector<Markup> children = {};

  /// An attribute, or nothing.
  std::string operator[](std::string const& attribute) const;
  bool has_class(std::string const& name) const;
};

/// Errors: std::runtime_error with the place where it is not well-formed.
Markup read_markup(std::string_view text);

/// All elements within `markup` for which it holds, in their order.
std::vector<Markup const*> find_all(Markup const& markup,
                                    std::function<bool(Markup const&)> const& holds);
std::vector<Markup const*> find_all(Markup const& markup, std::string const& name);

}  // namespace adamant::scenarios
