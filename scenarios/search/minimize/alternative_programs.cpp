// Programs: short sequences of the operations that a program has, and of those that every training
// step has.
#include <algorithm>
#include <cstddef>

#include "scenarios/language/operations.h"
#include "scenarios/search/minimize/alternatives.h"

namespace adamant::scenarios {

namespace {

using List = std::vector<Operation>;

constexpr std::size_t words_max = 12;
constexpr std::size_t programs_max = 2'000;
constexpr std::size_t cut_at_most = 5;  // operations: 30 parts

Operation operation_of(Action action) {
  return {.action = std::move(action), .line = {}};
}

/// What stands in programs as one: an operation, or a capture.
class Words {
 public:
  explicit Words(Scenario const& scenario) {
    add_all(scenario.program);
    for (Action const& plain : {Action(Backward{}), Action(Step{}), Action(ZeroGrad{})}) add(plain);
    bool const has_infinities = scenario.gradients == GradientClass::wild;
    if (has_infinities || scenario.optimizer.loss_scale != LossScale{}) add(Overflow{});
    if (scenario.optimizer.clip) add(ClipNorm{});
    if (std::holds_alternative<OffloadedStates>(scenario.offload)) add(OffloadStates{});
    if (scenario.params.size() > 1) add(Backward{.without = {canonical_name(0, 0, false)}});
  }

  List const& all() const { return words_; }

 private:
  void add(Action action) {
    Operation const word = operation_of(std::move(action));
    bool const known = std::find(words_.begin(), words_.end(), word) != words_.end();
    if (!known && words_.size() < words_max) words_.push_back(word);
  }

  void add_all(List const& program) {
    for (Operation const& operation : program) {
      Action const& action = operation.action;
      if (is<Train>(action)) continue;  // its parts are words
      if (auto const* load = std::get_if<Load>(&action)) add_loads(*load);
      if (auto const* capture = std::get_if<Capture>(&action)) {
        for (Action const& plain : {Action(ZeroGrad{}), Action(Backward{}), Action(Step{})})
          add(Capture{{operation_of(plain)}});
        add_all(capture->body);
      }
      if (is<Replay>(action))
        add(Replay{});
      else
        add(action);
    }
  }

  void add_loads(Load const& load) {
    add(Load{.from = load.from});
    add(Load{.from = load.from, .world = World{.shard = 2}});
  }

  List words_;
};

/// Is there a reader to whom the word says something at the end of this program? What is removed as
/// senseless from a candidate stands for a shorter one, which is there already.
bool follows(List const& program, Action const& word) {
  if (auto const* load = std::get_if<Load>(&word))
    return std::ranges::any_of(all<Save>(program),
                               [&](Save const* save) { return save->checkpoint == load->from; });
  if (is<Replay>(word)) return has<Capture>(program);
  bool const again = !program.empty() && program.back().action == word;
  return !again || is<Backward, Step>(word);
}

/// All that have one word more than those from `begin` on.
void lengthen(std::vector<List>& programs, std::size_t begin, List const& words) {
  std::size_t const end = programs.size();
  for (std::size_t p = begin; p < end; ++p) {
    for (Operation const& word : words) {
      if (programs.size() == programs_max) return;
      if (!follows(programs[p], word.action)) continue;
      List longer = programs[p];
      longer.push_back(word);
      programs.push_back(std::move(longer));
    }
  }
}

std::vector<List> sequences_of(List const& words, std::uint64_t length_max) {
  std::vector<List> programs{{}};
  std::size_t begin = 0;
  for (std::uint64_t length = 1; length <= length_max && programs.size() < programs_max; ++length) {
    std::size_t const next = programs.size();
    lengthen(programs, begin, words);
    begin = next;
  }
  programs.erase(programs.begin());  // the empty one
  return programs;
}

/// The program without some of its operations: all choices of them where it is short.
std::vector<List> parts_of(List const& program) {
  std::vector<List> parts;
  if (program.size() > cut_at_most) return parts;
  for (std::size_t kept = 1; kept + 1 < std::size_t{1} << program.size(); ++kept) {
    List part;
    for (std::size_t i = 0; i < program.size(); ++i)
      if ((kept >> i & 1U) != 0) part.push_back(program[i]);
    parts.push_back(std::move(part));
  }
  return parts;
}

/// The program with each parameter as the one that gets no gradient.
std::vector<List> with_other_left_out(Scenario const& scenario) {
  std::vector<List> programs;
  for (std::size_t p = 0; p < std::min(scenario.params.size(), cut_at_most); ++p) {
    List program = scenario.program;
    bool changed = false;
    for (Operation& operation : program) {
      auto* const backward = std::get_if<Backward>(&operation.action);
      if (backward == nullptr || backward->without.size() != 1) continue;
      backward->without = {scenario.params[p].name};
      changed = true;
    }
    if (changed) programs.push_back(std::move(program));
  }
  return programs;
}

}  // namespace

void add_programs(Scenario const& scenario, Lists& lists) {
  Scenario const blank = blank_like(scenario);
  auto const add = [&](List program) {
    bool const captures = has<Capture>(program);
    lists.programs.push_back(
        make_part(blank, [program = std::move(program), captures](Scenario& s) {
          s.program = program;
          if (captures) s.optimizer.capturable = true;
        }));
  };
  add(scenario.program);
  for (List& program : with_other_left_out(scenario)) add(std::move(program));
  for (List& program : parts_of(scenario.program)) add(std::move(program));
  lists.few_programs = lists.programs.size();
  bool const loads = has<Load>(scenario.program);
  for (List& program : sequences_of(Words(scenario).all(), weight_of(scenario)[Digit::size])) {
    bool const is_short = program.size() == 1;
    if (is_short || !loads || has<Load>(program)) add(std::move(program));
  }
}

}  // namespace adamant::scenarios
