// Copies, fills and host memory: rules M-1, M-2, M-5, M-8, M-9, M-10.
#include <cstdlib>
#include <memory>
#include <vector>

#include "properties/conformance/on_device.h"

namespace adamant::properties {
namespace {

std::vector<int> const three = {1, 2, 3};

TEST(Copies, ASynchronousCopyToTheHostIsCompleteWhenItReturns) {
  on_device([] {
    Stream const blocking(cudaStreamDefault);
    DeviceInts const value;
    int pageable = 0;
    PinnedInts const pinned;
    ASSERT_CUDA(append_to(value, 5, blocking));  // the copies wait for blocking streams
    ASSERT_CUDA(cudaMemcpy(&pageable, value.data(), value.bytes(), cudaMemcpyDeviceToHost));
    EXPECT_EQ(pageable, 5);
    ASSERT_CUDA(cudaMemcpy(pinned.data(), value.data(), value.bytes(), cudaMemcpyDefault));
    EXPECT_EQ(pinned[0], 5);
  });
}

TEST(Copies, ASynchronousCopyFromTheHostHasReadItsSourceWhenItReturns) {
  on_device([] {
    DeviceInts const from_pageable(3);
    DeviceInts const from_pinned;
    std::vector<int> pageable = three;
    PinnedInts const pinned;
    pinned[0] = 4;
    ASSERT_CUDA(cudaMemcpy(from_pageable.data(), pageable.data(), from_pageable.bytes(),
                           cudaMemcpyHostToDevice));
    ASSERT_CUDA(
        cudaMemcpy(from_pinned.data(), pinned.data(), from_pinned.bytes(), cudaMemcpyHostToDevice));
    pageable = {0, 0, 0};
    pinned[0] = 0;
    EXPECT_EQ(from_pageable.values(), three);
    EXPECT_EQ(from_pinned.value(), 4);
  });
}

TEST(Copies, AHostToHostCopyIsCompleteWhenItReturns) {
  on_device([] {
    Stream const stream;
    PinnedInts const pinned(3);
    std::vector<int> target(3);
    ASSERT_CUDA(
        cudaMemcpyAsync(pinned.data(), three.data(), pinned.bytes(), cudaMemcpyHostToHost, stream));
    ASSERT_CUDA(cudaMemcpy(target.data(), pinned.data(), pinned.bytes(), cudaMemcpyHostToHost));
    EXPECT_EQ(target, three);
  });
}

TEST(Copies, BetweenDevicesAreSerialisedWithAllTheirWork) {
  on_device([] {
    Stream const stream;
    DeviceInts const source;
    DeviceInts const target;
    ASSERT_CUDA(append_to(source, 1, stream));
    ASSERT_CUDA(cudaMemcpyPeer(target.data(), 0, source.data(), 0, target.bytes()));
    ASSERT_CUDA(append_to(source, 2, stream));
    ASSERT_CUDA(append_to(target, 3, stream));
    EXPECT_EQ(source.value(), 12);
    EXPECT_EQ(target.value(), 13);
  });
}

TEST(Copies, BetweenDevicesNameDevicesThatExist) {
  on_device([] {
    DeviceInts const data(2);
    EXPECT_EQ(cudaMemcpyPeer(data.data(), 0, data.data() + 1, -1, sizeof(int)),
              cudaErrorInvalidDevice);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  });
}

TEST(Copies, AnAsynchronousCopyFromPageableMemoryTakesWhatTheSourceHeldAtTheCall) {
  on_device([] {
    Stream const stream;
    DeviceInts const target(3);
    std::vector<int> const source = three;  // unchanged until the copy is done
    ASSERT_CUDA(cudaMemcpyAsync(target.data(), source.data(), target.bytes(),
                                cudaMemcpyHostToDevice, stream));
    ASSERT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(target.values(), three);
  });
}

TEST(Copies, AnAsynchronousCopyToPageableMemoryIsCompleteOnceTheStreamIs) {
  on_device([] {
    Stream const stream;
    DeviceInts const value;
    int target = 0;
    ASSERT_CUDA(append_to(value, 8, stream));
    ASSERT_CUDA(
        cudaMemcpyAsync(&target, value.data(), value.bytes(), cudaMemcpyDeviceToHost, stream));
    ASSERT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(target, 8);
  });
}

TEST(Copies, ACopyOfNoBytesDoesNothing) {
  on_device([] {
    DeviceInts const value;
    EXPECT_EQ(cudaMemcpy(value.data(), nullptr, 0, cudaMemcpyHostToDevice), cudaSuccess);
    EXPECT_EQ(cudaMemset(value.data(), 1, 0), cudaSuccess);
    EXPECT_EQ(value.value(), 0);
  });
}

TEST(Copies, NullEndsAndUnknownKindsAreRefused) {
  on_device([] {
    DeviceInts const value;
    int host = 0;
    EXPECT_EQ(cudaMemcpy(nullptr, &host, sizeof host, cudaMemcpyHostToDevice),
              cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemcpy(value.data(), nullptr, sizeof host, cudaMemcpyHostToDevice),
              cudaErrorInvalidValue);
    auto const unknown = static_cast<cudaMemcpyKind>(7);
    EXPECT_EQ(cudaMemcpy(value.data(), &host, sizeof host, unknown),
              cudaErrorInvalidMemcpyDirection);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidMemcpyDirection);
  });
}

TEST(Copies, AFillSetsEveryByteToTheLowByteOfItsValue) {
  on_device([] {
    Stream const stream;
    DeviceInts const values(3);
    ASSERT_CUDA(cudaMemsetAsync(values.data(), 0x101, values.bytes(), stream));
    EXPECT_EQ(values.values(), std::vector<int>(3, 0x01010101));
  });
}

TEST(HostMemory, IsTheSameAddressOnTheDevice) {
  on_device([] {
    Stream const stream;
    PinnedInts const pinned(2);
    void* on_device_address = nullptr;
    ASSERT_CUDA(cudaHostGetDevicePointer(&on_device_address, pinned.data(), 0));
    EXPECT_EQ(on_device_address, pinned.data());
    pinned[0] = 5;
    ASSERT_CUDA(launch(copy_one, 1, 1, stream, pinned.data() + 1, pinned.data()));
    ASSERT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(pinned[1], 5);
  });
}

TEST(HostMemory, RemembersTheFlagsItWasAllocatedWith) {
  on_device([] {
    int* data = nullptr;
    unsigned flags = 0;
    ASSERT_CUDA(cudaHostAlloc(&data, 64, cudaHostAllocMapped));
    ASSERT_CUDA(cudaHostGetFlags(&flags, data));
    EXPECT_NE(flags & cudaHostAllocMapped, 0U);  // a runtime may add flags of its own
    ASSERT_CUDA(cudaFreeHost(data));
  });
}

TEST(HostMemory, IsRegisteredOnceAndUnregisteredByItsBase) {
  on_device([] {
    constexpr std::size_t bytes = 8192;
    std::unique_ptr<void, void (*)(void*)> const page(std::aligned_alloc(4096, bytes), std::free);
    ASSERT_CUDA(cudaHostRegister(page.get(), bytes, cudaHostRegisterDefault));
    EXPECT_EQ(cudaHostRegister(page.get(), bytes, cudaHostRegisterDefault),
              cudaErrorHostMemoryAlreadyRegistered);
    ASSERT_CUDA(cudaHostUnregister(page.get()));
    EXPECT_EQ(cudaHostUnregister(page.get()), cudaErrorHostMemoryNotRegistered);
    EXPECT_EQ(cudaHostRegister(page.get(), 0, cudaHostRegisterDefault), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  });
}

TEST(HostMemory, OnceRegisteredTakesPartInAsynchronousCopies) {
  on_device([] {
    constexpr std::size_t bytes = 4096;
    std::unique_ptr<int, void (*)(void*)> const page(
        static_cast<int*>(std::aligned_alloc(4096, bytes)), std::free);
    *page = 0;
    ASSERT_CUDA(cudaHostRegister(page.get(), bytes, cudaHostRegisterDefault));
    {
      Stream const stream;
      DeviceInts const value;
      ASSERT_CUDA(append_to(value, 6, stream));
      ASSERT_CUDA(
          cudaMemcpyAsync(page.get(), value.data(), value.bytes(), cudaMemcpyDeviceToHost, stream));
      ASSERT_CUDA(cudaStreamSynchronize(stream));
      EXPECT_EQ(*page, 6);
    }
    ASSERT_CUDA(cudaHostUnregister(page.get()));
  });
}

TEST(Pointers, SayWhereTheyPoint) {
  on_device([] {
    DeviceInts const on_device_memory(4);
    PinnedInts const pinned;
    int pageable = 0;
    cudaPointerAttributes attributes = {};
    ASSERT_CUDA(cudaPointerGetAttributes(&attributes, on_device_memory.data() + 1));
    EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
    EXPECT_EQ(attributes.device, 0);
    EXPECT_EQ(attributes.devicePointer, on_device_memory.data() + 1);
    ASSERT_CUDA(cudaPointerGetAttributes(&attributes, pinned.data()));
    EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
    EXPECT_EQ(attributes.hostPointer, pinned.data());
    ASSERT_CUDA(cudaPointerGetAttributes(&attributes, &pageable));
    EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
    EXPECT_EQ(attributes.device, -2);
    EXPECT_EQ(attributes.devicePointer, nullptr);
    EXPECT_EQ(attributes.hostPointer, &pageable);
    EXPECT_EQ(cudaPointerGetAttributes(nullptr, &pageable), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  });
}

TEST(Memory, OfNoBytesIsNull) {
  on_device([] {
    int value = 0;
    for (auto const allocate : {+[](void** at) { return cudaMalloc(at, 0); },
                                +[](void** at) { return cudaMallocHost(at, 0); },
                                +[](void** at) { return cudaMallocAsync(at, 0, nullptr); }}) {
      void* memory = &value;
      EXPECT_EQ(allocate(&memory), cudaSuccess);
      EXPECT_EQ(memory, nullptr);
    }
  });
}

TEST(Memory, FreeingNothingIsAllowedAndFreeingTwiceIsNot) {
  on_device([] {
    EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
    EXPECT_EQ(cudaFreeHost(nullptr), cudaSuccess);
    int* data = nullptr;
    ASSERT_CUDA(cudaMalloc(&data, 64));
    ASSERT_CUDA(cudaFree(data));
    EXPECT_EQ(cudaFree(data), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  });
}

TEST(Memory, MoreThanThereIsIsRefusedAndLeavesNoTrace) {
  on_device([] {
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    ASSERT_CUDA(cudaMemGetInfo(&free_bytes, &total_bytes));
    EXPECT_LE(free_bytes, total_bytes);
    int* data = nullptr;
    EXPECT_EQ(cudaMalloc(&data, total_bytes * 2), cudaErrorMemoryAllocation);
    EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    ASSERT_CUDA(cudaMalloc(&data, 64));
    ASSERT_CUDA(cudaFree(data));
  });
}

TEST(Memory, AddressesAreAlignedTo256Bytes) {
  on_device([] {
    std::vector<int*> blocks(4);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      ASSERT_CUDA(cudaMalloc(&blocks[i], 4 * i + 4));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(blocks[i]) % 256, 0U);
    }
    for (int* block : blocks) ASSERT_CUDA(cudaFree(block));
  });
}

}  // namespace
}  // namespace adamant::properties
