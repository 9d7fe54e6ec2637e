#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/Error.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "scenarios/language/engine_names.h"
#include "scenarios/language/plain_text.h"
#include "scenarios/peers/doctor/examine.h"
#include "scenarios/pool/interrupt.h"
#include "scenarios/pool/pool.h"
#include "scenarios/program/arguments.h"
#include "scenarios/program/options.h"
#include "scenarios/program/outputs.h"
#include "scenarios/report/json.h"
#include "scenarios/report/style.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

namespace {

constexpr char const* not_found = "not found";

/// A shared library of the system, asked for a few numbers and closed again.
class Library {
 public:
  explicit Library(char const* name) : handle_(::dlopen(name, RTLD_LAZY | RTLD_LOCAL), ::dlclose) {}

  template <typename Function>
  Function* find(char const* name) const {
    return handle_ ? reinterpret_cast<Function*>(::dlsym(handle_.get(), name)) : nullptr;
  }

 private:
  std::unique_ptr<void, int (*)(void*)> handle_;
};

std::string find_program(std::string_view name, std::string_view more_directories) {
  char const* const path = std::getenv("PATH");
  std::string directories = path == nullptr ? "" : path;
  directories += ":";
  directories += more_directories;
  std::string_view rest = directories;
  while (!rest.empty()) {
    auto const end = rest.find(':');
    auto const file = std::string(rest.substr(0, end)) + "/" + std::string(name);
    if (end != 0 && ::access(file.c_str(), X_OK) == 0) return file;
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return {};
}

/// The line of a program's output that contains `word`, or all that is known: where it is.
std::string ask_version(std::string const& program, std::string_view word) {
  if (program.empty()) return not_found;
  std::string const command = shell_quoted(program) + " --version 2>/dev/null";
  std::unique_ptr<FILE, int (*)(FILE*)> const output(::popen(command.c_str(), "r"), ::pclose);
  if (!output) return program;
  std::array<char, 512> line{};
  std::string version;
  while (std::fgets(line.data(), line.size(), output.get()) != nullptr) {
    std::string_view const text(line.data());
    if (version.empty() && text.find(word) != std::string_view::npos) {
      version = text.substr(0, text.find('\n'));
    }
  }
  return fmt::format("{} ({})", version, program);
}

/// What the driver says of the machine's GPUs; no more than why there are none.
struct Gpus {
  int count = 0;
  std::string why_none = {};
  std::string name = {};  // of the first, as what follows
  int major = 0;          // its compute capability
  int minor = 0;
  int driver = 0;  // the CUDA version that the driver speaks, as CUDA writes it: 13000 is 13.0
};

Gpus ask_driver() {
  Library const driver("libcuda.so.1");
  auto* const init = driver.find<int(unsigned)>("cuInit");
  auto* const count_devices = driver.find<int(int*)>("cuDeviceGetCount");
  auto* const name_device = driver.find<int(char*, int, int)>("cuDeviceGetName");
  auto* const attribute = driver.find<int(int*, int, int)>("cuDeviceGetAttribute");
  auto* const get_version = driver.find<int(int*)>("cuDriverGetVersion");
  if (init == nullptr || count_devices == nullptr || name_device == nullptr ||
      attribute == nullptr || get_version == nullptr) {
    return {.why_none = "no libcuda.so.1"};
  }
  int const error = init(0);
  if (error != 0) return {.why_none = fmt::format("the driver answers with error {}", error)};
  Gpus gpus;
  if (count_devices(&gpus.count) != 0 || gpus.count == 0)
    return {.why_none = "the driver has none"};
  std::array<char, 128> name{};
  if (name_device(name.data(), static_cast<int>(name.size()), 0) == 0) gpus.name = name.data();
  constexpr int capability_major = 75;  // of CUdevice_attribute
  constexpr int capability_minor = 76;
  attribute(&gpus.major, capability_major, 0);
  attribute(&gpus.minor, capability_minor, 0);
  get_version(&gpus.driver);
  return gpus;
}

std::string cuda_version(int number) {
  return fmt::format("{}.{}", number / 1000, number / 10 % 100);
}

std::string to_text(Gpus const& gpus) {
  if (gpus.count == 0) return fmt::format("none ({})", gpus.why_none);
  return fmt::format("{} (the first is {}, {}.{}, with a driver for CUDA {})", gpus.count,
                     gpus.name, gpus.major, gpus.minor, cuda_version(gpus.driver));
}

/// For scripts, which are not to take a sentence apart.
StrictJson to_json(Gpus const& gpus) {
  if (gpus.count == 0) return {{"count", 0}, {"why_none", gpus.why_none}};
  return {{"count", gpus.count},
          {"name", gpus.name},
          {"compute_capability", fmt::format("{}.{}", gpus.major, gpus.minor)},
          {"driver_cuda", cuda_version(gpus.driver)}};
}

std::string nccl() {
  Library const library("libnccl.so.2");
  auto* const get_version = library.find<int(int*)>("ncclGetVersion");
  int version = 0;
  if (get_version == nullptr || get_version(&version) != 0) return not_found;
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

std::string processor() {
  std::string features;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2")) features += " avx2";
  if (__builtin_cpu_supports("fma")) features += " fma";
  if (__builtin_cpu_supports("avx512f")) features += " avx512f";
  if (__builtin_cpu_supports("avx512bf16")) features += " avx512bf16";
#endif
  return fmt::format("{} cores,{}", default_workers(), features.empty() ? " baseline" : features);
}

bool is_shown(Arguments const& arguments, Probe const& probe) {
  return arguments.verbosity != Verbosity::quiet || probe.outcome == Probe::Outcome::failed;
}

std::string line_of(Probe const& probe) {
  std::string line = fmt::format("{:<12}{}", name_of(probe.outcome), probe.name);
  if (!probe.text.empty()) line += ": " + probe.text;
  return printable(line) + "\n";
}

StrictJson to_json(std::vector<Probe> const& probes) {
  auto array = StrictJson::array();
  for (Probe const& probe : probes) {
    StrictJson entry{{"probe", probe.name}, {"outcome", std::string(name_of(probe.outcome))}};
    if (!probe.text.empty()) entry["text"] = probe.text;
    array.push_back(std::move(entry));
  }
  return array;
}

std::string summary_of(std::string const& engine, std::vector<Probe> const& probes) {
  auto const count = [&](Probe::Outcome outcome) {
    return std::ranges::count(probes, outcome, &Probe::outcome);
  };
  return fmt::format("{}: {} ok, {} failed, {} not offered", engine, count(Probe::Outcome::ok),
                     count(Probe::Outcome::failed), count(Probe::Outcome::not_offered));
}

/// One thing that a machine has or lacks.
struct MachinePart {
  std::string what;
  std::string found;  // a version, a count, or why it is not there
};

/// Compiler, processor, toolkit, GPUs, NCCL and MPI. Looks, and changes nothing.
std::vector<MachinePart> examine_machine() {
#if defined(__clang__)
  std::string const compiler = "clang " __clang_version__;
#else
  std::string const compiler = "g++ " __VERSION__;
#endif
  std::string const toolkit = "/usr/local/cuda/bin:/usr/local/cuda-13.0/bin";
  EngineMachine const engine = machine_of_engine();  // before this process itself calls the driver
  std::vector<MachinePart> parts{
      {"built by", compiler},
      {"processor", processor()},
      {"g++", ask_version(find_program("g++", ""), "g++")},
      {"clang++", ask_version(find_program("clang++", ""), "clang version")},
      {"nvcc", ask_version(find_program("nvcc", toolkit), "release")},
      {"GPUs", to_text(ask_driver())},
      {"NCCL", nccl()},
      {"MPI", ask_version(find_program("mpirun", ""), "")}};
  if (!engine.found.empty())
    parts.push_back({"engine", engine.lacks.empty() ? engine.found : engine.lacks});
  return parts;
}

/// Of an engine outside the process: one line a probe: `ok`, `failed` with what was expected and
/// found, or `not offered`.
Status report_on_engine(Arguments const& arguments) {
  Outputs outputs(arguments);
  auto const probes = examine_engine(*arguments.engine, [&](Probe const& probe) {
    if (is_shown(arguments, probe)) print(arguments, line_of(probe));
  });
  print(arguments, printable(summary_of(*arguments.engine, probes)) + "\n");
  auto document = make_document("doctor");
  document["engine"] = *arguments.engine;
  document["probes"] = to_json(probes);
  outputs.commit(with_interrupt(document));
  if (interrupted()) return Status::interrupted;
  bool const well = std::ranges::count(probes, Probe::Outcome::failed, &Probe::outcome) == 0;
  return well ? Status::met : Status::not_met;
}

void expect_outside(Arguments& arguments) {
  if (arguments.engine && !is_peer(*arguments.engine))
    throw CLI::ValidationError("--engine", "`" + *arguments.engine +
                                               "` is inside this program; adapters and "
                                               "exec:COMMAND are examined");
}

Status report_on_machine(Arguments const& arguments) {
  Outputs outputs(arguments);
  auto document = make_document("doctor");
  document["machine"] = StrictJson::object();
  for (MachinePart const& part : examine_machine()) {
    print(arguments, fmt::format("{:<10} {}\n", part.what, printable(part.found)));
    document["machine"][part.what] = part.found;
  }
  document["gpus"] = to_json(ask_driver());
  if (EngineMachine const engine = machine_of_engine(); !engine.lacks.empty())
    document["lacks"] = engine.lacks;
  outputs.commit(document);
  return Status::met;
}

}  // namespace

Command const doctor_command{
    .name = "doctor",
    .text = "What this machine has, or what is wrong with an engine",
    .example = "adamant doctor --engine torch",
    .failure = "something is wrong with the engine",
    .options = {option::engine.with(
                    "Examine this engine: an adapter such as torch, or exec:COMMAND"),
                option::peer_timeout, option::json.with("Write what was found as JSON")},
    .check = expect_outside,
    .run = [](Arguments const& arguments) {
      return arguments.engine ? report_on_engine(arguments) : report_on_machine(arguments);
    }};

}  // namespace adamant::scenarios
