// Names: the other one of two that go together.
#include <array>
#include <utility>

#include "scenarios/bugs/mutants/operators.h"

namespace adamant::bugs {

namespace {

using Pair = std::pair<std::string_view, std::string_view>;

/// Replaces each name that a pair begins with by what it ends with, where `fits` says so.
template <std::size_t n>
void replace(Body const& code, Replacements& found, Pair const (&pairs)[n], auto const& fits) {
  for (std::size_t i = 1; i + 1 < code.size(); ++i) {
    bool const is_label = i > 2 && code.is(i - 3, "case");
    if (!code.is_name(i) || code.is_muted(i) || is_label || !fits(i)) continue;
    for (auto const& [from, to] : pairs)
      if (code[i].text == from && code.knows(to)) found.push_back({i, i, std::string(to)});
  }
}

void other_stream(Body const& code, Replacements& found) {
  replace(code, found,
          {Pair{"compute", "comm"},
           {"comm", "compute"},
           {"copy", "compute"},
           {"down", "up"},
           {"up", "down"}},
          [&](std::size_t i) { return code.is(i - 1, ".") && !code.is(i + 1, "("); });
  replace(code, found, {Pair{"down_", "up_"}, {"up_", "down_"}},
          [&](std::size_t i) { return !code.is(i - 1, "."); });
}

void other_event(Body const& code, Replacements& found) {
  replace(code, found,
          {Pair{"gathered", "computed"},
           {"computed", "gathered"},
           {"forked_", "joined_"},
           {"joined_", "forked_"},
           {"uploaded_", "table_read_"},
           {"table_read_", "uploaded_"},
           {"sent_", "brought_"},
           {"brought_", "sent_"},
           {"ready_", "sent_"}},
          [&](std::size_t i) { return code.is(i + 1, ".") || code.is(i + 1, ","); });
}

void other_tensor(Body const& code, Replacements& found) {
  replace(code, found,
          {Pair{"exp_avg", "exp_avg_sq"},
           {"exp_avg_sq", "exp_avg"},
           {"parameter", "gradient"},
           {"gradient", "parameter"},
           {"main", "parameter"},
           {"cast_gradient", "gradient"}},
          [&](std::size_t i) { return code.is(i - 1, "::") && code.is(i - 2, "TensorKind"); });
}

void other_purpose(Body const& code, Replacements& found) {
  replace(code, found,
          {Pair{"parameters", "gradients"},
           {"gradients", "parameters"},
           {"exp_avg", "exp_avg_sq"},
           {"exp_avg_sq", "exp_avg"},
           {"main", "parameters"},
           {"unsharded_parameters", "parameters"},
           {"unsharded_gradients", "gradients"},
           {"reduction", "work_list"},
           {"step_table", "work_list"},
           {"work_list", "step_table"},
           {"staging", "step_table"}},
          [&](std::size_t i) { return code.is(i - 1, "::") && code.is(i - 2, "Purpose"); });
}

void other_field(Body const& code, Replacements& found) {
  replace(code, found,
          {Pair{"exp_avg", "exp_avg_sq"},
           {"exp_avg_sq", "exp_avg"},
           {"beta1", "beta2"},
           {"beta2", "beta1"},
           {"one_minus_beta1", "one_minus_beta2"},
           {"one_minus_beta2", "one_minus_beta1"},
           {"correction1", "correction2"},
           {"correction2", "correction1"},
           {"epsilon", "weight_decay"},
           {"weight_decay", "epsilon"},
           {"m", "v"},
           {"v", "m"},
           {"row_begin", "row_end"},
           {"row_end", "row_begin"},
           {"shard_numel", "numel"},
           {"chunk_numel", "numel"},
           {"numel", "whole_numel"},
           {"whole_numel", "numel"},
           {"host_numel", "device_numel"},
           {"device_numel", "host_numel"},
           {"send", "receive"},
           {"growth_tracker", "hysteresis"},
           {"world_size", "rank"},
           {"applied", "scale"},
           {"scale", "applied"}},
          [&](std::size_t i) {
            bool const is_member = code.is(i - 1, ".") || code.is(i - 1, "->");
            return is_member &&
                   !(code.is(i + 1, "=") && (code.is(i - 2, "{") || code.is(i - 2, ",")));
          });
}

void other_format(Body const& code, Replacements& found) {
  replace(code, found, {Pair{"fp32", "bf16"}, {"bf16", "fp16"}, {"fp16", "bf16"}},
          [&](std::size_t i) { return code.is(i - 1, "::") && code.is(i - 2, "NumberFormat"); });
}

void other_direction(Body const& code, Replacements& found) {
  replace(code, found,
          {Pair{"cudaMemcpyHostToDevice", "cudaMemcpyDeviceToHost"},
           {"cudaMemcpyDeviceToHost", "cudaMemcpyHostToDevice"},
           {"to_staging", "from_staging"},
           {"from_staging", "to_staging"}},
          [](std::size_t) { return true; });
}

void other_collective(Body const& code, Replacements& found) {
  replace(code, found,
          {Pair{"all_reduce_sum", "all_reduce_max"},
           {"all_reduce", "all_gather"},
           {"all_gather", "reduce_scatter"},
           {"reduce_scatter", "all_gather"},
           {"ncclSum", "ncclMax"},
           {"ncclMax", "ncclSum"},
           {"ncclReduce", "ncclBroadcast"},
           {"ncclInt64", "ncclInt32"},
           {"group_start", "group_end"}},
          [](std::size_t) { return true; });
}

void last_for_first(Body const& code, Replacements& found) {
  replace(code, found, {Pair{"front", "back"}, {"back", "front"}, {"first", "last"}},
          [&](std::size_t i) { return code.is(i - 1, ".") && code.is(i + 1, "("); });
}

void min_max(Body const& code, Replacements& found) {
  replace(code, found, {Pair{"min", "max"}, {"max", "min"}},
          [&](std::size_t i) { return code.is(i - 1, "::") && code.is(i - 2, "std"); });
}

constexpr Operator all[] = {
    {"other_stream", "another stream", other_stream},
    {"other_event", "another event", other_event},
    {"other_tensor", "another kind of tensor", other_tensor},
    {"other_purpose", "memory accounted to something else", other_purpose},
    {"other_field", "another member of the same type", other_field},
    {"other_format", "another number format", other_format},
    {"other_direction", "a copy in the other direction", other_direction},
    {"other_collective", "another collective, or another operation in it", other_collective},
    {"last_for_first", "the last for the first", last_for_first},
    {"min_max", "the larger for the smaller", min_max},
};

}  // namespace

std::span<Operator const> operators_on_names() {
  return all;
}

}  // namespace adamant::bugs
