// What the global norm of gradients may be when nobody promised an order of summation, nor where
// roots are taken: an interval from the exact sum of squares. It sees counts and that sum alone.
#pragma once

#include <cstdint>

#include "oracle/interval/admissible.h"
#include "oracle/scale/exact_norm.h"
#include "oracle/types.h"

namespace adamant::oracle {

/// Over how many numbers a norm is taken, and in how many parts.
struct NormShape {
  std::int64_t elements = 0;
  int tensors = 1;
  int ranks = 1;
  int element_roundings = 0;  // of each element before its square
};

/// The norm of elements with this sum of squares, by any order, in which the engine may take the
/// norm of each tensor's shards, square and sum these over ranks, take the root, and again the norm
/// of the tensors' norms:
///
/// 1. k squares and their sum, in binary32: all terms have one sign, so each is off by at most one
///    rounding of its own and k - 1 of sums, relative to s: k u, and half of that in a root.
/// 2. Norms are kept in the format of the gradients, with U = 2^-p. A level squares (U in the
///    square; 2 U, since it may be a power), sums n of them (n - 1) and takes a root (2 U): on the
///    norm (2 + n - 1) / 2 + 2, in units of U, and nothing where it is left out. Two levels, over
///    ranks and tensors, and the root of the first: (ranks + tensors + 2) / 2 + 6.
/// 3. Squares below the smallest number err by up to half of it: s -+ k eta, eta = 2^-149; in a
///    level as well, (ranks + tensors) eta of its format, 2^-133 in bf16. Squares of fp16 have to
///    be taken in binary32: in their own range they vanish below norms of 2^-12 and overflow from
///    256 on, which is no matter of order. What is kept of norms rounds by half of eta each.
/// 4. Products of roundings and the arithmetic here: the sum e of all errors, and of what elements
///    were rounded before (U each), widens to e (1 + e) + 2^-40.
/// 5. Infinity where a square or a sum may overflow, binary32 in step 1, the format in step 2, if
///    that is not fp16; or the norm itself.
///    A NaN gives NaN, an infinity infinity.
Admissible norm_bound(SquareSum const& sum, NormShape const& shape, NumberFormat format);

}  // namespace adamant::oracle
