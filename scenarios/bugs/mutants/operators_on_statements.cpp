// Statements, conditions and loops: left out, in another order, always or never.
#include "scenarios/bugs/mutants/operators.h"

namespace adamant::bugs {

namespace {

/// What a statement does, as far as one tells by its looks.
enum class Deed { nothing, assignment, wait, record, release, disk, refusal, call };

bool is_refusal(std::string_view callee) {
  return callee.starts_with("refuse") || callee.starts_with("expect") ||
         callee.starts_with("verify") || callee == "check";
}

Deed deed_of(Body const& code, Statement const& statement) {
  static Words const waits = {"make_wait",
                              "synchronize",
                              "order",
                              "wait_until_away",
                              "cudaStreamWaitEvent",
                              "in_use",
                              "cudaEventSynchronize",
                              "cudaStreamSynchronize",
                              "__syncthreads"};
  static Words const records = {"record", "cudaEventRecord"};
  static Words const releases = {"free_on", "cudaFreeAsync", "remove",
                                 "clear",   "drop",          "drop_gradients"};
  static Words const disk = {"sync",   "sync_directory", "rename",        "remove_all",
                             "append", "make_directory", "write_manifest"};
  std::string_view const callee = statement.callee;
  if (statement.is_assignment) return Deed::assignment;
  if (waits.contains(callee)) return Deed::wait;
  if (records.contains(callee)) return Deed::record;
  if (releases.contains(callee)) return Deed::release;
  if (disk.contains(callee)) return Deed::disk;
  if (is_refusal(callee)) return Deed::refusal;
  bool const is_idle =
      callee.empty() || callee.ends_with("_ASSERT") || code.is(statement.first, "static_cast");
  return is_idle ? Deed::nothing : Deed::call;
}

Rule drop(Deed deed) {
  return [=](Body const& code, std::size_t i) -> Found {
    auto const statement = code.statement(i);
    if (!statement || deed_of(code, *statement) != deed) return {};
    return Replacement{i, statement->last, ";"};
  };
}

Found drop_refusal(Body const& code, std::size_t i) {
  if (!code.is(i, "throw")) return drop(Deed::refusal)(code, i);
  std::size_t end = i;
  while (end < code.size() && !code.is(end, ";")) ++end;
  if (end == code.size()) return {};
  return Replacement{i, end, ";"};
}

Found skip_body(Body const& code, std::size_t i) {
  if (i > 0 || !code.is_void() || code.size() <= 3) return {};
  return Replacement{0, 0, "return; " + code.text(0, 0)};
}

/// Two statements that follow each other in one block and declare nothing, where `fits` says so of
/// what they do.
Rule swap_where(bool (*fits)(Deed first, Deed second)) {
  return [=](Body const& code, std::size_t i) -> Found {
    auto const a = code.statement(i);
    if (!a || a->is_declaration || a->is_alone) return {};
    auto const b = code.statement(a->last + 1);
    if (!b || b->is_declaration || !fits(deed_of(code, *a), deed_of(code, *b))) return {};
    return Replacement{i, b->last, code.text(b->first, b->last) + " " + code.text(i, a->last)};
  };
}

bool does_something(Deed deed) {
  return deed != Deed::nothing && deed != Deed::assignment;
}

/// Is there no operator for the two in particular?
bool may_swap(Deed a, Deed b) {
  bool const has_own =
      a == Deed::wait || a == Deed::disk || b == Deed::release || b == Deed::record;
  return !has_own && (does_something(a) || does_something(b));
}

// ---- conditions and loops: always, never, or the other way ----

/// The condition of an if that declares nothing has `before` put before it.
Rule decide(std::string_view before) {
  return [=](Body const& code, std::size_t i) -> Found {
    if (!code.is(i, "if") || !code.is(i + 1, "(")) return {};
    std::size_t const first = i + 2;
    std::size_t const close = code.partner(i + 1);
    bool declares = code.is(first, "auto");
    for (std::size_t k = first; k < close; ++k) declares = declares || code.is_any(k, {";", "="});
    if (declares || close <= first) return {};
    return Replacement{first, close - 1,
                       std::string(before) + " (" + code.text(first, close - 1) + ")"};
  };
}

Found skip_loop(Body const& code, std::size_t i) {
  if (!code.is_any(i, {"for", "while"})) return {};
  return Replacement{i, i, "if (false) " + code.text(i, i)};
}

/// c ? a : b becomes c ? b : a.
Found swap_choice(Body const& code, std::size_t i) {
  if (!code.is(i, "?") || code.is_muted(i)) return {};
  std::size_t const first_end = code.end_of_operand(i + 1, 0);
  if (!code.is(first_end + 1, ":")) return {};
  std::size_t const second = first_end + 2;
  std::size_t const second_end = code.end_of_operand(second, 0);
  return Replacement{i + 1, second_end,
                     code.text(second, second_end) + " : " + code.text(i + 1, first_end)};
}

Found other_jump(Body const& code, std::size_t i) {
  if (!code.is(i, "continue") || !code.is(i + 1, ";")) return {};
  return Replacement{i, i, "break"};
}

Found skip_every_other(Body const& code, std::size_t i) {
  bool const is_last_of_for = i > 0 && code.is(i - 1, ";") && code.is(i + 2, ")");
  if (!code.is(i, "++") || !code.is_name(i + 1) || !is_last_of_for) return {};
  return Replacement{i, i + 1, code.text(i + 1, i + 1) + " += 2"};
}

/// Begins and ends a round later: i = 1, or the last one twice as far.
Found skip_first_round(Body const& code, std::size_t i) {
  if (!code.is(i, "for") || !code.is(i + 1, "(")) return {};
  for (std::size_t k = i + 2; k < code.partner(i + 1) && !code.is(k, ";"); ++k)
    if (code.is(k, "=") && code[k + 1].text == "0" && code.is(k + 2, ";"))
      return Replacement{k + 1, k + 1, "1"};
  return {};
}

}  // namespace

std::vector<Operator> operators_on_statements() {
  return {
      {"drop_wait", "a wait is missing", drop(Deed::wait)},
      {"drop_record", "an event is not recorded", drop(Deed::record)},
      {"drop_release", "memory is not given back", drop(Deed::release)},
      {"drop_disk", "a file is not synced, renamed, removed or written", drop(Deed::disk)},
      {"drop_refusal", "what has to be refused is accepted", drop_refusal},
      {"drop_call", "a call is missing", drop(Deed::call)},
      {"drop_assignment", "a value stays what it was", drop(Deed::assignment)},
      {"skip_body", "a function does nothing", skip_body},
      {"release_earlier", "memory is given back a statement too early",
       swap_where([](Deed, Deed b) { return b == Deed::release; })},
      {"record_earlier", "an event is recorded a statement too early",
       swap_where([](Deed, Deed b) { return b == Deed::record; })},
      {"wait_later", "a wait comes a statement too late",
       swap_where([](Deed a, Deed) { return a == Deed::wait; })},
      {"disk_order", "two things happen to the disk in the other order",
       swap_where([](Deed a, Deed b) { return a == Deed::disk && b == Deed::disk; })},
      {"swap_statements", "two statements stand in the other order", swap_where(may_swap)},
      {"never", "a branch is never taken", decide("false &&")},
      {"always", "a branch is always taken", decide("true ||")},
      {"skip_loop", "a loop does nothing", skip_loop},
      {"skip_first_round", "a loop leaves out the first round", skip_first_round},
      {"skip_every_other", "a loop leaves out every other round", skip_every_other},
      {"swap_choice", "what is chosen is the other one", swap_choice},
      {"other_jump", "a loop ends where it should go on", other_jump},
  };
}

}  // namespace adamant::bugs
