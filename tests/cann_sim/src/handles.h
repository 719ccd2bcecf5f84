// Handles that are never reused, so that a stale or foreign one is recognised instead of dereferenced.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#ifndef CANN_SIM_HANDLES_H_
#define CANN_SIM_HANDLES_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace sim {

template <class T>
class Handles {
 public:
  // kind keeps the ranges of the tables apart: a stream given as an executor is foreign, too.
  explicit Handles(uintptr_t kind) : next_(kind << 40) {}

  void *add(std::shared_ptr<T> object) {
    std::lock_guard<std::mutex> lock(mutex_);
    next_ += 16;
    objects_.emplace(next_, std::move(object));
    return reinterpret_cast<void *>(next_);
  }

  std::shared_ptr<T> find(const void *handle) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto it = objects_.find(reinterpret_cast<uintptr_t>(handle));
    return it == objects_.end() ? nullptr : it->second;
  }

  std::shared_ptr<T> remove(const void *handle) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto it = objects_.find(reinterpret_cast<uintptr_t>(handle));
    if (it == objects_.end()) return nullptr;
    auto object = std::move(it->second);
    objects_.erase(it);
    return object;
  }

  template <class F>
  void each(F visit) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (auto &entry : objects_) visit(*entry.second);
  }

  size_t size() {
    std::lock_guard<std::mutex> lock(mutex_);
    return objects_.size();
  }

 private:
  std::mutex mutex_;
  uintptr_t next_;
  std::unordered_map<uintptr_t, std::shared_ptr<T>> objects_;
};

// Above the addresses that Linux gives to user space on x86-64: never a real pointer.
enum : uintptr_t { kStreams = 0x8001, kEvents, kContexts, kTensors, kScalars, kArrays, kLists, kExecutors, kOther };

}  // namespace sim

#endif
