#include "scenarios/judge/saved/parts.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace adamant::scenarios {

namespace {

using Boxes = std::vector<SavedBox>;

constexpr char const* step_kind = ".step";
constexpr std::int64_t rows_max = std::int64_t{1} << 40;  // of what scenarios have

/// How far boxes reach in a dimension.
std::int64_t extent_in(Boxes const& boxes, std::size_t dimension) {
  std::int64_t extent = 0;
  for (SavedBox const& box : boxes)
    if (dimension < box.shape.size())
      extent = std::max(extent, box.offsets[dimension] + box.shape[dimension]);
  return extent;
}

std::int64_t rows_in(Boxes const& boxes) {
  return extent_in(boxes, 0);
}

std::int64_t columns_in(Boxes const& boxes) {
  return extent_in(boxes, boxes.front().shape.size() - 1);
}

bool have_same_values(Boxes const& a, Boxes const& b) {
  return std::ranges::equal(a, b, [](SavedBox const& x, SavedBox const& y) {
    return x.offsets == y.offsets && x.shape == y.shape && x.values == y.values;
  });
}

/// Is this cut with the rows of a parameter, so that a part has its own of it?
bool is_of_rows(std::string const& end, Boxes const& found, Boxes const& values, bool half_codes) {
  if (end.empty() || end == "/raw") return true;
  if (end != "/scale" || found.front().shape.size() != 2) return false;
  std::int64_t block = 128;  // of rows, in fp8_block
  if (found.front().format == NumberFormat::fp8) block = half_codes ? 16 : 1;
  std::int64_t rows = 1;  // modulo a block
  for (std::size_t d = 0; d + 1 < values.front().shape.size(); ++d)
    rows = rows * (extent_in(values, d) % block) % block;
  return rows == 0;
}

/// Puts the keys of all parts together that begin and end alike.
void join_keys(SavedFiles& saved, SavedName const& name, std::string const& prefix,
               std::string const& kind, std::string const& end) {
  std::vector<Boxes> found;
  std::vector<std::string> keys;
  for (std::string const& part : name.parts) {
    keys.push_back(prefix + name.name + "." + part + kind);
    auto node = saved.tensors.extract(keys.back() + end);
    if (node.empty()) continue;
    found.push_back(node.mapped());
    saved.parts.insert(std::move(node));
  }
  if (found.empty()) return;
  std::string const what = name.name + kind + end;
  if (found.size() != keys.size())
    throw std::runtime_error("a part lacks what others have of " + what);
  Boxes whole = found.front();
  auto const raw = saved.parts.find(keys.front() + "/raw");
  Boxes const& of_values = end.empty() ? found.front() : saved.tensors.at(keys.front());
  bool const half = raw != saved.parts.end() && columns_in(raw->second) < columns_in(of_values);
  bool const is_step = kind == step_kind;  // one number, whatever its shape
  if (!is_step && is_of_rows(end, whole, of_values, half)) {
    std::int64_t const rows = rows_in(found.front());
    for (std::size_t k = 1; k < found.size(); ++k) {
      for (SavedBox& box : found[k]) {
        if (box.offsets.empty() || rows > rows_max)
          throw std::runtime_error("parts have no rows of " + what);
        box.offsets.front() += static_cast<std::int64_t>(k) * rows;
        whole.push_back(std::move(box));
      }
    }
  } else {
    for (Boxes const& other : found)
      if (is_step ? one_number(other) != one_number(whole) : !have_same_values(other, whole))
        throw std::runtime_error("parts differ in " + what);
  }
  saved.tensors[prefix + name.name + kind + end] = std::move(whole);
}

}  // namespace

/// Values last, because they tell the shape of what stands beside them.
void join_parts(SavedFiles& saved, SavedName const& name) {
  if (name.parts.empty()) return;
  std::string const first = name.name + "." + name.parts.front();
  if (!saved.tensors.contains(saved.weight_prefix + first)) return;
  if (saved.tensors.contains(saved.weight_prefix + name.name))
    throw std::runtime_error(name.name + " is saved as a whole and in parts");
  for (char const* const end : {"/raw", "/scale", "/amax", "/history", "/next_scale", ""})
    join_keys(saved, name, saved.weight_prefix, "", end);
  for (char const* const kind : {".exp_avg", ".exp_avg_sq", ".main"})
    for (char const* const end : {"/raw", "/scale", ""})
      join_keys(saved, name, saved.state_prefix, kind, end);
  join_keys(saved, name, saved.state_prefix, step_kind, "");  // whatever lies beside it
  saved.in_parts.insert(name.name);
}

}  // namespace adamant::scenarios
