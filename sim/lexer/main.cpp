// adamant-sim-lexer INPUT OUTPUT: rewrites one CUDA source for a C++ compiler. The output has a
// #line before the source, so that messages and debuggers speak of the input.
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "sim/lexer/rewrite.h"

namespace {

int rewrite_file(std::string const& input, std::string const& output) {
  std::ifstream in(input, std::ios::binary);
  std::string const source((std::istreambuf_iterator<char>(in)), {});
  if (!in.good() && !in.eof()) {
    std::cerr << input << ": cannot be read\n";
    return 1;
  }
  std::string const rewritten = adamant::sim::rewrite(source, input);
  std::ofstream out(output, std::ios::binary);
  // nvcc includes it, too, before anything else.
  out << "#include <cuda_runtime.h>\n#line 1 \"" << input << "\"\n" << rewritten;
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
