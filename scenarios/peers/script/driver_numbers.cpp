#include "scenarios/peers/script/driver_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "scenarios/peers/script/data.h"
#include "scenarios/peers/script/no_script.h"

namespace adamant::scenarios::script {

namespace {

using python::Literal;

std::vector<float> floats_of(TensorFromFile const& tensor) {
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

std::size_t count_of(Conversation const& exchanges) {
  std::size_t count = 0;
  for (Exchange const& exchange : exchanges)
    for (TensorFile const& file : exchange.files)
      for (auto const& [name, tensor] : file) count += tensor.bytes.size() / sizeof(float);
  return count;
}

}  // namespace

DriverNumbers::DriverNumbers(Conversation const& exchanges) {
  if (std::size_t const count = count_of(exchanges); count > numbers_max)
    throw NoScript(fmt::format(
        "{} initial values and gradients are too many for a script; minimise the scenario first "
        "(adamant minimize --script)",
        count));
  auto const opens = std::ranges::find(exchanges, "open", &Exchange::verb);
  if (opens == exchanges.end()) throw NoScript("no world was opened");
  for (auto const& param : opens->fields["params"])
    order_.push_back(param["name"].get<std::string>());
  for (Exchange const& exchange : exchanges) add(exchange);
}

Literal DriverNumbers::set_of(TensorFile const& file) const {
  std::vector<Literal> items;
  for (std::string const& name : order_)
    if (auto const found = file.find(name); found != file.end())
      items.push_back(
          python::keyed(name, tensor_of(found->second.shape, floats_of(found->second))));
  return python::dictionary(std::move(items));
}

void DriverNumbers::add(Exchange const& exchange) {
  names_.emplace_back();
  if (exchange.files.empty()) return;
  bool const opens = exchange.verb == "open";
  std::vector<Literal> sets;
  for (TensorFile const& file : exchange.files) sets.push_back(set_of(file));
  Literal literal = opens ? std::move(sets.front()) : python::list(std::move(sets));
  std::string const text = python::source_of(literal);
  std::string const stem = opens ? "INITIAL" : "GRADIENTS";
  std::size_t alike = 0;
  for (auto const& [name, other] : named_) {
    if (name.starts_with(stem)) ++alike;
    if (python::source_of(other) == text) names_.back() = name;
  }
  if (!names_.back().empty()) return;
  names_.back() = alike == 0 ? stem : fmt::format("{}_{}", stem, alike + 1);
  named_.emplace_back(names_.back(), std::move(literal));
}

}  // namespace adamant::scenarios::script
