#include "scenarios/judge/threads.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace adamant::scenarios {

void on_all_cores(std::size_t count, std::function<void(std::size_t)> const& work) {
  std::atomic<std::size_t> next = 0;
  auto const take = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::size_t const cores = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 8);
  std::vector<std::jthread> helpers(std::min(cores, std::max<std::size_t>(count, 1)) - 1);
  for (std::jthread& helper : helpers) helper = std::jthread(take);
  take();
}

}  // namespace adamant::scenarios
