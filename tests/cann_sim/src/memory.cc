// Memory calls: allocation, mapping, copies, fills.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "acl/acl.h"
#include "call.h"
#include "handles.h"
#include "stream.h"
#include "trace.h"

namespace sim {
namespace {

constexpr size_t kDefaultTotal = size_t{8} << 30;

struct Physical {
  size_t offset;
  size_t size;
};

struct Memory {
  std::mutex mutex;
  std::map<uintptr_t, size_t> device;   // begin -> bytes, aclrtMalloc and mapped pieces
  std::map<uintptr_t, size_t> pinned;   // aclrtMallocHost
  std::map<uintptr_t, size_t> reserved; // address space without memory
  std::map<uintptr_t, void *> mapped;   // mapped piece -> physical handle
  size_t current = 0;
  size_t peak = 0;
  size_t total = kDefaultTotal;
  int physical_file = -1;
  size_t physical_end = 0;
  Handles<Physical> physical{kOther};
};

Memory &memory() {
  static auto *instance = [] {
    auto *m = new Memory;
    if (const char *bytes = std::getenv("CANN_SIM_MEMORY")) m->total = std::strtoull(bytes, nullptr, 10);
    return m;
  }();
  return *instance;
}

size_t page_aligned(size_t bytes) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return (std::max<size_t>(bytes, 1) + page - 1) / page * page;
}

// How far the blocks that hold 'begin' reach without a hole; 0 when no block holds it.
uintptr_t covered_until(const std::map<uintptr_t, size_t> &blocks, uintptr_t begin, uintptr_t wanted) {
  auto it = blocks.upper_bound(begin);
  if (it == blocks.begin()) return 0;
  --it;
  uintptr_t end = it->first + it->second;
  if (begin >= end) return 0;
  while (end < wanted && ++it != blocks.end() && it->first == end) end += it->second;
  return end;
}

bool covers(const std::map<uintptr_t, size_t> &blocks, const Range &range) {
  return range.begin == range.end || covered_until(blocks, range.begin, range.end) >= range.end;
}

void trace_memory(const char *call, size_t bytes, const Memory &m) {
  if (!tracing()) return;
  TraceLine(call).number("bytes", bytes).number("current", m.current).number("peak", m.peak).write();
}

int allocate(const char *call, void **pointer, size_t size) {
  if (pointer == nullptr || size == 0) {
    return fail(call, ACL_ERROR_RT_PARAM_INVALID, "%s", size == 0 ? "the size is 0" : "the result pointer is null");
  }
  Memory &m = memory();
  std::lock_guard<std::mutex> lock(m.mutex);
  if (size > m.total - m.current) {
    return fail(call, ACL_ERROR_RT_MEMORY_ALLOCATION, "%zu bytes wanted, %zu of %zu free", size, m.total - m.current,
                m.total);
  }
  // Pages come into being when they are touched: a pool of gigabytes costs nothing until then.
  void *block = mmap(nullptr, page_aligned(size), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED) return fail(call, ACL_ERROR_RT_MEMORY_ALLOCATION, "mmap: %s", std::strerror(errno));
  m.device[reinterpret_cast<uintptr_t>(block)] = size;
  m.current += size;
  m.peak = std::max(m.peak, m.current);
  *pointer = block;
  trace_memory(call, size, m);
  return ACL_SUCCESS;
}

// 0 when no queued task uses the range, else the status to return. Called under the lock of the memory, so that of two
// calls that free the same memory one is refused; no stream holds its own lock while it asks about memory.
int still_used(const char *call, const Range &range) {
  std::string who;
  int stream = -1;
  each_stream([&](Stream &s) {
    if (stream < 0 && s.uses(range, &who)) stream = s.id();
  });
  if (stream < 0) return 0;
  return fail(call, ACL_ERROR_RT_PARAM_INVALID, "the memory is still used by %s, queued on stream %d", who.c_str(),
              stream);
}

int check_copy(const char *call, void *dst, size_t dst_max, const void *src, size_t count, int kind) {
  if (count == 0) return 0;
  if (dst == nullptr || src == nullptr) {
    return fail(call, ACL_ERROR_RT_PARAM_INVALID, "the %s pointer is null", dst == nullptr ? "target" : "source");
  }
  if (count > dst_max) {
    return fail(call, ACL_ERROR_RT_PARAM_INVALID, "%zu bytes do not fit into a target of %zu", count, dst_max);
  }
  const Range target = range(dst, count), source = range(src, count);
  const bool to_device = kind == ACL_MEMCPY_HOST_TO_DEVICE || kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
  const bool from_device = kind == ACL_MEMCPY_DEVICE_TO_HOST || kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
  if (leaves_its_block(target) || (to_device && !on_device(target))) {
    return fail(call, ACL_ERROR_RT_PARAM_INVALID, "%zu bytes at %p are outside the target's memory", count, dst);
  }
  if (leaves_its_block(source) || (from_device && !on_device(source))) {
    return fail(call, ACL_ERROR_RT_PARAM_INVALID, "%zu bytes at %p are outside the source's memory", count, src);
  }
  return 0;
}

int check_fill(const char *call, void *dst, size_t dst_max, size_t count) {
  if (count == 0) return 0;
  if (dst == nullptr) return fail(call, ACL_ERROR_RT_PARAM_INVALID, "the target pointer is null");
  if (count > dst_max || !on_device(range(dst, count))) {
    return fail(call, ACL_ERROR_RT_PARAM_INVALID, "%zu bytes at %p are outside the target's memory", count, dst);
  }
  return 0;
}

const char *kind_name(int kind) {
  static const char *const names[] = {"host_to_host", "host_to_device", "device_to_host", "device_to_device"};
  return kind >= 0 && kind < 4 ? names[kind] : "default";
}

void trace_copy(const char *call, size_t bytes, const char *kind, int stream) {
  if (!tracing()) return;
  TraceLine line(call);
  line.number("bytes", bytes).text("kind", kind);
  if (stream >= 0) line.number("stream", stream);
  line.write();
}

}  // namespace

bool on_device(const Range &range) {
  Memory &m = memory();
  std::lock_guard<std::mutex> lock(m.mutex);
  return covers(m.device, range);
}

bool is_pinned_host(const Range &range) {
  Memory &m = memory();
  std::lock_guard<std::mutex> lock(m.mutex);
  return covers(m.pinned, range);
}

bool leaves_its_block(const Range &range) {
  Memory &m = memory();
  std::lock_guard<std::mutex> lock(m.mutex);
  for (const auto *blocks : {&m.device, &m.pinned}) {
    const uintptr_t end = covered_until(*blocks, range.begin, range.end);
    if (end != 0 && end < range.end) return true;
  }
  return false;
}

Usage memory_usage() {
  Memory &m = memory();
  std::lock_guard<std::mutex> lock(m.mutex);
  return {m.current, m.peak, m.total};
}

}  // namespace sim

using sim::fail;
using sim::memory;

extern "C" {

aclError aclrtMalloc(void **pointer, size_t size, aclrtMemMallocPolicy) {
  SIM_CALL();
  return sim::allocate(__func__, pointer, size);
}

aclError aclrtMallocAlign32(void **pointer, size_t size, aclrtMemMallocPolicy) {
  SIM_CALL();
  return sim::allocate(__func__, pointer, size);
}

aclError aclrtFree(void *pointer) {
  SIM_CALL();
  auto &m = memory();
  std::lock_guard<std::mutex> lock(m.mutex);
  auto it = m.device.find(reinterpret_cast<uintptr_t>(pointer));
  if (it == m.device.end()) return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "%p was not allocated", pointer);
  const size_t size = it->second;
  if (int used = sim::still_used(__func__, sim::range(pointer, size))) return used;
  m.device.erase(it);
  munmap(pointer, sim::page_aligned(size));
  m.current -= size;
  sim::trace_memory(__func__, size, m);
  return ACL_SUCCESS;
}

aclError aclrtMallocHost(void **pointer, size_t size) {
  SIM_CALL();
  if (pointer == nullptr || size == 0) return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "null pointer or size 0");
  void *block = nullptr;
  if (posix_memalign(&block, 64, size) != 0) return fail(__func__, ACL_ERROR_RT_MEMORY_ALLOCATION, "%zu bytes", size);
  auto &m = memory();
  std::lock_guard<std::mutex> lock(m.mutex);
  m.pinned[reinterpret_cast<uintptr_t>(block)] = size;
  *pointer = block;
  return ACL_SUCCESS;
}

aclError aclrtFreeHost(void *pointer) {
  SIM_CALL();
  auto &m = memory();
  std::lock_guard<std::mutex> lock(m.mutex);
  auto it = m.pinned.find(reinterpret_cast<uintptr_t>(pointer));
  if (it == m.pinned.end()) return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "%p was not allocated", pointer);
  if (int used = sim::still_used(__func__, sim::range(pointer, it->second))) return used;
  m.pinned.erase(it);
  std::free(pointer);
  return ACL_SUCCESS;
}

aclError aclrtGetMemInfo(aclrtMemAttr, size_t *free_bytes, size_t *total) {
  SIM_CALL();
  if (free_bytes == nullptr || total == nullptr) return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "a null pointer");
  const sim::Usage usage = sim::memory_usage();
  *free_bytes = usage.total - usage.current;
  *total = usage.total;
  return ACL_SUCCESS;
}

// Address space and memory apart: physical pieces live in one sparse file and are mapped where they are wanted.

aclError aclrtReserveMemAddress(void **pointer, size_t size, size_t, void *, uint64_t) {
  SIM_CALL();
  if (pointer == nullptr || size == 0) return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "null pointer or size 0");
  void *block = mmap(nullptr, sim::page_aligned(size), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED) return fail(__func__, ACL_ERROR_RT_MEMORY_ALLOCATION, "mmap: %s", std::strerror(errno));
  auto &m = memory();
  std::lock_guard<std::mutex> lock(m.mutex);
  m.reserved[reinterpret_cast<uintptr_t>(block)] = sim::page_aligned(size);
  *pointer = block;
  return ACL_SUCCESS;
}

aclError aclrtReleaseMemAddress(void *pointer) {
  SIM_CALL();
  auto &m = memory();
  std::lock_guard<std::mutex> lock(m.mutex);
  auto it = m.reserved.find(reinterpret_cast<uintptr_t>(pointer));
  if (it == m.reserved.end()) return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "%p was not reserved", pointer);
  munmap(pointer, it->second);
  m.reserved.erase(it);
  return ACL_SUCCESS;
}

aclError aclrtMallocPhysical(void **handle, size_t size, const void *, uint64_t) {
  SIM_CALL();
  if (handle == nullptr || size == 0) return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "null pointer or size 0");
  auto &m = memory();
  std::lock_guard<std::mutex> lock(m.mutex);
  if (size > m.total - m.current) {
    return fail(__func__, ACL_ERROR_RT_MEMORY_ALLOCATION, "%zu bytes wanted, %zu of %zu free", size,
                m.total - m.current, m.total);
  }
  if (m.physical_file < 0) m.physical_file = memfd_create("cann_sim", MFD_CLOEXEC);
  const size_t end = m.physical_end + sim::page_aligned(size);
  if (m.physical_file < 0 || ftruncate(m.physical_file, static_cast<off_t>(end)) != 0) {
    return fail(__func__, ACL_ERROR_RT_MEMORY_ALLOCATION, "%s", std::strerror(errno));
  }
  *handle = m.physical.add(std::make_shared<sim::Physical>(sim::Physical{m.physical_end, size}));
  m.physical_end = end;
  m.current += size;
  m.peak = std::max(m.peak, m.current);
  sim::trace_memory(__func__, size, m);
  return ACL_SUCCESS;
}

aclError aclrtFreePhysical(void *handle) {
  SIM_CALL();
  auto &m = memory();
  std::lock_guard<std::mutex> lock(m.mutex);
  auto physical = m.physical.remove(handle);
  if (!physical) return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "%p is not physical memory", handle);
  fallocate(m.physical_file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(physical->offset),
            static_cast<off_t>(sim::page_aligned(physical->size)));
  m.current -= physical->size;
  sim::trace_memory(__func__, physical->size, m);
  return ACL_SUCCESS;
}

aclError aclrtMapMem(void *address, size_t size, size_t offset, void *handle, uint64_t) {
  SIM_CALL();
  auto &m = memory();
  std::lock_guard<std::mutex> lock(m.mutex);
  auto physical = m.physical.find(handle);
  if (!physical || offset + size > physical->size || !sim::covers(m.reserved, sim::range(address, size))) {
    return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "%zu bytes at %p cannot be mapped", size, address);
  }
  if (mmap(address, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, m.physical_file,
           static_cast<off_t>(physical->offset + offset)) == MAP_FAILED) {
    return fail(__func__, ACL_ERROR_RT_MEMORY_ALLOCATION, "mmap: %s", std::strerror(errno));
  }
  m.device[reinterpret_cast<uintptr_t>(address)] = size;
  return ACL_SUCCESS;
}

aclError aclrtUnmapMem(void *address) {
  SIM_CALL();
  auto &m = memory();
  std::lock_guard<std::mutex> lock(m.mutex);
  auto it = m.device.find(reinterpret_cast<uintptr_t>(address));
  if (it == m.device.end()) return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "%p is not mapped", address);
  const size_t size = it->second;
  if (int used = sim::still_used(__func__, sim::range(address, size))) return used;
  mmap(address, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  m.device.erase(it);
  return ACL_SUCCESS;
}

aclError aclrtMemcpy(void *dst, size_t dst_max, const void *src, size_t count, aclrtMemcpyKind kind) {
  SIM_CALL();
  if (int status = sim::check_copy(__func__, dst, dst_max, src, count, kind)) return status;
  if (count > 0) std::memmove(dst, src, count);
  sim::trace_copy(__func__, count, sim::kind_name(kind), -1);
  return ACL_SUCCESS;
}

aclError aclrtMemcpyAsync(void *dst, size_t dst_max, const void *src, size_t count, aclrtMemcpyKind kind,
                          aclrtStream handle) {
  SIM_CALL();
  auto stream = sim::Stream::of(handle);
  if (!stream) return fail(__func__, ACL_ERROR_RT_STREAM_CONTEXT, "%p is not a live stream", handle);
  if (int status = sim::check_copy(__func__, dst, dst_max, src, count, kind)) return status;
  sim::trace_copy(__func__, count, sim::kind_name(kind), stream->id());
  if (count == 0) return ACL_SUCCESS;
  const sim::Range source = sim::range(src, count);
  if (sim::on_device(source) || sim::is_pinned_host(source)) {
    stream->push({[=] { std::memmove(dst, src, count); }, {sim::range(dst, count), source}, __func__});
    return ACL_SUCCESS;
  }
  // Pageable host memory is read before the call returns: the caller may free it at once.
  auto staged = std::make_shared<std::vector<char>>(static_cast<const char *>(src),
                                                    static_cast<const char *>(src) + count);
  stream->push({[=] { std::memcpy(dst, staged->data(), count); }, {sim::range(dst, count)}, __func__});
  return ACL_SUCCESS;
}

aclError aclrtMemset(void *dst, size_t dst_max, int32_t value, size_t count) {
  SIM_CALL();
  if (int status = sim::check_fill(__func__, dst, dst_max, count)) return status;
  if (count > 0) std::memset(dst, value, count);
  sim::trace_copy(__func__, count, "fill", -1);
  return ACL_SUCCESS;
}

aclError aclrtMemsetAsync(void *dst, size_t dst_max, int32_t value, size_t count, aclrtStream handle) {
  SIM_CALL();
  auto stream = sim::Stream::of(handle);
  if (!stream) return fail(__func__, ACL_ERROR_RT_STREAM_CONTEXT, "%p is not a live stream", handle);
  if (int status = sim::check_fill(__func__, dst, dst_max, count)) return status;
  sim::trace_copy(__func__, count, "fill", stream->id());
  if (count > 0) stream->push({[=] { std::memset(dst, value, count); }, {sim::range(dst, count)}, __func__});
  return ACL_SUCCESS;
}

// The simulator's own: bytes of device memory now and at most; control.py wraps it.
void cann_sim_memory(size_t *current, size_t *peak) {
  const sim::Usage usage = sim::memory_usage();
  *current = usage.current;
  *peak = usage.peak;
}

}  // extern "C"
