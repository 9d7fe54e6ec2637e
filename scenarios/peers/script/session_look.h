// Which request of a session shows what a violation is about, and where in its reply. How a reply
// is asked for is not known here.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/peers/script/python.h"
#include "scenarios/peers/script/session.h"

namespace adamant::scenarios::script {

/// Lines that keep what a state has, behind the exchange that shows it.
struct Kept {
  std::size_t at = 0;
  std::vector<std::string> lines = {};
};

/// What a session's script compares.
struct Look {
  enum class Kind {
    value,       // what is in a state with what it has to be
    ranks,       // the same of two ranks
    runs,        // the same of two runs
    repeated,    // all that is shown, of a run that is made twice
    either,      // found(state) with `older` and `newer`, which a crash may both have left
    failure,     // a request fails that has to succeed
    no_failure,  // a load succeeds, or fails for another reason, that has to report damage
    no_answer,   // a request is not answered
  };
  Kind kind = Kind::value;
  std::size_t at = 0;                   // the exchange that shows it
  int first = 0;                        // of two ranks: with which the violation's is compared
  std::string place = "";               // what it is about
  std::string expected = "";            // a text; of an interval, two ranks or runs none
  std::vector<std::string> lines = {};  // after which `actual` is a text, or `expected` as well
  std::vector<Kept> kept = {};          // by number of exchange
  std::vector<std::string> words = {};  // of a failure: what its reply has to contain
  std::optional<NumberFormat> reads_numbers = {};  // by element(state, rank, key, index)
  bool reads_headers = false;                      // by header(state, rank)
  bool misses_tensors = false;                     // where there is none the number is 0
  bool reads_files = false;                        // of a checkpoint, by their digests
};

/// Is it the request itself that shows it, and not what a state has?
inline bool is_about_request(Look const& look) {
  return look.kind >= Look::Kind::failure;
}

/// Errors: NoScript where no reply shows it.
Look look_of(Session const& session);

}  // namespace adamant::scenarios::script
