// The judge of accesses. Instrumented code reports every load and store here, the runtime every
// copy and collective; what is outside, never written, gone, not allowed from there, or unordered
// becomes a violation.
//
// Bounds, lifetime and first writes are judged at once, on two bits per byte. Accesses are gathered
// into ranges while one operation (or host code between two calls) runs, and judged for place and
// order when it ends: all of them belong to one moment of one agent.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/cuda/memory.h"
#include "sim/cuda/region.h"
#include "sim/world/world.h"

namespace adamant::sim {

struct Fault;

enum class AccessKind : std::uint8_t { read, write, atomic };

class Watch final : public WorldObserver {
 public:
  Watch(World& world, Memory& memory) : world_(world), memory_(memory) {}

  void reset(bool enabled, bool count_bytes = false);
  bool enabled() const { return enabled_; }

  // ---- WorldObserver ----
  void host_resumes(Host& host) override;
  void host_pauses(Host& host) override;
  void chunk_begins(Agent& thread, std::uint32_t record) override;
  void chunk_ends(Host& host) override;
  void operation_begins(Stream& stream, StreamOperation& operation) override;
  void operation_ends(Stream& stream, StreamOperation& operation) override;

  // ---- accesses of whoever runs now ----
  /// One load or store of instrumented code.
  void access(std::uint64_t offset, std::uint32_t bytes, AccessKind kind) {
    if (looks_closer_) look_closer(offset, bytes, kind);  // before it is judged
    if (open_[cursor_].goes_on(offset, kind)) {           // never while nothing is open: offset > 0
      open_[cursor_].end += bytes;
      grown_ = cursor_;
      if (++cursor_ == opened_) cursor_ = 0;
    } else if (open_[grown_].goes_on(offset, kind)) {
      open_[grown_].end += bytes;
    } else {
      note(offset, bytes, kind);
    }
    judge_bits(offset, bytes, kind);
    ++accesses_;
  }
  /// A range of a copy, fill or collective, in the region or in host memory that was registered.
  void range(void const* address, std::uint64_t bytes, AccessKind kind);
  /// Host memory outside the region, which is watched only while registered or used by a copy, and
  /// in kernels, which may not touch any other. Nearly every access of host code is such a one, and
  /// nearly all of them lie outside of what is watched, as one comparison shows.
  bool watches_foreign(void const* address, std::uint64_t bytes) const {
    return foreign_->meets(reinterpret_cast<std::uintptr_t>(address), bytes);
  }
  void foreign_access(void const* address, std::uint64_t bytes, AccessKind kind);
  /// An end of a copy that was page-locked memory when the copy was enqueued: is it still?
  void judge_registration(void const* address, std::uint64_t bytes, AccessKind kind);
  /// Which block of the kernel runs now.
  void set_block(std::uint32_t block);
  /// May device code of `device` use device `peer`?
  void allow_peer(int device, int peer, bool allowed);
  bool peer_allowed(int device, int peer) const;

  /// The release of an allocation is a write to all of it: whoever still uses it is unordered.
  void judge_release(Allocation& allocation, std::uint32_t operation);
  /// An index outside of an array whose size the compiler knows, such as `float [32]`. The run
  /// ends: behind the array may be anything, the simulator's own variables too.
  void report_index(std::int64_t index, std::string_view array);
  /// What runs now does not go on, if anybody waits for it.
  void leave() const {
    if (Fiber* const running = world_.running()) running->leave();
  }
  /// The machine refused an access of whoever runs now.
  void report_fault(Fault const& fault);
  /// A vector access of a kernel that the GPU would refuse.
  void report_alignment(std::uint64_t offset, std::uint32_t alignment, AccessKind kind,
                        std::string_view type);
  /// The moment to which an access now would belong.
  Touch now() const { return {{agent_->index, agent_->clock.of(agent_->index)}, operation_}; }
  Agent const* agent() const { return agent_; }

  std::uint64_t accesses() const { return accesses_; }
  /// What kernels touched, by name, where it is counted.
  std::vector<KernelBytes> kernel_bytes() const;

 private:
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint32_t block = 0;
    AccessKind kind = AccessKind::read;

    bool goes_on(std::uint64_t offset, AccessKind next) const {
      return end == offset && kind == next;
    }
  };

  /// One of the two accesses of a conflict.
  struct Side {
    Touch touch;
    bool writes = false;
    std::uint32_t block = Sought::any_block;
  };

  void begin(Agent& agent, std::uint32_t operation, bool on_device, int device);
  void begin_kernel();
  void at_operation(std::uint32_t operation);
  /// Of accesses one by one: where are those that are sought, and how many bytes are they?
  void look_closer(std::uint64_t offset, std::uint32_t bytes, AccessKind kind) {
    if (seeking_) locate(offset, bytes, kind);
    if (counts_bytes_ && in_kernel_) count(bytes, kind);
  }
  void count(std::uint32_t bytes, AccessKind kind);
  /// In a run that looks for lines, and an operation whose accesses are sought.
  void locate(std::uint64_t offset, std::uint64_t bytes, AccessKind kind,
              std::int64_t allocation = -1);
  void flush();
  void judge_closed_ranges();
  void judge_gathered(Range const& range);
  void note(std::uint64_t offset, std::uint64_t bytes, AccessKind kind);
  void close_open_ranges();
  void judge_bits(std::uint64_t offset, std::uint64_t bytes, AccessKind kind) {
    std::uint64_t const shift = offset & 7;
    if (bytes == 16 && shift == 0) return judge_vector_bits(offset, kind);
    if (shift + bytes > 8) return judge_range_bits(offset, bytes, kind);
    auto const mask = static_cast<std::uint8_t>(((1U << bytes) - 1) << shift);
    std::uint64_t const at = offset >> 3;
    if (kind == AccessKind::write) {
      if ((usable_bits[at] & mask) != mask) return judge_range_bits(offset, bytes, kind);
      written_bits[at] |= mask;
    } else if ((written_bits[at] & mask) != mask) {
      judge_range_bits(offset, bytes, kind);
    }
  }
  void judge_vector_bits(std::uint64_t offset, AccessKind kind) {
    std::uint64_t const at = offset >> 3;
    std::uint8_t const* const bits = kind == AccessKind::write ? usable_bits : written_bits;
    if ((bits[at] & bits[at + 1]) != 0xff) return judge_range_bits(offset, 16, kind);
    if (kind == AccessKind::write) written_bits[at] = written_bits[at + 1] = 0xff;
  }
  void judge_range_bits(std::uint64_t offset, std::uint64_t bytes, AccessKind kind);
  void judge_place(std::uint64_t offset, std::uint64_t bytes, AccessKind kind);
  void judge_blocks(std::vector<Range> const& sorted);
  void report_blocks(Range const& range, Range const& other);
  void judge_order(Allocation& allocation, std::uint64_t begin, std::uint64_t end, AccessKind kind);
  bool place_allowed(int slot) const;
  void judge_reach(void const* address, std::uint64_t bytes, AccessKind kind);

  /// Was the same found of this operation and allocation before? A loop over an array would
  /// otherwise describe every element.
  bool repeated(Breach breach, Allocation const* allocation, AccessKind kind);
  void report_early_release(Allocation const& allocation);
  /// The memory at `offset` that the running node of a graph was captured with, if it is gone.
  Allocation const* stale_at(std::uint64_t offset) const;
  void report_stale(Allocation const& captured, std::uint64_t offset, std::uint64_t bytes,
                    AccessKind kind);
  void report_outside(std::uint64_t offset, std::uint64_t bytes, AccessKind kind);
  /// Says whose memory an operation meant that came to a place which somebody else had since.
  std::string meant_at(std::uint64_t offset, std::uint32_t operation,
                       Allocation const& owner) const;
  void report_nowhere(std::uint64_t offset, std::uint64_t bytes, AccessKind kind);
  void report_unregistered(std::uint64_t bytes, AccessKind kind);
  void report_unreachable(std::uint64_t bytes, AccessKind kind);
  void report_unwritten(std::uint64_t offset, std::uint64_t bytes);
  void report_conflict(Allocation const& allocation, Side const& earlier, Side const& later,
                       std::uint64_t begin, std::uint64_t end);
  /// An access by whoever runs now.
  Side one(AccessKind kind) const { return {now(), kind != AccessKind::read, block_}; }
  Access describe(Side const& side, Allocation const* allocation, std::uint64_t begin,
                  std::uint64_t end) const;
  /// Notes what a second run has to watch for; in that run, fills in what it saw.
  void describe_locations(Access& access, Side const& side, Allocation const* allocation) const;
  std::string stream_of(Touch const& touch) const;
  Violation violation(Law law, Breach breach) const;
  std::string missing_edge(Touch const& earlier, Touch const& later) const;
  bool is_too_early(Touch const& earlier, Touch const& later) const;

  World& world_;
  Memory& memory_;
  bool enabled_ = false;

  // Whose accesses are gathered now.
  Agent* agent_ = nullptr;
  std::uint32_t operation_ = 0;
  GraphNode const* node_ = nullptr;  // of the graph that runs it
  bool on_device_ = false;
  bool in_kernel_ = false;
  bool runs_code_ = true;  // of the program: accesses have lines
  bool anywhere_ = false;  // copies reach all memory
  int device_ = 0;
  std::uint32_t block_ = 0;
  bool several_blocks_ = false;  // have run in the operation that goes on
  bool seeking_ = false;
  bool looks_closer_ = false;
  Span const* foreign_ = nullptr;  // in which all lies that is watched outside the region
  Span reach_;                     // the same for a kernel
  Span own_stack_;                 // of kernels, whose variables are most of what lies there
  std::vector<std::vector<bool>> peers_;

  // Ranges that may still grow; a loop over k arrays touches them round and round, so the next to
  // grow is usually the one after the last, or the last once more.
  static constexpr std::uint32_t open_max = 16;
  std::array<Range, open_max> open_;
  std::uint32_t opened_ = 0;
  std::uint32_t cursor_ = 0;
  std::uint32_t grown_ = 0;  // the last
  std::uint32_t victim_ = 0;
  std::vector<Range> closed_;
  std::vector<Range> merged_;
  std::uint64_t accesses_ = 0;
  bool counts_bytes_ = false;
  std::map<void const*, std::array<std::uint64_t, 3>> bytes_of_kernel_;  // by kind of access

  struct Conflict {
    Touch earlier;
    bool earlier_writes = false;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  std::vector<Conflict> conflicts_;
  struct Reported {
    std::uint32_t operation;
    Breach breach;
    AccessKind kind;
    Allocation const* allocation;
    friend bool operator==(Reported const&, Reported const&) = default;
  };
  std::vector<Reported> reported_;
};

/// The watch to which instrumented code reports; null while the simulator's own code runs, whose
/// accesses are no part of the program.
/// A thread's own: one that a program starts is no rank's, and is not watched.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local Watch* active_watch;

/// Instrumented code runs in this scope.
class Instrumented {
 public:
  explicit Instrumented(Watch& watch) { active_watch = watch.enabled() ? &watch : nullptr; }
  ~Instrumented() { active_watch = nullptr; }
  Instrumented(Instrumented const&) = delete;
  Instrumented& operator=(Instrumented const&) = delete;
};

/// The name of a kernel or host function: what it was given, or from the program's symbol table.
std::string symbol_name(void const* function);
void name_function(void const* function, std::string name);
/// A function's own name: "adamant::real::(anonymous namespace)::adam_kernel(Args)", mangled, is
/// "adam_kernel". What is not mangled stays.
std::string short_name(std::string const& mangled);
/// A source file as reports name it, of what debug information says: without the folder of the
/// compilation, which readers put before some relative names, and without `..`.
std::string source_name(std::string const& folder, std::string const& file);

}  // namespace adamant::sim
