#include "scenarios/judge/memory_judge.h"

#include <algorithm>
#include <array>
#include <utility>

#include "scenarios/judge/registration.h"

namespace adamant::scenarios {

namespace {

// What save and load may take beside the state, whatever its size. The exact number depends on how
// long the texts are that ranks exchange.
constexpr std::int64_t checkpoint_bytes_max = std::int64_t{64} << 20;

bool allowed_peak(Purpose purpose, std::int64_t peak, std::int64_t expected) {
  return purpose == Purpose::checkpoint ? peak <= checkpoint_bytes_max : peak == expected;
}

Allocated allocated(std::size_t bytes, bool on_host) {
  return {.bytes = static_cast<std::int64_t>(bytes), .on_host = on_host};
}

template <typename Allocation>
bool by_address(Allocation const& a, Allocation const& b) {
  return std::less<void const*>()(a.address, b.address);
}

}  // namespace

MemoryJudge::MemoryJudge(Scenario const& scenario, std::vector<ParameterSpec> const& parameters,
                         oracle::Offload const& offload, oracle::Residence residence,
                         Findings& findings)
    : residence_(residence),
      scales_(scenario.optimizer.clip ||
              scenario.optimizer.loss_scale.kind != LossScale::Kind::none),
      findings_(findings) {
  begin_world(scenario, parameters, offload);
}

void MemoryJudge::begin_world(Scenario const& setting, std::vector<ParameterSpec> const& parameters,
                              oracle::Offload const& offload) {
  Mesh const mesh = mesh_of(setting.world);
  auto const in_order = as_registered(parameters, setting.order);
  order_ = setting.order;
  parameter_count_ = static_cast<int>(parameters.size());
  budgets_.clear();
  budgets_.reserve(static_cast<std::size_t>(mesh.rank_count()));
  for (int rank = 0; rank < mesh.rank_count(); ++rank)
    budgets_.emplace_back(setting.layout, in_order, mesh, rank, offload, residence_);
  if (scales_) use_scaling();
}

std::vector<int> MemoryJudge::registered(std::span<int const> parameters) const {
  std::vector<int> numbers;
  for (int const parameter : parameters)
    numbers.push_back(registered_number(parameter, parameter_count_, order_));
  return numbers;
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
  std::vector<int> const without = registered(operation.without);
  for (oracle::Budget& budget : budgets_) {
    if (operation.kind == Primitive::Kind::backward) budget.backward(without);
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
  std::array<LiveBytes, purpose_count> listed{};
  for (NamedBuffer const& buffer : buffers) {
    LiveBytes& bytes = listed[static_cast<std::size_t>(buffer.purpose)];
    (buffer.on_host ? bytes.pinned : bytes.device) += static_cast<std::int64_t>(buffer.bytes);
  }
  oracle::Budget const& budget = budgets_[static_cast<std::size_t>(rank)];
  for (int i = 0; i < purpose_count; ++i) {
    auto const purpose = static_cast<Purpose>(i);
    LiveBytes const expected{.device = budget.device_bytes(purpose),
                             .pinned = budget.pinned_bytes(purpose)};
    LiveBytes const& actual = listed[static_cast<std::size_t>(i)];
    if (actual != expected)
      report({.breach = Breach::other_live_bytes,
              .rank = rank,
              .subject = Buffers{purpose},
              .expected = expected,
              .actual = actual});
    auto const peak = static_cast<std::int64_t>(world.peak_bytes(rank, purpose));
    if (!allowed_peak(purpose, peak, budget.peak_bytes(purpose)))
      report({.breach = Breach::other_peak,
              .rank = rank,
              .subject = Buffers{purpose},
              .expected = Count{budget.peak_bytes(purpose)},
              .actual = Count{peak}});
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
        report({.breach = Breach::other_allocation,
                .rank = rank,
                .subject = Buffers{buffer->purpose},
                .expected = allocated(allocation->bytes, allocation->on_host),
                .actual = allocated(buffer->bytes, buffer->on_host)});
      ++buffer;
      ++allocation;
    } else if (alive &&
               (!listed || std::less<void const*>()(allocation->address, buffer->address))) {
      report({.breach = Breach::unlisted_allocation,
              .rank = rank,
              .actual = allocated(allocation->bytes, allocation->on_host)});
      ++allocation;
    } else {
      report({.breach = Breach::dead_buffer, .rank = rank, .subject = Buffers{buffer->purpose}});
      ++buffer;
    }
  }
}

void MemoryJudge::expect_nothing(Leftovers const& left) {
  for (WorldAllocation const& allocation : left.allocations)
    report({.breach = Breach::left_allocation,
            .rank = allocation.rank,
            .actual = allocated(allocation.bytes, allocation.on_host)});
  for (LiveHandles const& handles : left.handles)
    report({.breach = Breach::left_handles, .actual = Count{handles.count}, .text = handles.kind});
}

void MemoryJudge::report(Violation violation) {
  violation.law = Law::memory_budget;
  findings_.add(std::move(violation));
}

}  // namespace adamant::scenarios
