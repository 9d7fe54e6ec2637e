// One thing that a doctor looks at in an engine, and what came of it.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace adamant::scenarios {

struct Probe {
  enum class Outcome { ok, failed, not_offered };

  std::string name = {};  // a few words: what is right if it is ok
  Outcome outcome = Outcome::ok;
  std::string text = {};  // failed: expected and found; not_offered: what the engine lacks

  friend bool operator==(Probe const&, Probe const&) = default;
};

/// "ok", "failed" or "not offered".
std::string_view name_of(Probe::Outcome outcome);

/// What a probe's code throws where the engine is not what it should be: "expected …, found …".
class ProbeFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Is told of every probe when it is done.
using ProbeReader = std::function<void(Probe const&)>;

}  // namespace adamant::scenarios
