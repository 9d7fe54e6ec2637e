// Who reads what when a world of one size loads what a world of another saved: the engine's planner
// against a bare merge of the same borders, which knows neither files nor bytes. Both by turns in
// one process, the median of the ratios of processor seconds. reshard_in_torch.py holds the rows of
// 4,096 to 3,072 ranks against PyTorch's planner.
#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "real/checkpoint/saved_runs.h"
#include "scenarios/bench/measure.h"
#include "scenarios/bench/reshard_parts.h"
#include "scenarios/bench/suite.h"

namespace adamant::scenarios {

namespace {

constexpr std::uint64_t element_bytes = 4;
constexpr std::int64_t row = 768;
constexpr int tensors_of_a_model = 1000;
constexpr int different_sizes = 5;

/// A tensor cut into rows for a world, ceil(n / ranks) each.
struct Cut {
  Cut(std::int64_t rows, std::int64_t of_ranks)
      : ranks(of_ranks), numel(rows * row), each((rows + ranks - 1) / ranks * row) {}

  ElementRange of_rank(std::int64_t rank) const {
    return {std::min(numel, rank * each), std::min(numel, (rank + 1) * each)};
  }

  std::int64_t ranks;
  std::int64_t numel;
  std::int64_t each;
};

/// What a load has of a tensor that `cut.ranks` ranks saved, each into its own file.
real::SavedRuns saved_by(Cut const& cut, int tensor) {
  real::SavedRuns runs;
  for (std::int64_t rank = 0; rank < cut.ranks; ++rank) {
    ElementRange const range = cut.of_rank(rank);
    if (range.numel() == 0) break;
    runs.add(range.end,
             {.begin = 4096 + static_cast<std::uint64_t>(tensor * range.numel()) * element_bytes,
              .file = static_cast<int>(rank)});
  }
  return runs;
}

/// What all ranks load of a tensor, as the planner takes it and as the bare merge does: known
/// before either begins.
struct Owned {
  explicit Owned(Cut const& cut) {
    borders.push_back(0);
    for (std::int64_t rank = 0; rank < cut.ranks; ++rank) {
      ranges.push_back(cut.of_rank(rank));
      borders.push_back(ranges.back().end);
    }
  }

  std::vector<ElementRange> ranges;
  std::vector<std::int64_t> borders;
};

/// A model that one world saved and another loads. Nearly all ranks of both have rows of every
/// tensor, and nearly all borders differ.
struct Resharding {
  Resharding(int from, int to, int tensors) : from_ranks(from), to_ranks(to) {
    for (int t = 0; t < tensors; ++t) saved.push_back(saved_by({rows_of(t), from}, t));
    for (int t = 0; t < different_sizes; ++t) owned.emplace_back(loaded(t));
    auto const ranks = static_cast<std::size_t>(to);
    reads.resize(ranks + static_cast<std::size_t>(from));
    pieces.resize(reads.size());
    first.resize(ranks + 1);
  }

  std::int64_t rows_of(int tensor) const {
    return 1009 * static_cast<std::int64_t>(std::max(from_ranks, to_ranks)) - 1 -
           tensor % different_sizes;
  }
  Owned const& owned_of(int tensor) const {
    return owned[static_cast<std::size_t>(tensor % different_sizes)];
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
  std::vector<Owned> owned;
  // Of the tensor at hand, used again for the next one.
  std::vector<real::ReadPiece> reads;
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
    real::plan_reads_of_all(of.saved[static_cast<std::size_t>(t)], of.owned_of(t).ranges,
                            element_bytes, of.reads, of.first);
    sum.pieces += of.first.back();
    real::ReadPiece const& last = of.reads[of.first.back() - 1];
    sum.bytes += last.bytes;
  }
  return sum;
}

/// The pieces between the borders of two sorted lists that begin at 0 and end alike.
std::size_t merge(std::span<std::int64_t const> saved, std::span<std::int64_t const> own,
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
    std::size_t const count = merge(of.saved[static_cast<std::size_t>(t)].borders(),
                                    of.owned_of(t).borders, of.pieces.data());
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
  std::vector<double> nanoseconds_of_a_piece;
};

/// One more round, both by turns.
void measure_round(Resharding& of, int repeats, Planned& planned) {
  Sum planner;
  Sum bare;
  double const roof = processor_nanoseconds_of([&] {
    for (int i = 0; i < repeats; ++i) bare = merge_all(of);
  });
  double const own = processor_nanoseconds_of([&] {
    for (int i = 0; i < repeats; ++i) planner = plan_all(of);
  });
  if (planner != bare) throw std::runtime_error("a plan is not what a merge of its borders says");
  planned.ratios.push_back(own / roof);
  planned.seconds.push_back(own * 1e-9 / repeats);
  planned.nanoseconds_of_a_piece.push_back(own / repeats / static_cast<double>(planner.pieces));
}

/// Worlds of all sizes, with tensors so many that there are as many pieces in each. All sizes take
/// part in each round, so that a slow minute of the machine is everybody's.
void measure_sizes(SuiteRows& rows, int rounds) {
  constexpr int sizes[] = {64, 256, 1024, 4096, 16384};
  std::vector<Resharding> of;
  for (int const from : sizes) of.emplace_back(from, from / 4 * 3, 16384 / from);
  std::vector<Planned> planned(of.size());
  std::vector<double> most_over_least;
  for (int round = -1; round < rounds; ++round) {
    std::vector<double> of_a_piece;
    for (std::size_t i = 0; i < of.size(); ++i) {
      if (round == 0) planned[i] = {};  // what came before was warm-up
      measure_round(of[i], 40, planned[i]);
      of_a_piece.push_back(planned[i].nanoseconds_of_a_piece.back());
    }
    auto const [least, most] = std::ranges::minmax_element(of_a_piece);
    if (round >= 0) most_over_least.push_back(*most / *least);
  }
  for (std::size_t i = 0; i < of.size(); ++i) {
    std::string const name = std::to_string(sizes[i]) + "_ranks";
    rows.add("plan_of_all_over_merge_" + name, median(planned[i].ratios), "x");
    rows.add("plan_of_a_piece_" + name, median(planned[i].nanoseconds_of_a_piece), "ns");
  }
  rows.add("plan_of_a_piece_most_over_least", median(most_over_least), "x");
}

void measure_large(SuiteRows& rows, int rounds) {
  Resharding of(4096, 3072, tensors_of_a_model);
  Planned planned;
  Planned warm_up;
  measure_round(of, 1, warm_up);
  for (int round = 0; round < rounds; ++round) measure_round(of, 1, planned);
  rows.add_spread("plan_of_all_over_merge", planned.ratios, "x", true);
  rows.add("plan_of_all_4096_to_3072_ranks_1000_tensors", median(planned.seconds) * 1e3, "ms");
  std::vector<real::ReadRange> reads;
  std::vector<double> seconds;
  for (int rank = 5; rank < 3072; rank += 24)
    seconds.push_back(processor_nanoseconds_of([&] { plan_one(of, rank, reads); }) * 1e-9);
  double const plan = median(seconds);
  rows.add("plan_of_one_4096_to_3072_ranks_1000_tensors", plan * 1e3, "ms");
  rows.add("metadata_to_plan_of_one_4096_to_3072_ranks_1000_tensors",
           seconds_from_headers({.ranks = 4096, .tensors = tensors_of_a_model}) + plan, "s");
}

}  // namespace

void measure_reshard(BenchOptions const& options, SuiteRows& rows) {
  int const rounds = options.full ? 45 : 15;
  measure_large(rows, rounds);
  measure_sizes(rows, rounds);
  measure_moving(rows, rounds);
}

}  // namespace adamant::scenarios
