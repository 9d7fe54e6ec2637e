#include "scenarios/script/damage_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace adamant::scenarios::script {

namespace {

using python::Block;

/// How many of an event's arguments are paths.
constexpr std::string_view counted =
    "COUNTED = {\"open\": 1, \"os.mkdir\": 1, \"os.remove\": 1, \"os.rmdir\": 1, \"os.rename\": 2}";

/// Counts what the harness counts: everything that Python's streams do to files of the checkpoint.
constexpr std::array<std::string_view, 20> die_before = {
    "def die_before(operation, directory):",
    "    \"\"\"Kills this process before so many operations on files in the directory.\"\"\"",
    "    left, fsync = iter(range(operation, -1, -1)), os.fsync",
    "",
    "    def count(*paths):",
    "        names = [os.readlink(f\"/proc/self/fd/{p}\") if isinstance(p, int) else p for p in "
    "paths]",
    "        if any(str(name).startswith(directory) for name in names) and next(left) == 0:",
    "            os.kill(os.getpid(), signal.SIGKILL)",
    "",
    "    class Counted(io.BufferedWriter):",
    "        def write(self, data):",
    "            count(self.raw.name)",
    "            return super().write(data)",
    "",
    "    def open_counted(path, mode=\"r\"):",
    "        return Counted(io.FileIO(path, mode)) if mode == \"wb\" else open(path, mode)",
    "",
    "    pathlib.Path.open = open_counted",
    "    os.fsync = lambda descriptor: (count(descriptor), fsync(descriptor))",
    "    sys.addaudithook(lambda event, paths: event in COUNTED and count(*paths[: "
    "COUNTED[event]]))",
};

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

void write_spoiling(Draft& draft, std::string const& path, Fault const& fault) {
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

void write_damage_functions(Draft& draft) {
  if (any_fault(draft.plan, Act::Kind::save)) {
    for (char const* const module : {"io", "os", "pathlib", "signal", "sys"})
      draft.imports.add(module);
    draft.code.line(counted);
    draft.code.blank(2);
    for (std::string_view const line : die_before) draft.code.line(line);
    draft.code.blank(2);
  }
  if (any_fault(draft.plan, Act::Kind::load)) {
    draft.imports.add("pathlib");
    {
      Block const function(draft.code, "def files_of(directory):");
      draft.code.line(
          "return sorted((p for p in pathlib.Path(directory).rglob(\"*\") if p.is_file()), "
          "key=str)");
    }
    draft.code.blank(2);
  }
}

void write_crash(Draft& draft, World const& world, Act const& save, Fault const& fault) {
  std::string const line =
      fmt::format("die_before({}, f\"{}\")", fault.after_bytes.value_or(0), path_of(save));
  if (world.ranks() == 1) return draft.code.line(line);
  Block const one(draft.code, fmt::format("if rank == {}:", fault.rank.value_or(0)));
  draft.code.line(line);
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
  if (world.ranks() == 1) return write_spoiling(draft, path_of(load), fault);
  {
    Block const one(draft.code, "if rank == 0:");
    write_spoiling(draft, path_of(load), fault);
  }
  draft.code.line("dist.barrier()");
}

}  // namespace adamant::scenarios::script
