#include "sim/nccl/execution.h"

#include <algorithm>

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
        ranks_(call.parts.size()),
        bytes_(signature_.count * element_bytes(signature_.type)) {}

  void run() {
    bool const sound = judge();
    if (sound) move();
    pass_on_knowledge();
  }

 private:
  bool is_root(std::size_t side) const { return side == static_cast<std::size_t>(signature_.root); }
  /// Of a message: what a rank sends to itself and receives there is not touched.
  bool stays_where_it_is() const { return call_.parts[0].send == call_.parts[1].receive; }

  // ---- accesses: each rank's stream reads and writes its own buffers ----
  bool judge();
  void judge_side(std::size_t side);
  void judge_gathered(Part const& part, std::size_t side);
  void touch(void const* address, std::uint64_t bytes, AccessKind kind);

  // ---- bytes ----
  void move();
  void gather();
  void gather_whole();
  void broadcast();
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
  switch (signature_.function) {
    case Function::all_reduce:
      touch(part.send, bytes_, AccessKind::read);
      touch(part.receive, bytes_, AccessKind::write);
      break;
    case Function::all_gather:
      judge_gathered(part, side);
      break;
    case Function::reduce_scatter:
      touch(part.send, bytes_ * ranks_, AccessKind::read);
      touch(part.receive, bytes_, AccessKind::write);
      break;
    case Function::reduce:
      touch(part.send, bytes_, AccessKind::read);
      if (is_root(side)) touch(part.receive, bytes_, AccessKind::write);
      break;
    case Function::broadcast:
      if (is_root(side)) touch(part.send, bytes_, AccessKind::read);
      if (!is_root(side) || part.send != part.receive) {
        touch(part.receive, bytes_, AccessKind::write);
      }
      break;
    case Function::send:
    case Function::receive:
      if (stays_where_it_is()) break;
      if (side == 0) touch(part.send, bytes_, AccessKind::read);
      if (side == 1) touch(part.receive, bytes_, AccessKind::write);
      break;
  }
}

// In place, a rank's own slot is read only.
void Execution::judge_gathered(Part const& part, std::size_t side) {
  touch(part.send, bytes_, AccessKind::read);
  if (part.send != part.receive + side * bytes_) {
    return touch(part.receive, bytes_ * ranks_, AccessKind::write);
  }
  touch(part.receive, bytes_ * side, AccessKind::write);
  touch(part.receive + (side + 1) * bytes_, bytes_ * (ranks_ - side - 1), AccessKind::write);
}

void Execution::touch(void const* address, std::uint64_t bytes, AccessKind kind) {
  runtime_.watch.range(address, bytes, kind);
  std::uint64_t const offset = region_offset(address);
  if (offset < region_bytes && !all_set(usable_bits, offset, offset + bytes)) sound_ = false;
}

// ---- bytes --------------------------------------------------------------------------------------

void Execution::move() {
  switch (signature_.function) {
    case Function::all_gather:
      return gather();
    case Function::broadcast:
      return broadcast();
    case Function::all_reduce:
    case Function::reduce_scatter:
    case Function::reduce:
      return reduce();
    case Function::send:
    case Function::receive:
      return raw_copy(call_.parts[1].receive, call_.parts[0].send, bytes_);
  }
}

// What fits a cache is put together once and copied whole. More goes piece by piece to everyone, so
// that a piece is read from memory once and then from the cache.
void Execution::gather() {
  constexpr std::uint64_t piece_bytes = 64 << 10;
  constexpr std::uint64_t whole_bytes_max = 1 << 20;
  if (bytes_ * ranks_ <= whole_bytes_max) return gather_whole();
  std::uint64_t const pieces = (bytes_ + piece_bytes - 1) / piece_bytes;
  crew_.share(ranks_ * pieces, [&](std::size_t piece, std::size_t) {
    std::size_t const from = piece / pieces;
    char const* const send = call_.parts[from].send;
    std::uint64_t const at = piece % pieces * piece_bytes;
    std::uint64_t const bytes = std::min(piece_bytes, bytes_ - at);
    for (Part const& to : call_.parts) {
      char* const slot = to.receive + from * bytes_;
      if (slot != send) raw_copy(slot + at, send + at, bytes);
    }
  });
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

void Execution::broadcast() {
  char const* const from = call_.parts[static_cast<std::size_t>(signature_.root)].send;
  for (Part const& to : call_.parts) {
    if (to.receive != from) raw_copy(to.receive, from, bytes_);
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
  if (signature_.function == Function::reduce) {
    return reduce_part(0, static_cast<std::size_t>(signature_.root), 0, signature_.count);
  }
  bool const scatters = signature_.function == Function::reduce_scatter;
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
  bool const to_everyone = signature_.function == Function::all_reduce;
  bool const scatters = signature_.function == Function::reduce_scatter;
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
  if (signature_.function == Function::all_reduce) {
    for (Part const& to : call_.parts) raw_copy(to.receive, results, bytes_);
    return;
  }
  for (std::size_t owner = 0; owner < ranks_; ++owner) {
    raw_copy(call_.parts[owner].receive, results + owner * bytes_, bytes_);
  }
}

// ---- knowledge ----------------------------------------------------------------------------------

void Execution::pass_on_knowledge() {
  std::vector<Part> const& parts = call_.parts;
  switch (signature_.function) {
    case Function::all_reduce:
    case Function::all_gather:
    case Function::reduce_scatter:
    case Function::reduce:
      state_.joined.assign(parts[0].stream->clock);
      for (Part const& part : parts) state_.joined.join(part.stream->clock);
      for (std::size_t side = 0; side < ranks_; ++side) {
        bool const learns = signature_.function != Function::reduce || is_root(side);
        if (learns) parts[side].stream->clock.join(state_.joined);
      }
      return;
    case Function::broadcast:
      for (Part const& part : parts) {
        part.stream->clock.join(parts[static_cast<std::size_t>(signature_.root)].stream->clock);
      }
      return;
    case Function::send:
    case Function::receive:
      parts[1].stream->clock.join(parts[0].stream->clock);
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
