// make_fuzz_seeds FOLDER: see made_seeds.h.
#include <cstdio>

#include "properties/fuzz/made_seeds.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: make_fuzz_seeds FOLDER\n", stderr);
    return 2;
  }
  adamant::properties::make_seeds(argv[1]);
}
