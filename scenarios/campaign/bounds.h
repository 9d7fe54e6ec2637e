// What counts of cases say about chances, exactly: no approximation, and no number picked by hand
// but the confidence.
#pragma once

#include <cstdint>
#include <map>

namespace adamant::scenarios {

inline constexpr double confidence = 0.95;

/// The chance that one more case fails is at most this, with `confidence`, where `failed` of
/// `cases` independent cases did; 1 without any case. Source: Clopper and Pearson 1934, the upper
/// limit of the one-sided interval: the largest chance with which so few failures are not rarer
/// than 1 - confidence. Without failures it is 1 - (1 - confidence)^(1 / cases).
double chance_at_most(std::uint64_t failed, std::uint64_t cases);

/// Schedules by the least chance with which each meets a bug.
using Chances = std::map<double, std::uint64_t>;

/// The chance with which all of them together have missed a bug that each of their cases has.
double missed_at_most(Chances const& chances);

/// The share of cases that have a bug which all of them together have missed is at most this, with
/// `confidence`; 1 where so many schedules exclude nothing.
double share_at_most(Chances const& chances);

}  // namespace adamant::scenarios
