// The program whose schedules are counted: per rank a compute, a communication and a copy stream,
// and small kernels, copies and collectives that events order. It is compiled instrumented.
#pragma once

#include <nccl.h>

namespace adamant::scenarios {

/// One rank of the program.
///
/// Units: one round is 15 asynchronous calls: 5 kernels over 8 elements, a copy, a collective, and
///        four pairs of recording an event and waiting for it.
struct AsynchronousCalls {
  int rank = 0;
  int ranks = 1;
  int rounds = 2;
  ncclUniqueId id;  // the same on every rank
};

}  // namespace adamant::scenarios

extern "C" {
/// For the first rank that runs; every rank is given a copy.
void adamant_bench_make_id(ncclUniqueId* id);
/// Errors: std::runtime_error where a call fails.
void adamant_bench_asynchronous_calls(adamant::scenarios::AsynchronousCalls const* calls);
}
