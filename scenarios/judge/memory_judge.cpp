#include "scenarios/judge/memory_judge.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace adamant::scenarios {

namespace {

constexpr char const* law = "memory.budget";

// What save and load may take beside the state, whatever its size. The exact number depends on how
// long the texts are that ranks exchange.
constexpr std::int64_t checkpoint_bytes_max = std::int64_t{64} << 20;

bool allowed_peak(Purpose purpose, std::int64_t peak, std::int64_t expected) {
  return purpose == Purpose::checkpoint ? peak <= checkpoint_bytes_max : peak == expected;
}

struct Bytes {
  std::int64_t device = 0;
  std::int64_t pinned = 0;
  friend bool operator==(Bytes const&, Bytes const&) = default;
};

std::string text_of(Bytes const& bytes) {
  return std::to_string(bytes.device) + " bytes on the device and " + std::to_string(bytes.pinned) +
         " pinned";
}

std::string text_of(std::size_t bytes, bool on_host) {
  return std::to_string(bytes) + (on_host ? " pinned bytes" : " bytes on the device");
}

template <typename Allocation>
bool by_address(Allocation const& a, Allocation const& b) {
  return std::less<void const*>()(a.address, b.address);
}

}  // namespace

MemoryJudge::MemoryJudge(Scenario const& scenario, std::vector<ParameterSpec> const& parameters,
                         oracle::Offload const& offload, oracle::Residence residence,
                         Findings& findings)
    : parameters_(parameters),
      residence_(residence),
      scales_(scenario.optimizer.clip ||
              scenario.optimizer.loss_scale.kind != LossScale::Kind::none),
      findings_(findings) {
  begin_world(static_cast<int>(scenario.world.rank_count()), offload);
}

void MemoryJudge::begin_world(int ranks, oracle::Offload const& offload) {
  budgets_.clear();
  budgets_.reserve(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank)
    budgets_.emplace_back(parameters_, oracle::Place{.rank = rank, .world_size = ranks}, offload,
                          residence_);
  if (scales_) use_scaling();
}

void MemoryJudge::use_scaling() {
  for (oracle::Budget& budget : budgets_) budget.use_scaling();
}

void MemoryJudge::follow(Primitive const& operation) {
  if (operation.kind == Primitive::Kind::replay)
    for (Primitive const& captured : operation.captured) follow(captured);
  bool const scales = operation.clip.value_or(Clip()).has_value() ||
                      operation.loss_scale.value_or(LossScale()).kind != LossScale::Kind::none;
  if (scales) use_scaling();
  for (oracle::Budget& budget : budgets_) {
    if (operation.kind == Primitive::Kind::backward) budget.backward(operation.without);
    if (operation.kind == Primitive::Kind::zero_grad) budget.zero_grad(operation.set_to_none);
    if (operation.kind == Primitive::Kind::step) budget.step();
    if (operation.kind == Primitive::Kind::offload) budget.offload();
    if (operation.kind == Primitive::Kind::reload) budget.reload();
    if (operation.kind == Primitive::Kind::load) budget.zero_grad(true);
  }
}

void MemoryJudge::compare(WorldView const& world) {
  if (!world.shown().memory) return;
  auto live = world.allocations();
  if (live)
    std::sort(live->begin(), live->end(), [](WorldAllocation const& a, WorldAllocation const& b) {
      return a.rank != b.rank ? a.rank < b.rank : by_address(a, b);
    });
  std::size_t next = 0;
  for (int rank = 0; rank < world.rank_count(); ++rank) {
    auto buffers = world.buffers(rank);
    compare_purposes(world, rank, buffers);
    if (!live) continue;
    std::size_t const first = next;
    while (next < live->size() && (*live)[next].rank == rank) ++next;
    compare_one_by_one(rank, std::move(buffers), std::span(*live).subspan(first, next - first));
  }
}

void MemoryJudge::compare_purposes(WorldView const& world, int rank,
                                   std::vector<NamedBuffer> const& buffers) {
  std::array<Bytes, purpose_count> listed{};
  for (NamedBuffer const& buffer : buffers) {
    Bytes& bytes = listed[static_cast<std::size_t>(buffer.purpose)];
    (buffer.on_host ? bytes.pinned : bytes.device) += static_cast<std::int64_t>(buffer.bytes);
  }
  oracle::Budget const& budget = budgets_[static_cast<std::size_t>(rank)];
  for (int i = 0; i < purpose_count; ++i) {
    auto const purpose = static_cast<Purpose>(i);
    Bytes const expected{.device = budget.device_bytes(purpose),
                         .pinned = budget.pinned_bytes(purpose)};
    Bytes const& actual = listed[static_cast<std::size_t>(i)];
    if (actual != expected)
      findings_.add(law, {.rank = rank},
                    {.expected = text_of(expected),
                     .actual = text_of(actual),
                     .message = "the rank's live buffers for " + std::string(name_of(purpose)) +
                                " are not what its shapes "
                                "and its operations need"});
    auto const peak = static_cast<std::int64_t>(world.peak_bytes(rank, purpose));
    if (!allowed_peak(purpose, peak, budget.peak_bytes(purpose)))
      findings_.add(law, {.rank = rank},
                    {.expected = std::to_string(budget.peak_bytes(purpose)) + " bytes",
                     .actual = std::to_string(peak) + " bytes",
                     .message = "the rank's peak for " + std::string(name_of(purpose)) +
                                " is not what it should be"});
  }
}

// Two sorted lists, walked side by side.
void MemoryJudge::compare_one_by_one(int rank, std::vector<NamedBuffer> buffers,
                                     std::span<WorldAllocation const> live) {
  std::sort(buffers.begin(), buffers.end(), by_address<NamedBuffer>);
  auto buffer = buffers.begin();
  auto allocation = live.begin();
  while (buffer != buffers.end() || allocation != live.end()) {
    bool const listed = buffer != buffers.end();
    bool const alive = allocation != live.end();
    if (listed && alive && buffer->address == allocation->address) {
      bool const same =
          buffer->bytes == allocation->bytes && buffer->on_host == allocation->on_host;
      if (!same)
        findings_.add(
            law, {.rank = rank},
            {.expected = text_of(allocation->bytes, allocation->on_host),
             .actual = text_of(buffer->bytes, buffer->on_host),
             .message = "the engine lists a buffer for " + std::string(name_of(buffer->purpose)) +
                        " that was allocated otherwise"});
      ++buffer;
      ++allocation;
    } else if (alive &&
               (!listed || std::less<void const*>()(allocation->address, buffer->address))) {
      findings_.add(law, {.rank = rank},
                    {.expected = "no such allocation",
                     .actual = text_of(allocation->bytes, allocation->on_host),
                     .message = "an allocation is alive that the engine does not list"});
      ++allocation;
    } else {
      findings_.add(law, {.rank = rank},
                    {.expected = "a live allocation",
                     .actual = "none",
                     .message = "the engine lists a buffer for " +
                                std::string(name_of(buffer->purpose)) + " that is not alive"});
      ++buffer;
    }
  }
}

void MemoryJudge::expect_nothing(std::span<WorldAllocation const> left) {
  for (WorldAllocation const& allocation : left)
    findings_.add(law, {.rank = allocation.rank},
                  {.expected = "nothing",
                   .actual = text_of(allocation.bytes, allocation.on_host),
                   .message = "an allocation outlives its engine"});
}

}  // namespace adamant::scenarios
