// What `adamant run` says: each result as soon as all before it are said, then a line for all of
// them and the files that were asked for. It runs nothing.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>

#include "scenarios/language/scenario.h"
#include "scenarios/program/arguments.h"
#include "scenarios/program/html_output.h"
#include "scenarios/program/outputs.h"
#include "scenarios/report/html/page.h"
#include "scenarios/report/progress.h"
#include "scenarios/report/status.h"
#include "scenarios/report/text.h"

namespace adamant::scenarios {

class RunReport {
 public:
  /// Opens the files. Errors: CannotWrite.
  explicit RunReport(Arguments const& arguments);

  /// File `number` cannot be read. The reason was said already.
  void add_unread(std::uint64_t number, Reported reported);
  /// All that there will be results of, those that cannot be read among them.
  void begin(std::uint64_t total) { total_ = total; }
  /// How many operations are executed, where there is one scenario alone.
  void show_operations(std::uint64_t done, std::uint64_t total);
  /// Scenario `number` has ended, and is said as soon as no result before it is missing.
  void add(std::uint64_t number, Scenario const& scenario, Reported reported);
  bool has_failed() const { return failed_ > 0; }

  /// Says the rest, and writes the files. Errors: CannotWrite.
  void finish(std::span<Reported const> passed_over, Status status);

 private:
  struct Entry {
    Reported reported;
    bool is_read = true;
  };

  void put(std::uint64_t number, Reported reported, bool is_read);
  void show();
  void print_result(Entry const& entry);
  bool is_stopped() const;
  void summarise() const;
  std::string cut_short() const;
  std::string verdict() const;
  Page page_frame(Status status) const;

  Arguments const& arguments_;
  Style style_;
  Outputs outputs_;
  HtmlOutput html_;
  Progress progress_;
  Progress progress_of_one_;
  std::map<std::uint64_t, Entry> finished_;
  std::set<std::string> engines_;  // of what has run
  std::uint64_t total_ = 0;
  std::uint64_t unread_ = 0;
  std::uint64_t warnings_ = 0;
  std::uint64_t printed_ = 0;
  std::uint64_t failed_ = 0;
};

}  // namespace adamant::scenarios
