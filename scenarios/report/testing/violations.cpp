#include "scenarios/report/testing/violations.h"

#include <string>
#include <string_view>

namespace adamant::scenarios {

namespace {

Tensor const moment{.parameter = "h.0.w", .kind = TensorKind::exp_avg};
Tensor const gradient{.parameter = "h.0.w", .kind = TensorKind::gradient};

Violation outside(Breach breach, Tensor const& tensor) {
  return {.law = Law::values_interval,
          .breach = breach,
          .operation = 1,
          .rank = 1,
          .subject = tensor,
          .index = 5,
          .expected = Interval{.finite_possible = true,
                               .lo = -0.0F,
                               .hi = 0x1.8p-3F,
                               .may_be_nan = true,
                               .may_be_pos_inf = true},
          .actual = Number(-1.0F),
          .ulp = 12};
}

std::vector<Violation> of_values() {
  return {
      {.subject = moment,
       .index = 3,
       .elements = WrongElements{.ranges = {{3, 5}, {7, 8}},
                                 .count = 3,
                                 .part = WrongElements::Part::saved_shards,
                                 .ranks = {1, 4}},
       .expected = Number(1.0F),
       .actual = Number(2.0F),
       .ulp = 9},
      {.breach = Breach::other_scale,
       .subject = moment,
       .expected = Number(0x1p-6F),
       .actual = Number(1.0F),
       .ulp = 0x03000000},
      {.breach = Breach::other_scale,
       .subject = Tensor{.parameter = "w"},
       .index = 7,
       .expected = Count{0x79},
       .actual = Count{0x0a}},
      {.breach = Breach::other_code,
       .subject = Tensor{.parameter = "w"},
       .index = 5,
       .expected = Count{0x7e},
       .actual = Count{0xfe},
       .ulp = 253},
      {.breach = Breach::other_amax,
       .subject = Tensor{.parameter = "w"},
       .expected = Number(1.0F),
       .actual = Number(2.0F)},
      {.breach = Breach::other_history,
       .subject = Tensor{.parameter = "w"},
       .index = 15,
       .expected = Number(1.0F),
       .actual = Number(0.0F)},
      {.breach = Breach::other_next_scale,
       .subject = Tensor{.parameter = "w"},
       .expected = Number(64.0F),
       .actual = Number(1.0F)},
      {.subject = Tensor{.parameter = "w", .kind = TensorKind::main, .whole = true}},
      {.law = Law::ranks_agree, .subject = ScalingNumber::norm, .expected = Number(1.0F)},
      outside(Breach::outside_reduction, gradient),
      outside(Breach::outside_clip, gradient),
      outside(Breach::outside_unscale, gradient),
      outside(Breach::outside_step, moment),
      {.breach = Breach::other_type,
       .subject = moment,
       .index = 0,
       .expected = Elements{.ranges = {{2, 5}, {8, 9}}, .row_numel = 3},
       .actual = Elements{.ranges = {{2, 5}, {8, 9}}, .format = NumberFormat::fp8}},
      {.breach = Breach::other_type,
       .subject = Tensor{.parameter = "w"},
       .expected = Elements{.ranges = {{0, 32}}, .recipe = Recipe::mxfp8},
       .actual = Elements{.ranges = {{0, 32}}}},
      {.breach = Breach::other_elements,
       .subject = moment,
       .expected = Elements{.ranges = {{2, 5}, {8, 9}}, .row_numel = 3}},
      {.breach = Breach::other_size, .subject = moment, .expected = Count{8}, .actual = Count{9}},
      {.breach = Breach::gradient_presence,
       .subject = gradient,
       .expected = Presence{true},
       .actual = Presence{false}},
      {.breach = Breach::other_step_count,
       .subject = StepCount{"h.0.w"},
       .expected = Count{2},
       .actual = Count{3}},
      {.breach = Breach::other_settings,
       .subject = GroupSettings{1},
       .expected = AdamConfig{},
       .actual = AdamConfig{.mode = AdamMode::adam, .epsilon = 0.1F, .bias_correction = false}},
      {.breach = Breach::other_scaling,
       .subject = ScalingNumber::hysteresis,
       .expected = Number(1.0F),
       .actual = Number(2.0F)},
      {.breach = Breach::other_gathered,
       .subject = Tensor{.parameter = "w"},
       .expected = Digest{~std::uint64_t{0}},
       .actual = Digest{1}},
  };
}

std::vector<Violation> of_memory() {
  Buffers const buffers{Purpose::unsharded_gradients};
  return {
      {.law = Law::pointers_stable,
       .breach = Breach::moved,
       .subject = moment,
       .actual = Presence{true}},
      {.law = Law::memory_budget,
       .breach = Breach::other_live_bytes,
       .subject = buffers,
       .expected = LiveBytes{.device = 4, .pinned = 8},
       .actual = LiveBytes{}},
      {.law = Law::memory_budget,
       .breach = Breach::other_peak,
       .subject = buffers,
       .expected = Count{4},
       .actual = Count{8}},
      {.law = Law::memory_budget,
       .breach = Breach::other_allocation,
       .subject = buffers,
       .expected = Allocated{.bytes = 4},
       .actual = Allocated{.bytes = 4, .on_host = true}},
      {.law = Law::memory_budget,
       .breach = Breach::unlisted_allocation,
       .actual = Allocated{.bytes = 4}},
      {.law = Law::memory_budget, .breach = Breach::dead_buffer, .subject = buffers},
      {.law = Law::memory_budget,
       .breach = Breach::left_allocation,
       .actual = Allocated{.bytes = 4}},
      {.law = Law::memory_budget,
       .breach = Breach::left_handles,
       .actual = Count{1},
       .text = "events"},
  };
}

std::vector<Violation> of_checkpoints() {
  DamagedFiles const damage{{.file = "a/x", .how = Fault::Then::flip_byte, .at = 7},
                            {.file = "a/y", .how = Fault::Then::stale_file}};
  return {
      {.law = Law::checkpoint_integrity, .breach = Breach::damage_unnoticed, .subject = damage},
      {.law = Law::checkpoint_integrity,
       .breach = Breach::damage_misjudged,
       .subject = damage,
       .reason = "incompatible_checkpoint",
       .text = "no"},
      {.law = Law::checkpoint_roundtrip,
       .breach = Breach::not_loaded,
       .reason = "damaged_checkpoint",
       .text = "RuntimeError: Missing key"},
      {.law = Law::checkpoint_roundtrip,
       .breach = Breach::rounded_unasked,
       .subject = Tensor{.parameter = "w", .kind = TensorKind::exp_avg}},
      {.law = Law::checkpoint_roundtrip, .breach = Breach::other_files, .text = "w is missing"},
      {.law = Law::checkpoint_roundtrip,
       .breach = Breach::saved_otherwise,
       .subject = StepCount{.parameter = "w"},
       .expected = Number(2),
       .actual = Number(3)},
      {.law = Law::checkpoint_integrity, .breach = Breach::foreign_loaded, .text = "no x"},
  };
}

std::vector<Violation> of_failures() {
  return {
      {.law = Law::error_clean,
       .breach = Breach::failed,
       .operation = 2,
       .rank = 1,
       .subject = Call{.verb = "step"},
       .text = "TypeError: bad"},
      {.law = Law::error_clean,
       .breach = Breach::failed,
       .subject = Call{.verb = "load", .ending = Ending::exit, .status = "3"}},
      {.law = Law::order_deadlock,
       .breach = Breach::no_answer,
       .subject = Call{.verb = "clip", .ending = Ending::none}},
      {.law = Law::error_clean, .breach = Breach::loaded_alone},
      {.law = Law::error_clean, .breach = Breach::failed_load_changed},
      {.law = Law::error_clean, .breach = Breach::state_disagreed},
      {.law = Law::error_clean,
       .breach = Breach::used_without_state,
       .subject = Call{.verb = "backward"}},
      {.law = Law::error_clean,
       .breach = Breach::silent_about_state,
       .subject = Call{.verb = "save"},
       .text = "out of tea"},
      {.law = Law::error_clean, .breach = Breach::memory_kept, .actual = LiveBytes{.device = 4}},
      {.law = Law::determinism_digest,
       .breach = Breach::other_digest,
       .expected = Digest{1},
       .actual = Digest{2}},
      {.law = Law::runs_worlds,
       .breach = Breach::other_in_run,
       .operation = 2,
       .subject = Tensor{.parameter = "w", .kind = TensorKind::exp_avg},
       .index = 3,
       .expected = Number(1.0F),
       .actual = Number(1.5F),
       .run = "worlds: 3"},
      {.law = Law::runs_repeated,
       .breach = Breach::other_file_in_run,
       .operation = 2,
       .run = "again: {}",
       .text = "ckpt/model.bin"},
  };
}

/// What a simulated world notices; laws and texts as they may be.
std::vector<Violation> of_worlds() {
  std::vector<Violation> all;
  for (std::string_view const name : sim::breach_names)
    all.push_back(
        {.law = Law::graph_pointer,
         .breach = breach_of(name).value(),
         .operation = 4,
         .rank = 2,
         .subject = Named{"cudaMalloc"},
         .text = "what the world says of " + std::string(name),
         .accesses = {{.rank = 0,
                       .stream = "comm",
                       .operation = "ncclAllGather",
                       .name = "",
                       .kind = "write",
                       .buffer = "whole",
                       .begin = 4,
                       .end = 64,
                       .at = {.file = "real/adam.cu", .line = 7, .function = "update"},
                       .enqueued_at =
                           {.file = "real/launch.h",
                            .line = 1,
                            .function = "launch<Adam>",
                            .callers = {{.file = "real/step.cpp", .line = 91, .function = "run"}}},
                       .captured_at = {.file = "real/step.cpp", .line = 80},
                       .allocated_at = {.file = "real/memory.cpp", .line = 13},
                       .freed_at = {.file = "real/memory.cpp", .line = 21}}},
         .missing = "an event",
         .at = {.file = "real/verbs.cpp", .line = 5, .function = "load"},
         .related = {{.what = "called", .rank = 1, .at = {.file = "real/verbs.cpp", .line = 8}}},
         .waiting = {{.rank = 3, .at = {.file = "real/wait.cpp", .line = 2}}},
         .ranks = {2, 3},
         .count = 9});
  for (Violation& violation : all) {
    if (violation.breach == Breach::never_freed) violation.actual = Count{448};
    if (violation.breach != Breach::foreign_thread) continue;
    violation.rank = -1;
    violation.ranks = {};
  }
  return all;
}

}  // namespace

std::vector<Violation> one_of_each() {
  std::vector<Violation> all;
  for (auto const& some : {of_values(), of_memory(), of_checkpoints(), of_failures(), of_worlds()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

}  // namespace adamant::scenarios
