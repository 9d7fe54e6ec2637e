// Fewer parameters and groups, in canonical order and under canonical names.
#include <algorithm>
#include <cstddef>
#include <map>

#include "scenarios/language/registry.h"
#include "scenarios/search/minimize/passes.h"
#include "scenarios/search/minimize/usual.h"

namespace adamant::scenarios::passes_of {

namespace {

/// Gives parameters and checkpoints other names, wherever these stand.
class Renaming {
 public:
  std::map<std::string, std::string> params;
  std::map<std::string, std::string> checkpoints;

  void apply(Scenario& scenario) const {
    for (Param& param : scenario.params) {
      rename(param.name, params);
      rename(param.tied, params);
    }
    apply(scenario.program);
  }

 private:
  static void rename(std::string& name, std::map<std::string, std::string> const& names) {
    auto const found = names.find(name);
    if (found != names.end()) name = found->second;
  }
  void apply(std::vector<Operation>& program) const {
    for (Operation& operation : program) {
      Action& action = operation.action;
      if (auto* backward = std::get_if<Backward>(&action))
        for (std::string& name : backward->without) rename(name, params);
      if (auto* capture = std::get_if<Capture>(&action)) apply(capture->body);
      if (auto* save = std::get_if<Save>(&action)) rename(save->checkpoint, checkpoints);
      if (auto* load = std::get_if<Load>(&action)) rename(load->from, checkpoints);
    }
  }
};

std::vector<std::string> names_of(Scenario const& scenario) {
  std::vector<std::string> names;
  for (Param const& param : scenario.params) names.push_back(param.name);
  return names;
}

Renaming canonical_params(Scenario const& scenario, bool in_units) {
  Renaming renaming;
  auto const names = names_of(scenario);
  auto const units = assign_units(names);
  for (std::size_t p = 0; p < names.size(); ++p)
    renaming.params[names[p]] = canonical_name(p, units[p], in_units);
  return renaming;
}

/// Parts by their places.
void rename_parts(Scenario& scenario) {
  for (Param& param : scenario.params)
    for (std::size_t part = 0; part < param.parts.size(); ++part)
      param.parts[part] = canonical_part(part);
}

void drop_group(Scenario& scenario, std::size_t group) {
  scenario.groups.erase(scenario.groups.begin() + static_cast<std::ptrdiff_t>(group));
}

void rename_groups(Scenario& scenario) {
  for (std::size_t g = 0; g < scenario.groups.size(); ++g) {
    std::string const name = canonical_group(g);
    std::string const before = std::exchange(scenario.groups[g].name, name);
    if (before == name) continue;
    // A later group that has the name already gives it up.
    for (std::size_t other = g + 1; other < scenario.groups.size(); ++other)
      if (scenario.groups[other].name == name) scenario.groups[other].name = before;
    for (Param& param : scenario.params) {
      if (param.group == before) {
        param.group = name;
      } else if (param.group == name) {
        param.group = before;
      }
    }
  }
}

}  // namespace

void drop_params(Scenario const& scenario, Candidates& candidates) {
  std::size_t const size = scenario.params.size();
  for (std::size_t kept = 0; kept < std::min<std::size_t>(size, 4); ++kept)
    candidates.offer([&](Scenario& s) { s.params = {scenario.params[kept]}; });
  for (std::size_t length = size / 2; length >= 1; length /= 2) {
    for (std::size_t begin = 0; begin < size; begin += length) {
      std::size_t const end = std::min(begin + length, size);
      candidates.offer([&](Scenario& s) {
        s.params.erase(s.params.begin() + static_cast<std::ptrdiff_t>(begin),
                       s.params.begin() + static_cast<std::ptrdiff_t>(end));
      });
    }
  }
}

void plainer_params(Scenario const& scenario, Candidates& candidates) {
  candidates.offer([](Scenario& s) {
    for (Param& param : s.params) param.parts.clear();
    std::erase_if(s.params, [](Param const& param) { return param.is_tied(); });
  });
  candidates.offer([](Scenario& s) {
    for (Param& param : s.params) param.parts.clear();
  });
  candidates.offer([](Scenario& s) {
    std::erase_if(s.params, [](Param const& param) { return param.is_tied(); });
  });
  for (std::size_t p = 0; p < scenario.params.size(); ++p) {
    candidates.offer([&](Scenario& s) { s.params[p].parts.clear(); });
    for (std::size_t parts = 1; parts < scenario.params[p].parts.size(); ++parts)
      candidates.offer([&](Scenario& s) { s.params[p].parts.resize(parts); });
    if (!scenario.params[p].is_tied()) continue;
    // A parameter of its own, like the one that it was tied to, or another name of an earlier one.
    candidates.offer([&](Scenario& s) {
      auto const target = std::find_if(s.params.begin(), s.params.end(), [&](Param const& other) {
        return other.name == scenario.params[p].tied;
      });
      s.params[p].shape = target->shape;
      s.params[p].tied.clear();
    });
    for (std::size_t earlier = 0; earlier < p; ++earlier)
      candidates.offer([&](Scenario& s) { s.params[p].tied = scenario.params[earlier].name; });
  }
}

void drop_groups(Scenario const& scenario, Candidates& candidates) {
  candidates.offer([](Scenario& s) { s.groups.clear(); });
  for (std::size_t g = 0; g < scenario.groups.size(); ++g) {
    candidates.offer([&](Scenario& s) { drop_group(s, g); });
    candidates.offer([&](Scenario& s) { s.groups[g].settings = {}; });
    for (AdamOverride const& usual : usual_overrides())
      candidates.offer([&](Scenario& s) { s.groups[g].settings = usual; });
  }
  for (std::size_t p = 0; p < scenario.params.size(); ++p) {
    candidates.offer([&](Scenario& s) { s.params[p].group.clear(); });
    for (Group const& group : scenario.groups)
      candidates.offer([&](Scenario& s) { s.params[p].group = group.name; });
  }
}

void order_params(Scenario const& scenario, Candidates& candidates) {
  for (std::size_t p = 0; p + 1 < scenario.params.size(); ++p) {
    // Names stay where they are, and those who mean a parameter by its name follow it.
    Renaming exchange;
    exchange.params[scenario.params[p].name] = scenario.params[p + 1].name;
    exchange.params[scenario.params[p + 1].name] = scenario.params[p].name;
    candidates.offer([&](Scenario& s) {
      std::swap(s.params[p], s.params[p + 1]);
      exchange.apply(s);
    });
  }
}

void rename(Scenario const& scenario, Candidates& candidates) {
  Renaming checkpoints;
  checkpoints.checkpoints = canonical_checkpoints(scenario);
  for (bool const in_units : {false, true}) {
    Renaming all = canonical_params(scenario, in_units);
    all.checkpoints = checkpoints.checkpoints;
    candidates.offer([&](Scenario& s) {
      all.apply(s);
      rename_groups(s);
      rename_parts(s);
    });
    candidates.offer([&](Scenario& s) { all.apply(s); });
  }
  candidates.offer([&](Scenario& s) { checkpoints.apply(s); });
  candidates.offer(rename_groups);
  candidates.offer(rename_parts);
}

}  // namespace adamant::scenarios::passes_of
