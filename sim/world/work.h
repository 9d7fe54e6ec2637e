// What an operation does, as a function object in the operation itself: operations serve again and
// again, so that what is issued allocates nothing.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace adamant::sim {

/// A function without parameters and result that can be moved; may be empty. As std::function, it
/// may change what it holds when it is called.
class Work {
 public:
  Work() = default;
  template <typename F>
  requires std::is_invocable_v<F&> &&
      (!std::is_same_v<std::remove_cvref_t<F>, Work>)Work(F function) {
    if constexpr (sizeof(F) <= room_bytes && alignof(F) <= alignof(std::max_align_t)) {
      hold(std::move(function));
    } else {
      hold([far = std::make_unique<F>(std::move(function))] { (*far)(); });
    }
  }
  Work(Work&& other) noexcept { take(other); }
  Work& operator=(Work&& other) noexcept {
    if (this == &other) return *this;
    clear();
    take(other);
    return *this;
  }
  ~Work() { clear(); }

  explicit operator bool() const { return kind_ != nullptr; }
  void operator()() const { kind_->call(room_); }
  void clear() {
    if (kind_ != nullptr) std::exchange(kind_, nullptr)->destroy(room_);
  }

 private:
  static constexpr std::size_t room_bytes = 112;  // what a copy needs to know fits

  struct Kind {
    void (*call)(void* function);
    void (*move)(void* to, void* from);  // leaves nothing at `from`
    void (*destroy)(void* function);
  };
  template <typename F>
  static constexpr Kind kind_of{.call = [](void* function) { (*static_cast<F*>(function))(); },
                                .move =
                                    [](void* to, void* from) {
                                      new (to) F(std::move(*static_cast<F*>(from)));
                                      static_cast<F*>(from)->~F();
                                    },
                                .destroy = [](void* function) { static_cast<F*>(function)->~F(); }};

  template <typename F>
  void hold(F function) {
    new (static_cast<void*>(room_)) F(std::move(function));
    kind_ = &kind_of<F>;
  }
  void take(Work& other) {
    if (other.kind_ == nullptr) return;
    other.kind_->move(room_, other.room_);
    kind_ = std::exchange(other.kind_, nullptr);
  }

  alignas(std::max_align_t) mutable std::byte room_[room_bytes];
  Kind const* kind_ = nullptr;
};

}  // namespace adamant::sim
