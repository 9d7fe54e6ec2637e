#include "scenarios/peers/script/handed_over.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace adamant::scenarios::script {

namespace {

using python::Code;
using python::Literal;

Literal numbers_of(TensorFromFile const& tensor) {
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  std::vector<Literal> items;
  for (float const value : values) items.push_back(python::atom(python::number(value)));
  return python::list(std::move(items));
}

Literal tensors_of(TensorFile const& file) {
  std::vector<Literal> items;
  for (auto const& [name, tensor] : file) items.push_back(python::keyed(name, numbers_of(tensor)));
  return python::dictionary(std::move(items));
}

Literal shape_of(std::string const& name, TensorFromFile const& tensor) {
  std::vector<Literal> extents;
  for (std::int64_t const extent : tensor.shape)
    extents.push_back(python::atom(fmt::format("{}", extent)));
  return python::keyed(name, python::list(std::move(extents)));
}

std::string text_of(Literal const& literal) {
  Code code;
  code.statement(literal);
  return code.text();
}

}  // namespace

HandedOver::HandedOver(Conversation const& exchanges) {
  for (Exchange const& exchange : exchanges) add(exchange);
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
  std::string const text = text_of(literal);
  for (auto const& [name, other] : files_)
    if (text_of(other) == text) names_.back() = name;
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

std::size_t HandedOver::number_count() const {
  std::size_t count = 0;
  for (auto const& [name, literal] : files_) count += python::atom_count(literal);
  return count;
}

}  // namespace adamant::scenarios::script
