// Readers of what comes from outside, as functions of bytes: a fuzzer calls them with anything, a
// test with the inputs that once failed and with those that it begins from. Each says whether the
// input was taken, or else refused by a reader of ours, and throws where something is wrong with
// the reader: what it took is not what was written, engine and judge disagree, a refusal names no
// place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace adamant::properties {

using Bytes = std::span<std::byte const>;

/// A safetensors file: what the engine takes, the judge takes, with the same tensors at the same
/// places.
bool read_header(Bytes file);

/// The body of a manifest, given the checksum that it needs: what the engine takes is the same once
/// it is written again.
bool read_manifest(Bytes body);

/// Headers of files and the body of a manifest, each behind a line `---` but the first, of which a
/// folder is made with right sizes and checksums: the program loads it as the judge reads it, or
/// refuses it by name.
bool read_folder(Bytes parts);

/// A scenario: written and read again it is the same, in the same words.
bool read_yaml(Bytes text);

/// A scenario, as far as one gets without executing it: what is refused, the memory of all ranks,
/// its further runs, and its first operations one by one.
bool read_program(Bytes text);

/// The parameters of a public model, or a list of known defects.
bool read_lists(Bytes text);

/// An engine's reply, taken for one to every verb, and held to the schema.
bool read_replies(Bytes line);

/// A file that a reply names, with what its tensors are read with.
bool read_tensors(Bytes file);

/// What a worker process says of a scenario: written and read again it is the same, and every
/// report can be made of it.
bool read_worker(Bytes line);

/// campaign.json and, behind a line `----`, a journal: the ledger, and the reports of its findings.
bool read_journal(Bytes texts);

/// A CUDA source, for the simulator: every token stays on its line.
bool read_lexer(Bytes source);

/// A source and, each behind a line `====`, bug files that change it.
bool read_bugs(Bytes texts);

struct Reader {
  std::string_view name;  // also of the folder of its seeds
  bool (*read)(Bytes);
};

inline constexpr auto readers = std::to_array<Reader>({{"header", read_header},
                                                       {"manifest", read_manifest},
                                                       {"folder", read_folder},
                                                       {"yaml", read_yaml},
                                                       {"program", read_program},
                                                       {"lists", read_lists},
                                                       {"replies", read_replies},
                                                       {"tensors", read_tensors},
                                                       {"worker", read_worker},
                                                       {"journal", read_journal},
                                                       {"lexer", read_lexer},
                                                       {"bugs", read_bugs}});

}  // namespace adamant::properties
