#include "scenarios/search/known_defects.h"

#include <algorithm>
#include <array>
#include <set>
#include <sstream>
#include <string_view>

#include "scenarios/language/further_runs.h"
#include "scenarios/language/operations.h"
#include "scenarios/language/yaml/document.h"
#include "scenarios/language/yaml/load.h"
#include "scenarios/language/yaml/read.h"

namespace adamant::scenarios {

namespace {

constexpr std::array<std::string_view, 1> file_keys{"known"};
constexpr std::array<std::string_view, 8> defect_keys{"name",   "cause", "effect", "versions",
                                                      "thread", "avoid", "met",    "shown_by"};

class KnownReader {
 public:
  KnownReader(Reader& reader, std::filesystem::path directory)
      : reader_(reader), directory_(std::move(directory)) {}

  std::vector<KnownDefect> read(Field const& document) {
    std::vector<KnownDefect> defects;
    auto const list = MapReader(reader_, document, file_keys).require("known");
    if (list && list->node->kind != Node::Kind::sequence)
      reader_.mismatch(*list, "a list of known defects");
    for (Field const& defect : list ? list->items() : std::vector<Field>())
      defects.push_back(read_defect(defect));
    return defects;
  }

 private:
  KnownDefect read_defect(Field const& field) {
    KnownDefect defect;
    MapReader const map(reader_, field, defect_keys);
    if (auto const name = map.require("name")) read_name(*name, defect.name);
    for (auto const& [key, text] : {std::pair{"cause", &defect.cause},
                                    {"versions", &defect.versions},
                                    {"thread", &defect.thread}})
      if (auto const found = map.require(key)) read_into(reader_, *found, kinds::Text{}, *text);
    if (defect.thread == "none") defect.thread.clear();
    if (auto const text = map.find("effect"))
      read_into(reader_, *text, kinds::Text{}, defect.effect);
    if (auto const options = map.find("avoid")) read_options(*options, defect.avoid);
    if (auto const met = map.find("met")) read_met(*met, defect.seldom_met);
    if (auto const files = map.require("shown_by")) read_scenarios(*files, defect);
    return defect;
  }

  void read_name(Field const& field, std::string& name) {
    if (!read_into(reader_, field, kinds::Name{}, name)) return;
    if (!names_.insert(name).second) reader_.fail(field, "another defect has this name");
  }

  void read_options(Field const& field, EngineOptions& options) {
    if (field.node->kind != Node::Kind::map) {
      reader_.mismatch(field, "a map of options");
      return;
    }
    for (Entry const& entry : field.node->entries)
      if (auto const value = read_value(reader_, field.value(entry), kinds::Text{}))
        options.emplace_back(entry.key, *value);
    if (field.node->entries.empty())
      reader_.fail(field, "names no option; leave `avoid` out where there is no way around");
  }

  void read_met(Field const& field, bool& seldom) {
    auto const text = read_value(reader_, field, kinds::Text{});
    seldom = text == "seldom";
    if (text && !seldom && text != "often")
      reader_.fail(field, "expected often or seldom, found " + quote(*text));
  }

  void read_scenarios(Field const& field, KnownDefect& defect) {
    if (field.node->kind != Node::Kind::sequence) {
      reader_.mismatch(field, "a list of files of scenarios");
      return;
    }
    if (field.node->items.empty()) reader_.fail(field, "names no scenario that shows it");
    for (Field const& item : field.items()) read_scenario(item, defect);
  }

  void read_scenario(Field const& field, KnownDefect& defect) {
    auto const file = read_value(reader_, field, kinds::Text{});
    if (!file) return;
    Scenario scenario = load_scenario_file(directory_ / *file);
    if (scenario.expect.kind == Expectation::Kind::pass)
      reader_.fail(field, quote(*file) + " expects to pass; expected one that shows the defect");
    defect.shown_by.push_back(std::move(scenario));
    defect.files.push_back(directory_ / *file);
  }

  Reader& reader_;
  std::filesystem::path directory_;
  std::set<std::string> names_;
};

/// "torch 2.13.0+cpu, x 1.2" has 1.2 and 2.13.0: how a release was built does not count.
std::set<std::string> releases_in(std::string const& text) {
  std::set<std::string> releases;
  std::istringstream words(text);
  for (std::string word; words >> word;)
    if (word.front() >= '0' && word.front() <= '9')
      releases.insert(word.substr(0, word.find_first_of("+,")));
  return releases;
}

template <typename T>
bool is_subsequence(std::vector<T> const& smaller, std::vector<T> const& larger) {
  auto next = smaller.begin();
  for (T const& one : larger)
    if (next != smaller.end() && *next == one) ++next;
  return next == smaller.end();
}

constexpr std::int64_t iterations_max = 8;  // of a `train` that are told apart

/// What operations do, apart from what they do it with; `train` is what it stands for. `clips`: is
/// a norm in force?
void add_words(std::vector<Operation> const& program, bool& clips,
               std::vector<std::string_view>& words) {
  for (Operation const& operation : program) {
    auto const* const set = std::get_if<Set>(&operation.action);
    if (set != nullptr && set->change.clip) clips = set->change.clip->has_value();
    if (auto const* capture = std::get_if<Capture>(&operation.action)) {
      add_words(capture->body, clips, words);
    } else if (auto const* train = std::get_if<Train>(&operation.action)) {
      for (std::int64_t i = 0; i < std::min(train->count, iterations_max); ++i)
        for (Action const& part :
             {Action(Backward{}), Action(ClipNorm{}), Action(Step{}), Action(ZeroGrad{})})
          if (clips || !is<ClipNorm>(part)) words.push_back(word_of(part));
    } else {
      words.push_back(word_of(operation.action));
    }
  }
}

std::vector<std::string_view> words_of_operations(Scenario const& scenario) {
  std::vector<std::string_view> words;
  bool clips = scenario.optimizer.clip.has_value();
  add_words(scenario.program, clips, words);
  return words;
}

/// Of saves and loads alone.
std::vector<std::string_view> words_of_files(Scenario const& scenario) {
  std::vector<std::string_view> words;
  for (Operation const& operation : scenario.program)
    if (is<Save, Load>(operation.action)) words.push_back(word_of(operation.action));
  return words;
}

/// A further run may load what its scenario alone does not, in worlds and with options of its own.
std::vector<Scenario> runs_of(Scenario const& scenario) {
  std::vector<Scenario> runs{scenario};
  for (FurtherRun& run : further_runs(scenario)) runs.push_back(std::move(run.scenario));
  return runs;
}

std::int64_t ranks_of_largest_world(Scenario const& scenario) {
  std::int64_t ranks = 1;
  for (Scenario const& run : runs_of(scenario)) ranks = std::max(ranks, most_ranks(run));
  return ranks;
}

/// From the beginning, and since each load.
std::vector<Precision> all_types(Scenario const& scenario) {
  std::vector<Precision> types{scenario.precision};
  for (Load const* load : all<Load>(scenario.program))
    types.push_back(with(types.back(), load->types()));
  return types;
}

/// Of what it has tensors in types narrower than fp32 at some time.
std::set<std::string_view> narrow_types(Scenario const& scenario) {
  std::set<std::string_view> narrow;
  for (Precision const& types : all_types(scenario)) {
    if (types.param != ParamType::fp32) narrow.insert("param");
    if (types.grad != GradType::fp32) narrow.insert("grad");
    if (types.exp_avg != StateType::fp32) narrow.insert("exp_avg");
    if (types.exp_avg_sq != StateType::fp32) narrow.insert("exp_avg_sq");
  }
  return narrow;
}

std::vector<Fault::Then> kinds_of_faults(Scenario const& scenario) {
  std::vector<Fault::Then> kinds;
  for (Fault const& fault : scenario.faults) kinds.push_back(fault.then);
  return kinds;
}

bool run_does_all_of(Scenario const& run, Scenario const& smaller) {
  return has_options(run, smaller.engine.options) && has_faults(run, smaller) &&
         is_subsequence(words_of_operations(smaller), words_of_operations(run));
}

}  // namespace

std::vector<KnownDefect> read_known_defects(std::filesystem::path const& file) {
  std::vector<KnownDefect> defects;
  Reader reader;
  read_document(read_scenario_text(file), file.string(), "known defects", reader,
                [&](Field const& document) {
                  defects = KnownReader(reader, file.parent_path()).read(document);
                });
  return defects;
}

bool is_of_versions(KnownDefect const& defect, std::string const& versions) {
  auto const here = releases_in(versions);
  std::istringstream alternatives(defect.versions);
  for (std::string one; std::getline(alternatives, one, ',');)
    if (std::ranges::includes(here, releases_in(one))) return true;
  return defect.versions.empty();
}

Scenario with_options(Scenario scenario, EngineOptions const& options) {
  replace_options(scenario.engine.options, options);
  return scenario;
}

bool has_options(Scenario const& scenario, EngineOptions const& options) {
  EngineOptions const& own = scenario.engine.options;
  return std::all_of(options.begin(), options.end(), [&](auto const& one) {
    return std::find(own.begin(), own.end(), one) != own.end();
  });
}

bool has_faults(Scenario const& scenario, Scenario const& smaller) {
  return is_subsequence(kinds_of_faults(smaller), kinds_of_faults(scenario));
}

bool has_files_inside(Scenario const& scenario, Scenario const& smaller) {
  return has_faults(scenario, smaller) &&
         std::ranges::any_of(runs_of(scenario), [&](Scenario const& run) {
           return is_subsequence(words_of_files(smaller), words_of_files(run));
         });
}

bool does_all_of(Scenario const& scenario, Scenario const& smaller) {
  return std::ranges::any_of(runs_of(scenario),
                             [&](Scenario const& run) { return run_does_all_of(run, smaller); });
}

bool has_inside(Scenario const& scenario, Scenario const& smaller) {
  return std::ranges::any_of(runs_of(scenario), [&](Scenario const& run) {
    return ranks_of_largest_world(run) >= ranks_of_largest_world(smaller) &&
           std::ranges::includes(narrow_types(run), narrow_types(smaller)) &&
           run_does_all_of(run, smaller);
  });
}

bool chooses(Scenario const& scenario, Scenario const& shows, EngineOptions const& avoid) {
  bool const names_all =
      with_options(shows, avoid).engine.options.size() == shows.engine.options.size();
  return names_all && has_options(scenario, shows.engine.options) &&
         std::ranges::includes(narrow_types(scenario), narrow_types(shows)) &&
         has_files_inside(scenario, shows);
}

std::vector<Scenario> put_into(Scenario const& scenario, Scenario const& smaller) {
  Scenario other = smaller;
  other.expect = {};
  std::vector<Scenario> all{other};
  if (ranks_of_largest_world(scenario) < smaller.world.rank_count()) other.world = scenario.world;
  for (Precision const& types : all_types(scenario)) {
    other.precision = types;
    for (LossScale const& scale : {smaller.optimizer.loss_scale, scenario.optimizer.loss_scale}) {
      other.optimizer.loss_scale = scale;
      if (std::ranges::count(all, other) == 0) all.push_back(other);
    }
  }
  all.erase(all.begin());
  return all;
}

}  // namespace adamant::scenarios
