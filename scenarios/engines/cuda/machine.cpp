#include "scenarios/engines/cuda/machine.h"

#include <algorithm>
#include <iterator>
#include <sstream>

#include "real/testing/shared_gpus.h"

namespace adamant::scenarios {

namespace {

constexpr int needed_capability = 90;

std::string cuda_version(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string nccl_version(int version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

std::string capability(int gpu) {
  return std::to_string(gpu / 10) + "." + std::to_string(gpu % 10);
}

std::string count_of_gpus(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " GPU" : " GPUs");
}

std::string needed_driver(Machine const& machine) {
  return "a driver for CUDA " + std::to_string(machine.runtime / 1000) + ".0 or newer";
}

std::string lacks_driver(Machine const& machine) {
  if (machine.driver == 0)
    return "no NVIDIA driver was found; engine cuda needs a GPU of compute capability " +
           capability(needed_capability) + " or newer and " + needed_driver(machine) +
           ": install it, and see that `nvidia-smi` lists the GPU";
  if (machine.driver / 1000 < machine.runtime / 1000)
    return "the driver knows CUDA " + cuda_version(machine.driver) +
           " alone, and this program was built with CUDA " + cuda_version(machine.runtime) +
           "; it needs " + needed_driver(machine) + ": update the driver";
  return "";
}

std::string lacks_gpu(Machine const& machine) {
  if (!machine.error.empty())
    return "the driver answers with " + machine.error +
           "; engine cuda needs a GPU: see whether `nvidia-smi` lists one, and what "
           "CUDA_VISIBLE_DEVICES says";
  if (machine.gpus.empty())
    return "the driver shows no GPU, and engine cuda needs one: see whether `nvidia-smi` lists "
           "any, and what CUDA_VISIBLE_DEVICES says";
  auto const old =
      std::ranges::find_if(machine.gpus, [](int gpu) { return gpu < needed_capability; });
  if (old == machine.gpus.end()) return "";
  return "GPU " + std::to_string(old - machine.gpus.begin()) + " has compute capability " +
         capability(*old) + ", and this program was built for " + capability(needed_capability) +
         " and newer: use another GPU, or name those that are new enough in CUDA_VISIBLE_DEVICES";
}

std::string lacks_nccl(Machine const& machine) {
  if (machine.nccl >= machine.built_nccl) return "";
  return "NCCL " + nccl_version(machine.nccl) + " was loaded, and this program was built with " +
         nccl_version(machine.built_nccl) +
         "; it needs that or a newer one: put its libnccl.so.2 first in LD_LIBRARY_PATH";
}

int gpu_count(Machine const& machine) {
  return static_cast<int>(machine.gpus.size());
}

}  // namespace

std::string lacks(Machine const& machine) {
  for (auto const part : {lacks_driver, lacks_gpu, lacks_nccl})
    if (std::string const missing = part(machine); !missing.empty()) return missing;
  return "";
}

std::string found(Machine const& machine) {
  std::string text = count_of_gpus(machine.gpus.size());
  if (!machine.gpus.empty())
    text += " of compute capability " + capability(std::ranges::min(machine.gpus));
  text += ", driver for CUDA " + cuda_version(machine.driver) + ", built with CUDA " +
          cuda_version(machine.runtime) + ", NCCL " + nccl_version(machine.nccl);
  return text + "; worlds of more ranks than GPUs use " +
         (machine.nccl >= real::nccl_that_shares_gpus ? "NCCL" : "the loop-back");
}

Placement place(Machine const& machine, int ranks) {
  Placement placement{.devices = std::vector<int>(static_cast<std::size_t>(ranks), 0),
                      .loopback = ranks > captured_ranks_max(machine)};
  if (placement.loopback) return placement;  // its kernels read what lies on their own GPU
  for (int rank = 0; rank < ranks; ++rank)
    placement.devices[static_cast<std::size_t>(rank)] = rank % gpu_count(machine);
  return placement;
}

int captured_ranks_max(Machine const& machine) {
  return real::nccl_ranks_max(machine.nccl, gpu_count(machine));
}

std::string to_line(Machine const& machine) {
  std::ostringstream line;
  line << machine.driver << ' ' << machine.runtime << ' ' << machine.nccl << ' '
       << machine.built_nccl << ' ' << machine.gpus.size();
  for (int const gpu : machine.gpus) line << ' ' << gpu;
  line << ' ' << machine.error;
  return line.str();
}

Machine machine_from(std::string const& line) {
  Machine machine;
  std::istringstream in(line);
  std::size_t gpus = 0;
  in >> machine.driver >> machine.runtime >> machine.nccl >> machine.built_nccl >> gpus;
  for (int gpu = 0; machine.gpus.size() < gpus && in >> gpu;) machine.gpus.push_back(gpu);
  std::getline(in >> std::ws, machine.error);
  return machine;
}

}  // namespace adamant::scenarios
