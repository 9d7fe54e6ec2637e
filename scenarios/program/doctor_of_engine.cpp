#include "scenarios/program/doctor_of_engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/language/plain_text.h"
#include "scenarios/peers/doctor/examine.h"
#include "scenarios/pool/interrupt.h"
#include "scenarios/program/outputs.h"
#include "scenarios/report/json.h"
#include "scenarios/report/style.h"

namespace adamant::scenarios {

namespace {

bool is_shown(Arguments const& arguments, Probe const& probe) {
  return arguments.verbosity != Verbosity::quiet || probe.outcome == Probe::Outcome::failed;
}

std::string line_of(Probe const& probe) {
  std::string line = fmt::format("{:<12}{}", name_of(probe.outcome), probe.name);
  if (!probe.text.empty()) line += ": " + probe.text;
  return printable(line) + "\n";
}

StrictJson to_json(std::vector<Probe> const& probes) {
  auto array = StrictJson::array();
  for (Probe const& probe : probes) {
    StrictJson entry{{"probe", probe.name}, {"outcome", std::string(name_of(probe.outcome))}};
    if (!probe.text.empty()) entry["text"] = probe.text;
    array.push_back(std::move(entry));
  }
  return array;
}

std::string summary_of(std::string const& engine, std::vector<Probe> const& probes) {
  auto const count = [&](Probe::Outcome outcome) {
    return std::count_if(probes.begin(), probes.end(),
                         [&](Probe const& probe) { return probe.outcome == outcome; });
  };
  return fmt::format("{}: {} ok, {} failed, {} not offered", engine, count(Probe::Outcome::ok),
                     count(Probe::Outcome::failed), count(Probe::Outcome::not_offered));
}

}  // namespace

Status examine_engine_command(Arguments const& arguments) {
  Outputs outputs(arguments);
  auto const probes = examine_engine(*arguments.engine, [&](Probe const& probe) {
    if (is_shown(arguments, probe)) print(arguments, line_of(probe));
  });
  print(arguments, printable(summary_of(*arguments.engine, probes)) + "\n");
  auto document = make_document("doctor");
  document["engine"] = *arguments.engine;
  if (interrupted()) document["interrupted"] = true;
  document["probes"] = to_json(probes);
  outputs.commit(document, "doctor", {});
  if (interrupted()) return Status::interrupted;
  bool const well = std::none_of(probes.begin(), probes.end(), [](Probe const& probe) {
    return probe.outcome == Probe::Outcome::failed;
  });
  return well ? Status::met : Status::not_met;
}

}  // namespace adamant::scenarios
