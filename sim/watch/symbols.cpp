// Names of functions from the symbol table of the running program. Unlike dladdr it also knows
// local symbols, which is what kernels are once a library has hidden all but its entries. Of a
// program that was stripped its debug file has the table.

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/watch/debug_lines.h"
#include "sim/watch/watch.h"

namespace adamant::sim {
namespace {

// The file of the running program. It is mapped, not read: a process that was forked to try one
// scenario asks for a name or two, and of a large program it should pay for those alone.
std::span<char const> program_file() {
  int const file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  struct stat status = {};
  void* mapped = MAP_FAILED;
  if (fstat(file, &status) == 0) {
    mapped =
        mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  }
  close(file);
  if (mapped == MAP_FAILED) return {};
  return {static_cast<char const*>(mapped), static_cast<std::size_t>(status.st_size)};
}

// The mangled name of the function at `offset` from where the program is loaded, or null.
char const* mangled_name(std::span<char const> file, std::uint64_t offset) {
  if (file.size() < sizeof(Elf64_Ehdr) || std::memcmp(file.data(), ELFMAG, SELFMAG) != 0) {
    return nullptr;
  }
  auto const* header = reinterpret_cast<Elf64_Ehdr const*>(file.data());
  auto const* sections = reinterpret_cast<Elf64_Shdr const*>(file.data() + header->e_shoff);
  for (int s = 0; s < header->e_shnum; ++s) {
    Elf64_Shdr const& section = sections[s];
    if (section.sh_type != SHT_SYMTAB) continue;
    char const* const names = file.data() + sections[section.sh_link].sh_offset;
    auto const* symbol = reinterpret_cast<Elf64_Sym const*>(file.data() + section.sh_offset);
    for (std::uint64_t i = 0; i < section.sh_size / sizeof *symbol; ++i) {
      if (ELF64_ST_TYPE(symbol[i].st_info) == STT_FUNC && symbol[i].st_value == offset) {
        return names + symbol[i].st_name;
      }
    }
  }
  return nullptr;
}

std::uint64_t load_address() {
  std::uint64_t base = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* result) {
        *static_cast<std::uint64_t*>(result) = info->dlpi_addr;
        return 1;  // the first is the program itself
      },
      &base);
  return base;
}

void erase_all(std::string& text, std::string const& what) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what)) {
    text.erase(at, what.size());
  }
}

// What stands between the "::" that are in no brackets; parameters and qualifiers are left out:
// "f(int)::{lambda(void*)#1}::_FUN(void*)" -> f, {lambda(void*)#1}, _FUN
std::vector<std::string> parts_of(std::string const& name) {
  std::vector<std::string> parts(1);
  int depth = 0;
  int parameters = 0;  // how many of the open brackets, from the first list of parameters on
  bool qualifiers = false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    char const c = name[i];
    bool const opens = std::strchr("<({[", c) != nullptr;
    bool const closes = std::strchr(">)}]", c) != nullptr;
    bool const call = parts.back() == "operator" && c == '(';
    if (parameters > 0 || (depth == 0 && c == '(' && !call)) {
      parameters += opens ? 1 : closes ? -1 : 0;
      qualifiers = true;
    } else if (depth == 0 && name.compare(i, 2, "::") == 0) {
      parts.emplace_back();
      qualifiers = false;
      ++i;
    } else {
      depth += opens ? 1 : closes ? -1 : 0;
      if (!qualifiers) parts.back() += c;
    }
  }
  return parts;
}

// Of a template's function the name says what it returns, before the last space that is in no
// brackets: "cudaError f<unsigned int>" -> "f<unsigned int>"
std::string without_type(std::string const& name) {
  if (name.find("operator") != std::string::npos) return name;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (std::strchr("<({[", name[i]) != nullptr) ++depth;
    if (std::strchr(">)}]", name[i]) != nullptr) --depth;
    if (depth == 0 && name[i] == ' ') begin = i + 1;
  }
  return name.substr(begin);
}

bool is_of_lambda(std::string const& part) {
  return part == "_FUN" || part == "__invoke" || part == "operator()" || part.front() == '{' ||
         part.front() == '$' || part.front() == '\'';
}

}  // namespace

std::string short_name(std::string const& mangled) {
  int status = 0;
  char* const demangled = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  std::string name = status == 0 ? demangled : mangled;
  std::free(demangled);
  erase_all(name, "(anonymous namespace)::");
  if (status != 0) return name;
  std::vector<std::string> parts = parts_of(name);
  bool const lambda = !parts.back().empty() && is_of_lambda(parts.back());
  while (parts.size() > 1 && !parts.back().empty() && is_of_lambda(parts.back())) parts.pop_back();
  return (lambda ? "a lambda of " : "") + without_type(parts.back());
}

namespace {

// By whoever launched them.
std::map<void const*, std::string>& given_names() {
  static std::map<void const*, std::string> names;
  return names;
}

}  // namespace

void name_function(void const* function, std::string name) {
  given_names().insert_or_assign(function, std::move(name));
}

std::string symbol_name(void const* function) {
  if (auto const given = given_names().find(function); given != given_names().end())
    return given->second;
  static std::span<char const> const file = program_file();
  static std::uint64_t const base = load_address();
  char const* const own = mangled_name(file, reinterpret_cast<std::uintptr_t>(function) - base);
  std::string const name = own == nullptr ? name_in_debug_file(function) : own;
  return name.empty() ? "kernel" : short_name(name);
}

}  // namespace adamant::sim
