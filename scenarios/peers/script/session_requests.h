// The requests of a session as lines of Python, up to the one that shows the violation, with what
// is done to files in between.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/peers/script/handed_over.h"
#include "scenarios/peers/script/imports.h"
#include "scenarios/peers/script/python.h"
#include "scenarios/peers/script/session.h"
#include "scenarios/peers/script/session_helpers.h"
#include "scenarios/peers/script/session_look.h"
#include "scenarios/peers/script/session_loops.h"

namespace adamant::scenarios::script {

class SessionRequests {
 public:
  /// REQUIRES: all that is referred to outlives it.
  SessionRequests(Session const& session, Look const& look, HandedOver const& files);

  /// Lines after which `actual` is known.
  void write(python::Code& code);

  // ---- once they are written ----
  Helpers const& helpers() const { return helpers_; }
  bool copies_files() const { return copies_files_; }
  /// What they need beside the files that are handed over: what worlds are opened with.
  std::vector<std::pair<std::string, python::Literal>> constants() const;

 private:
  Exchange const& at(std::size_t i) const { return session_.exchanges[i]; }
  bool is_observed(std::size_t i) const { return i == look_.at && is_about_request(look_); }
  bool is_act(std::size_t i) const;
  bool is_quiet(std::string const& verb) const;
  std::vector<SessionStep> steps();
  SessionStep request(std::size_t i, bool acts);
  SessionStep observed(std::size_t i);
  void add_damage(std::size_t i, std::vector<SessionStep>& steps);
  void add_kept_files(std::size_t i, std::vector<SessionStep>& steps);
  python::Literal call_of(std::size_t i, bool acts);
  std::vector<std::string> wanted(std::size_t i) const;
  python::Literal opened_as(Exchange const& exchange);
  python::Literal literal_of(nlohmann::json const& value) const;
  std::string path_or_text(std::string const& text) const;
  std::string in_room(std::string_view kind, std::string const& path) const;

  Session const& session_;
  Look const& look_;
  HandedOver const& files_;
  std::vector<nlohmann::json> opens_;  // by number of their constants
  Helpers helpers_;
  bool copies_files_ = false;
};

}  // namespace adamant::scenarios::script
