#include "scenarios/judge/saved/boxes.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace adamant::scenarios {

namespace {

using Mistake = std::optional<std::string>;

/// The number behind `before`, which is taken off `name`, too; or nothing.
std::optional<int> take_number(std::string_view& name, std::string_view before) {
  if (!name.starts_with(before)) return std::nullopt;
  name.remove_prefix(before.size());
  int number = 0;
  auto const read = std::from_chars(name.data(), name.data() + name.size(), number);
  if (read.ec != std::errc() || read.ptr - name.data() < 5) return std::nullopt;
  name.remove_prefix(static_cast<std::size_t>(read.ptr - name.data()));
  return number;
}

/// Elements of a tensor that follow each other, in a file of a rank.
struct Run {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  int rank = 0;
  int file = 1;  // of the rank's

  friend auto operator<=>(Run const&, Run const&) = default;
};

std::string text_of(Run const& run) {
  return "elements " + std::to_string(run.begin) + " to " + std::to_string(run.end) + " in file " +
         std::to_string(run.file) + " of rank " + std::to_string(run.rank);
}

/// Elements of the tensor under a key that a rank holds. Numbers in the parameter become its own.
std::vector<ElementRange> held_of(WrittenTensor const& written,
                                  std::span<ElementRange const> held) {
  std::vector<ElementRange> own;
  for (ElementRange const range : held) {
    ElementRange const here = {
        .begin = std::max<std::int64_t>(0, (range.begin - written.first) / written.elements_each),
        .end =
            std::min(numel_of(written.shape), (range.end - written.first) / written.elements_each)};
    if (here.begin < here.end) own.push_back(here);
  }
  return own;
}

bool holds(std::span<ElementRange const> held, std::int64_t element) {
  return std::ranges::any_of(held, [&](ElementRange const range) {
    return range.begin <= element && element < range.end;
  });
}

/// By elements: what the lowest ranks that hold them write. Ranks hold the same or nothing in
/// common.
std::vector<Run> expected_runs(WrittenTensor const& written, SavingWorld const& world,
                               int parameter, TensorKind kind) {
  std::vector<std::vector<ElementRange>> held;
  std::vector<Run> runs;
  for (int rank = 0; rank < world.mesh.rank_count(); ++rank) {
    std::vector<ElementRange> own = held_of(written, world.held(parameter, rank, kind));
    int file = 1;
    for (ElementRange const range : own) {
      if (std::ranges::any_of(held, [&](auto const& lower) { return holds(lower, range.begin); }))
        continue;
      for (std::int64_t begin = range.begin; begin < range.end;) {
        std::int64_t const end = end_of_largest_box(begin, range.end, written.shape);
        runs.push_back({begin, end, rank, file++});
        begin = end;
      }
    }
    held.push_back(std::move(own));
  }
  std::ranges::sort(runs);
  return runs;
}

/// What a box has, if its elements follow each other. REQUIRES: it lies in the shape.
std::optional<Run> run_of(SavedBox const& box, std::vector<std::int64_t> const& shape) {
  Run run{.rank = box.rank, .file = box.file_of_rank};
  std::int64_t numel = 1;
  std::int64_t last = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    run.begin = run.begin * shape[d] + box.offsets[d];
    last = last * shape[d] + box.offsets[d] + box.shape[d] - 1;
    numel *= box.shape[d];
  }
  run.end = run.begin + numel;
  if (last + 1 != run.end) return std::nullopt;
  return run;
}

std::size_t count_of(std::vector<Run> const& runs, int rank) {
  return static_cast<std::size_t>(
      std::ranges::count_if(runs, [&](Run const& run) { return run.rank == rank; }));
}

/// The first of what was written that is not as expected. Both by elements.
Mistake first_mistake(std::string const& key, std::vector<Run> const& expected,
                      std::vector<Run> const& found) {
  std::int64_t written = 0;  // elements before
  for (std::size_t i = 0; i < found.size(); ++i) {
    Run const& run = found[i];
    if (run.begin < written)
      return key + ": " + text_of(run) + " are written twice, element " +
             std::to_string(run.begin) + " also by rank " + std::to_string(found[i - 1].rank);
    if (run.begin > written)
      return key + ": element " + std::to_string(written) + " is not written";
    auto const owner = std::ranges::find_if(
        expected, [&](Run const& is) { return is.begin <= run.begin && run.begin < is.end; });
    if (owner == expected.end()) return key + ": " + text_of(run) + " are held by no rank";
    if (owner->rank != run.rank)
      return key + ": " + text_of(run) + " are written, but rank " + std::to_string(owner->rank) +
             " is the lowest that holds them";
    written = run.end;
  }
  if (found == expected) return std::nullopt;
  if (written < expected.back().end)
    return key + ": element " + std::to_string(written) + " is not written";
  for (Run const& run : found) {
    std::size_t const boxes = count_of(found, run.rank);
    std::size_t const fewest = count_of(expected, run.rank);
    if (boxes != fewest)
      return key + ": rank " + std::to_string(run.rank) + " has written " + std::to_string(boxes) +
             " boxes, expected the fewest that it takes, " + std::to_string(fewest);
  }
  auto const [is, should_be] = std::ranges::mismatch(found, expected);
  return key + ": has " + text_of(*is) + ", expected " + text_of(*should_be);
}

}  // namespace

std::int64_t end_of_largest_box(std::int64_t begin, std::int64_t end,
                                std::span<std::int64_t const> shape) {
  // Slices of one dimension that lie in one slice of the next larger one.
  std::int64_t slice = 1;
  std::int64_t best = begin;
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (begin % slice != 0) break;
    std::int64_t const larger = slice * shape[d];
    std::int64_t const border = (begin / larger + 1) * larger;
    std::int64_t const most = begin + (end - begin) / slice * slice;
    best = std::max(best, std::min(most, border));
    slice = larger;
  }
  return best;
}

std::optional<std::string> fault_of_names(std::span<std::string const> names, int rank_count) {
  std::map<int, std::map<int, int>> counts;  // of files as each says, by rank and its own number
  for (std::string const& name : names) {
    FileNumbers const numbers = numbers_in(name);
    if (numbers.rank < 0 || numbers.rank >= rank_count)
      return name + " is no file of " + std::to_string(rank_count) + " ranks";
    counts[numbers.rank][numbers.index] = numbers.count;
  }
  for (int rank = 0; rank < rank_count; ++rank) {
    auto const& files = counts[rank];
    int next = 1;
    for (auto const& [index, count] : files)
      if (index != next++ || count != std::ssize(files))
        return "file " + std::to_string(index) + " of " + std::to_string(count) + " is one of " +
               std::to_string(files.size()) + " of rank " + std::to_string(rank);
    if (files.empty()) return "there is no file of rank " + std::to_string(rank);
  }
  return std::nullopt;
}

std::optional<std::string> fault_of_boxes(WrittenTensor const& written, SavingWorld const& world,
                                          int parameter, TensorKind kind) {
  std::vector<Run> found;
  for (SavedBox const& box : written.boxes) {
    if (!is_inside(box, written.shape)) return written.key + ": a box lies outside";
    auto const run = run_of(box, written.shape);
    if (!run) return written.key + ": a box has elements that do not follow each other";
    if (run->begin < run->end) found.push_back(*run);
  }
  std::ranges::sort(found);
  return first_mistake(written.key, expected_runs(written, world, parameter, kind), found);
}

FileNumbers numbers_in(std::string_view name) {
  auto const rank = take_number(name, "shard-");
  auto const index = rank ? take_number(name, "-model-") : std::nullopt;
  auto const count = index ? take_number(name, "-of-") : std::nullopt;
  if (!count || name != ".safetensors") return {};
  return {.rank = *rank - 1, .index = *index, .count = *count};
}

}  // namespace adamant::scenarios
