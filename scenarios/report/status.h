// The exit statuses of the program, and which of several counts.
#pragma once

namespace adamant::scenarios {

enum class Status {
  met = 0,        // every expectation was met
  not_met = 1,    // some expectation was not
  bad_input = 2,  // bad usage or input, an output that cannot be written
  lacking = 3,    // this machine, or this program, lacks what was asked for
  interrupted = 130,
};

/// What a command that saw both ends with: an interrupt, then bad input, then a lack, then an
/// expectation.
inline Status worse(Status a, Status b) {
  constexpr auto weight = [](Status status) {
    if (status == Status::bad_input) return 100;
    if (status == Status::lacking) return 99;
    return static_cast<int>(status);
  };
  return weight(a) >= weight(b) ? a : b;
}

}  // namespace adamant::scenarios
