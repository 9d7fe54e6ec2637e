#include "scenarios/peers/client/peer_world.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "oracle/formats/formats.h"
#include "scenarios/report/words/sentences.h"

namespace adamant::scenarios {

namespace {

constexpr TensorKind shown_kinds[] = {TensorKind::parameter, TensorKind::gradient, TensorKind::main,
                                      TensorKind::exp_avg, TensorKind::exp_avg_sq};

/// What stands behind a parameter's name in a file.
std::string_view suffix_of(TensorKind kind) {
  switch (kind) {
    case TensorKind::parameter:
      return "";
    case TensorKind::gradient:
      return "/gradient";
    case TensorKind::exp_avg:
      return "/exp_avg";
    case TensorKind::exp_avg_sq:
      return "/exp_avg_sq";
    case TensorKind::main:
      return "/main";
    case TensorKind::cast_gradient:
      break;
  }
  return "/cast_gradient";
}

// Rows far beyond the end of every tensor, which some engine may claim to have; their elements can
// still be counted.
constexpr std::int64_t rows_max = std::int64_t{1} << 30;

ElementRange range_of(ReportedShard const& shard, ParameterSpec const& spec) {
  std::int64_t const begin = std::min(shard.offsets[0], rows_max);
  std::int64_t const end = begin + std::min(shard.shape[0], rows_max);
  return {.begin = begin * spec.row_numel(), .end = end * spec.row_numel()};
}

bool is_moment(TensorKind kind) {
  return kind == TensorKind::exp_avg || kind == TensorKind::exp_avg_sq;
}

}  // namespace

PeerWorld::PeerWorld(PeerClient& client, PeerWorldParts parts)
    : client_(client), parts_(std::move(parts)) {
  std::int64_t largest = 0;
  for (ParameterSpec const& spec : parts_.parameters) largest = std::max(largest, spec.numel());
  zeros_.resize(static_cast<std::size_t>(largest) * sizeof(float));
}

void PeerWorld::look_anew() {
  whole_.reset();
  ranks_ = ask(false);
  for (int rank = 0; rank < rank_count(); ++rank) {
    check(rank);
    take_scaled(rank);
  }
}

// Every kind of tensor in fp32 and as it is stored, its scales, and their names.
std::uint64_t PeerWorld::state_bytes_max() const {
  std::uint64_t bytes = 0;
  for (ParameterSpec const& parameter : parts_.parameters)
    bytes += static_cast<std::uint64_t>(parameter.numel()) * 64 + (1 << 16);
  return bytes + (1 << 20);
}

std::vector<PeerWorld::Rank> PeerWorld::ask(bool whole) const {
  auto const prefix = parts_.directory / fmt::format("state-{}", looks_++);
  auto const reply = client_.request("state", {{"prefix", prefix.string()}, {"whole", whole}});
  expect_ok(reply);
  std::vector<Rank> ranks;
  for (ReportedState& state :
       replies::states_of(reply, parts_.parameters, parts_.groups, rank_count())) {
    Rank& rank = ranks.emplace_back();
    rank.ranges = ranges_of(state);
    rank.state = std::move(state);
    try {
      rank.tensors = read_tensor_file(rank.state.file, state_bytes_max());
    } catch (PeerError const& error) {
      refuse(static_cast<int>(ranks.size()) - 1, error.what());
    }
    std::error_code ignored;
    std::filesystem::remove(rank.state.file, ignored);
  }
  return ranks;
}

void PeerWorld::expect_ok(PeerReply const& reply) const {
  auto const outcomes = replies::outcomes_of(reply, rank_count());
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank)
    if (outcomes[rank].kind != RankOutcome::Kind::ok)
      refuse(static_cast<int>(rank),
             ending_in_words({.ending = outcomes[rank].ending, .status = outcomes[rank].status},
                             outcomes[rank].text));
}

void PeerWorld::finish_save() const {
  auto const save = take_unfinished();
  if (!save) return;
  auto const outcomes = replies::outcomes_of(client_.request("finish"), rank_count());
  bool const finished = std::ranges::all_of(
      outcomes, [](RankOutcome const& outcome) { return outcome.kind == RankOutcome::Kind::ok; });
  if (!finished) throw FinishFailed(outcomes, *save);
}

FileDigests PeerWorld::file_digests(std::string_view name) const {
  finish_save();
  return parts_.files.digests(name);
}

KeptFiles PeerWorld::files(std::string_view name) const {
  finish_save();
  return parts_.files.read(name);
}

std::vector<ElementRange> PeerWorld::ranges_of(ReportedState const& state) const {
  std::vector<ElementRange> ranges;
  for (std::size_t p = 0; p < parts_.parameters.size(); ++p)
    ranges.push_back(range_of(state.shards[p], parts_.parameters[p]));
  return ranges;
}

// What is here has the shape that the rank says it has; whether that is the right one is the
// verdict's question.
void PeerWorld::check(int rank) const {
  for (int p = 0; p < static_cast<int>(parts_.parameters.size()); ++p) {
    auto const& name = parts_.parameters[static_cast<std::size_t>(p)].name;
    if (find(at(rank), "local", p, TensorKind::parameter) == nullptr)
      refuse(rank, fmt::format("its file has no tensor `local/{}`", name));
    if (reported(rank, p).has_gradient &&
        find(at(rank), "local", p, TensorKind::gradient) == nullptr)
      refuse(rank,
             fmt::format("it has a gradient, but its file no tensor `local/{}/gradient`", name));
    for (TensorKind const kind : shown_kinds) {
      auto const* const tensor = find(at(rank), "local", p, kind);
      if (tensor != nullptr && tensor->shape != reported(rank, p).shape)
        refuse(rank, fmt::format("`local/{}{}` has the shape [{}]; it says that its shard is [{}]",
                                 name, suffix_of(kind), fmt::join(tensor->shape, ", "),
                                 fmt::join(reported(rank, p).shape, ", ")));
    }
  }
}

void PeerWorld::take_scaled(int number) {
  Rank& rank = ranks_[static_cast<std::size_t>(number)];
  for (int p = 0; p < static_cast<int>(parts_.parameters.size()); ++p) try {
      ParameterSpec const& spec = parts_.parameters[static_cast<std::size_t>(p)];
      auto const& shape = reported(number, p).shape;
      auto const key = [&](TensorKind kind) {
        return "local/" + spec.name + std::string(suffix_of(kind));
      };
      if (spec.formats.recipe)
        rank.quantised[p] = quantised_rows(rank.tensors, key(TensorKind::parameter), spec, shape);
      for (TensorKind const kind : shown_kinds) {
        auto const format = oracle::stored_format(spec.formats, kind);
        if (!format || !has_scale(kind, *format, spec.formats.state_scale)) continue;
        if (auto const found = scaled_numbers(rank.tensors, key(kind), *format, shape))
          rank.scaled[{p, kind}] = *found;
      }
    } catch (PeerError const& error) {
      refuse(number, error.what());
    }
}

TensorFromFile const* PeerWorld::find(Rank const& rank, char const* part, int parameter,
                                      TensorKind kind) const {
  auto const& name = parts_.parameters[static_cast<std::size_t>(parameter)].name;
  auto const found = rank.tensors.find(fmt::format("{}/{}{}", part, name, suffix_of(kind)));
  return found == rank.tensors.end() ? nullptr : &found->second;
}

Shard PeerWorld::shard(int rank, int parameter, TensorKind kind) const {
  ElementRange const& range = at(rank).ranges[static_cast<std::size_t>(parameter)];
  ParameterSpec const& spec = parts_.parameters[static_cast<std::size_t>(parameter)];
  Shard shard{.ranges = {&range, 1},
              .format = oracle::stored_format(spec.formats, kind).value_or(NumberFormat::fp32)};
  if (auto const scaled = at(rank).scaled.find({parameter, kind});
      scaled != at(rank).scaled.end()) {
    shard.format = scaled->second.raw->format;
    shard.bytes = scaled->second.raw->bytes;
    shard.scale = scaled->second.scale;
  } else if (auto const* const tensor = find(at(rank), "local", parameter, kind)) {
    shard.format = tensor->format;
    shard.bytes = tensor->bytes;
    auto const quantised = at(rank).quantised.find(parameter);
    if (kind == TensorKind::parameter && quantised != at(rank).quantised.end())
      shard.quantised = quantised->second;
  } else if (is_moment(kind)) {
    // The verdict is told of elements that nobody owns; here they must not be more than there are.
    auto const numel = static_cast<std::size_t>(std::min(range.numel(), spec.numel()));
    shard.bytes = std::span(zeros_).first(numel * bytes_of(shard.format));
  }
  return shard;
}

std::optional<Shard> PeerWorld::whole(int rank, int parameter, TensorKind kind) const {
  if (!whole_) whole_ = ask(true);
  auto const* const tensor =
      find((*whole_)[static_cast<std::size_t>(rank)], "whole", parameter, kind);
  if (tensor == nullptr) return std::nullopt;
  return Shard{.format = tensor->format, .bytes = tensor->bytes};
}

bool PeerWorld::has_gradient(int rank, int parameter) const {
  return reported(rank, parameter).has_gradient;
}

std::int64_t PeerWorld::step_count(int rank, int parameter) const {
  return reported(rank, parameter).steps;
}

AdamConfig PeerWorld::group(int rank, int group) const {
  return at(rank).state.groups[static_cast<std::size_t>(group)];
}

RankScaling PeerWorld::scaling(int rank) const {
  return at(rank).state.scaling;
}

std::optional<std::span<float const>> PeerWorld::fed(int rank, int parameter) const {
  if (fed_.empty()) return std::nullopt;
  return fed_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(parameter)];
}

std::uint64_t PeerWorld::fold() const {
  std::uint64_t fold = 0;
  for (int rank = 0; rank < rank_count(); ++rank)
    for (int p = 0; p < static_cast<int>(parts_.parameters.size()); ++p)
      for (TensorKind const kind : shown_kinds)
        fold = (fold ^ weighted_sum(shard(rank, p, kind))) * 0x9e3779b97f4a7c15ULL;
  return fold;
}

void PeerWorld::refuse(int rank, std::string const& what) const {
  client_.stop();
  throw PeerError(fmt::format("engine {}: state of rank {}: {}", client_.name(), rank, what));
}

}  // namespace adamant::scenarios
