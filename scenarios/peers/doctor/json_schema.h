// Holds JSON values to a JSON Schema (2020-12, the part of it that engine.schema.json uses), and
// says of each place where they differ what was expected. It knows nothing of what a schema is
// about.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace adamant::scenarios {

/// One place where a value is not what its schema asks for.
struct Mismatch {
  std::string where;     // "capabilities.precisions[0].param"; empty: the value itself
  std::string expected;  // "one of fp32, bf16", "the field `grad`"
  std::string found;     // JSON, cut where it is long

  friend bool operator==(Mismatch const&, Mismatch const&) = default;
};

class JsonSchema {
 public:
  using Json = nlohmann::json;

  /// Errors: std::invalid_argument where it has a keyword that is not understood here, so that none
  ///         is passed over.
  explicit JsonSchema(Json schema);

  /// Where `value` is not what `definition`, of the schema's `$defs`, asks for. Of alternatives it
  /// speaks of the one whose words (const, enum) fit, else of the one that is missed least.
  ///
  /// Errors: std::out_of_range for a definition that is not there.
  std::vector<Mismatch> mismatches(Json const& value, std::string_view definition) const;

  Json const& definition(std::string_view name) const;
  Json const& definitions() const { return schema_.at("$defs"); }

 private:
  void check(Json const& node, std::string const& place) const;

  Json schema_;
};

/// The schema of the protocol for engines outside the process: scenarios/engine.schema.json, as it
/// was when this program was built.
JsonSchema const& engine_schema();

}  // namespace adamant::scenarios
