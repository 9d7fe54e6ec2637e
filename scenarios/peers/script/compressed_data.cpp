#include "scenarios/peers/script/compressed_data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <span>
#include <string_view>

#include "scenarios/peers/script/compressed.h"

namespace adamant::scenarios::script {

namespace {

using python::Literal;

/// The numbers of one file, and the expression that makes its tensors of them, which are `row`.
struct Row {
  std::vector<float> numbers = {};
  std::string text = "";
};

std::optional<float> number_of(std::string const& text) {
  char* end = nullptr;
  float const value = std::strtof(text.c_str(), &end);
  if (*end != '\0' || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// How many zeros a short word stands for.
std::optional<std::size_t> zeros_in(Literal const& literal) {
  constexpr std::string_view zeros = "[0.0] * ";
  if (!literal.atom.starts_with(zeros)) return std::nullopt;
  return std::stoul(literal.atom.substr(zeros.size()));
}

std::vector<std::size_t> shape_in(Literal const& tensor) {
  if (auto const count = zeros_in(tensor)) return {*count};
  if (!tensor.atom.empty()) return {};
  std::vector<std::size_t> shape = {tensor.items.size()};
  if (tensor.items.empty()) return shape;
  auto const inner = shape_in(tensor.items.front());
  shape.insert(shape.end(), inner.begin(), inner.end());
  return shape;
}

bool add_numbers(Literal const& tensor, std::vector<float>& numbers) {
  if (auto const count = zeros_in(tensor)) {
    numbers.insert(numbers.end(), *count, 0.0F);
    return true;
  }
  if (tensor.atom.empty())
    return std::ranges::all_of(tensor.items,
                               [&](Literal const& item) { return add_numbers(item, numbers); });
  auto const number = number_of(tensor.atom);
  if (number) numbers.push_back(*number);
  return number.has_value();
}

bool add_tensor(Literal const& tensor, Row& row) {
  std::size_t const begin = row.numbers.size();
  if (!add_numbers(tensor, row.numbers)) return false;
  row.text += fmt::format("{}row[{}:{}].view({}).tolist()", tensor.prefix, begin,
                          row.numbers.size(), fmt::join(shape_in(tensor), ", "));
  return true;
}

/// A dictionary of tensors; where there are several units a list of them.
bool add_file(Literal const& file, Row& row) {
  bool const of_units = file.open == '[' && !file.items.empty() && file.items.front().open == '{';
  if (!file.atom.empty() || (file.open != '{' && !of_units)) return add_tensor(file, row);
  row.text += file.prefix + (of_units ? "[" : "{");
  for (std::size_t i = 0; i < file.items.size(); ++i) {
    if (i > 0) row.text += ", ";
    if (!add_file(file.items[i], row)) return false;
  }
  row.text += of_units ? "]" : "}";
  return true;
}

std::optional<Row> row_of(Literal const& file) {
  Row row;
  if (!add_file(file, row)) return std::nullopt;
  return row;
}

/// Adds each backward's own file, or those of its ranks, and says where they are.
std::string add_gradients(bool alone, Literal const& gradients, std::vector<Literal>& files) {
  std::vector<std::string> slices;
  for (Literal const& backward : gradients.items) {
    std::size_t const begin = files.size();
    if (alone) {
      files.push_back(backward);
      continue;
    }
    files.insert(files.end(), backward.items.begin(), backward.items.end());
    slices.push_back(fmt::format("FILES[{}:{}]", begin, files.size()));
  }
  return alone ? "FILES[1:]" : fmt::format("[{}]", fmt::join(slices, ", "));
}

/// The first bytes of all numbers, then all their second ones, and so on, which are more alike.
std::vector<std::byte> planes_of(std::vector<float> const& numbers) {
  auto const bytes = std::as_bytes(std::span(numbers));
  std::vector<std::byte> planes;
  for (std::size_t plane = 0; plane < sizeof(float); ++plane)
    for (std::size_t i = plane; i < bytes.size(); i += sizeof(float)) planes.push_back(bytes[i]);
  return planes;
}

}  // namespace

bool write_compressed(Draft& draft, std::vector<std::pair<std::string, Literal>> const& named) {
  std::vector<Literal> files = {named.front().second};
  std::string gradients = "[]";
  if (named.size() > 1) gradients = add_gradients(draft.plan.alone(), named.back().second, files);
  std::optional<Row> const first = row_of(files.front());
  std::vector<float> numbers;
  for (Literal const& file : files) {
    auto const row = row_of(file);
    if (!first || !row || row->text != first->text) return false;
    numbers.insert(numbers.end(), row->numbers.begin(), row->numbers.end());
  }
  for (char const* const module : {"base64", "zlib"}) draft.imports.add(module);
  std::vector<std::byte> const planes = planes_of(numbers);
  write_compressed_text(draft.code, "NUMBERS = torch.frombuffer(bytearray(", planes,
                        "), dtype=torch.uint8)");
  draft.code.line(fmt::format(
      "FILES = [{} for row in NUMBERS.view(4, -1).T.ravel().view(torch.float32).view(-1, {})]",
      first->text, first->numbers.size()));
  draft.code.line("INITIAL, GRADIENTS = FILES[0], " + gradients);
  return true;
}

}  // namespace adamant::scenarios::script
