#include "oracle/explain/element.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <optional>

#include "oracle/quantise/recipes.h"

namespace adamant::oracle {
namespace {

constexpr auto stored_parts =
    std::to_array<std::string_view>({"raw", "scale", "amax", "history", "next_scale"});

/// KEY, and the number in brackets behind it.
struct KeyAndIndex {
  std::string_view key;
  std::optional<std::int64_t> index;
};

KeyAndIndex split_at_bracket(std::string_view text) {
  std::size_t const bracket = text.rfind('[');
  if (!text.ends_with(']') || bracket == std::string_view::npos) return {text, {}};
  char const* const begin = text.data() + bracket + 1;
  char const* const end = text.data() + text.size() - 1;
  std::int64_t index = 0;
  auto const [stopped, error] = std::from_chars(begin, end, index);
  if (error != std::errc() || stopped != end || index < 0)
    throw NoSuchElement("expected KEY[INDEX], found `" + std::string(text) + "`");
  return {text.substr(0, bracket), index};
}

/// The parameter whose name the key begins with; of several the longest.
int parameter_in(std::string_view key, std::vector<ParameterSpec> const& parameters) {
  int found = -1;
  std::size_t length = 0;
  std::string known;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    std::string const& name = parameters[p].name;
    known += (p == 0 ? "" : ", ") + name;
    bool const fits =
        key.starts_with(name) && (key.size() == name.size() || key[name.size()] == '/');
    if (!fits || (found >= 0 && name.size() < length)) continue;
    found = static_cast<int>(p);
    length = name.size();
  }
  if (found >= 0) return found;
  throw NoSuchElement("no parameter is called `" + std::string(key.substr(0, key.find('/'))) +
                      "`; known: " + known);
}

void read_suffix(std::string_view suffix, Element& element) {
  if (suffix == "step") {
    element.what = Element::What::steps;
    return;
  }
  std::string_view const first = suffix.substr(0, suffix.find('/'));
  for (TensorKind const kind : all_tensor_kinds)
    if (kind != TensorKind::parameter && first == name_of(kind)) {
      element.kind = kind;
      suffix.remove_prefix(std::min(first.size() + 1, suffix.size()));
      break;
    }
  element.part = suffix;
  bool const known = std::ranges::find(stored_parts, suffix) != stored_parts.end();
  if (!suffix.empty() && !known)
    throw NoSuchElement(
        "a parameter has no `" + std::string(suffix) +
        "`; known: exp_avg, exp_avg_sq, main, gradient, cast_gradient, step, and of "
        "what is stored raw, scale, amax, history, next_scale");
}

/// The first element that a scale of that number covers.
std::int64_t first_of_scale(std::int64_t scale, ParameterSpec const& spec, Recipe recipe) {
  MatrixShape const shape = matrix_of(spec), blocks = scales_of(recipe, shape);
  std::int64_t const row = scale / blocks.columns * (shape.rows / blocks.rows);
  return row * shape.columns + scale % blocks.columns * (shape.columns / blocks.columns);
}

std::string printed(char const* format, double x) {
  std::array<char, 64> text{};
  int const length = std::snprintf(text.data(), text.size(), format, x);
  return {text.data(), static_cast<std::size_t>(length)};
}

/// What it was rounded to, from what, and how far that is.
std::string rounding_in_words(Rounding const& rounding) {
  if (rounding.format.empty()) return "";
  std::string text = ", " + rounding.format;
  if (rounding.distance == 0.0) return text + ", exactly";
  if (rounding.exact) text += " of " + printed("%a", *rounding.exact);
  if (rounding.distance) text += ", " + printed("%+.3g", *rounding.distance) + " steps";
  return text;
}

}  // namespace

Element element_of(std::string_view text, std::vector<ParameterSpec> const& parameters) {
  constexpr std::string_view of_all_ranks = " (whole)";
  Element element;
  auto [key, index] = split_at_bracket(text);
  if (key.ends_with(of_all_ranks)) key.remove_suffix(of_all_ranks.size());
  if (key == "norm") {
    element.what = Element::What::norm;
    return element;
  }
  element.parameter = parameter_in(key, parameters);
  ParameterSpec const& spec = parameters[static_cast<std::size_t>(element.parameter)];
  if (key.size() > spec.name.size()) read_suffix(key.substr(spec.name.size() + 1), element);
  if (element.what == Element::What::steps) return element;
  std::string const last = std::to_string(spec.numel() - 1);
  if (!index && element.part.empty())
    throw NoSuchElement("which element? KEY[INDEX], from 0 to " + last);
  bool const of_element = element.part.empty() || element.part == "raw";
  element.index = of_element || element.part == "scale" ? index.value_or(0) : 0;
  bool const of_block = element.part == "scale" && element.kind == TensorKind::parameter;
  if (of_block && spec.formats.recipe)
    element.index = first_of_scale(element.index, spec, *spec.formats.recipe);
  if (element.index >= spec.numel())
    throw NoSuchElement(spec.name + " has " + std::to_string(spec.numel()) +
                        " elements, the last is number " + last);
  return element;
}

std::string in_both_notations(double x) {
  return printed("%a", x) + " (" + printed("%.9g", x) + ")";
}

std::string text_of(Rounding const& rounding) {
  std::string name = rounding.result;
  name.resize(std::max<std::size_t>(name.size(), 18), ' ');
  std::string text = "  " + name + " " + in_both_notations(rounding.value);
  if (rounding.formula.empty()) return text + "\n";
  text += rounding_in_words(rounding) + "\n    = " + rounding.formula;
  for (Term const& input : rounding.inputs)
    text += (&input == &rounding.inputs.front() ? ": " : ", ") + printed("%a", input.value);
  return text + "\n";
}

}  // namespace adamant::oracle
