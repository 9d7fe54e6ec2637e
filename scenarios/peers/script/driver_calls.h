// The requests of a session as calls of `Driver` (adamant_torch/driving.py), up to the one that
// shows the violation. What only looks at a world, and shows nothing of it, is left out.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/peers/script/driver_numbers.h"
#include "scenarios/peers/script/driver_open.h"
#include "scenarios/peers/script/python.h"
#include "scenarios/peers/script/session.h"
#include "scenarios/peers/script/session_look.h"

namespace adamant::scenarios::script {

class DriverCalls {
 public:
  /// `packed`: what a world is opened with is a constant, as it is where there are several worlds.
  ///
  /// REQUIRES: all that is referred to outlives it.
  /// Errors: NoScript where a request has no call.
  DriverCalls(Session const& session, Look const& look, DriverNumbers const& numbers, bool packed);

  /// OPEN: what all worlds are opened with, but for what the call of a later one says.
  std::vector<std::pair<std::string, python::Literal>> constants() const;

  /// Lines after which `actual` is known.
  void write(python::Code& code);

 private:
  /// A method, and what it is given.
  struct MethodCall {
    std::string method;
    std::vector<python::Literal> arguments;
  };

  Exchange const& at(std::size_t i) const { return session_.exchanges[i]; }
  bool is_observed(std::size_t i) const { return i == look_.at && is_about_request(look_); }
  bool is_kept(std::size_t i) const;
  bool is_plain(std::size_t i) const;
  bool is_left_out(std::size_t i) const;

  std::size_t iteration_at(std::size_t step) const;
  std::string text_of_iteration(std::size_t step, std::size_t length) const;
  std::size_t repetitions(std::size_t step, std::size_t length) const;
  void write_loop(python::Code& code, std::size_t step, std::size_t length, std::size_t count);
  void write_step(python::Code& code, std::size_t i);
  void write_observed(python::Code& code, MethodCall const& call) const;
  void write_lines(python::Code& code, std::size_t i) const;

  MethodCall call_of(std::size_t i, std::string const& gradients) const;
  MethodCall call_of_open(std::size_t i) const;
  MethodCall call_of_backward(Exchange const& exchange, std::string const& gradients) const;
  MethodCall call_of_set(Exchange const& exchange) const;
  MethodCall call_of_files(Exchange const& exchange) const;
  std::string checkpoint_in(std::string const& directory) const;
  void expect_wanted(std::size_t i) const;

  void write_damage(python::Code& code, std::size_t i) const;
  void keep_older(python::Code& code, std::size_t i) const;

  Session const& session_;
  Look const& look_;
  DriverNumbers const& numbers_;
  std::vector<std::size_t> steps_;                 // exchanges that become calls
  std::vector<std::vector<OpenArgument>> opened_;  // by world
  bool in_constant_ = false;                       // OPEN is one
};

}  // namespace adamant::scenarios::script
