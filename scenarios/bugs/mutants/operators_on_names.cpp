// Names: the other one of two that go together.
#include <map>

#include "scenarios/bugs/mutants/operators.h"

namespace adamant::bugs {

namespace {

/// Two names that go together: the one becomes the other, and maybe the other the one as well.
struct Pair {
  std::string_view from;
  std::string_view to;
  bool both_ways = false;
};
constexpr bool both_ways = true;

using Fits = std::function<bool(Body const& code, std::size_t i)>;

/// A name of a pair becomes the other one where `fits` says so. What the file never says is hardly
/// there.
Rule other_name(std::vector<Pair> const& pairs, Fits const& fits) {
  std::map<std::string_view, std::string_view> others;
  for (Pair const& pair : pairs) {
    others[pair.from] = pair.to;
    if (pair.both_ways) others[pair.to] = pair.from;
  }
  return [=](Body const& code, std::size_t i) -> Found {
    bool const is_label = i > 2 && code.is(i - 3, "case");
    if (i == 0 || !code.is_name(i) || code.is_muted(i) || is_label || !fits(code, i)) return {};
    auto const other = others.find(code[i].text);
    if (other == others.end() || !code.knows(other->second)) return {};
    return Replacement{i, i, std::string(other->second)};
  };
}

bool fits_anywhere(Body const& /*code*/, std::size_t /*i*/) {
  return true;
}

bool is_stream(Body const& code, std::size_t i) {
  bool const is_own = code[i].text.ends_with('_');
  return is_own != code.is(i - 1, ".") && (is_own || !code.is(i + 1, "("));
}

bool is_event(Body const& code, std::size_t i) {
  return code.is_any(i + 1, {".", ","});
}

/// Is it scope::name?
Fits is_of(std::string_view scope) {
  return [=](Body const& code, std::size_t i) {
    return code.is(i - 1, "::") && code.is(i - 2, scope);
  };
}

bool is_member(Body const& code, std::size_t i) {
  bool const is_designator = code.is(i + 1, "=") && code.is_any(i - 2, {"{", ","});
  return code.is_any(i - 1, {".", "->"}) && !is_designator;
}

bool is_called(Body const& code, std::size_t i) {
  return code.is(i - 1, ".") && code.is(i + 1, "(");
}

std::vector<Pair> const streams = {
    {"compute", "comm", both_ways},
    {"copy", "compute"},
    {"down", "up", both_ways},
    {"down_", "up_", both_ways},
};
std::vector<Pair> const events = {
    {"gathered", "computed", both_ways},
    {"forked_", "joined_", both_ways},
    {"uploaded_", "table_read_", both_ways},
    {"sent_", "brought_", both_ways},
    {"ready_", "sent_"},
};
std::vector<Pair> const tensors = {
    {"exp_avg", "exp_avg_sq", both_ways},
    {"parameter", "gradient", both_ways},
    {"main", "parameter"},
    {"cast_gradient", "gradient"},
};
std::vector<Pair> const purposes = {
    {"parameters", "gradients", both_ways},
    {"exp_avg", "exp_avg_sq", both_ways},
    {"main", "parameters"},
    {"unsharded_parameters", "parameters"},
    {"unsharded_gradients", "gradients"},
    {"reduction", "work_list"},
    {"step_table", "work_list", both_ways},
    {"staging", "step_table"},
};
std::vector<Pair> const fields = {
    {"exp_avg", "exp_avg_sq", both_ways},
    {"beta1", "beta2", both_ways},
    {"one_minus_beta1", "one_minus_beta2", both_ways},
    {"correction1", "correction2", both_ways},
    {"epsilon", "weight_decay", both_ways},
    {"m", "v", both_ways},
    {"row_begin", "row_end", both_ways},
    {"shard_numel", "numel"},
    {"chunk_numel", "numel"},
    {"numel", "whole_numel", both_ways},
    {"host_numel", "device_numel", both_ways},
    {"send", "receive"},
    {"growth_tracker", "hysteresis"},
    {"world_size", "rank"},
    {"applied", "scale", both_ways},
};
std::vector<Pair> const formats = {
    {"fp32", "bf16"},
    {"bf16", "fp16", both_ways},
};
std::vector<Pair> const directions = {
    {"cudaMemcpyHostToDevice", "cudaMemcpyDeviceToHost", both_ways},
    {"to_staging", "from_staging", both_ways},
};
std::vector<Pair> const collectives = {
    {"all_reduce_sum", "all_reduce_max"},
    {"all_reduce", "all_gather"},
    {"all_gather", "reduce_scatter", both_ways},
    {"ncclSum", "ncclMax", both_ways},
    {"ncclReduce", "ncclBroadcast"},
    {"ncclInt64", "ncclInt32"},
    {"group_start", "group_end"},
};
std::vector<Pair> const ends = {
    {"front", "back", both_ways},
    {"first", "last"},
};
std::vector<Pair> const extremes = {
    {"min", "max", both_ways},
};

}  // namespace

std::vector<Operator> operators_on_names() {
  return {
      {"other_stream", "another stream", other_name(streams, is_stream)},
      {"other_event", "another event", other_name(events, is_event)},
      {"other_tensor", "another kind of tensor", other_name(tensors, is_of("TensorKind"))},
      {"other_purpose", "memory accounted to something else",
       other_name(purposes, is_of("Purpose"))},
      {"other_field", "another member of the same type", other_name(fields, is_member)},
      {"other_format", "another number format", other_name(formats, is_of("NumberFormat"))},
      {"other_direction", "a copy in the other direction", other_name(directions, fits_anywhere)},
      {"other_collective", "another collective, or another operation in it",
       other_name(collectives, fits_anywhere)},
      {"last_for_first", "the last for the first", other_name(ends, is_called)},
      {"min_max", "the larger for the smaller", other_name(extremes, is_of("std"))},
  };
}

}  // namespace adamant::bugs
