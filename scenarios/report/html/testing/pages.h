// Pages of real runs for tests.
#pragma once

#include <string>
#include <vector>

#include "scenarios/campaign/ledger.h"
#include "scenarios/report/html/page.h"

namespace adamant::scenarios {

/// What a scenario of the corpus comes to, such as "bugs/te_2795.yaml", with its pictures. It took
/// no time.
PageItem item_of(std::string const& file);

/// One that only passed or failed.
PageItem plain_item(std::string const& name, bool met);

Page page_of(std::vector<PageItem> items);

/// Of six cases of which one broke order.race.
Ledger small_ledger();

}  // namespace adamant::scenarios
