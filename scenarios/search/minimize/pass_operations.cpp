// Fewer operations, and the same ones in their canonical order. A capture's body is a program of
// its own here.
#include <algorithm>
#include <cstddef>

#include "scenarios/search/minimize/passes.h"

namespace adamant::scenarios::passes_of {

namespace {

using List = std::vector<Operation>;

constexpr std::size_t pairs_of_at_most = 12;  // operations: 66 pairs

/// The program, or the body of its capture number `list` - 1.
List* list_of(Scenario& scenario, std::size_t list) {
  if (list == 0) return &scenario.program;
  std::size_t captures = 0;
  for (Operation& operation : scenario.program) {
    auto* const capture = std::get_if<Capture>(&operation.action);
    if (capture != nullptr && ++captures == list) return &capture->body;
  }
  return nullptr;
}

/// Calls `propose(number, list)` for the program and each body.
template <typename Propose>
void for_each_list(Scenario const& scenario, Propose const& propose) {
  Scenario copy = scenario;
  for (std::size_t list = 0; List const* const operations = list_of(copy, list); ++list)
    propose(list, *operations);
}

void erase(List& list, std::size_t begin, std::size_t length) {
  auto const first = list.begin() + static_cast<std::ptrdiff_t>(begin);
  list.erase(first, first + static_cast<std::ptrdiff_t>(length));
}

bool is(List const& list, std::size_t index, Action const& action) {
  return index < list.size() && list[index].action == action;
}

/// How many operations from `index` on one `train` stands for; 0 where they are not one.
std::size_t length_of_train(List const& list, std::size_t index, bool clips) {
  std::size_t next = index;
  if (!is(list, next++, Backward{})) return 0;
  if (clips && !is(list, next++, ClipNorm{})) return 0;
  if (!is(list, next++, Step{})) return 0;
  return is(list, next, ZeroGrad{}) ? next + 1 - index : 0;
}

}  // namespace

// A violation seen at an operation needs nothing after it, so halving finds the end.
void cut_program(Scenario const& scenario, Candidates& candidates) {
  std::size_t const size = scenario.program.size();
  for (std::size_t length = 1; length <= 3 && length < size; ++length)
    candidates.offer([&](Scenario& s) { s.program.resize(length); });
  for (std::size_t cut = size / 2; cut >= 1; cut /= 2)
    candidates.offer([&](Scenario& s) { s.program.resize(size - cut); });
}

void drop_operations(Scenario const& scenario, Candidates& candidates) {
  for_each_list(scenario, [&](std::size_t number, List const& list) {
    for (std::size_t length = list.size() / 2; length >= 1; length /= 2) {
      for (std::size_t begin = 0; begin < list.size(); begin += length) {
        std::size_t const count = std::min(length, list.size() - begin);
        candidates.offer([&](Scenario& s) { erase(*list_of(s, number), begin, count); });
      }
    }
  });
}

void drop_pairs(Scenario const& scenario, Candidates& candidates) {
  for_each_list(scenario, [&](std::size_t number, List const& list) {
    if (list.size() > pairs_of_at_most) return;
    for (std::size_t first = 0; first < list.size(); ++first) {
      for (std::size_t second = first + 1; second < list.size(); ++second) {
        candidates.offer([&](Scenario& s) {
          erase(*list_of(s, number), second, 1);
          erase(*list_of(s, number), first, 1);
        });
      }
    }
  });
}

/// What an operation shows, a plainer one often shows too: several can be the second of a race.
void plainer_operations(Scenario const& scenario, Candidates& candidates) {
  for_each_list(scenario, [&](std::size_t number, List const& list) {
    for (std::size_t i = 0; i < list.size(); ++i)
      for (Action const& plain : {Action(ZeroGrad{}), Action(Backward{}), Action(Step{})})
        candidates.offer([&](Scenario& s) { (*list_of(s, number))[i].action = plain; });
  });
}

void order_operations(Scenario const& scenario, Candidates& candidates) {
  for_each_list(scenario, [&](std::size_t number, List const& list) {
    for (std::size_t i = 0; i + 1 < list.size(); ++i) {
      candidates.offer([&](Scenario& s) {
        List& operations = *list_of(s, number);
        std::swap(operations[i], operations[i + 1]);
      });
    }
  });
}

/// What `train` and its count can say in one entry.
void join_operations(Scenario const& scenario, Candidates& candidates) {
  bool const clips = scenario.optimizer.clip.has_value();
  for_each_list(scenario, [&](std::size_t number, List const& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (std::size_t const length = length_of_train(list, i, clips)) {
        candidates.offer([&](Scenario& s) {
          erase(*list_of(s, number), i, length - 1);
          (*list_of(s, number))[i].action = Train{};
        });
      }
      auto const* const train = std::get_if<Train>(&list[i].action);
      if (train == nullptr || i + 1 == list.size()) continue;
      auto const* const next = std::get_if<Train>(&list[i + 1].action);
      if (next == nullptr) continue;
      candidates.offer([&](Scenario& s) {
        erase(*list_of(s, number), i, 1);
        (*list_of(s, number))[i].action = Train{train->count + next->count};
      });
    }
  });
}

}  // namespace adamant::scenarios::passes_of
