#include "scenarios/peers/script/handed_over.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "scenarios/peers/script/no_script.h"

namespace adamant::scenarios::script {

namespace {

using python::Literal;

// So many zeros are said in a word: those of ranks that have no microbatch.
constexpr std::size_t zeros_in_a_word_min = 8;

constexpr char const* of_open = "initial";

Literal numbers_in(std::vector<std::byte> const& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  bool const zeros = std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{}; });
  if (zeros && values.size() >= zeros_in_a_word_min)
    return python::atom(fmt::format("[0.0] * {}", values.size()));
  std::vector<Literal> items;
  for (float const value : values) items.push_back(python::atom(python::number(value)));
  return python::list(std::move(items));
}

std::size_t number_count(Conversation const& exchanges) {
  std::size_t count = 0;
  for (Exchange const& exchange : exchanges)
    for (TensorFile const& file : exchange.files)
      for (auto const& [name, tensor] : file) count += tensor.bytes.size() / sizeof(float);
  return count;
}

Literal integers(std::vector<std::int64_t> const& values) {
  std::vector<Literal> items;
  for (std::int64_t const value : values) items.push_back(python::atom(fmt::format("{}", value)));
  return python::list(std::move(items));
}

bool has_same_tensors(TensorFile const& a, TensorFile const& b) {
  return std::ranges::equal(a, b, [](auto const& one, auto const& other) {
    return one.first == other.first && one.second.shape == other.second.shape;
  });
}

}  // namespace

HandedOver::HandedOver(Conversation const& exchanges) {
  std::size_t const count = number_count(exchanges);
  if (count > handed_over_max)
    throw NoScript(fmt::format(
        "{} initial values and gradients are too many for a script; minimise the scenario first "
        "(adamant minimize --script)",
        count));
  for (Exchange const& exchange : exchanges) add(exchange);
  std::ranges::stable_partition(files_,
                                [](auto const& file) { return file.first.starts_with(of_open); });
}

void HandedOver::add(Exchange const& exchange) {
  at_.emplace_back();
  if (exchange.files.empty()) return;
  std::vector<File> files;
  for (TensorFile const& file : exchange.files) files.push_back(numbers_of(file));
  exchange.verb == "open" ? add_initial(files.front()) : add_gradients(files);
}

void HandedOver::add_initial(File const& file) {
  std::size_t before = 0;
  for (auto const& [name, other] : files_) {
    if (!name.starts_with(of_open)) continue;
    ++before;
    if (other == file) at_.back().initial = name;
  }
  if (!at_.back().initial.empty()) return;
  at_.back().initial = before == 0 ? of_open : fmt::format("{}-{}", of_open, before + 1);
  keep(at_.back().initial, file);
}

void HandedOver::add_gradients(std::vector<File> const& files) {
  auto const found = std::ranges::find(backwards_, files);
  at_.back().backward = static_cast<std::size_t>(found - backwards_.begin());
  if (found != backwards_.end()) return;
  for (std::size_t rank = 0; rank < files.size(); ++rank)
    keep(fmt::format("gradients-{}-{}", backwards_.size(), rank), files[rank]);
  backwards_.push_back(files);
}

void HandedOver::keep(std::string name, File file) {
  files_.emplace_back(std::move(name), std::move(file));
}

HandedOver::File HandedOver::numbers_of(TensorFile const& file) {
  if (tensors_.empty()) tensors_ = file;
  if (!has_same_tensors(tensors_, file))
    throw NoScript("the files that are handed over to the engine have different tensors");
  File numbers;
  for (auto const& [name, tensor] : file)
    numbers.insert(numbers.end(), tensor.bytes.begin(), tensor.bytes.end());
  return numbers;
}

Literal HandedOver::numbers() const {
  std::vector<Literal> items;
  for (auto const& [name, file] : files_) items.push_back(python::keyed(name, numbers_in(file)));
  return python::dictionary(std::move(items));
}

// Where all backwards are of as many ranks, nobody has to read the name of each.
Literal HandedOver::names() const {
  std::vector<Literal> items;
  auto const ranks = backwards_.empty() ? 0 : backwards_.front().size();
  bool const regular =
      backwards_.size() > 1 &&
      std::ranges::all_of(backwards_, [&](auto const& files) { return files.size() == ranks; });
  for (auto const& [name, file] : files_)
    if (!regular || name.starts_with(of_open)) items.push_back(python::atom(python::quoted(name)));
  if (regular)
    items.push_back(python::atom(fmt::format(
        "*(f\"gradients-{{number}}-{{rank}}\" for number in range({}) for rank in range({}))",
        backwards_.size(), ranks)));
  return python::list(std::move(items));
}

std::vector<std::byte> HandedOver::bytes() const {
  std::vector<std::byte> all;
  for (auto const& [name, file] : files_) all.insert(all.end(), file.begin(), file.end());
  return all;
}

Literal HandedOver::header() const {
  std::vector<Literal> items;
  std::int64_t end = 0;
  for (auto const& [name, tensor] : tensors_) {
    std::int64_t const begin = end;
    end += std::ssize(tensor.bytes);
    items.push_back(python::keyed(
        name, python::dictionary({python::keyed("dtype", python::atom("\"F32\"")),
                                  python::keyed("shape", integers(tensor.shape)),
                                  python::keyed("data_offsets", integers({begin, end}))})));
  }
  return python::call("json.dumps", {python::dictionary(std::move(items))});
}

}  // namespace adamant::scenarios::script
