#include "scenarios/language/yaml/file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "scenarios/language/yaml/bytes.h"
#include "scenarios/language/yaml/problem.h"

namespace adamant::scenarios {

namespace {

[[noreturn]] void fail(int reason) {
  throw BadInput({1, "document", std::string("cannot be read: ") + std::strerror(reason)});
}

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

std::string read_file(std::filesystem::path const& path) {
  // C's streams and not C++'s: those swallow why a file cannot be read.
  std::unique_ptr<std::FILE, Close> const file(std::fopen(path.c_str(), "rb"));
  if (!file) fail(errno);
  std::string text;
  char block[1U << 16U];
  while (text.size() <= size_max) {
    auto const size = std::fread(block, 1, sizeof block, file.get());
    if (size == 0) break;
    text.append(block, size);
  }
  if (std::ferror(file.get()) != 0) fail(errno);
  if (text.size() > size_max) text.resize(size_max + 1);
  return text;
}

}  // namespace adamant::scenarios
