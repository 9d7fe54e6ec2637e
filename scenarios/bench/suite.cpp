#include "scenarios/bench/suite.h"

namespace adamant::scenarios {

namespace {

constexpr Suite all_suites[] = {
    {"schedules_per_second", "checked simulation of small asynchronous programs",
     measure_schedules},
    {"cases_per_second", "generated scenarios, run and judged", measure_cases},
    {"checked_over_unchecked", "what checking costs, as a ratio of times", measure_checking},
    {"cpu_step_over_roof", "the hybrid path's step on the CPU, as a part of the memory's rate",
     measure_cpu_step},
    {"cpu_step_formats", "the CPU's step in narrow formats, placements and as one pass, over roofs",
     measure_cpu_formats},
    {"world_sizes", "seconds by the number of ranks, parameters fixed in total, and for each rank",
     measure_worlds},
    {"reshard", "who reads what of 4,096 ranks' files on 3,072 ranks, over a merge of borders",
     measure_reshard},
    {"checkpoint", "load of GPT-2 124M, saved by 8 ranks, on 3, over read and checksum",
     measure_checkpoint},
    {"gpt2_124m_8_ranks_wall_seconds", "three steps of GPT-2 124M, verdict included", measure_gpt2},
};

}  // namespace

std::span<Suite const> suites() {
  return all_suites;
}

}  // namespace adamant::scenarios
