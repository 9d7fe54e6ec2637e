// Program counters to lines of the source, by the debug information of the running program and its
// libraries (libdw of elfutils).

#include "sim/watch/debug_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "sim/watch/watch.h"
#include "sim/world/locations.h"

namespace adamant::sim {
namespace {

// So many are named beside the innermost function.
constexpr std::size_t callers_max = 3;

struct EndSession {
  void operator()(Dwfl* session) const { dwfl_end(session); }
};

// What is loaded now, libraries too.
std::unique_ptr<Dwfl, EndSession> open_session() {
  static char* no_debug_path = nullptr;
  static Dwfl_Callbacks const callbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                           .find_debuginfo = dwfl_standard_find_debuginfo,
                                           .section_address = nullptr,
                                           .debuginfo_path = &no_debug_path};
  std::unique_ptr<Dwfl, EndSession> session(dwfl_begin(&callbacks));
  if (session == nullptr) return nullptr;
  bool const known = dwfl_linux_proc_report(session.get(), ::getpid()) == 0 &&
                     dwfl_report_end(session.get(), nullptr, nullptr) == 0;
  return known ? std::move(session) : nullptr;
}

// A program is more than libraries that it opens later: looked at once.
Dwfl* session() {
  static Dwfl* const opened = open_session().release();  // a report may be a process' last act
  return opened;
}

bool is_ours_or_standard(std::string_view file) {
  if (file.starts_with("/usr/") || file.find("/include/c++/") != file.npos) return true;
  if (file.starts_with("sim/include/") || file.find("/sim/include/") != file.npos) return true;
  bool const test = file.ends_with(".cu") || file.ends_with("_test.cpp");
  return file.starts_with(ADAMANT_SIM_FOLDER "/") && !test;
}

std::string name_of_function(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  for (unsigned const kind : {unsigned{DW_AT_linkage_name}, unsigned{DW_AT_name}}) {
    if (dwarf_attr_integrate(die, kind, &attribute) == nullptr) continue;
    if (char const* const name = dwarf_formstring(&attribute)) return short_name(name);
  }
  return "";
}

// The file of the place at which an inlined function was called.
std::string file_of_call(Dwarf_Die* unit, Dwarf_Die* inlined) {
  Dwarf_Attribute attribute;
  Dwarf_Word number = 0;
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &number) != 0) return "";
  if (dwarf_getsrcfiles(unit, &files, &count) != 0) return "";
  char const* const file = dwarf_filesrc(files, number, nullptr, nullptr);
  return file == nullptr ? "" : file;
}

// Readers of debug information put the folder of the compilation before a name that is relative.
std::string source_of(Dwarf_Die* unit, std::string const& file) {
  Dwarf_Attribute attribute;
  char const* const folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
  return source_name(folder == nullptr ? "" : folder, file);
}

int line_of_call(Dwarf_Die* inlined) {
  Dwarf_Attribute attribute;
  Dwarf_Word line = 0;
  dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line);
  return static_cast<int>(line);
}

// The function at one address and those that it was inlined into, the innermost first.
struct Scopes {
  Dwarf_Die* all = nullptr;
  int count = 0;

  Scopes(Dwarf_Die* unit, Dwarf_Addr address) {
    // The first answer goes on where the innermost function is defined, the second where it is
    // inlined.
    Dwarf_Die* innermost = nullptr;
    if (dwarf_getscopes(unit, address, &innermost) <= 0) return;
    count = dwarf_getscopes_die(innermost, &all);
    std::free(innermost);
  }
  ~Scopes() { std::free(all); }
  Scopes(Scopes const&) = delete;
  Scopes& operator=(Scopes const&) = delete;
};

// The frames of the program itself at one address: the innermost inlined function, and those that
// it was inlined into.
void add_frames(Dwfl* dwfl, Dwarf_Addr address, std::vector<Location>& frames) {
  Dwfl_Module* const module = dwfl_addrmodule(dwfl, address);
  if (module == nullptr) return;
  Dwarf_Addr bias = 0;
  Dwarf_Die* const unit = dwfl_module_addrdie(module, address, &bias);
  Dwfl_Line* const row = dwfl_module_getsrc(module, address);
  if (unit == nullptr || row == nullptr) return;
  Location next;
  char const* const file = dwfl_lineinfo(row, nullptr, &next.line, nullptr, nullptr, nullptr);
  next.file = file == nullptr ? "" : source_of(unit, file);
  Scopes const scopes(unit, address - bias);
  for (int i = 0; i < scopes.count; ++i) {
    int const tag = dwarf_tag(&scopes.all[i]);
    if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
    next.function = name_of_function(&scopes.all[i]);
    if (!is_ours_or_standard(next.file)) frames.push_back(std::move(next));
    if (tag == DW_TAG_subprogram) return;
    next = {.file = source_of(unit, file_of_call(unit, &scopes.all[i])),
            .line = line_of_call(&scopes.all[i])};
  }
  // clang's -g1 describes no function that nothing was inlined into.
  char const* const symbol = dwfl_module_addrname(module, address);
  next.function = symbol == nullptr ? "" : short_name(symbol);
  if (!is_ours_or_standard(next.file)) frames.push_back(std::move(next));
}

}  // namespace

std::string source_name(std::string const& folder, std::string const& file) {
  std::filesystem::path const below = (std::filesystem::path(folder) / "").lexically_normal();
  std::string name = std::filesystem::path(file).lexically_normal().string();
  if (name.starts_with("../")) name = (below / name).lexically_normal().string();
  bool const has_folder = !folder.empty() && name.starts_with(below.string());
  return has_folder ? name.substr(below.string().size()) : name;
}

namespace {

Location read_location(Stack const& stack) {
  Dwfl* const dwfl = session();
  if (dwfl == nullptr) return {};
  std::vector<Location> frames;
  for (void const* const frame : stack) {
    // The call is before the address to which it returns.
    add_frames(dwfl, reinterpret_cast<std::uintptr_t>(frame) - 1, frames);
    if (frames.size() > callers_max) break;
  }
  if (frames.empty()) return {};
  Location location = std::move(frames.front());
  frames.resize(std::min(frames.size(), callers_max + 1));
  location.callers.assign(frames.begin() + 1, frames.end());
  return location;
}

}  // namespace

// Reading debug information takes more stack than a device's thread has.
std::string why_no_lines() {
  bool has_lines = false;
  std::thread([&] {
    Dwarf_Addr bias = 0;
    auto const here = reinterpret_cast<std::uintptr_t>(&why_no_lines);
    Dwfl_Module* const module = session() == nullptr ? nullptr : dwfl_addrmodule(session(), here);
    has_lines = module != nullptr && dwfl_module_getdwarf(module, &bias) != nullptr;
  }).join();
  return has_lines ? "" : "this program has none; it was stripped, or compiled without -g";
}

std::string name_in_debug_file(void const* function) {
  std::string name;
  std::thread([&] {
    auto const address = reinterpret_cast<std::uintptr_t>(function);
    Dwfl_Module* const module =
        session() == nullptr ? nullptr : dwfl_addrmodule(session(), address);
    if (module == nullptr) return;
    GElf_Off into = 0;  // without a debug file the nearest function that is known begins elsewhere
    GElf_Sym symbol;
    char const* const found =
        dwfl_module_addrinfo(module, address, &into, &symbol, nullptr, nullptr, nullptr);
    if (found != nullptr && into == 0) name = found;
  }).join();
  return name;
}

Location location_of(Stack const& stack) {
  if (stack.empty()) return {};
  Location location;
  std::thread([&] { location = read_location(stack); }).join();
  return location;
}

}  // namespace adamant::sim
