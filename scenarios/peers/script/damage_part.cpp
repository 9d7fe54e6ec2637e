#include "scenarios/peers/script/damage_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace adamant::scenarios::script {

namespace {

using python::Block;

/// Counts what the harness counts: all that Python's streams do to files of the checkpoint. A save
/// opens its files by pathlib; the consolidation of Hugging Face files by `open`, in modes of many
/// kinds.
constexpr std::array<std::string_view, 13> die_before = {
    "def die_before(operation, directory):",
    "    \"\"\"Ends this process before that operation on files of the directory, from 0.\"\"\"",
    "    left = iter(range(operation, -1, -1))",
    "",
    "    def count(event, arguments):",
    "        counted = event in (\"open\", \"write\", \"os.fsync\", \"os.rename\", \"os.remove\")",
    "        if counted and str(arguments[0]).startswith(directory) and next(left) == 0:",
    "            os._exit(3)",
    "",
    "    class File(io.FileIO):",
    "        def write(self, data):",
    "            sys.audit(\"write\", self.name)",
    "            return super().write(data)",
};
constexpr std::array<std::string_view, 2> by_pathlib = {
    "",
    "    pathlib.Path.open = lambda path, mode: io.BufferedWriter(File(path, mode))",
};
constexpr std::array<std::string_view, 10> by_open = {
    "",
    "    def open_counted(path, mode=\"r\", plain=open):",
    "        if mode in (\"r\", \"rb\"):",
    "            return plain(path, mode)",
    "        file = File(path, mode.replace(\"b\", \"\"))",
    "        if \"b\" not in mode:",
    "            return io.TextIOWrapper(io.BufferedWriter(file))",
    "        return io.BufferedRandom(file) if \"+\" in mode else io.BufferedWriter(file)",
    "",
    "    builtins.open = pathlib.Path.open = open_counted",
};
constexpr std::array<std::string_view, 2> die_before_end = {
    "    os.fsync = lambda file: sys.audit(\"os.fsync\", os.readlink(f\"/proc/self/fd/{file}\"))",
    "    sys.addaudithook(count)",
};

void write_lines(Draft& draft, std::span<std::string_view const> lines) {
  for (std::string_view const line : lines) draft.code.line(line);
}

void write_die_before(Draft& draft) {
  for (char const* const module : {"io", "sys"}) draft.imports.add(module);
  write_lines(draft, die_before);
  if (option(draft.plan.scenario, "format", "dcp") == "hf_consolidated") {
    draft.imports.add("builtins");
    write_lines(draft, by_open);
  } else {
    write_lines(draft, by_pathlib);
  }
  write_lines(draft, die_before_end);
  draft.code.blank(2);
}

/// A point of a save at which a rank is easily made to die.
struct Death {
  std::string what = "";
  std::string line = "";  // empty: operations have to be counted
};

/// A save begins with the rank's own file. A native one ends with the rename of the metadata, by
/// rank 0; if they are gone after it crashed, it died before that.
Death death_of(Plan const& plan, World const& world, Fault const& fault) {
  std::int64_t const operation = fault.after_bytes.value_or(0);
  std::string const& error = plan.violation.text;
  if (operation == 0)
    return {.what = "this rank dies before it opens its file",
            .line = "pathlib.Path.open = lambda *_: os._exit(3)"};
  if (operation == 1)
    return {.what = "this rank dies when it has opened its file, which is empty then",
            .line = "pathlib.Path.open = lambda path, mode: (open(path, mode), os._exit(3))"};
  if (dying_rank(world, fault) == 0 && error.find("No such file") != std::string::npos &&
      error.find("/.metadata'") != std::string::npos)
    return {.what = "this rank dies before .metadata.tmp becomes the new .metadata",
            .line = "pathlib.Path.rename = lambda *_: os._exit(3)"};
  return {};
}

/// The fault that ends the world, in its last save.
Fault const& crash_of(World const& world) {
  return world.passages.back().acts.back().faults.front();
}

bool counts_operations(Plan const& plan, World const& world) {
  return world.crashes && death_of(plan, world, crash_of(world)).line.empty();
}

bool any_fault(Plan const& plan, Act::Kind kind) {
  auto const acts = plan.all(kind);
  return std::any_of(acts.begin(), acts.end(), [](Act const* act) { return !act->faults.empty(); });
}

/// A place that a scenario may give beyond the end, and that then counts on from the beginning.
std::string wrapped(std::optional<std::int64_t> place, std::string_view length_of) {
  if (place.value_or(0) == 0) return "0";
  return fmt::format("{} % len({})", *place, length_of);
}

void write_stale(Draft& draft, std::string const& path, Fault const& fault) {
  draft.imports.add("shutil");
  draft.code.line(fmt::format("files = files_of(f\"{}-before\")", path));
  draft.code.line(fmt::format("old = files[{}]", wrapped(fault.file, "files")));
  draft.code.line(
      fmt::format("shutil.copy(old, f\"{}/{{old.relative_to(f'{}-before')}}\")", path, path));
}

void write_damage_to_files(Draft& draft, std::string const& path, Fault const& fault) {
  if (fault.then == Fault::Then::stale_file) return write_stale(draft, path, fault);
  draft.code.line(fmt::format("files = files_of(f\"{}\")", path));
  std::string const file = fmt::format("files[{}]", wrapped(fault.file, "files"));
  if (fault.then == Fault::Then::remove_file) return draft.code.line(file + ".unlink()");
  draft.code.line("file = " + file);
  draft.code.line("content = bytearray(file.read_bytes())");
  if (fault.then == Fault::Then::truncate) {
    std::string const end = fault.byte ? wrapped(fault.byte, "content") : "len(content) // 2";
    return draft.code.line(fmt::format("file.write_bytes(content[: {}])", end));
  }
  draft.code.line(fmt::format("content[{}] ^= 0x10", wrapped(fault.byte, "content")));
  draft.code.line("file.write_bytes(content)");
}

std::string path_of(Act const& act) {
  return "{directory}/" + act.checkpoint;
}

}  // namespace

std::int64_t dying_rank(World const& world, Fault const& fault) {
  return fault.rank.value_or(0) % world.ranks();
}

void write_damage_functions(Draft& draft) {
  auto const& worlds = draft.plan.worlds;
  if (std::any_of(worlds.begin(), worlds.end(),
                  [&](World const& world) { return counts_operations(draft.plan, world); }))
    write_die_before(draft);
  bool const read =
      draft.plan.reading && !draft.plan.reading->passages.front().acts.front().faults.empty();
  if (read || any_fault(draft.plan, Act::Kind::load)) {
    draft.imports.add("pathlib");
    {
      Block const function(draft.code, "def files_of(directory):");
      draft.code.line("paths = pathlib.Path(directory).rglob(\"*\")");
      draft.code.line("return sorted((path for path in paths if path.is_file()), key=str)");
    }
    draft.code.blank(2);
  }
}

void write_crash(Draft& draft, World const& world, Act const& save, Fault const& fault) {
  for (char const* const module : {"os", "pathlib"}) draft.imports.add(module);
  Death death = death_of(draft.plan, world, fault);
  if (death.line.empty())
    death.line =
        fmt::format("die_before({}, f\"{}\")", fault.after_bytes.value_or(0), path_of(save));
  std::optional<Block> one;
  if (draft.plan.in_chain)
    one.emplace(draft.code, "if rank == dies:");
  else if (world.ranks() > 1)
    one.emplace(draft.code, fmt::format("if rank == {}:", dying_rank(world, fault)));
  std::string const line =
      death.what.empty() ? death.line : fmt::format("{}  # {}", death.line, death.what);
  if (draft.code.fits(line)) return draft.code.line(line);
  draft.code.line(fmt::format("# {}", death.what));
  draft.code.line(death.line);
}

// Behind its last operation there is none left to die before, and its save returns.
void write_death_check(Draft& draft, World const& world) {
  std::int64_t const rank = dying_rank(world, crash_of(world));
  bool const counts = counts_operations(draft.plan, world);
  draft.code.line(
      fmt::format("died = ranks.processes[{}].exitcode {}", rank, counts ? "in (0, 3)" : "== 3"));
  draft.code.line(
      fmt::format("assert died, \"rank {} did not die in its save as it has to\"", rank));
}

void write_keeping_older(Draft& draft, World const& world, Act const& save) {
  draft.imports.add("shutil");
  std::string const line = fmt::format(
      "shutil.copytree(f\"{}\", f\"{}-before\", dirs_exist_ok=True)", path_of(save), path_of(save));
  if (world.ranks() == 1) return draft.code.line(line);
  {
    Block const one(draft.code, "if rank == 0:");
    draft.code.line(line);
  }
  draft.code.line("dist.barrier()");
}

void write_damage(Draft& draft, World const& world, Act const& load, Fault const& fault) {
  if (world.ranks() == 1) return write_damage_to_files(draft, path_of(load), fault);
  {
    Block const one(draft.code, "if rank == 0:");
    write_damage_to_files(draft, path_of(load), fault);
  }
  draft.code.line("dist.barrier()");
}

}  // namespace adamant::scenarios::script
