#include "scenarios/peers/doctor/promise_probes.h"

#include <fmt/format.h>

#include <string_view>

#include "scenarios/language/further_runs.h"
#include "scenarios/language/words.h"

namespace adamant::scenarios {

namespace {

/// More elements than vectors hold, and no whole number of vectors on any number of ranks.
constexpr char const* params_of_promises =
    "params:\n"
    "  - {name: h.0.weight, shape: [37, 3]}\n"
    "  - {name: h.0.bias, shape: [5], group: other}\n";

ProbePlan once_more(std::string name, std::string program, std::string again) {
  return {.name = std::move(name),
          .program = std::move(program),
          .more = fmt::format("again: [{}]\n", again),
          .params = params_of_promises};
}

void add_worlds(Capabilities const& offered, std::vector<ProbePlan>& plans) {
  if (offered.ranks_max < 2) return;  // there is no other world
  plans.push_back({.name = "promise worlds: the same on other ranks",
                   .program = "[train: 2]",
                   .worlds = offered.ranks_max < 3 ? "[2, 1]" : "[2, 1, 3]",
                   .params = params_of_promises});
}

void add_repeated(Capabilities const& offered, std::vector<ProbePlan>& plans) {
  plans.push_back(once_more("promise repeated: the same once more",
                            offered.save ? "[train: 1, save: a, train: 1]" : "[train: 2]", "{}"));
}

void add_options(Capabilities const& offered, std::vector<ProbePlan>& plans) {
  for (EngineOption const& option : offered.options) {
    if (!offers(offered.same_options, option.name)) continue;
    for (std::string const& value : option.values)
      if (value != option.values.front())
        plans.push_back(
            once_more(fmt::format("promise options: the same with {}: {}", option.name, value),
                      offered.save ? "[train: 1, save: a, train: 1]" : "[train: 2]",
                      fmt::format("{{options: {{\"{}\": \"{}\"}}}}", option.name, value)));
  }
}

void add_resumed(Capabilities const& offered, std::vector<ProbePlan>& plans) {
  plans.push_back(once_more("promise resumed: a load goes on as if nothing had been",
                            "[train: 1, train: 1]", "{resumed_after: 1}"));
  if (offered.ranks_max < 2) return;
  plans.push_back(once_more("promise resumed: so does one by way of another world",
                            "[train: 1, train: 1]",
                            fmt::format("{{resumed_after: 1, through: [1]{}}}",
                                        offered.loads_in_any_order ? ", order: reversed" : "")));
}

}  // namespace

std::vector<ProbePlan> promise_plans(Capabilities const& offered) {
  std::vector<ProbePlan> plans;
  if (offers(offered.promises, Promise::worlds)) add_worlds(offered, plans);
  if (offers(offered.promises, Promise::repeated)) add_repeated(offered, plans);
  if (offers(offered.promises, Promise::options)) add_options(offered, plans);
  if (offers(offered.promises, Promise::resumed)) add_resumed(offered, plans);
  return plans;
}

std::string way_to_withdraw(Violation const& violation, ProbePlan const& plan) {
  if (violation.breach == Breach::other_file_in_run)
    return "an engine that cannot keep this leaves the ending of that name out of `same_files`";
  if (violation.breach != Breach::other_in_run) return "";
  if (violation.law == Law::runs_options) {
    constexpr std::string_view with = " with ";
    auto const begin = plan.name.rfind(with) + with.size();
    return fmt::format("an engine that cannot keep this leaves `{}` out of `same_options`",
                       plan.name.substr(begin, plan.name.find(':', begin) - begin));
  }
  for (Promise const promise : all_promises)
    if (violation.law == law_of(promise))
      return fmt::format("an engine that cannot keep this leaves `{}` out of `promises`",
                         word_for(promise));
  return "";
}

}  // namespace adamant::scenarios
