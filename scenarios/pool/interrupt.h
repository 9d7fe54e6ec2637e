// Ctrl-C as a question that loops can ask. The first SIGINT, SIGTERM or SIGHUP is remembered and
// wakes whoever polls; the handler does nothing else. Likewise the end of the time that there is.
#pragma once

#include <chrono>
#include <optional>

namespace adamant::scenarios {

/// Installs the handlers; once per process, before anything is forked. A file that would grow too
/// large ends no process from then on.
void watch_for_interrupts();
/// Back to no reaction at all, nor to the time, for workers: their parent decides when they end.
void ignore_interrupts();

bool interrupted();
/// From then on nobody waits, as after an interrupt, until another time is given, or none.
void stop_waiting_at(std::optional<std::chrono::steady_clock::time_point> when);
std::chrono::steady_clock::time_point waiting_ends();
/// Is it interrupted, or is that time over?
bool must_stop();
/// Becomes readable with the first interrupt, for poll(2); -1 without watch_for_interrupts().
int interrupt_descriptor();

}  // namespace adamant::scenarios
