// Device memory: host memory with bounds, accounting, and knowledge of who still uses it.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#ifndef CANN_SIM_MEMORY_H_
#define CANN_SIM_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sim {

struct Range {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  bool overlaps(const Range &other) const { return begin < other.end && other.begin < end; }
};

inline Range range(const void *address, size_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  return {begin, begin + bytes};
}

// True when the whole range lies in live device memory (pieces mapped side by side count as one).
bool on_device(const Range &range);
bool is_pinned_host(const Range &range);
// A range that starts in a known block, device or pinned host, must also end in it.
bool leaves_its_block(const Range &range);

struct Usage {
  size_t current;
  size_t peak;
  size_t total;
};
Usage memory_usage();

}  // namespace sim

#endif
