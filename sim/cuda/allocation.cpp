// Allocating and freeing: device memory, stream-ordered memory, pinned and registered host memory.

#include <cuda_runtime_api.h>

#include <algorithm>

#include "sim/cuda/region.h"
#include "sim/cuda/runtime.h"

using namespace adamant::sim;

namespace {

int device_slot(Runtime& runtime) {
  return runtime.host().device + 1;
}

/// Counts a call that asks for memory. Is it one that shall fail?
bool fails_on_purpose(Runtime& runtime) {
  Host const& host = *runtime.world.host();
  std::int64_t const nth = ++runtime.host().allocation_calls;
  auto const& failures = runtime.world.options().allocation_failures;
  bool const fails = std::any_of(failures.begin(), failures.end(), [&](auto const& failure) {
    return failure.rank == host.rank && failure.nth == nth;
  });
  if (fails) note_event("out of memory on purpose", static_cast<std::uint64_t>(nth));
  return fails;
}

cudaError_t allocate_now(Runtime& runtime, void** result, std::size_t bytes, int slot,
                         AllocationKind kind, char const* name) {
  if (result == nullptr) return cudaErrorInvalidValue;
  if (cudaError_t const error = judge_unsafe(runtime, name); error != cudaSuccess) return error;
  give(result, nullptr);
  if (bytes == 0) return cudaSuccess;
  if (fails_on_purpose(runtime)) return cudaErrorMemoryAllocation;
  Allocation* const allocation = runtime.memory.allocate(slot, bytes, kind, nullptr, nullptr);
  if (allocation == nullptr) return cudaErrorMemoryAllocation;
  runtime.memory.appear(*allocation, host_touch(runtime, OperationKind::allocate, name, bytes));
  give(result, region_address(allocation->begin));
  return cudaSuccess;
}

// Here a pool has less in use; a free in order gets here when the stream does.
void leave_pool(Allocation& allocation) {
  if (allocation.pool != nullptr) static_cast<Pool*>(allocation.pool)->used -= allocation.bytes;
}

// Frees at once. The headers only say that a free may synchronise, so that it is an option whether
// work that still uses the memory is waited for. Memory of a pool never waits.
cudaError_t free_now(Runtime& runtime, Allocation& allocation, char const* name) {
  if (cudaError_t const error = judge_unsafe(runtime, name); error != cudaSuccess) return error;
  bool const of_device = allocation.kind == AllocationKind::device;
  bool const waits = of_device || allocation.kind == AllocationKind::pinned;
  if (waits && runtime.world.options().free_waits) {
    int const device = of_device ? allocation.slot - 1 : runtime.host().device;
    if (!wait_for_device(runtime, device, name)) return cudaErrorUnknown;
    void const* const address = region_address(allocation.begin);  // another rank may have freed it
    if (runtime.memory.find_live_base(address) != &allocation) return cudaErrorInvalidValue;
  }
  Touch const touch = host_touch(runtime, OperationKind::release, name, allocation.bytes);
  runtime.watch.judge_release(allocation, touch.operation);
  leave_pool(allocation);
  runtime.memory.mark_freed(allocation);
  runtime.memory.vanish(allocation, touch.operation);
  runtime.memory.recycle(allocation, nullptr, nullptr);
  return cudaSuccess;
}

// `pool` null: the current one of the stream's device.
cudaError_t allocate_in_order(Runtime& runtime, void** result, std::size_t bytes, Pool* pool,
                              cudaStream_t handle) {
  if (result == nullptr) return cudaErrorInvalidValue;
  Stream* const stream = stream_of(runtime, handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  give(result, nullptr);
  // Memory nodes are not modelled.
  cudaError_t error =
      judge_uncapturable(runtime, *stream, "cudaMallocAsync", cudaErrorNotSupported);
  if (error == cudaSuccess) error = judge_work(runtime, *stream, "cudaMallocAsync");
  if (error != cudaSuccess) return error;
  if (bytes == 0) return cudaSuccess;
  if (pool == nullptr) pool = &current_pool(runtime, stream->device);
  if (fails_on_purpose(runtime)) return cudaErrorMemoryAllocation;
  Ticket* after = nullptr;
  Allocation* const allocation = runtime.memory.allocate(
      pool->device + 1, bytes, AllocationKind::device_async, stream, &after);
  if (allocation == nullptr) return cudaErrorMemoryAllocation;
  allocation->pool = pool;
  pool->used += bytes;
  pool->used_high = std::max(pool->used_high, pool->used);
  if (after != nullptr) enqueue_wait(runtime, *stream, *after);
  StreamOperation& operation =
      runtime.world.make(OperationKind::allocate, "cudaMallocAsync", bytes);
  allocation->made_by = operation.id;
  operation.body = [&runtime, allocation] {
    runtime.memory.appear(*allocation, runtime.watch.enabled() ? runtime.watch.now() : Touch{});
  };
  give(result, region_address(allocation->begin));
  return enqueue(runtime, *stream, operation);
}

cudaError_t free_in_order(Runtime& runtime, void* pointer, cudaStream_t handle) {
  Stream* const stream = stream_of(runtime, handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  Allocation* const allocation = runtime.memory.find_live_base(pointer);
  if (allocation == nullptr || allocation->kind == AllocationKind::pinned) {
    return cudaErrorInvalidValue;
  }
  cudaError_t error = judge_foreign_free(runtime, *stream);
  if (error == cudaSuccess) error = judge_work(runtime, *stream, "cudaFreeAsync");
  if (error != cudaSuccess) return error;
  runtime.memory.mark_freed(*allocation);
  StreamOperation& operation =
      runtime.world.make(OperationKind::release, "cudaFreeAsync", allocation->bytes);
  std::uint32_t const id = operation.id;
  operation.body = [&runtime, allocation, id] {
    runtime.watch.judge_release(*allocation, id);
    leave_pool(*allocation);
    runtime.memory.vanish(*allocation, id);
  };
  error = enqueue(runtime, *stream, operation);
  if (error == cudaSuccess) {
    runtime.memory.recycle(*allocation, stream, &enqueue_record(runtime, *stream));
  }
  return error;
}

bool overlaps(Allocation const& allocation, std::uintptr_t begin, std::size_t bytes) {
  return begin < allocation.begin + allocation.bytes && allocation.begin < begin + bytes;
}

Allocation* registered_at(Runtime& runtime, std::uintptr_t begin, std::size_t bytes) {
  for (Allocation* allocation : runtime.memory.foreign()) {
    bool const registered = allocation->kind == AllocationKind::registered;
    if (registered && overlaps(*allocation, begin, bytes)) return allocation;
  }
  return nullptr;
}

cudaPointerAttributes attributes_of(Runtime& runtime, void* pointer) {
  cudaPointerAttributes attributes = {};
  attributes.type = cudaMemoryTypeUnregistered;
  attributes.device = -2;
  Allocation const* allocation = runtime.memory.find_live(pointer);
  if (allocation == nullptr) {
    allocation = registered_at(runtime, reinterpret_cast<std::uintptr_t>(pointer), 1);
  }
  if (allocation == nullptr) {
    attributes.hostPointer = pointer;
    return attributes;
  }
  bool const device = allocation->kind <= AllocationKind::device_async;
  attributes.type = device ? cudaMemoryTypeDevice : cudaMemoryTypeHost;
  attributes.device = device ? allocation->slot - 1 : runtime.host().device;
  attributes.devicePointer = pointer;
  attributes.hostPointer = device ? nullptr : pointer;
  return attributes;
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** result, std::size_t bytes) {
  return call([&](Runtime& runtime) {
    return allocate_now(runtime, result, bytes, device_slot(runtime), AllocationKind::device,
                        "cudaMalloc");
  });
}

cudaError_t cudaFree(void* pointer) {
  return call([&](Runtime& runtime) -> cudaError_t {
    if (pointer == nullptr) return judge_unsafe(runtime, "cudaFree");
    Allocation* const allocation = runtime.memory.find_live_base(pointer);
    if (allocation == nullptr || allocation->kind == AllocationKind::pinned) {
      return cudaErrorInvalidValue;
    }
    return free_now(runtime, *allocation, "cudaFree");
  });
}

cudaError_t cudaMallocAsync(void** result, std::size_t bytes, cudaStream_t stream) {
  return call(
      [&](Runtime& runtime) { return allocate_in_order(runtime, result, bytes, nullptr, stream); });
}

cudaError_t cudaMallocFromPoolAsync(void** result, std::size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  return call([&](Runtime& runtime) -> cudaError_t {
    auto* const from = reinterpret_cast<Pool*>(pool);
    if (from == nullptr || from->destroyed) return cudaErrorInvalidValue;
    return allocate_in_order(runtime, result, bytes, from, stream);
  });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return call([&](Runtime& runtime) { return free_in_order(runtime, pointer, stream); });
}

cudaError_t cudaHostAlloc(void** result, std::size_t bytes, unsigned int flags) {
  return call([&](Runtime& runtime) {
    cudaError_t const error =
        allocate_now(runtime, result, bytes, 0, AllocationKind::pinned, "cudaHostAlloc");
    if (error == cudaSuccess && bytes > 0) runtime.memory.find_live_base(*result)->flags = flags;
    return error;
  });
}

cudaError_t cudaMallocHost(void** result, std::size_t bytes) {
  return cudaHostAlloc(result, bytes, cudaHostAllocDefault);
}

cudaError_t cudaFreeHost(void* pointer) {
  if (pointer == nullptr) return cudaSuccess;
  return call([&](Runtime& runtime) -> cudaError_t {
    Allocation* const allocation = runtime.memory.find_live_base(pointer);
    if (allocation == nullptr || allocation->kind != AllocationKind::pinned) {
      return cudaErrorInvalidValue;
    }
    return free_now(runtime, *allocation, "cudaFreeHost");
  });
}

cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned int flags) {
  return call([&](Runtime& runtime) -> cudaError_t {
    if (pointer == nullptr || bytes == 0) return cudaErrorInvalidValue;
    cudaError_t const error = judge_unsafe(runtime, "cudaHostRegister");
    if (error != cudaSuccess) return error;
    auto const begin = reinterpret_cast<std::uintptr_t>(pointer);
    if (registered_at(runtime, begin, bytes) != nullptr ||
        runtime.memory.find_live(pointer) != nullptr) {
      return cudaErrorHostMemoryAlreadyRegistered;
    }
    Allocation* const allocation =
        runtime.memory.register_host(begin, bytes, AllocationKind::registered);
    allocation->flags = flags;
    Touch const birth = host_touch(runtime, OperationKind::allocate, "cudaHostRegister", bytes);
    allocation->made_by = birth.operation;
    allocation->segments.reset(bytes, birth);
    return cudaSuccess;
  });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return call([&](Runtime& runtime) -> cudaError_t {
    auto const begin = reinterpret_cast<std::uintptr_t>(pointer);
    Allocation* const allocation = registered_at(runtime, begin, 1);
    if (allocation == nullptr || allocation->begin != begin) {
      return cudaErrorHostMemoryNotRegistered;
    }
    cudaError_t const error = judge_unsafe(runtime, "cudaHostUnregister");
    if (error != cudaSuccess) return error;
    Touch const touch =
        host_touch(runtime, OperationKind::release, "cudaHostUnregister", allocation->bytes);
    runtime.watch.judge_release(*allocation, touch.operation);
    runtime.memory.unregister_host(*allocation);
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetDevicePointer(void** result, void* pointer, unsigned int flags) {
  return call([&](Runtime& runtime) -> cudaError_t {
    if (result == nullptr || flags != 0) return cudaErrorInvalidValue;
    bool const pinned = runtime.memory.find_live(pointer) != nullptr;
    if (!pinned &&
        registered_at(runtime, reinterpret_cast<std::uintptr_t>(pointer), 1) == nullptr) {
      return cudaErrorInvalidValue;
    }
    give(result, pointer);
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetFlags(unsigned int* flags, void* pointer) {
  return call([&](Runtime& runtime) -> cudaError_t {
    Allocation const* allocation = runtime.memory.find_live(pointer);
    if (allocation == nullptr) {
      allocation = registered_at(runtime, reinterpret_cast<std::uintptr_t>(pointer), 1);
    }
    bool const device = allocation != nullptr && allocation->kind <= AllocationKind::device_async;
    if (flags == nullptr || allocation == nullptr || device) return cudaErrorInvalidValue;
    give(flags, allocation->flags);
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return call([&](Runtime& runtime) -> cudaError_t {
    if (free == nullptr || total == nullptr) return cudaErrorInvalidValue;
    int const slot = device_slot(runtime);
    std::size_t const limit = runtime.memory.limit_bytes(slot);
    give(total, limit);
    give(free, limit - runtime.memory.live_bytes(slot));
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, void const* pointer) {
  return call([&](Runtime& runtime) -> cudaError_t {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    give(attributes, attributes_of(runtime, const_cast<void*>(pointer)));
    return cudaSuccess;
  });
}

}  // extern "C"
