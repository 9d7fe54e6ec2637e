// What is wrong with the directory of a campaign, for whoever called the program with it.
#pragma once

#include <stdexcept>

namespace adamant::scenarios {

/// A campaign that cannot be gone on with, or not be read. what() names the file, what is there and
/// what to do. Nothing has changed.
struct CampaignError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace adamant::scenarios
