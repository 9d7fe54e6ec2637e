// Copies and fills: who waits for what follows the table of the runtime's synchronisation
// behaviour; the bytes move when the stream gets there.

#include <cuda_runtime_api.h>

#include <cstring>
#include <memory>
#include <vector>

#include "sim/cuda/region.h"
#include "sim/cuda/runtime.h"

using namespace adamant::sim;

namespace {

enum class Place { device, pinned, pageable };

Place place_of(Runtime& runtime, void const* address) {
  if (Allocation const* live = runtime.memory.find_live(address)) {
    return live->kind == AllocationKind::pinned ? Place::pinned : Place::device;
  }
  std::uint64_t const offset = region_offset(address);
  if (offset < region_bytes) {  // freed: judged when it runs
    return runtime.memory.slot_of(offset) == 0 ? Place::pinned : Place::device;
  }
  Allocation const* const present = runtime.memory.find_present(address);
  bool const registered = present != nullptr && present->kind == AllocationKind::registered;
  return registered ? Place::pinned : Place::pageable;
}

struct Copy {
  void* to;
  void const* from;
  std::uint64_t bytes;
  Place to_place;
  Place from_place;

  bool host_to_host() const { return to_place != Place::device && from_place != Place::device; }
  bool device_to_device() const { return to_place == Place::device && from_place == Place::device; }
};

bool kind_fits(Copy const& copy, cudaMemcpyKind kind) {
  bool const to_device = copy.to_place == Place::device;
  bool const from_device = copy.from_place == Place::device;
  switch (kind) {
    case cudaMemcpyHostToHost:
      return !to_device && !from_device;
    case cudaMemcpyHostToDevice:
      return to_device && !from_device;
    case cudaMemcpyDeviceToHost:
      return !to_device && from_device;
    case cudaMemcpyDeviceToDevice:
      return to_device && from_device;
    default:
      return true;
  }
}

CopyPath path_of(Copy const& copy) {
  if (copy.host_to_host()) return CopyPath::none;
  if (copy.device_to_device()) return CopyPath::device_to_device;
  return copy.to_place == Place::device ? CopyPath::host_to_device : CopyPath::device_to_host;
}

std::uint64_t cost_ns(Copy const& copy) {
  // 50 GB/s over PCIe, 2 TB/s inside a device, after a start of 2 us.
  return 2000 + (copy.device_to_device() ? copy.bytes / 2000 : copy.bytes / 50);
}

// Pageable memory is watched while a copy may use it. Overlapping ends of several copies are
// separate buffers: the host's accesses are held against each of them.
Allocation* watch_pageable(Runtime& runtime, void const* address, std::uint64_t bytes,
                           Place place) {
  if (place != Place::pageable || !runtime.watch.enabled()) return nullptr;
  Allocation* const buffer = runtime.memory.register_host(reinterpret_cast<std::uintptr_t>(address),
                                                          bytes, AllocationKind::pageable);
  buffer->name = "pageable host memory";
  // Nothing is known of earlier accesses, not even of those of other copies still under way: as if
  // written before everything.
  Touch birth = host_touch(runtime, OperationKind::host, "host code", bytes);
  birth.epoch.time = 0;
  buffer->segments.reset(bytes, birth);
  buffer->pending_copies = 1;
  return buffer;
}

void judge_end(Runtime& runtime, Allocation* pageable, void const* address, std::uint64_t bytes,
               AccessKind kind) {
  runtime.watch.range(address, bytes, kind);
  if (pageable == nullptr) return runtime.watch.judge_registration(address, bytes, kind);
  pageable->pending_copies = 0;
  pageable->copied = runtime.watch.now();
}

// A host learns what a copy brings from a device.
void move_bytes(Runtime& runtime, Copy const& copy, void const* from, int rank) {
  raw_copy(copy.to, from, copy.bytes);
  bool const to_host = copy.from_place == Place::device && copy.to_place != Place::device;
  if (to_host && runtime.watch.enabled()) runtime.world.learn(rank, copy.to, copy.bytes);
}

// When a copy reads its source. `early`: the driver has read a pageable source at the call instead
// of in stream order, which it may; the program must not be able to tell. `at_call`: it is known to
// have.
enum class Reads { in_order, early, at_call };

// ---- captured copies ---------------------------------------------------------------------------

// A pageable end of a captured copy is used by every launch. Of memory on a rank's stack it can be
// known that its function has returned.
void judge_frame(Runtime& runtime, GraphNode const& node, void const* address) {
  if (!Fiber::is_beyond_frame(address, runtime.launch_frame)) return;
  Violation violation;
  violation.law = Law::graph_pointer;
  violation.breach = Breach::returned_frame;
  violation.about = node.name;
  violation.rank = runtime.world.host()->rank;
  violation.operation = runtime.world.host()->program_operation;
  violation.message =
      std::string(node.name) +
      " of a graph uses a variable of a function that has returned since its capture";
  violation.missing = "pinned memory that lives as long as the graph";
  violation.related.push_back(runtime.world.related("captured", node.call));
  runtime.world.add_violation(std::move(violation));
}

// One launch of a captured copy with a pageable end: what the host does to it meanwhile is judged.
std::function<void()> prepare_launch(Runtime& runtime, GraphNode const& node, Copy const& copy) {
  if (copy.from_place == Place::pageable) judge_frame(runtime, node, copy.from);
  if (copy.to_place == Place::pageable) judge_frame(runtime, node, copy.to);
  Allocation* const from = watch_pageable(runtime, copy.from, copy.bytes, copy.from_place);
  Allocation* const to = watch_pageable(runtime, copy.to, copy.bytes, copy.to_place);
  return [&runtime, copy, from, to, rank = runtime.world.host()->rank] {
    judge_end(runtime, from, copy.from, copy.bytes, AccessKind::read);
    judge_end(runtime, to, copy.to, copy.bytes, AccessKind::write);
    move_bytes(runtime, copy, copy.from, rank);
  };
}

// Addresses are captured, contents are read at each launch, of pageable memory too.
cudaError_t capture_copy(Runtime& runtime, Capture& capture, Stream& stream, Copy const& copy,
                         char const* name) {
  std::uint32_t const call = record_call(runtime, OperationKind::copy, name, copy.bytes);
  GraphNode& node = add_node(runtime, capture, stream, call);
  node.cost_ns = cost_ns(copy);
  node.path = path_of(copy);
  hold_address(runtime, node, copy.from);
  hold_address(runtime, node, copy.to);
  node.prepare = [&runtime, &node, copy] { return prepare_launch(runtime, node, copy); };
  return result_of(runtime.world.yield());
}

cudaError_t enqueue_copy(Runtime& runtime, Stream& stream, Copy const& copy, char const* name,
                         Reads reads) {
  if (!runtime.captures.empty()) {
    cudaError_t const error = judge_work(runtime, stream, name);
    if (error != cudaSuccess) return error;
    if (Capture* const capture = capture_of(runtime, stream)) {
      return capture_copy(runtime, *capture, stream, copy, name);
    }
  }
  std::shared_ptr<char[]> staging;
  if (reads != Reads::in_order) {
    staging.reset(new char[copy.bytes]);
    raw_copy(staging.get(), copy.from, copy.bytes);
  }
  bool const read_now = reads == Reads::at_call;
  if (read_now) runtime.watch.range(copy.from, copy.bytes, AccessKind::read);
  Allocation* const from =
      read_now ? nullptr : watch_pageable(runtime, copy.from, copy.bytes, copy.from_place);
  // The driver may read it as early as this, whatever it did this time.
  if (from != nullptr && !copy.host_to_host()) {
    runtime.watch.range(copy.from, copy.bytes, AccessKind::read);
  }
  Allocation* const to = watch_pageable(runtime, copy.to, copy.bytes, copy.to_place);
  StreamOperation& operation = runtime.world.make(OperationKind::copy, name, copy.bytes);
  operation.cost_ns = cost_ns(copy);
  operation.may_fault = copy.to_place == Place::pageable || copy.from_place == Place::pageable;
  operation.path = path_of(copy);
  operation.body = [&runtime, copy, staging = std::move(staging), from, to, read_now,
                    rank = runtime.world.host()->rank] {
    if (!read_now) judge_end(runtime, from, copy.from, copy.bytes, AccessKind::read);
    judge_end(runtime, to, copy.to, copy.bytes, AccessKind::write);
    move_bytes(runtime, copy, staging ? staging.get() : copy.from, rank);
  };
  return enqueue(runtime, stream, operation);
}

cudaError_t checked(Runtime& runtime, void* to, void const* from, std::size_t bytes,
                    cudaMemcpyKind kind, Copy& copy) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  if (bytes == 0) return cudaSuccess;
  if (to == nullptr || from == nullptr) return cudaErrorInvalidValue;
  copy = {to, from, bytes, place_of(runtime, to), place_of(runtime, from)};
  return kind_fits(copy, kind) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t wait_for_copy(Runtime& runtime, Stream& stream, char const* name) {
  bool const alive = runtime.world.wait_for_stream(stream, name);
  forget_finished_copies(runtime);
  return result_of(alive);
}

cudaError_t copy_async(Runtime& runtime, void* to, void const* from, std::size_t bytes,
                       cudaMemcpyKind kind, cudaStream_t handle, char const* name) {
  Stream* const stream = stream_of(runtime, handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  Copy copy{};
  cudaError_t error = checked(runtime, to, from, bytes, kind, copy);
  if (error != cudaSuccess || bytes == 0) return error;
  bool const captured = capture_of(runtime, *stream) != nullptr;
  bool const pageable_source = copy.from_place == Place::pageable && !copy.host_to_host();
  bool const early = pageable_source && !captured && runtime.world.choices().pick(2) == 1;
  runtime.world.choices().mark(CoverageMark::copy_reads_early, early);
  error = enqueue_copy(runtime, *stream, copy, name, early ? Reads::early : Reads::in_order);
  if (error != cudaSuccess || captured || !copy.host_to_host()) return error;
  return wait_for_copy(runtime, *stream, name);
}

// A synchronous copy from pageable memory waits for what is before it in the stream and reads its
// source; the transfer from the staging buffer to the device may still run when it returns.
cudaError_t copy_staged(Runtime& runtime, Stream& stream, Copy const& copy, char const* name) {
  StreamOperation& before = runtime.world.make(OperationKind::record, name);
  Ticket& reached = runtime.world.add_ticket();
  before.ticket = &reached;
  runtime.world.host()->keeps = &reached;
  cudaError_t const error = enqueue(runtime, stream, before);
  if (error != cudaSuccess) return error;
  if (!runtime.world.wait_for_ticket(reached, name)) return cudaErrorUnknown;
  forget_finished_copies(runtime);
  return enqueue_copy(runtime, stream, copy, name, Reads::at_call);
}

// The synchronous forms go through the legacy default stream.
cudaError_t copy_now(Runtime& runtime, void* to, void const* from, std::size_t bytes,
                     cudaMemcpyKind kind, char const* name) {
  Copy copy{};
  cudaError_t error = checked(runtime, to, from, bytes, kind, copy);
  if (error != cudaSuccess || bytes == 0) return error;
  Stream& stream = legacy_stream(runtime, runtime.host().device);
  error = judge_work(runtime, stream, name);
  if (error != cudaSuccess) return error;
  if (copy.from_place == Place::pageable && copy.to_place == Place::device) {
    return copy_staged(runtime, stream, copy, name);
  }
  error = enqueue_copy(runtime, stream, copy, name, Reads::in_order);
  if (error != cudaSuccess || copy.device_to_device()) return error;
  return wait_for_copy(runtime, stream, name);
}

bool is_device(Runtime& runtime, int device) {
  return device >= 0 && device < static_cast<int>(runtime.devices.size());
}

// Serialised with all work of the current device and of both ends that is enqueued before and, in
// streams that exist, after it; the host does not wait.
cudaError_t copy_between_devices(Runtime& runtime, Copy const& copy, int to_device,
                                 int from_device) {
  int const current = runtime.host().device;
  Stream& own = legacy_stream(runtime, current);
  if (cudaError_t const error = judge_work(runtime, own, "cudaMemcpyPeer"); error != cudaSuccess) {
    return error;
  }
  std::vector<Stream*> others;
  for (Stream& stream : runtime.world.streams()) {
    bool const concerned =
        stream.device == current || stream.device == to_device || stream.device == from_device;
    if (concerned && &stream != &own) others.push_back(&stream);
  }
  for (Stream* other : others) enqueue_wait(runtime, own, enqueue_record(runtime, *other));
  cudaError_t const error = enqueue_copy(runtime, own, copy, "cudaMemcpyPeer", Reads::in_order);
  for (Stream* other : others) enqueue_wait(runtime, *other, enqueue_record(runtime, own));
  return error;
}

// Zeros over so many bytes are not written: what a model of billions of parameters allocates and
// clears costs memory once it is used.
constexpr std::size_t zeroed_lazily_bytes_min = 512 << 20;

void set_bytes(void* to, int value, std::size_t bytes) {
  std::uint64_t const begin = region_offset(to);
  if (value != 0 || bytes < zeroed_lazily_bytes_min || begin >= region_bytes) {
    std::memset(to, value, bytes);
  } else {
    Region::zero(begin, begin + bytes);
  }
}

cudaError_t fill(Runtime& runtime, Stream& stream, void* to, int value, std::size_t bytes,
                 char const* name) {
  if (bytes == 0) return cudaSuccess;
  if (to == nullptr || place_of(runtime, to) == Place::pageable) return cudaErrorInvalidValue;
  StreamOperation& operation = runtime.world.make(OperationKind::fill, name, bytes);
  operation.cost_ns = 2000 + bytes / 2000;
  operation.body = [&runtime, to, value, bytes] {
    runtime.watch.range(to, bytes, AccessKind::write);
    set_bytes(to, value, bytes);
  };
  cudaError_t const error = enqueue(runtime, stream, operation);
  if (!runtime.captures.empty() && error == cudaSuccess) {
    if (GraphNode* const node = newest_node(runtime, stream)) hold_address(runtime, *node, to);
  }
  return error;
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpyAsync(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return call([&](Runtime& runtime) {
    return copy_async(runtime, to, from, bytes, kind, stream, "cudaMemcpyAsync");
  });
}

cudaError_t cudaMemcpy(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind) {
  return call(
      [&](Runtime& runtime) { return copy_now(runtime, to, from, bytes, kind, "cudaMemcpy"); });
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, void const* from, int from_device,
                           std::size_t bytes) {
  return call([&](Runtime& runtime) {
    if (!is_device(runtime, to_device) || !is_device(runtime, from_device)) {
      return cudaErrorInvalidDevice;
    }
    Copy copy{};
    cudaError_t const error = checked(runtime, to, from, bytes, cudaMemcpyDeviceToDevice, copy);
    if (error != cudaSuccess || bytes == 0) return error;
    return copy_between_devices(runtime, copy, to_device, from_device);
  });
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, void const* from, int from_device,
                                std::size_t bytes, cudaStream_t stream) {
  return call([&](Runtime& runtime) {
    if (!is_device(runtime, to_device) || !is_device(runtime, from_device)) {
      return cudaErrorInvalidDevice;
    }
    return copy_async(runtime, to, from, bytes, cudaMemcpyDeviceToDevice, stream,
                      "cudaMemcpyPeerAsync");
  });
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t handle) {
  return call([&](Runtime& runtime) -> cudaError_t {
    Stream* const stream = stream_of(runtime, handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    return fill(runtime, *stream, to, value, bytes, "cudaMemsetAsync");
  });
}

cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return call([&](Runtime& runtime) -> cudaError_t {
    Stream& stream = legacy_stream(runtime, runtime.host().device);
    cudaError_t error = judge_work(runtime, stream, "cudaMemset");
    if (error != cudaSuccess) return error;
    error = fill(runtime, stream, to, value, bytes, "cudaMemset");
    bool const waits = bytes > 0 && to != nullptr && place_of(runtime, to) == Place::pinned;
    if (error != cudaSuccess || !waits) return error;
    return result_of(runtime.world.wait_for_stream(stream, "cudaMemset"));
  });
}

}  // extern "C"
