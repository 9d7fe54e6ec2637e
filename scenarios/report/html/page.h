// The page that --html writes: one file that needs nothing else, neither network nor script. A
// table of all scenarios, then what is to be told of those that found something, then what a search
// did.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "scenarios/report/html/finding.h"

namespace adamant::scenarios {

struct Page {
  std::string command = {};
  std::string verdict = {};    // in a sentence
  bool good = true;            // does it say that all is well?
  std::string cut_short = {};  // why something is not in it; empty: nothing is
  std::vector<std::pair<std::string, std::string>> facts = {};  // such as the seed: what, which
  std::vector<PageItem> items = {};
  std::string ledger = {};  // as HTML
};

/// The file. What ended otherwise than expected comes first, then all else in the order of `items`.
/// However many findings there are, their pictures and scenarios take less than a megabyte: those
/// for which there is no room are told in brief.
///
/// The same values, and the same lines of source, make the same text. It is XML as well.
std::string to_html(Page const& page);

/// How a page is shown: on light and dark screens, wide and narrow, and on paper. Colours are
/// variables, of which text and what it stands on have a contrast of at least 4.5 to 1 (WCAG 2.2,
/// 1.4.3); those of dark screens come second.
std::string style_sheet();

}  // namespace adamant::scenarios
