// Names of functions from the symbol table of the running program. Unlike dladdr it also knows
// local symbols, which is what kernels are once a library has hidden all but its entries.

#include <cxxabi.h>
#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/watch/watch.h"

namespace adamant::sim {
namespace {

using Symbols = std::map<std::uint64_t, std::string>;  // by offset from where the program is loaded

Symbols read_symbols() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  std::vector<char> const bytes{std::istreambuf_iterator<char>(file), {}};
  Symbols symbols;
  if (bytes.size() < sizeof(Elf64_Ehdr) || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0) {
    return symbols;
  }
  auto const* header = reinterpret_cast<Elf64_Ehdr const*>(bytes.data());
  auto const* sections = reinterpret_cast<Elf64_Shdr const*>(bytes.data() + header->e_shoff);
  for (int s = 0; s < header->e_shnum; ++s) {
    Elf64_Shdr const& section = sections[s];
    if (section.sh_type != SHT_SYMTAB) continue;
    char const* const names = bytes.data() + sections[section.sh_link].sh_offset;
    auto const* symbol = reinterpret_cast<Elf64_Sym const*>(bytes.data() + section.sh_offset);
    for (std::uint64_t i = 0; i < section.sh_size / sizeof *symbol; ++i) {
      if (ELF64_ST_TYPE(symbol[i].st_info) != STT_FUNC || symbol[i].st_value == 0) continue;
      symbols.emplace(symbol[i].st_value, names + symbol[i].st_name);
    }
  }
  return symbols;
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

// "adamant::real::(anonymous namespace)::adam_kernel(Args)" -> "adam_kernel"
std::string short_name(std::string const& mangled) {
  int status = 0;
  char* const demangled = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  if (status != 0) return mangled;
  std::string name = demangled;
  std::free(demangled);
  std::string const anonymous = "(anonymous namespace)::";
  for (auto at = name.find(anonymous); at != std::string::npos; at = name.find(anonymous)) {
    name.erase(at, anonymous.size());
  }
  if (name.compare(0, 5, "void ") == 0) name.erase(0, 5);
  name.erase(std::min(name.find('('), name.size()));
  std::string::size_type const end = std::min(name.find('<'), name.size());
  std::string::size_type const colons = name.rfind("::", end);
  return colons == std::string::npos ? name : name.substr(colons + 2);
}

}  // namespace

std::string symbol_name(void const* function) {
  static Symbols const symbols = read_symbols();
  static std::uint64_t const base = load_address();
  auto const found = symbols.find(reinterpret_cast<std::uintptr_t>(function) - base);
  if (found == symbols.end()) return "kernel";
  return short_name(found->second);
}

}  // namespace adamant::sim
