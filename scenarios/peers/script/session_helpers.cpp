#include "scenarios/peers/script/session_helpers.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "scenarios/seam/damage.h"

namespace adamant::scenarios::script {

namespace {

constexpr std::string_view write_function = R"(def write(*files):
    """Safetensors files of float32; returns their paths."""
    paths = [f"{here}/tensors-{number}" for number in range(len(files))]
    for path, tensors in zip(paths, files):
        header, data = {}, b""
        for key, values in tensors.items():
            begin, data = len(data), data + bytes_of(values)
            header[key] = {"dtype": "F32", "shape": SHAPES[key], "data_offsets": [begin, len(data)]}
        text = json.dumps(header).encode()
        with open(path, "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text + data)
    return paths
)";

constexpr std::string_view ask_function = R"(def ask(verb, *wanted, **fields):
    """Sends a request; returns its reply, which has to have one of these outcomes, or "ok"."""
    request = {"id": next(ids), "request": verb, **fields}
    print(json.dumps(request), file=engine.stdin, flush=True)
    signal.alarm(SECONDS)
    reply = json.loads(engine.stdout.readline() or '{"id": "no answer"}')
    signal.alarm(0)
    if reply["id"] != request["id"] or reply["outcome"] not in (wanted or ["ok"]):
        raise ValueError(f"{verb}: {reply}")
    return reply
)";

constexpr std::string_view act_function = R"(def act(verb, **fields):
    """Sends a request; returns what the ranks hold then."""
    ask(verb, **fields)
    return ask("state", prefix=here + "/state", whole=False)
)";

constexpr std::string_view element_function = R"(def element(state, rank, key, index):
    """One number of a rank's safetensors file."""
    with open(state["ranks"][rank]["file"], "rb") as file:
        data = file.read()
    begin = 8 + int.from_bytes(data[:8], "little")
    entry = json.loads(data[8:begin])[key]
    codes = {"F32": ("f", 4), "BF16": ("f", 2), "F16": ("e", 2), "U8": ("B", 1)}
    code, size = codes[entry["dtype"]]
    begin += entry["data_offsets"][0] + size * index
    number = data[begin : begin + size].rjust(struct.calcsize(code), b"\0")
    return float(struct.unpack("<" + code, number)[0])
)";

constexpr std::string_view header_function = R"(def header(state, rank):
    """What is in a rank's safetensors file."""
    with open(state["ranks"][rank]["file"], "rb") as file:
        return json.loads(file.read(int.from_bytes(file.read(8), "little")))
)";

constexpr std::string_view failure_function = R"(def failure(reply):
    """What a rank says that failed, those first that say why."""
    for outcome in ("error", "died", "timed_out"):
        for one in reply.get("ranks") or [reply]:
            if one["outcome"] == outcome:
                return str(one)
    return "no failure"
)";

constexpr std::string_view digests_function = R"(def digests(directory, pattern):
    """What is in those files of a checkpoint."""
    paths = sorted(pathlib.Path(here, directory).rglob(pattern))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()[:16] for path in paths}
)";

void write_function_text(python::Code& code, std::string_view text) {
  while (!text.empty()) {
    auto const end = text.find('\n');
    code.line(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  code.blank(2);
}

/// The file's numbers stand in a script as texts or as lists.
void write_write(python::Code& code, bool base64) {
  constexpr std::string_view place = "bytes_of(values)";
  std::string text(write_function);
  text.replace(text.find(place), place.size(),
               base64 ? "base64.b64decode(values)" : "struct.pack(f\"<{len(values)}f\", *values)");
  write_function_text(code, text);
}

void write_flip(python::Code& code) {
  {
    python::Block const function(code, "def flip(path, at):");
    code.line("\"\"\"Changes one bit of a file.\"\"\"");
    code.line("with open(path, \"r+b\") as file:");
    code.line("    data = bytearray(file.read())");
    code.line(fmt::format("    data[at] ^= {}", std::to_integer<int>(flipped_bit)));
    code.line("    file.seek(0)");
    code.line("    file.write(data)");
  }
  code.blank(2);
}

}  // namespace

void write_helpers(Helpers const& helpers, python::Code& code, python::Imports& imports) {
  for (char const* const module : {"json", "os", "signal", "subprocess", "sys", "tempfile"})
    imports.add(module);
  if (helpers.write || helpers.element) imports.add("struct");
  if (helpers.write && helpers.base64) imports.add("base64");
  if (helpers.write) write_write(code, helpers.base64);
  write_function_text(code, ask_function);
  if (helpers.act) write_function_text(code, act_function);
  if (helpers.element) write_function_text(code, element_function);
  if (helpers.header) write_function_text(code, header_function);
  if (helpers.failure) write_function_text(code, failure_function);
  if (helpers.flip) write_flip(code);
  if (!helpers.digests) return;
  for (char const* const module : {"hashlib", "pathlib"}) imports.add(module);
  write_function_text(code, digests_function);
}

}  // namespace adamant::scenarios::script
