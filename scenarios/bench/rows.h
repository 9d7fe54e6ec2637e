// Rows of numbers that suites give.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace adamant::scenarios {

struct Row {
  std::string suite;
  std::string name;
  double value = 0;
  std::string unit;
};

/// Of a row that stands in the place of a measurement: that many bytes of its results are wrong.
inline constexpr std::string_view wrong_bits_unit = "wrong bytes";

/// What lies at `part` of the sorted values: 0.5 for the median.
inline double quantile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(part * static_cast<double>(values.size()))];
}

inline double median(std::vector<double> const& values) {
  return quantile(values, 0.5);
}

/// The rows of one suite.
class SuiteRows {
 public:
  explicit SuiteRows(std::string_view suite) : suite_(suite) {}

  void add(std::string name, double value, std::string_view unit) {
    all_.push_back({suite_, std::move(name), value, std::string(unit)});
  }
  /// The main row, which bears the suite's name.
  void add_main(double value, std::string_view unit) { add(suite_, value, unit); }
  /// The median under the name itself, or as the main row, and the least and the most beside it.
  void add_spread(std::string const& name, std::vector<double> const& values, std::string_view unit,
                  bool is_main = false) {
    add(is_main ? suite_ : name, median(values), unit);
    add(name + "_least", quantile(values, 0), unit);
    add(name + "_most", quantile(values, 0.999), unit);
  }
  /// The first row stands once more before all others, as the main one.
  void repeat_first_as_main() {
    if (all_.empty()) return;
    all_.insert(all_.begin(), Row(all_.front()));
    all_.front().name = suite_;
  }

  std::vector<Row> const& all() const { return all_; }

 private:
  std::string suite_;
  std::vector<Row> all_;
};

}  // namespace adamant::scenarios
