#include "scenarios/peers/script/session_helpers.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "scenarios/seam/damage.h"

namespace adamant::scenarios::script {

namespace {

constexpr std::string_view ask_function =
    R"(def ask(verb, *wanted, **fields):  # the reply, whose outcome has to be one of these, or "ok"
    print(json.dumps({"id": 0, "request": verb, **fields}), file=engine.stdin, flush=True)
    signal.alarm(SECONDS)  # which kills the engine
    reply = json.loads(engine.stdout.readline() or '{"outcome": "no answer"}')
    assert reply["outcome"] in (wanted or ["ok"]), f"{verb}: {reply}"
)";

constexpr std::string_view header_function =
    R"(def header(state, rank):  # what is in a rank's safetensors file
    with open(state["ranks"][rank]["file"], "rb") as file:
        return json.loads(file.read(int.from_bytes(file.read(8), "little")))
)";

// A moment that was not made yet is as good as zeros.
constexpr std::string_view found_function =
    R"(def found(state):  # what a load restores, in any world; where zeros end a tensor they are left out
    parts = PARTS
    steps, tensors = {}, {}
    for said in state["ranks"]:
        with open(said["file"], "rb") as file:
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
            data = file.read()
        for at, part in ((at, part) for at in said["shards"] for part in parts):
            steps[at["name"] + "/step"] = at["steps"]
            begin, end = header.get(f"local/{at['name']}{part}", {"data_offsets": (0, 0)})["data_offsets"]
            rows = tensors.setdefault(at["name"] + part, {})
            if begin < end:
                rows[0 if part.endswith("scale") else at["offsets"][0]] = data[begin:end]
    whole = {key: b"".join(rows[row] for row in sorted(rows)) for key, rows in tensors.items()}
    return steps | {key: data.rstrip(b"\0") for key, data in whole.items()}
)";

constexpr std::string_view digests_function =
    R"(def digests(directory, pattern):  # what is in those files of a checkpoint
    paths = sorted(pathlib.Path(here, directory).rglob(pattern))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()[:16] for path in paths}
)";

constexpr std::string_view shown_function =
    R"(def shown(verb, state):  # all that the ranks hold after a request, each number by its name
    for rank, said in enumerate(state["ranks"]):
        with open(said.pop("file"), "rb") as file:
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
            data = file.read()
        header.pop("__metadata__", None)
        tensors = {key: data[slice(*at["data_offsets"])].hex(" ", -4).split() for key, at in header.items()}
        for key, values in {**tensors, "its reply": [json.dumps(said)]}.items():
            for index, value in enumerate(values):
                yield f"rank {rank} after {verb}, {key}[{index}]", value
)";

void write_function(python::Code& code, std::string_view text) {
  while (!text.empty()) {
    auto const end = text.find('\n');
    code.line(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  code.blank(2);
}

/// "a", "b"
std::string listed(std::vector<std::string> const& names) {
  std::string text;
  for (std::string const& name : names)
    text.append(text.empty() ? "" : ", ").append(python::quoted(name));
  return names.size() == 1 ? text + "," : text;
}

void write_ask(Helpers const& helpers, python::Code& code) {
  std::string text(ask_function);
  constexpr std::string_view place = "SECONDS";
  text.replace(text.find(place), place.size(), std::to_string(helpers.seconds));
  if (!helpers.looks) return write_function(code, text + "    return reply\n");
  constexpr std::string_view look = "ask(\"state\", prefix=here + \"/state\", whole=False)";
  constexpr std::size_t verbs_max = 3;  // of which there is room in a line
  std::string const quiet = fmt::format("if wanted or verb in ({})", listed(helpers.quiet));
  text.append(helpers.quiet.size() > verbs_max
                  ? fmt::format("    {}:\n        return reply\n    return {}\n", quiet, look)
                  : fmt::format("    return reply {} else {}\n", quiet, look));
  write_function(code, text);
}

/// An expression: a number of a file, at its place.
std::string number_read(NumberFormat type) {
  switch (type) {
    case NumberFormat::bf16:
      return "struct.unpack(\"<f\", bytes(2) + file.read(2))[0]";
    case NumberFormat::fp16:
      return "struct.unpack(\"<e\", file.read(2))[0]";
    case NumberFormat::fp8:
    case NumberFormat::remainder:
      return "file.read(1)[0]";
    case NumberFormat::fp32:
      break;
  }
  return "struct.unpack(\"<f\", file.read(4))[0]";
}

void write_element(Helpers const& helpers, python::Code& code) {
  code.line("def element(state, rank, key, index):  # a number of a rank's safetensors file");
  for (std::string const& line : reading({.type = *helpers.element}, "return ", "")) {
    code.line("    " + line);
    if (!helpers.missing_is_0 || !line.starts_with("    header = ")) continue;
    code.line("        if key not in header:");
    code.line("            return 0.0  # a moment that was not made yet");
  }
  code.blank(2);
}

void write_found(Helpers const& helpers, python::Code& code) {
  std::string text(found_function);
  constexpr std::string_view place = "PARTS";
  text.replace(text.find(place), place.size(), listed(helpers.found));
  write_function(code, text);
}

void write_flip(python::Code& code) {
  write_function(code, fmt::format(R"(def flip(path, at):  # changes one bit of a file
    with open(path, "r+b") as file:
        data = bytearray(file.read())
        data[at] ^= {}
        file.seek(0)
        file.write(data)
)",
                                   std::to_integer<int>(flipped_bit)));
}

}  // namespace

std::vector<std::string> reading(PlaceInFile const& place, std::string_view before,
                                 std::string_view after) {
  return {fmt::format("with open(state[\"ranks\"][{}][\"file\"], \"rb\") as file:", place.rank),
          "    header = json.loads(file.read(int.from_bytes(file.read(8), \"little\")))",
          fmt::format("    file.seek(header[{}][\"data_offsets\"][0] + {} * {}, os.SEEK_CUR)",
                      place.key, bytes_of(place.type), place.index),
          fmt::format("    {}{}{}", before, number_read(place.type), after)};
}

void write_helpers(Helpers const& helpers, python::Code& code, python::Imports& imports) {
  for (char const* const module : {"json", "os", "signal", "subprocess", "sys", "tempfile"})
    imports.add(module);
  write_ask(helpers, code);
  if (helpers.element) write_element(helpers, code);
  if (helpers.header) write_function(code, header_function);
  if (helpers.flip) write_flip(code);
  if (!helpers.found.empty()) write_found(helpers, code);
  if (helpers.all) write_function(code, shown_function);
  if (!helpers.digests) return;
  for (char const* const module : {"hashlib", "pathlib"}) imports.add(module);
  write_function(code, digests_function);
}

}  // namespace adamant::scenarios::script
