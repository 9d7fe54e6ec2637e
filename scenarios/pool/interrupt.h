// Ctrl-C as a question that loops can ask. The first SIGINT, SIGTERM or SIGHUP is remembered and
// wakes whoever polls; the handler does nothing else.
#pragma once

namespace adamant::scenarios {

/// Installs the handlers; once per process, before anything is forked. A file that would grow too
/// large ends no process from then on.
void watch_for_interrupts();
/// Back to no reaction at all, for workers: their parent decides when they end.
void ignore_interrupts();

bool interrupted();
/// Becomes readable with the first interrupt, for poll(2); -1 without watch_for_interrupts().
int interrupt_descriptor();

}  // namespace adamant::scenarios
