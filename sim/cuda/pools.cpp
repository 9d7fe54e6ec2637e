// Memory pools: attributes and names for the stream-ordered allocator of allocation.cpp. All pools
// of a device draw on the same simulated memory; a pool counts what was allocated from it.
//
// Not modelled: reservation (a pool reserves exactly what it uses), export to other processes.

#include <cuda_runtime_api.h>

#include <algorithm>

#include "sim/cuda/runtime.h"

using namespace adamant::sim;

namespace {

Pool* pool_of(cudaMemPool_t handle) {
  auto* const pool = reinterpret_cast<Pool*>(handle);
  return pool == nullptr || pool->destroyed ? nullptr : pool;
}

cudaMemPool_t handle_of(Pool& pool) {
  return reinterpret_cast<cudaMemPool_t>(&pool);
}

bool is_reuse_flag(cudaMemPoolAttr attribute) {
  return attribute >= cudaMemPoolReuseFollowEventDependencies &&
         attribute <= cudaMemPoolReuseAllowInternalDependencies;
}

cudaError_t set_attribute(Pool& pool, cudaMemPoolAttr attribute, void const* value) {
  if (is_reuse_flag(attribute)) {
    pool.reuse[attribute - cudaMemPoolReuseFollowEventDependencies] =
        *static_cast<int const*>(value);
    return cudaSuccess;
  }
  auto const number = *static_cast<std::uint64_t const*>(value);
  switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold:
      pool.release_threshold = number;
      return cudaSuccess;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
      if (number != 0) return cudaErrorInvalidValue;  // a high-water mark can only be reset
      pool.used_high = pool.used;
      return cudaSuccess;
    default:
      return cudaErrorInvalidValue;
  }
}

cudaError_t get_attribute(Pool const& pool, cudaMemPoolAttr attribute, void* value) {
  if (is_reuse_flag(attribute)) {
    give(static_cast<int*>(value), pool.reuse[attribute - cudaMemPoolReuseFollowEventDependencies]);
    return cudaSuccess;
  }
  auto* const number = static_cast<std::uint64_t*>(value);
  switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold:
      give(number, pool.release_threshold);
      return cudaSuccess;
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent:
      give(number, pool.used);
      return cudaSuccess;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
      give(number, pool.used_high);
      return cudaSuccess;
    default:
      return cudaErrorInvalidValue;
  }
}

template <typename Body>
cudaError_t with_pool(cudaMemPool_t handle, void const* argument, Body&& body) {
  return call([&](Runtime&) -> cudaError_t {
    Pool* const pool = pool_of(handle);
    return pool == nullptr || argument == nullptr ? cudaErrorInvalidValue : body(*pool);
  });
}

template <typename Body>
cudaError_t with_device(int device, Body&& body) {
  return call([&](Runtime& runtime) -> cudaError_t {
    bool const exists = device >= 0 && device < static_cast<int>(runtime.devices.size());
    return exists ? body(runtime) : cudaErrorInvalidDevice;
  });
}

}  // namespace

namespace adamant::sim {

Pool& default_pool(Runtime& runtime, int device) {
  Pool*& pool = runtime.devices[static_cast<std::size_t>(device)].default_pool;
  if (pool == nullptr) {
    pool = &runtime.pools.emplace_back();
    pool->device = device;
    pool->is_default = true;
  }
  return *pool;
}

Pool& current_pool(Runtime& runtime, int device) {
  Pool* const chosen = runtime.devices[static_cast<std::size_t>(device)].current_pool;
  return chosen != nullptr ? *chosen : default_pool(runtime, device);
}

}  // namespace adamant::sim

extern "C" {

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* result, int device) {
  return with_device(device, [&](Runtime& runtime) {
    if (result == nullptr) return cudaErrorInvalidValue;
    give(result, handle_of(default_pool(runtime, device)));
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* result, int device) {
  return with_device(device, [&](Runtime& runtime) {
    if (result == nullptr) return cudaErrorInvalidValue;
    give(result, handle_of(current_pool(runtime, device)));
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t handle) {
  return with_device(device, [&](Runtime& runtime) {
    Pool* const pool = pool_of(handle);
    if (pool == nullptr || pool->device != device) return cudaErrorInvalidValue;
    runtime.devices[static_cast<std::size_t>(device)].current_pool = pool;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* result, cudaMemPoolProps const* properties) {
  return call([&](Runtime& runtime) -> cudaError_t {
    if (result == nullptr || properties == nullptr) return cudaErrorInvalidValue;
    int const device = properties->location.id;
    bool const exists = device >= 0 && device < static_cast<int>(runtime.devices.size());
    if (properties->location.type != cudaMemLocationTypeDevice || !exists) {
      return cudaErrorInvalidValue;
    }
    Pool& pool = runtime.pools.emplace_back();
    pool.device = device;
    give(result, handle_of(pool));
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle) {
  return call([&](Runtime& runtime) -> cudaError_t {
    Pool* const pool = pool_of(handle);
    if (pool == nullptr || pool->is_default) return cudaErrorInvalidValue;
    pool->destroyed = true;  // what was allocated from it lives on
    Pool*& current = runtime.devices[static_cast<std::size_t>(pool->device)].current_pool;
    if (current == pool) current = nullptr;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t handle, std::size_t) {
  return with_pool(handle, handle, [](Pool&) { return cudaSuccess; });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  return with_pool(handle, value,
                   [&](Pool& pool) { return set_attribute(pool, attribute, value); });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  return with_pool(handle, value,
                   [&](Pool& pool) { return get_attribute(pool, attribute, value); });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t handle, cudaMemAccessDesc const* list,
                                 std::size_t count) {
  return call([&](Runtime& runtime) -> cudaError_t {
    Pool const* const pool = pool_of(handle);
    if (pool == nullptr || (list == nullptr && count > 0)) return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i) {
      int const device = list[i].location.id;
      if (device < 0 || device >= static_cast<int>(runtime.devices.size())) {
        return cudaErrorInvalidDevice;
      }
      if (device == pool->device) continue;
      runtime.watch.allow_peer(device, pool->device, list[i].flags != cudaMemAccessFlagsProtNone);
    }
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t handle,
                                 cudaMemLocation* location) {
  return call([&](Runtime& runtime) -> cudaError_t {
    Pool const* const pool = pool_of(handle);
    if (pool == nullptr || flags == nullptr || location == nullptr) return cudaErrorInvalidValue;
    bool const allowed =
        location->id == pool->device || runtime.watch.peer_allowed(location->id, pool->device);
    give(flags, allowed ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone);
    return cudaSuccess;
  });
}

}  // extern "C"
