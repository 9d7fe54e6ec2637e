// The identifiers that expectations, reports and tests share: laws that a run can break and reasons
// for which a scenario is refused. Identifiers and one line each; who checks a law is not known
// here.
#pragma once

#include <compare>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "sim/violation.h"

namespace adamant::scenarios {

/// An identifier and what it means in one line.
struct Meaning {
  std::string_view id;
  std::string_view text;
};

/// What judges hold engines to.
enum class JudgedLaw {
#define ADAMANT_LAW(law, name, text)
#define ADAMANT_JUDGED_LAW(law, name, text) law,
#include "scenarios/language/laws.inc"
};

/// A law of the judges, or of simulated worlds. In templates g++ 12 knows it as JudgedLaw's alone.
struct Law : std::variant<JudgedLaw, sim::Law> {
  using variant::variant;
  using enum JudgedLaw;
  using enum sim::Law;
  friend constexpr auto operator<=>(Law const&, Law const&) = default;
};

/// All laws, as documents list them, without warnings.
std::span<Meaning const> laws();
/// What is told, and fails nothing unless somebody asks for that (`--strict`).
std::span<Meaning const> warnings();

constexpr bool is_of_world(Law law) {
  return std::holds_alternative<sim::Law>(law);
}

/// Is it judged by what happens inside of a simulated world, which no other shows?
constexpr bool is_of_simulation(Law law) {
  return is_of_world(law) || law == Law::determinism_digest;
}

/// Can an engine in a process of its own be judged by it? Addresses, streams and what it has
/// allocated are not shown.
constexpr bool is_seen_outside(Law law) {
  bool const of_memory = law == Law::pointers_stable || law == Law::memory_budget;
  return law == Law::order_deadlock || (!is_of_world(law) && !of_memory);
}

/// "values.bitwise": the law as files and reports write it.
/// REQUIRES: not of_harness.
std::string_view id_of(Law law);
/// The inverse of id_of().
std::optional<Law> law_of(std::string_view id);

/// All reasons of refusals; details follow their reason as `unsupported.<detail>`.
std::span<Meaning const> refusal_reasons();

/// True where `pattern` is `id` or a prefix of it that ends before a dot: "access" matches
/// "access.bounds", "acc" does not.
bool matches(std::string_view pattern, std::string_view id);
bool matches(std::string_view pattern, Law law);

/// Is it about two accesses, or one, rather than about what somebody holds?
inline bool is_about_accesses(Law law) {
  return matches("access", law) || matches("order", law);
}

inline bool is_about_two_runs(Law law) {
  return matches("runs", law) || law == Law::determinism_digest;
}

inline bool is_about_checkpoints(Law law) {
  return matches("checkpoint", law);
}

/// True where `pattern` matches some identifier of `table`.
bool is_known(std::string_view pattern, std::span<Meaning const> table);

}  // namespace adamant::scenarios
