// The program: parses, dispatches, and turns what was thrown into messages and statuses.
#include <cstdio>
#include <exception>
#include <string>

#include "scenarios/cli/arguments.h"
#include "scenarios/cli/bench_command.h"
#include "scenarios/cli/fuzz_command.h"
#include "scenarios/cli/listings.h"
#include "scenarios/cli/outputs.h"
#include "scenarios/cli/run_command.h"
#include "scenarios/pool/interrupt.h"

namespace adamant::scenarios {

namespace {

Status dispatch(Arguments const& arguments) {
  switch (arguments.command) {
    case Command::run:
      return run_command(arguments);
    case Command::fuzz:
      return fuzz_command(arguments);
    case Command::laws:
      return laws_command(arguments);
    case Command::doctor:
      return doctor_command(arguments);
    case Command::bench:
      return bench_command(arguments);
  }
  return Status::bad_input;
}

int run_program(int argc, char const* const* argv) {
  try {
    Arguments const arguments = parse_arguments(argc, argv);
    watch_for_interrupts();
    Status const status = dispatch(arguments);
    bool const written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    if (!written) throw CannotWrite("standard output: cannot be written");
    return static_cast<int>(status);
  } catch (EndOfProgram const& end) {
    std::fputs(end.text.c_str(), end.status == 0 ? stdout : stderr);
    return end.status;
  } catch (CannotWrite const& error) {
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
