// The identifiers that expectations, reports and tests share: laws that a run can break and reasons
// for which a scenario is refused. Identifiers and one line each; who checks a law is not known
// here.
#pragma once

#include <span>
#include <string_view>

namespace adamant::scenarios {

/// An identifier and what it means in one line.
struct Meaning {
  std::string_view id;
  std::string_view text;
};

/// All laws, in the order in which they are listed.
std::span<Meaning const> laws();

/// All reasons of refusals; details follow their reason as `unsupported.<detail>`.
std::span<Meaning const> refusal_reasons();

/// True where `pattern` is `id` or a prefix of it that ends before a dot: "access" matches
/// "access.bounds", "acc" does not.
bool matches(std::string_view pattern, std::string_view id);

/// True where `pattern` matches some identifier of `table`.
bool is_known(std::string_view pattern, std::span<Meaning const> table);

}  // namespace adamant::scenarios
