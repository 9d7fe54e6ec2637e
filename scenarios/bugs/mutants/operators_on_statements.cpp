// Whole statements: left out, or in another order.
#include <algorithm>
#include <array>

#include "scenarios/bugs/mutants/operators.h"

namespace adamant::bugs {

namespace {

using namespace std::string_view_literals;

constexpr std::array waits = {"make_wait"sv,
                              "synchronize"sv,
                              "order"sv,
                              "wait_until_away"sv,
                              "cudaStreamWaitEvent"sv,
                              "cudaStreamSynchronize"sv,
                              "cudaEventSynchronize"sv,
                              "__syncthreads"sv,
                              "in_use"sv};
constexpr std::array records = {"record"sv, "cudaEventRecord"sv};
constexpr std::array releases = {"free_on"sv, "cudaFreeAsync"sv, "remove"sv,
                                 "clear"sv,   "drop"sv,          "drop_gradients"sv};
constexpr std::array disk = {"sync"sv,   "sync_directory"sv, "rename"sv,        "remove_all"sv,
                             "append"sv, "make_directory"sv, "write_manifest"sv};

bool contains(auto const& all, std::string_view text) {
  return std::ranges::find(all, text) != all.end();
}

bool is_drop_of_nothing(Body const& code, Statement const& statement) {
  return statement.callee.empty() || statement.callee.ends_with("_ASSERT") ||
         code.is(statement.first, "static_cast");
}

void drop(Statement const& statement, Replacements& found) {
  found.push_back({statement.first, statement.last, ";"});
}

void drop_if(Body const& code, Replacements& found, auto const& names) {
  for (Statement const& statement : code.statements())
    if (!statement.callee.empty() && contains(names, statement.callee)) drop(statement, found);
}

void drop_wait(Body const& code, Replacements& found) {
  drop_if(code, found, waits);
}
void drop_record(Body const& code, Replacements& found) {
  drop_if(code, found, records);
}
void drop_release(Body const& code, Replacements& found) {
  drop_if(code, found, releases);
}
void drop_disk(Body const& code, Replacements& found) {
  drop_if(code, found, disk);
}

void drop_refusal(Body const& code, Replacements& found) {
  for (Statement const& statement : code.statements())
    if (statement.callee.starts_with("refuse") || statement.callee.starts_with("expect") ||
        statement.callee.starts_with("verify") || statement.callee == "check")
      drop(statement, found);
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (!code.is(i, "throw")) continue;
    std::size_t end = i;
    while (end < code.size() && !code.is(end, ";")) ++end;
    if (end < code.size()) found.push_back({i, end, ";"});
  }
}

void drop_call(Body const& code, Replacements& found) {
  for (Statement const& statement : code.statements()) {
    std::string_view const callee = statement.callee;
    bool const has_own = contains(waits, callee) || contains(records, callee) ||
                         contains(releases, callee) || contains(disk, callee) ||
                         callee.starts_with("refuse") || callee.starts_with("expect") ||
                         callee.starts_with("verify") || callee == "check";
    if (!has_own && !is_drop_of_nothing(code, statement)) drop(statement, found);
  }
}

void drop_assignment(Body const& code, Replacements& found) {
  for (Statement const& statement : code.statements())
    if (statement.is_assignment) drop(statement, found);
}

void skip_body(Body const& code, Replacements& found) {
  if (code.is_void() && code.size() > 3) found.push_back({0, 0, "return; " + code.text(0, 0)});
}

/// Calls f with each two statements that follow each other in one block and declare nothing.
void for_each_two(Body const& code, auto const& f) {
  auto const& all = code.statements();
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    for (std::size_t k = i + 1; k < all.size(); ++k) {
      if (all[k].first != all[i].last + 1) continue;
      bool const are_free = !all[i].is_declaration && !all[i].is_alone && !all[k].is_declaration;
      if (are_free) f(all[i], all[k]);
    }
  }
}

void swap(Body const& code, Statement const& a, Statement const& b, Replacements& found) {
  found.push_back({a.first, b.last, code.text(b.first, b.last) + " " + code.text(a.first, a.last)});
}

void release_earlier(Body const& code, Replacements& found) {
  for_each_two(code, [&](Statement const& a, Statement const& b) {
    if (contains(releases, b.callee)) swap(code, a, b, found);
  });
}

void record_earlier(Body const& code, Replacements& found) {
  for_each_two(code, [&](Statement const& a, Statement const& b) {
    if (contains(records, b.callee)) swap(code, a, b, found);
  });
}

void wait_later(Body const& code, Replacements& found) {
  for_each_two(code, [&](Statement const& a, Statement const& b) {
    if (contains(waits, a.callee)) swap(code, a, b, found);
  });
}

void disk_order(Body const& code, Replacements& found) {
  for_each_two(code, [&](Statement const& a, Statement const& b) {
    if (contains(disk, a.callee) && contains(disk, b.callee)) swap(code, a, b, found);
  });
}

void swap_statements(Body const& code, Replacements& found) {
  for_each_two(code, [&](Statement const& a, Statement const& b) {
    bool const has_own = contains(releases, b.callee) || contains(records, b.callee) ||
                         contains(waits, a.callee) || contains(disk, a.callee);
    bool const does = !is_drop_of_nothing(code, a) || !is_drop_of_nothing(code, b);
    if (!has_own && does) swap(code, a, b, found);
  });
}

constexpr Operator all[] = {
    {"drop_wait", "a wait is missing", drop_wait},
    {"drop_record", "an event is not recorded", drop_record},
    {"drop_release", "memory is not given back", drop_release},
    {"drop_disk", "a file is not synced, renamed, removed or written", drop_disk},
    {"drop_refusal", "what has to be refused is accepted", drop_refusal},
    {"drop_call", "a call is missing", drop_call},
    {"drop_assignment", "a value stays what it was", drop_assignment},
    {"skip_body", "a function does nothing", skip_body},
    {"release_earlier", "memory is given back a statement too early", release_earlier},
    {"record_earlier", "an event is recorded a statement too early", record_earlier},
    {"wait_later", "a wait comes a statement too late", wait_later},
    {"disk_order", "two things happen to the disk in the other order", disk_order},
    {"swap_statements", "two statements stand in the other order", swap_statements},
};

}  // namespace

std::span<Operator const> operators_on_statements() {
  return all;
}

}  // namespace adamant::bugs
