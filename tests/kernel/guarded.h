// A buffer whose end touches a page that nobody may read or write.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#ifndef TANHBW_TEST_GUARDED_H_
#define TANHBW_TEST_GUARDED_H_

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// `bytes` that end at the guard page; or, with at_start, that begin after one.
class Guarded {
 public:
  explicit Guarded(size_t bytes, bool at_start = false) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t body = (bytes + page - 1) / page * page + page;
    size_ = body + 2 * page;
    map_ = static_cast<char *>(mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (map_ == MAP_FAILED || mprotect(map_ + page, body, PROT_READ | PROT_WRITE) != 0) {
      std::perror("guarded buffer");
      std::abort();
    }
    data_ = at_start ? map_ + page : map_ + page + body - bytes;
  }
  Guarded(const Guarded &) = delete;
  Guarded &operator=(const Guarded &) = delete;
  ~Guarded() { munmap(map_, size_); }

  char *data() const { return data_; }

 private:
  char *map_;
  char *data_;
  size_t size_;
};

#endif  // TANHBW_TEST_GUARDED_H_
