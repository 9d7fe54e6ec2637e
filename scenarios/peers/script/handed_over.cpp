#include "scenarios/peers/script/handed_over.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "scenarios/peers/script/no_script.h"

namespace adamant::scenarios::script {

namespace {

using python::Literal;

Literal numbers_of(TensorFromFile const& tensor) {
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  std::vector<Literal> items;
  for (float const value : values) items.push_back(python::atom(python::number(value)));
  return python::list(std::move(items));
}

/// One text, in pieces between which a line may end.
Literal base64_of(TensorFromFile const& tensor) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr std::size_t piece = 88;
  std::string text;
  for (std::size_t i = 0; i < tensor.bytes.size(); i += 3) {
    std::size_t const count = std::min<std::size_t>(3, tensor.bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < count; ++k)
      group |= std::to_integer<std::uint32_t>(tensor.bytes[i + k]) << (16 - 8 * k);
    for (std::size_t k = 0; k < 4; ++k)
      text += k <= count ? digits[(group >> (18 - 6 * k)) & 63U] : '=';
  }
  std::string pieces;
  for (std::size_t i = 0; i < text.size(); i += piece)
    pieces.append(i == 0 ? "" : " ").append(python::quoted(text.substr(i, piece)));
  return python::atom(pieces.empty() ? "\"\"" : pieces);
}

Literal shape_of(std::string const& name, TensorFromFile const& tensor) {
  std::vector<Literal> extents;
  for (std::int64_t const extent : tensor.shape)
    extents.push_back(python::atom(fmt::format("{}", extent)));
  return python::keyed(name, python::list(std::move(extents)));
}

std::size_t number_count(Conversation const& exchanges) {
  std::size_t count = 0;
  for (Exchange const& exchange : exchanges)
    for (TensorFile const& file : exchange.files)
      for (auto const& [name, tensor] : file) count += tensor.bytes.size() / sizeof(float);
  return count;
}

}  // namespace

HandedOver::HandedOver(Conversation const& exchanges) {
  std::size_t const count = number_count(exchanges);
  if (count > handed_over_max)
    throw NoScript(fmt::format(
        "{} initial values and gradients are too many for a script; minimise the scenario first "
        "(adamant minimize --script)",
        count));
  in_base64_ = count > literals_max;
  for (Exchange const& exchange : exchanges) add(exchange);
}

Literal HandedOver::tensors_of(TensorFile const& file) const {
  std::vector<Literal> items;
  for (auto const& [name, tensor] : file)
    items.push_back(python::keyed(name, in_base64_ ? base64_of(tensor) : numbers_of(tensor)));
  return python::dictionary(std::move(items));
}

void HandedOver::add(Exchange const& exchange) {
  names_.emplace_back();
  if (exchange.files.empty()) return;
  if (shapes_.empty())
    for (auto const& [name, tensor] : exchange.files.front())
      shapes_.push_back(shape_of(name, tensor));
  bool const opens = exchange.verb == "open";
  std::vector<Literal> files;
  for (TensorFile const& file : exchange.files) files.push_back(tensors_of(file));
  Literal literal = opens ? std::move(files.front()) : python::list(std::move(files));
  std::string const text = python::source_of(literal);
  for (auto const& [name, other] : files_)
    if (python::source_of(other) == text) names_.back() = name;
  if (!names_.back().empty()) return;
  std::string const stem = opens ? "INITIAL" : "GRADIENTS";
  auto const before = std::ranges::count_if(
      files_, [&](auto const& other) { return other.first.starts_with(stem); });
  names_.back() = before == 0 ? stem : fmt::format("{}_{}", stem, before + 1);
  files_.emplace_back(names_.back(), std::move(literal));
}

std::vector<std::pair<std::string, Literal>> HandedOver::constants() const {
  std::vector<std::pair<std::string, Literal>> constants;
  if (files_.empty()) return constants;
  constants.emplace_back("SHAPES", python::dictionary(shapes_));
  constants.insert(constants.end(), files_.begin(), files_.end());
  return constants;
}

}  // namespace adamant::scenarios::script
