#include "sim/nccl/execution.h"

#include <algorithm>
#include <utility>

#include "sim/cuda/region.h"
#include "sim/nccl/state.h"
#include "sim/world/assert.h"

namespace adamant::sim {
namespace {

// From so many bytes of one input on, other threads help with the parts.
constexpr std::uint64_t shared_bytes_min = 1 << 20;

class Execution {
 public:
  Execution(Runtime& runtime, Call& call)
      : runtime_(runtime),
        crew_(runtime.world.crew()),
        call_(call),
        state_(nccl_state()),
        signature_(call.signature),
        row_(row_of(signature_.function)),
        ranks_(call.parts.size()),
        bytes_(signature_.bytes()) {}

  void run() {
    bool const sound = judge();
    if (sound) row_.reduces ? reduce() : copy();
    pass_on_knowledge();
  }

 private:
  std::size_t slots(Holds holds) const { return holds == Holds::count ? 1 : ranks_; }
  /// Of a message: what a rank sends to itself and receives there is not touched.
  bool stays_where_it_is() const { return call_.parts[0].send == call_.parts[1].receive; }

  // ---- accesses: each rank's stream reads and writes its own buffers ----
  bool judge();
  void judge_side(std::size_t side);
  void touch(void const* address, std::uint64_t bytes, AccessKind kind);

  // ---- bytes ----
  void copy();
  void copy_piece_of(std::size_t from, std::uint64_t at, std::uint64_t bytes_max);
  void gather_whole();
  void reduce();
  void reduce_part(std::size_t thread, std::size_t owner, std::size_t offset, std::size_t count);
  void reduce_small_parts(std::size_t share, std::size_t total);

  // ---- knowledge ----
  void pass_on_knowledge();

  Runtime& runtime_;
  Crew& crew_;
  Call& call_;
  NcclState& state_;
  Signature const& signature_;
  FunctionRow const& row_;
  std::size_t ranks_;
  std::uint64_t bytes_;
  bool sound_ = true;
  Order order_;
};

bool Execution::judge() {
  if (!runtime_.watch.enabled()) return true;
  for (std::size_t side = 0; side < ranks_; ++side) {
    Stream& stream = *call_.parts[side].stream;
    StreamOperation& operation = *stream.head();
    runtime_.watch.operation_begins(stream, operation);
    judge_side(side);
    runtime_.watch.operation_ends(stream, operation);
  }
  return sound_;
}

void Execution::judge_side(std::size_t side) {
  Part const& part = call_.parts[side];
  if (part.scaled && part.scalar_on_device != nullptr) {
    touch(part.scalar_on_device, element_bytes(signature_.type), AccessKind::read);
  }
  if (is_message(signature_.function) && stays_where_it_is()) return;
  if (signature_.sends(side)) touch(part.send, bytes_ * slots(row_.sent), AccessKind::read);
  for (Piece const& piece : written(call_, side)) {
    touch(piece.begin, piece.bytes, AccessKind::write);
  }
}

void Execution::touch(void const* address, std::uint64_t bytes, AccessKind kind) {
  runtime_.watch.range(address, bytes, kind);
  std::uint64_t const offset = region_offset(address);
  if (offset < region_bytes && !all_set(usable_bits, offset, offset + bytes)) sound_ = false;
}

// ---- bytes --------------------------------------------------------------------------------------

// What fits a cache and goes from everyone to everyone is put together once and copied whole. More
// goes piece by piece to everyone, so that a piece is read from memory once and then from the
// cache.
void Execution::copy() {
  constexpr std::uint64_t piece_bytes = 64 << 10;
  constexpr std::uint64_t whole_bytes_max = 1 << 20;
  bool const fits = bytes_ * ranks_ <= whole_bytes_max;
  if (fits && signature_.function == Function::all_gather) return gather_whole();
  std::uint64_t const pieces = (bytes_ + piece_bytes - 1) / piece_bytes;
  auto const copy_piece = [&](std::size_t piece, std::size_t) {
    std::size_t const from = piece / pieces;
    if (signature_.sends(from)) copy_piece_of(from, piece % pieces * piece_bytes, piece_bytes);
  };
  if (!fits) return crew_.share(ranks_ * pieces, copy_piece);
  for (std::size_t piece = 0; piece < ranks_ * pieces; ++piece) copy_piece(piece, 0);
}

void Execution::copy_piece_of(std::size_t from, std::uint64_t at, std::uint64_t bytes_max) {
  bool const has_for_each = row_.sent == Holds::count_for_each_rank;
  bool const goes_to_own_slot = row_.received == Holds::count_for_each_rank;
  for (std::size_t to = 0; to < ranks_; ++to) {
    if (!signature_.receives(to)) continue;
    char const* const send = call_.parts[from].send + (has_for_each ? to * bytes_ : 0);
    char* const slot = call_.parts[to].receive + (goes_to_own_slot ? from * bytes_ : 0);
    if (slot != send) raw_copy(slot + at, send + at, std::min(bytes_max, bytes_ - at));
  }
}

void Execution::gather_whole() {
  char* const first = call_.parts[0].receive;
  for (std::size_t from = 0; from < ranks_; ++from) {
    char* const slot = first + from * bytes_;
    if (slot != call_.parts[from].send) raw_copy(slot, call_.parts[from].send, bytes_);
  }
  for (std::size_t to = 1; to < ranks_; ++to) {
    raw_copy(call_.parts[to].receive, first, bytes_ * ranks_);
  }
}

void Execution::reduce() {
  Scalar average;
  bool const averages_floats =
      signature_.reduction == Reduction::average && !is_integer(signature_.type);
  if (averages_floats) average = reciprocal(signature_.type, static_cast<int>(ranks_));
  state_.contributions.clear();
  state_.everyone.clear();
  if (state_.reducers.size() < crew_.size()) state_.reducers.resize(crew_.size());
  for (Part const& part : call_.parts) {
    void const* scale = averages_floats ? &average : nullptr;
    if (part.scaled) {
      scale = part.scalar_on_device != nullptr ? part.scalar_on_device : &part.scalar;
    }
    state_.contributions.push_back({part.send, scale});
    state_.everyone.push_back(part.receive);
  }
  order_ = choose_order(runtime_.world.choices(), runtime_.world.options().reduction_order,
                        static_cast<int>(ranks_),
                        depends_on_order(signature_.type, signature_.reduction));
  if (row_.receivers == Sides::root) {
    return reduce_part(0, static_cast<std::size_t>(signature_.root), 0, signature_.count);
  }
  bool const scatters = row_.sent == Holds::count_for_each_rank;
  std::size_t const share = scatters ? signature_.count : (signature_.count + ranks_ - 1) / ranks_;
  std::size_t const total = scatters ? signature_.count * ranks_ : signature_.count;
  std::uint64_t const bytes = element_bytes(signature_.type);
  if (Reducer::reduces_together(share * bytes, total * bytes)) {
    return reduce_small_parts(share, total);
  }
  std::size_t const owners = share == 0 ? 0 : (total + share - 1) / share;
  auto const reduce_one = [&](std::size_t owner, std::size_t thread) {
    reduce_part(thread, owner, owner * share, std::min(share, total - owner * share));
  };
  if (total * bytes >= shared_bytes_min) return crew_.share(owners, reduce_one);
  for (std::size_t owner = 0; owner < owners; ++owner) reduce_one(owner, 0);
}

// Who gets the part: its owner of a scatter, the root, or everyone.
void Execution::reduce_part(std::size_t thread, std::size_t owner, std::size_t offset,
                            std::size_t count) {
  char* const own = call_.parts[owner].receive;
  bool const scatters = row_.sent == Holds::count_for_each_rank;
  bool const to_everyone = row_.receivers == Sides::all && !scatters;
  state_.reducers[thread].reduce(
      {.type = signature_.type,
       .reduction = signature_.reduction,
       .order = order_,
       .owner = static_cast<int>(owner),
       .count = count,
       .offset = offset,
       .result_offset = scatters ? 0 : offset,
       .from = state_.contributions,
       .to = to_everyone ? std::span<char* const>(state_.everyone) : std::span(&own, 1)});
}

void Execution::reduce_small_parts(std::size_t share, std::size_t total) {
  char const* const results = state_.reducers[0].reduce_together({.type = signature_.type,
                                                                  .reduction = signature_.reduction,
                                                                  .order = order_,
                                                                  .share = share,
                                                                  .total = total,
                                                                  .from = state_.contributions});
  if (row_.sent == Holds::count) {
    for (Part const& to : call_.parts) raw_copy(to.receive, results, bytes_);
    return;
  }
  for (std::size_t owner = 0; owner < ranks_; ++owner) {
    raw_copy(call_.parts[owner].receive, results + owner * bytes_, bytes_);
  }
}

// ---- knowledge ----------------------------------------------------------------------------------

// Whoever receives learns of all who send.
void Execution::pass_on_knowledge() {
  std::vector<Part> const& parts = call_.parts;
  bool first = true;
  for (std::size_t side = 0; side < ranks_; ++side) {
    if (!signature_.sends(side)) continue;
    VectorClock const& clock = parts[side].stream->clock;
    std::exchange(first, false) ? state_.joined.assign(clock) : state_.joined.join(clock);
  }
  for (std::size_t side = 0; side < ranks_; ++side) {
    if (signature_.receives(side)) parts[side].stream->clock.join(state_.joined);
  }
}

void finish(Runtime& runtime, Call& call) {
  for (Part& part : call.parts) {
    part.operation = nullptr;
    ncclComm& member = *part.member;
    if (--member.outstanding > 0 || member.draining == nullptr) continue;
    runtime.world.wake(*std::exchange(member.draining, nullptr));
  }
  if (!is_message(call.signature.function)) {
    Communicator& communicator = *call.communicator;
    communicator.open[call.number - communicator.open_first] = nullptr;
    while (!communicator.open.empty() && communicator.open.front() == nullptr) {
      communicator.open.pop_front();
      ++communicator.open_first;
    }
  }
  nccl_state().free_calls.push_back(&call);
}

}  // namespace

void execute(Runtime& runtime, Call& call) {
  Execution(runtime, call).run();
  finish(runtime, call);
}

}  // namespace adamant::sim
