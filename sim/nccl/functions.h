// The collectives and messages of NCCL as rows: which sides of a call send and receive how much.
// What a call checks, costs, touches, moves and orders follows from its row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace adamant::sim {

enum class Function : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  reduce,
  broadcast,
  send,
  receive,
};

/// Which sides of a call: one a rank, but a message has its source as side 0 and its destination as
/// side 1.
enum class Sides : std::uint8_t { all, root, source, destination };

/// What a buffer holds: the call's count of elements, or so many for each rank, one behind another.
enum class Holds : std::uint8_t { count, count_for_each_rank };

struct FunctionRow {
  Function function;
  char const* name;
  Sides senders = Sides::all;
  Sides receivers = Sides::all;
  Holds sent = Holds::count;
  Holds received = Holds::count;
  bool reduces = false;  // else each receiver gets from each sender what that has for it
};

inline constexpr auto function_rows = std::to_array<FunctionRow>({
    {.function = Function::all_reduce, .name = "ncclAllReduce", .reduces = true},
    {.function = Function::all_gather,
     .name = "ncclAllGather",
     .received = Holds::count_for_each_rank},
    {.function = Function::reduce_scatter,
     .name = "ncclReduceScatter",
     .sent = Holds::count_for_each_rank,
     .reduces = true},
    {.function = Function::reduce, .name = "ncclReduce", .receivers = Sides::root, .reduces = true},
    {.function = Function::broadcast, .name = "ncclBroadcast", .senders = Sides::root},
    {.function = Function::send,
     .name = "ncclSend",
     .senders = Sides::source,
     .receivers = Sides::destination},
    {.function = Function::receive,
     .name = "ncclRecv",
     .senders = Sides::source,
     .receivers = Sides::destination},
});

/// Every function stands at the place of its enumerator.
consteval bool are_in_order() {
  for (std::size_t i = 0; i < function_rows.size(); ++i)
    if (function_rows[i].function != static_cast<Function>(i)) return false;
  return true;
}
static_assert(function_rows.size() == static_cast<std::size_t>(Function::receive) + 1);
static_assert(are_in_order());

constexpr FunctionRow const& row_of(Function function) {
  return function_rows[static_cast<std::size_t>(function)];
}

constexpr char const* name_of(Function function) {
  return row_of(function).name;
}

constexpr bool is_message(Function function) {
  return row_of(function).senders == Sides::source;
}

constexpr bool has_root(Function function) {
  return row_of(function).senders == Sides::root || row_of(function).receivers == Sides::root;
}

/// The side on which a rank stands with its own call.
constexpr std::size_t side_of(Function function, int rank) {
  if (!is_message(function)) return static_cast<std::size_t>(rank);
  return function == Function::receive ? 1 : 0;
}

constexpr bool includes(Sides sides, std::size_t side, int root) {
  switch (sides) {
    case Sides::all:
      return true;
    case Sides::root:
      return side == static_cast<std::size_t>(root);
    case Sides::source:
      return side == 0;
    case Sides::destination:
      return side == 1;
  }
  return false;
}

}  // namespace adamant::sim
