// Which path runs: the widest that this processor has, unless one is forced.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstring>

#include "paths.h"

namespace {

// Widest first; the last one runs everywhere.
const Path *const kPaths[] = {
#if defined(__x86_64__)
    &kAvx512Path, &kAvx2Path,
#endif
    &kPortablePath};

std::atomic<const Path *> current{nullptr};

const Path *Find(const char *name) {
  for (const Path *path : kPaths) {
    if ((name == nullptr || std::strcmp(name, path->name) == 0) && path->supported()) return path;
  }
  return nullptr;
}

}  // namespace

const Path &CurrentPath() {
  const Path *path = current.load(std::memory_order_relaxed);
  if (path == nullptr) {
    path = Find(nullptr);
    current.store(path, std::memory_order_relaxed);
  }
  return *path;
}

bool ForcePath(const char *name) {
  const Path *path = Find(name);
  if (path != nullptr) current.store(path, std::memory_order_relaxed);
  return path != nullptr;
}
