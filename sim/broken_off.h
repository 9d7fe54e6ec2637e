// A program that ends its process inside of a run, by exit() or abort(), has not returned a report:
// whoever holds one tells it before.
#pragma once

#include <functional>

namespace adamant::sim {

/// While it lives, `tell` is called before the process ends by exit() or abort(), and not when it
/// ends otherwise. The innermost one counts.
class AtBreakOff {
 public:
  explicit AtBreakOff(std::function<void()> tell);
  ~AtBreakOff();
  AtBreakOff(AtBreakOff const&) = delete;
  AtBreakOff& operator=(AtBreakOff const&) = delete;

 private:
  std::function<void()> tell_;
  AtBreakOff* outer_;

  friend void tell_once();
};

}  // namespace adamant::sim
