// How many bytes a rank's engine may have alive, by purpose, after each operation and at its peak.
// Counted from shapes and the history of operations alone; it has never seen a buffer.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "oracle/budget/holdings.h"
#include "oracle/types.h"

namespace adamant::oracle {

/// What is offloaded; at most one of the two.
struct Offload {
  std::optional<StateOffloadConfig> states = {};
  std::optional<HybridConfig> hybrid = {};
};

/// What stays where it is although an eager engine would give it back.
struct Residence {
  bool capturable = false;
  bool keep_cast_grad = false;
  int group_count = 1;
};

/// The expected bytes of one rank, kept in step with its operations.
///
/// With N shards and M replicas, of each bucket: c elements in the chunk that a shard gives to a
/// gather; t in a rank's room for states, which is c, or where states are cut across c / M, in
/// fsdp2 as many whole rows as the first replica gets of those of its shard; and p in a rank's room
/// for parameters, which is c, or where states are cut across M t if that is more. A room takes so
/// many numbers of the kind's own format, rounded up to 16 bytes; a remainder has 2 bytes. Codes of
/// a quantised parameter have one, of nvfp4 half of one. Those of mxfp8 have, in fsdp2 with states
/// that are not cut across, as many more as there are blocks of 32, rounded up by themselves:
///
///   parameters            room for p of each bucket, from construction on
///   exp_avg, exp_avg_sq   room for t of each, from construction on
///   main                  the same, of those buckets that have main weights: one each
///   gradients             the same, while the gradient buffer exists: from the first backward in
///                         which a parameter takes part, or zero_grad(false), to zero_grad(true)
///   cast_gradients        the same at the same time, of those buckets whose gradient is handed
///                         over in another format than its own; nothing where it is a view
///   unsharded_parameters  room for N c, for each bucket of at most two consecutive units at once
///                         during a backward; nothing at rest
///   unsharded_gradients   the same of gradients, of one unit at a time, buckets of which a
///                         parameter has a gradient only
///   reduction             room for p gradients of the same buckets, and where there are replicas
///                         room for t more
///   scaling               64 bytes and 360 for each of ceil(t / 65,536) blocks, t being the first
///                         rank's in all buckets together, 1 ... 512 of them, and 64 bytes pinned:
///                         from the first loss scale or maximal norm on
///   state_scales          where any parameter has a state with a scale: 48 bytes for each
///                         parameter, with `hybrid` also 36 pinned
///   parameter_scales      of quantised parameters, each number rounded up to 16 bytes: 4 bytes for
///                         each magnitude of all of them, twice; 4 for each fp32 scale of each;
///                         a byte for each block of nvfp4, and of mxfp8 where its scales are not
///                         beside the codes; 68 of fp8_delayed. With `hybrid` also 4 for each
///                         element that the rank steps, where the CPU steps any of them
///   step_table            48 bytes per parameter on the device and as many pinned
///   work_list             56 bytes per piece of at most 65,536 elements that the rank steps;
///   pieces
///                         do not cross parameters and cover no padding
///
/// With `states`, the named kinds are pinned from construction on, in the same bytes, and on the
/// device only from reload() to the next step() or offload(), and during a step. Without it, the
/// first offload() does so to moments and main weights, and a step brings them back for good.
///
/// With `hybrid`, the CPU steps the last ceil(fraction x n) of the n elements that the rank steps,
/// in the order in which they lie:
///
///   exp_avg, exp_avg_sq, main  on the device up to the first such element, rounded up to 16 bytes
///   gradients, parameters      also pinned if asked for: per parameter its elements there, of the
///                              gradient as it is handed over and of the parameter (in fp32 of a
///                              quantised one), rounded up to 64 bytes; parameters of a MiB and
///                              more together 4,160 bytes more
///   work_list                  pieces of the others only
///
/// Units: bytes asked for, padding included; an allocator's own rounding is not. A purpose of 0
///        bytes has no buffer.
///
/// Of a capturable engine, whose buffers never move: gradients live from construction on, and so
/// do the buffers of a backward, each as large as its largest use: unsharded_parameters once for
/// the even and once for the odd units, the others once; beside the table there are 40 bytes a
/// group and 16 a parameter on the device, and of the pinned bytes only 32 a group.
/// With keep_cast_grad cast_gradients live from construction on.
class Budget {
 public:
  /// REQUIRES: as buckets_of(); a rank of the mesh.
  Budget(LayoutKind kind, std::span<ParameterSpec const> parameters, Mesh const& mesh, int rank,
         Offload const& offload = {}, Residence residence = {});

  /// Parameters in `without` get no gradient from this backward.
  void backward(std::span<int const> without);
  void zero_grad(bool set_to_none);
  void step();
  void offload();
  void reload();
  /// There is a loss scale or a maximal norm: from here on its buffers exist.
  void use_scaling();

  /// Alive now, between operations.
  std::int64_t device_bytes(Purpose purpose) const;
  std::int64_t pinned_bytes(Purpose purpose) const;

  /// The most that was alive at once for a purpose since construction, device and pinned together.
  std::int64_t peak_bytes(Purpose purpose) const;

 private:
  using ByPurpose = std::array<std::int64_t, purpose_count>;

  /// Bytes of one bucket on this rank.
  struct Size {
    int unit = 0;
    std::vector<int> parameters = {};  // numbers
    std::int64_t reduction = 0;
    std::int64_t whole_parameters = 0;
    std::int64_t whole_gradients = 0;
  };

  /// Bytes of a backward, by unit.
  struct ByUnit {
    std::vector<std::int64_t> gathered;
    std::vector<std::int64_t> unreduced;
    std::vector<std::int64_t> reduced;
  };

  void add(Holding const& holding);
  ByUnit by_unit(std::span<char const> takes_part) const;
  void set_step_table();
  void set_state_scales(std::span<ParameterSpec const> parameters, bool hybrid);
  void set_parameter_scales(std::span<ParameterSpec const> parameters);
  void set_state_offload(StateOffloadConfig const& config);
  void set_leaving(StateOffloadConfig const& config);
  void set_hybrid(std::span<Holding const> holdings, HybridConfig const& config);
  void keep_unit_buffers();
  void raise_peak(Purpose purpose, std::int64_t bytes);
  void set_gradients(bool alive);

  Residence residence_;
  std::int64_t parameter_count_;
  bool scales_beside_;  // those of mxfp8, beside the codes of their rank
  std::vector<Size> sizes_;
  int unit_count_ = 0;
  std::int64_t scaling_bytes_ = 0;  // on the device, once it is used
  bool leaves_after_step_ = false;
  bool away_ = false;
  std::vector<Purpose> leaving_;  // which states an offload moves
  std::int64_t gradients_ = 0;    // bytes, while they exist
  std::int64_t cast_gradients_ = 0;
  ByPurpose device_{};
  ByPurpose pinned_{};
  ByPurpose peak_{};
};

}  // namespace adamant::oracle
