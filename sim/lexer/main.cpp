// adamant-sim-lexer INPUT OUTPUT: rewrites one CUDA source for a C++ compiler. The output has a
// #line before the source, so that messages and debuggers speak of the input.
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <string>
#include <system_error>

#include "sim/lexer/rewrite.h"

namespace {

int rewrite_file(std::string const& input, std::string const& output) {
  std::error_code unknown;
  std::ifstream in(input, std::ios::binary);
  if (!in || std::filesystem::is_directory(input, unknown)) {
    std::cerr << input << ": cannot be read\n";
    return 1;
  }
  std::string const source((std::istreambuf_iterator<char>(in)), {});
  std::string const rewritten = adamant::sim::rewrite(source, input);
  std::ofstream out(output, std::ios::binary);
  // nvcc includes it, too, before anything else.
  out << "#include <cuda_runtime.h>\n#line 1 " << std::quoted(input) << "\n" << rewritten;
  out.close();
  if (out.good()) return 0;
  std::cerr << output << ": cannot be written\n";
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: adamant-sim-lexer INPUT OUTPUT\n";
    return 2;
  }
  try {
    return rewrite_file(argv[1], argv[2]);
  } catch (adamant::sim::RewriteError const& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
