// Two numbers as text, one over the other: which digits the other has not. It knows no violation,
// and neither colours nor pages.
#pragma once

#include <string>
#include <vector>

namespace adamant::scenarios {

/// `differs[i]`: the other side has another character there, or none. One place behind the text may
/// be marked, too: the other side has more digits.
struct MarkedDigits {
  std::string text = "";
  std::vector<bool> differs = {};

  bool any() const;

  struct Piece {
    std::string text;
    bool differs;
  };
  /// The text, cut where marks begin and end.
  std::vector<Piece> pieces() const;
};

struct FacingDigits {
  MarkedDigits expected;
  MarkedDigits actual;
};

/// Both in one notation, hexadecimal or decimal, with spaces in front so that their points are one
/// below the other. What is no number (text, an interval, NaN) is as it was, and nothing is marked.
FacingDigits facing(std::string const& expected, std::string const& actual);

}  // namespace adamant::scenarios
