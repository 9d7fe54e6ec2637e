// Rewrites CUDA's own syntax to calls that a C++ compiler can parse:
//
//   k<<<grid, block, shared, stream>>>(a, b)
//     -> ::adamant_sim_launch_chevron(k, ::adamant_sim_chevron(grid, block, shared, stream), a, b)
//   extern __shared__ T name[];
//     -> T* const name = static_cast<T*>(::adamant_sim_dynamic_shared());
//
//   cudaFree(p);   as a statement, whose result nobody takes
//     -> ::adamant_sim_discard("cudaFree", cudaFree(p));
//
// Everything else stays byte for byte, and every token stays on its line. A macro with <<< in it
// becomes an error of the compiler, told where it is used. A template kernel that the file itself
// declares may leave template arguments to deduction; any other kernel is launched by its type.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace adamant::sim {

/// what() reads file:line: message.
class RewriteError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// `file` appears in errors only.
/// Errors: RewriteError where a launch is not complete or begins within another, or where dynamic
/// shared memory is declared outside a function or with more than one dimension, or where a
/// variable lies in device memory.
std::string rewrite(std::string_view source, std::string_view file);

}  // namespace adamant::sim
