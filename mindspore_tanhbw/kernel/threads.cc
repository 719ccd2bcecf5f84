// Splitting one call over several threads: a pool that sleeps between calls and starts over after fork().
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <atomic>

#include "float_mode.h"

namespace {

constexpr int kMaxDefaultThreads = 8;   // more do not add memory bandwidth
constexpr int64_t kSplitBytes = 256 << 10;  // output bytes that are worth waking one more thread
constexpr int64_t kChunkBytes = 64 << 10;
constexpr int64_t kStreamBytes = 8 << 20;

// Whoever is free takes the next chunk, so a helper that wakes late costs nothing but its help.
struct Job {
  Kernel kernel;
  int64_t size;  // of an element, in bytes
  const char *g, *y;
  char *out;
  int64_t n;
  int64_t chunk;
  bool stream;
  std::atomic<int64_t> next{0};

  void Work() {
    DefaultFloatMode mode;
    for (;;) {
      const int64_t begin = next.fetch_add(chunk, std::memory_order_relaxed);
      if (begin >= n) return;
      kernel(g + begin * size, y + begin * size, out + begin * size, std::min(chunk, n - begin), stream);
    }
  }
};

// One job at a time has the pool; a call that finds it taken works alone.
pthread_mutex_t pool_taken = PTHREAD_MUTEX_INITIALIZER;

// The rest is guarded by `lock`.
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
pthread_cond_t done = PTHREAD_COND_INITIALIZER;
Job *job = nullptr;
int helpers = 0;  // threads started
int wanted = 0;   // helpers the job still has room for
int busy = 0;     // helpers at work on it

void *Help(void *) {
  pthread_mutex_lock(&lock);
  for (;;) {
    while (wanted == 0) pthread_cond_wait(&wake, &lock);
    --wanted;
    ++busy;
    Job *const current = job;
    pthread_mutex_unlock(&lock);
    current->Work();
    pthread_mutex_lock(&lock);
    if (--busy == 0) pthread_cond_signal(&done);
  }
  return nullptr;
}

// Starts what is missing of `count` helpers; fewer may come of it. Signals are for the program's own threads.
void StartHelpers(int count) {
  if (helpers >= count) return;
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  while (helpers < count && pthread_create(&thread, &attr, Help, nullptr) == 0) ++helpers;
  pthread_attr_destroy(&attr);
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

// The child of a fork has no helpers, and locks that nobody will open.
void ForgetHelpers() {
  pthread_mutex_init(&pool_taken, nullptr);
  pthread_mutex_init(&lock, nullptr);
  pthread_cond_init(&wake, nullptr);
  pthread_cond_init(&done, nullptr);
  job = nullptr;
  helpers = wanted = busy = 0;
}

const int registered = pthread_atfork(nullptr, nullptr, ForgetHelpers);

void Share(Job *shared, int threads) {
  pthread_mutex_lock(&lock);
  StartHelpers(threads - 1);
  job = shared;
  wanted = std::min(helpers, threads - 1);
  for (int i = 0; i < wanted; ++i) pthread_cond_signal(&wake);
  pthread_mutex_unlock(&lock);

  shared->Work();

  pthread_mutex_lock(&lock);
  wanted = 0;
  while (busy > 0) pthread_cond_wait(&done, &lock);
  job = nullptr;
  pthread_mutex_unlock(&lock);
}

int DefaultThreads() {
  cpu_set_t cpus;
  const int count = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
  return std::min(count, kMaxDefaultThreads);
}

std::atomic<int> num_threads{0};  // 0: the default

}  // namespace

void SetNumThreads(int n) { num_threads.store(std::max(n, 0), std::memory_order_relaxed); }

int NumThreads() {
  const int n = num_threads.load(std::memory_order_relaxed);
  return n > 0 ? n : DefaultThreads();
}

void RunThreaded(Kernel kernel, int64_t size, const char *g, const char *y, char *out, int64_t n) {
  const int64_t bytes = n * size;
  const bool stream = bytes >= kStreamBytes && reinterpret_cast<uintptr_t>(out) % static_cast<uintptr_t>(size) == 0;
  Job whole{kernel, size, g, y, out, n, n, stream};
  const int64_t worth = bytes / kSplitBytes;
  const int threads = worth < 2 ? 1 : static_cast<int>(std::min<int64_t>(worth, NumThreads()));
  if (threads < 2 || pthread_mutex_trylock(&pool_taken) != 0) {
    whole.Work();
    return;
  }
  whole.chunk = kChunkBytes / size;
  Share(&whole, threads);
  pthread_mutex_unlock(&pool_taken);
}
