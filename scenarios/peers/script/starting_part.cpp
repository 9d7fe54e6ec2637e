#include "scenarios/peers/script/starting_part.h"

#include <fmt/format.h>

#include "scenarios/peers/script/damage_part.h"
#include "scenarios/peers/script/observation.h"

namespace adamant::scenarios::script {

namespace {

using python::Block;

std::vector<std::string> start_arguments(Stay const& stay, bool join) {
  std::vector<std::string> arguments = {stay.function, stay.arguments,
                                        fmt::format("nprocs={}", stay.worlds.front()->ranks())};
  if (!join) arguments.emplace_back("join=False");
  arguments.emplace_back("start_method=\"fork\"");
  return arguments;
}

/// Those that lost a rank end by themselves, when its connections close, or else are ended.
void write_dying(Draft& draft, Stay const& stay) {
  draft.code.call("ranks = mp.start_processes", start_arguments(stay, false));
  {
    Block const each(draft.code, "for process in ranks.processes:");
    draft.code.line("process.join(60)");
    draft.code.line("process.kill()");
  }
  write_death_check(draft, *stay.worlds.back());
}

/// One bound for all waits together: what has not ended then is ended.
void write_hanging(Draft& draft, Stay const& stay) {
  draft.imports.add("time");
  draft.code.call("ranks = mp.start_processes", start_arguments(stay, false));
  draft.code.line("end = time.monotonic() + SECONDS");
  {
    Block const each(draft.code, "for process in ranks.processes:");
    draft.code.line("process.join(max(0, end - time.monotonic()))");
  }
  draft.code.line("ended = [process.exitcode for process in ranks.processes]");
  Block const each(draft.code, "for process in ranks.processes:");
  draft.code.line("process.kill()");
}

void write_failing(Draft& draft, Stay const& stay) {
  {
    Block const watched(draft.code, "try:");
    draft.code.call("mp.start_processes", start_arguments(stay, true));
    draft.code.line("actual = \"no error\"");
  }
  Block const except(draft.code,
                     "except (mp.ProcessRaisedException, mp.ProcessExitedException) as error:");
  draft.code.line("actual = str(error).strip()");
}

}  // namespace

void write_start(Draft& draft, Stay const& stay, bool looks) {
  draft.imports.add_as("torch.multiprocessing", "mp");
  if (stay.worlds.back()->crashes) return write_dying(draft, stay);
  if (looks && hangs(draft.plan.violation)) return write_hanging(draft, stay);
  if (looks && observes_error(draft.plan)) return write_failing(draft, stay);
  draft.code.call("mp.start_processes", start_arguments(stay, true));
}

}  // namespace adamant::scenarios::script
