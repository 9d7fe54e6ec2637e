// The program: parses, dispatches, and turns what was thrown into messages and statuses.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include "scenarios/campaign/settings.h"
#include "scenarios/language/plain_text.h"
#include "scenarios/language/yaml/load.h"
#include "scenarios/peers/client/client.h"
#include "scenarios/pool/interrupt.h"
#include "scenarios/program/arguments.h"
#include "scenarios/program/inputs.h"
#include "scenarios/program/outputs.h"
#include "scenarios/report/json.h"

namespace adamant::scenarios {

namespace {

/// A standard stream that the caller closed would be taken by the next file that is opened, and be
/// written into. What is put there instead refuses to be used.
void occupy_standard_streams() {
  for (int const descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    int const use = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (::open("/dev/null", use) != descriptor) return;  // the lowest that is free
  }
}

/// An engine that is still starting cannot answer any more, and nothing is finished: the files that
/// were asked for say that.
Status end_before_the_first(Arguments const& arguments) {
  complain("interrupted");
  auto document = make_document(arguments.command->name);
  if (arguments.command == &fuzz_command) document["cases"] = 0;
  document["results"] = StrictJson::array();
  Outputs(arguments).commit(with_interrupt(document));
  return Status::interrupted;
}

Status run_until_interrupted(Arguments const& arguments) {
  try {
    return arguments.command->run(arguments);
  } catch (OutputError const&) {
    throw;
  } catch (std::exception const&) {
    if (!interrupted()) throw;
  }
  return end_before_the_first(arguments);
}

Status parse_and_run(int argc, char const* const* argv) {
  try {
    Arguments const arguments = parse_arguments(argc, argv);
    watch_for_interrupts();
    Inputs(arguments).refuse_as_outputs(arguments);
    if (arguments.peer_timeout) set_peer_bounds(PeerBounds::of(*arguments.peer_timeout));
    return run_until_interrupted(arguments);
  } catch (EndOfProgram const& end) {
    std::fputs(printable_lines(end.text).c_str(), end.status == 0 ? stdout : stderr);
    return static_cast<Status>(end.status);
  }
}

/// Whoever read the standard output has read enough.
bool is_left_by_reader() {
  pollfd output{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
  return ::poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

int run_program(int argc, char const* const* argv) {
  try {
    occupy_standard_streams();
    Status const status = parse_and_run(argc, argv);
    bool const written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    if (!written && is_left_by_reader()) return static_cast<int>(Status::bad_input);
    if (!written) throw CannotWrite("standard output: cannot be written");
    return static_cast<int>(status);
  } catch (OutputError const& error) {
    complain(error.what());
    return static_cast<int>(Status::bad_input);
  } catch (CampaignError const& error) {
    complain(error.what());
    return static_cast<int>(Status::bad_input);
  } catch (LoadError const& error) {
    complain(error.what());
    return static_cast<int>(Status::bad_input);
  } catch (std::exception const& error) {
    complain(std::string("adamant: ") + error.what());
    return static_cast<int>(Status::lacking);
  }
}

}  // namespace

}  // namespace adamant::scenarios

int main(int argc, char** argv) {
  return adamant::scenarios::run_program(argc, argv);
}
