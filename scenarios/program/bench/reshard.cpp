// Who reads what when a world of one size loads what a world of another saved: the engine's planner
// against a bare merge of the same borders, which knows neither files nor bytes. Both by turns in
// one process, the median of the ratios of processor seconds.
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "real/checkpoint/saved_runs.h"
#include "scenarios/program/bench/measure.h"
#include "scenarios/program/bench/placed_memory.h"
#include "scenarios/program/bench/suite.h"

namespace adamant::scenarios {

namespace {

constexpr char suite[] = "reshard";
constexpr std::uint64_t element_bytes = 4;
constexpr std::int64_t row = 768;
constexpr int tensors_of_a_model = 1000;

/// A tensor cut into rows for a world, ceil(n / ranks) each.
struct Cut {
  Cut(std::int64_t rows, std::int64_t of_ranks)
      : ranks(of_ranks), numel(rows * row), each((rows + ranks - 1) / ranks * row) {}

  ElementRange of_rank(std::int64_t rank) const {
    return {std::min(numel, rank * each), std::min(numel, (rank + 1) * each)};
  }
  /// Where the share ends that begins there.
  std::int64_t behind(std::int64_t begin) const { return std::min(numel, begin + each); }

  std::int64_t ranks;
  std::int64_t numel;
  std::int64_t each;
};

/// What a load has of a tensor that `cut.ranks` ranks saved, each into its own file.
real::SavedRuns saved_by(Cut const& cut, int tensor) {
  real::SavedRuns runs;
  runs.borders.push_back(0);
  for (std::int64_t rank = 0; rank < cut.ranks; ++rank) {
    ElementRange const range = cut.of_rank(rank);
    if (range.numel() == 0) break;
    runs.borders.push_back(range.end);
    runs.places.push_back(
        {.begin = 4096 + static_cast<std::uint64_t>(tensor * range.numel()) * element_bytes,
         .file = static_cast<int>(rank)});
  }
  return runs;
}

/// A model that one world saved and another loads. Nearly all ranks of both have rows of every
/// tensor, and nearly all borders differ.
struct Resharding {
  Resharding(int from, int to, int tensors) : from_ranks(from), to_ranks(to) {
    for (int t = 0; t < tensors; ++t) saved.push_back(saved_by({rows_of(t), from}, t));
    own.resize(static_cast<std::size_t>(to));
    borders.resize(own.size() + 1);
    reads.resize(own.size() + static_cast<std::size_t>(from));
    pieces.resize(reads.size());
    first.resize(own.size() + 1);
  }

  std::int64_t rows_of(int tensor) const {
    return 1009 * static_cast<std::int64_t>(std::max(from_ranks, to_ranks)) - 1 - tensor % 5;
  }
  Cut loaded(int tensor) const { return {rows_of(tensor), to_ranks}; }

  struct BarePiece {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::uint32_t of_saved = 0;
    std::uint32_t of_own = 0;
  };

  int from_ranks;
  int to_ranks;
  std::vector<real::SavedRuns> saved;
  // Of the tensor at hand, used again for the next one.
  std::vector<ElementRange> own;
  std::vector<std::int64_t> borders;
  std::vector<real::ReadRange> reads;
  std::vector<std::size_t> first;
  std::vector<BarePiece> pieces;
};

/// Number of pieces for everybody, and something of each so that none is left out.
struct Sum {
  std::uint64_t pieces = 0;
  std::uint64_t bytes = 0;
  friend bool operator==(Sum const&, Sum const&) = default;
};

Sum plan_all(Resharding& of) {
  Sum sum;
  for (int t = 0; t < static_cast<int>(of.saved.size()); ++t) {
    Cut const cut = of.loaded(t);
    std::int64_t begin = 0;
    for (ElementRange& own : of.own) {
      own.begin = begin;
      own.end = begin = cut.behind(begin);
    }
    real::plan_reads_of_all(of.saved[static_cast<std::size_t>(t)], of.own, element_bytes, of.reads,
                            of.first);
    sum.pieces += of.first.back();
    real::ReadRange const& last = of.reads[of.first.back() - 1];
    sum.bytes += last.bytes;
  }
  return sum;
}

/// The pieces between the borders of two sorted lists that begin at 0 and end alike.
std::size_t merge(std::vector<std::int64_t> const& saved, std::vector<std::int64_t> const& own,
                  Resharding::BarePiece* pieces) {
  Resharding::BarePiece* const first = pieces;
  std::uint32_t a = 0;
  for (std::uint32_t b = 0; own[b] < saved.back(); ++b) {
    std::int64_t begin = own[b];
    if (saved[a + 1] <= begin) ++a;
    for (; saved[a + 1] < own[b + 1]; ++a) {
      *pieces++ = {begin, saved[a + 1], a, b};
      begin = saved[a + 1];
    }
    *pieces++ = {begin, own[b + 1], a, b};
  }
  return static_cast<std::size_t>(pieces - first);
}

Sum merge_all(Resharding& of) {
  Sum sum;
  for (int t = 0; t < static_cast<int>(of.saved.size()); ++t) {
    Cut const cut = of.loaded(t);
    std::int64_t begin = 0;
    for (std::int64_t& border : of.borders) border = std::exchange(begin, cut.behind(begin));
    std::size_t const count =
        merge(of.saved[static_cast<std::size_t>(t)].borders, of.borders, of.pieces.data());
    sum.pieces += count;
    Resharding::BarePiece const& last = of.pieces[count - 1];
    sum.bytes += static_cast<std::uint64_t>(last.end - last.begin) * element_bytes;
  }
  return sum;
}

/// A rank's share of every tensor.
Sum plan_one(Resharding const& of, int rank, std::vector<real::ReadRange>& reads) {
  reads.clear();
  for (int t = 0; t < static_cast<int>(of.saved.size()); ++t) {
    ElementRange const own = of.loaded(t).of_rank(rank);
    real::plan_reads(of.saved[static_cast<std::size_t>(t)], {&own, 1}, element_bytes, reads);
  }
  return {.pieces = reads.size(), .bytes = reads.back().bytes};
}

struct Planned {
  std::vector<double> ratios;
  std::vector<double> seconds;
  std::uint64_t pieces = 0;
};

Planned measure(int from, int to, int tensors, int repeats, int rounds) {
  Resharding of(from, to, tensors);
  Planned planned;
  for (int round = 0; round <= rounds; ++round) {
    Sum planner;
    Sum bare;
    double const roof = processor_nanoseconds_of([&] {
      for (int i = 0; i < repeats; ++i) bare = merge_all(of);
    });
    double const own = processor_nanoseconds_of([&] {
      for (int i = 0; i < repeats; ++i) planner = plan_all(of);
    });
    if (planner != bare) throw std::runtime_error("a plan is not what a merge of its borders says");
    planned.pieces = planner.pieces;
    if (round == 0) continue;  // warm-up
    planned.ratios.push_back(own / roof);
    planned.seconds.push_back(own * 1e-9 / repeats);
  }
  return planned;
}

/// Worlds of all sizes, with tensors so many that there are as many pieces in each.
void measure_sizes(std::vector<Row>& rows, int rounds) {
  constexpr int sizes[] = {64, 256, 1024, 4096, 16384};
  std::vector<double> nanoseconds;
  for (int const from : sizes) {
    int const tensors = 16384 / from;
    Planned const planned = measure(from, from / 4 * 3, tensors, 100, rounds);
    double const each = quantile(planned.seconds, 0.5) * 1e9 / static_cast<double>(planned.pieces);
    nanoseconds.push_back(each);
    std::string const name = std::to_string(from) + "_ranks";
    rows.push_back({suite, "plan_of_all_over_merge_" + name, quantile(planned.ratios, 0.5), "x"});
    rows.push_back({suite, "plan_of_a_piece_" + name, each, "ns"});
  }
  auto const [least, most] = std::minmax_element(nanoseconds.begin(), nanoseconds.end());
  rows.push_back({suite, "plan_of_a_piece_most_over_least", *most / *least, "x"});
}

void measure_large(std::vector<Row>& rows, int rounds) {
  Planned const planned = measure(4096, 3072, tensors_of_a_model, 1, rounds);
  rows.push_back({suite, suite, quantile(planned.ratios, 0.5), "x"});
  rows.push_back({suite, "plan_of_all_over_merge_least", quantile(planned.ratios, 0), "x"});
  rows.push_back({suite, "plan_of_all_over_merge_most", quantile(planned.ratios, 0.999), "x"});
  rows.push_back({suite, "plan_of_all_4096_to_3072_ranks_1000_tensors",
                  quantile(planned.seconds, 0.5) * 1e3, "ms"});
  Resharding const of(4096, 3072, tensors_of_a_model);
  std::vector<real::ReadRange> reads;
  std::vector<double> seconds;
  for (int rank = 5; rank < 3072; rank += 3072 / rounds)
    seconds.push_back(processor_nanoseconds_of([&] { plan_one(of, rank, reads); }) * 1e-9);
  rows.push_back(
      {suite, "plan_of_one_4096_to_3072_ranks_1000_tensors", quantile(seconds, 0.5) * 1e3, "ms"});
}

}  // namespace

std::vector<Row> measure_reshard(BenchOptions const& options) {
  int const rounds = options.full ? 45 : 15;
  std::vector<Row> rows;
  measure_large(rows, rounds);
  measure_sizes(rows, rounds);
  return rows;
}

}  // namespace adamant::scenarios
