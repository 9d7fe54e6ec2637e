// Where a written scenario comes from, as comments at its head, and what may be the cause where it
// does not run as it did then. It knows texts alone, neither scenarios nor engines.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace adamant::scenarios {

/// The program that writes.
struct Writer {
  std::string version = {};
  std::string commit = {};  // of its sources, or "unknown"

  friend bool operator==(Writer const&, Writer const&) = default;
};

/// What a run depends on besides its scenario, and what it came to.
struct Provenance {
  Writer by = {};
  std::string engine = {};     // with the versions that it gives: "torch (python 3.11.2)"
  std::string schedule = {};   // in words: "fifo", "38 recorded choices"
  std::uint64_t digest = 0;    // of the run
  std::uint64_t checksum = 0;  // of the scenario's normal form
};

/// FNV-1a, which is the same everywhere and always: enough to see that a text was edited.
/// Source: Fowler, Noll, Vo, draft-eastlake-fnv, 64 bits.
std::uint64_t checksum_of(std::string_view text);

/// Three lines: who wrote it with what, the digest, and the checksum.
std::string comments_of(Provenance const& provenance);

/// What the comments before the first line of YAML say; nothing where the three lines are not all
/// there.
std::optional<Provenance> provenance_in(std::string_view text);

/// In words that, and probably why, a run came to another digest than the one that was written;
/// empty where it did not. `options` are what the command line changed, such as "--seed 5".
std::string difference(Provenance const& written, Provenance const& now,
                       std::span<std::string const> options);

}  // namespace adamant::scenarios
