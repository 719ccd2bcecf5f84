// Splitting one call over several threads: a pool that sleeps between calls and starts over after fork().
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "float_mode.h"

namespace {

using Clock = std::chrono::steady_clock;

// Measured on two cores; bytes are those of the output.
constexpr int kMaxThreads = 64;
constexpr int kMaxDefaultThreads = 8;       // more do not add memory bandwidth
constexpr int64_t kSplitBytes = 128 << 10;  // what is worth one thread more, if that is awake
constexpr int64_t kWakeBytes = 2 << 20;     // what is worth waking the others
constexpr int64_t kChunkBytes = 32 << 10;   // what a thread takes at a time
constexpr int64_t kStreamBytes = 12 << 20;  // from here on streaming pays even if the result is read at once
constexpr std::chrono::microseconds kSpin{50};  // how long a thread looks for work before it sleeps

// Every thread has a slice of its own, the same one in the next call on the same buffers, so that its part of them is
// still in its cache. A thread that is done takes chunks from the slices of the others: a helper that wakes late costs
// nothing but its help.
struct Job {
  Kernel kernel;
  int64_t size;  // of an element, in bytes
  const char *g, *y;
  char *out;
  int64_t n;
  bool stream;
  int slices;
  std::atomic<int64_t> taken[kMaxThreads];  // elements, by slice

  void Work(int own) {
    DefaultFloatMode mode;
    const int64_t chunk = kChunkBytes / size;
    for (int i = 0; i < slices; ++i) {
      const int slice = (own + i) % slices;
      const int64_t first = SliceStart(slice), count = SliceStart(slice + 1) - first;
      for (;;) {
        const int64_t begin = taken[slice].fetch_add(chunk, std::memory_order_relaxed);
        if (begin >= count) break;
        const int64_t at = (first + begin) * size;
        kernel(g + at, y + at, out + at, std::min(chunk, count - begin), stream);
      }
    }
  }

  // Whole lines to a slice, rounded up: the last ends with n.
  int64_t SliceStart(int slice) const { return std::min(n, (n / slices + kLine) / kLine * kLine * slice); }
};

// One job at a time has the pool; a call that finds it taken works alone.
pthread_mutex_t pool_taken = PTHREAD_MUTEX_INITIALIZER;
Clock::time_point last_job;  // when the last one ended

// The rest is written under `lock`.
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
pthread_cond_t done = PTHREAD_COND_INITIALIZER;
Job *job = nullptr;
int helpers = 0;             // threads started
int awake = 0;               // helpers looking for work
std::atomic<int> wanted{0};  // helpers the job still has room for
std::atomic<int> busy{0};    // helpers at work on it

// To sleep and be woken takes longer than most calls do.
template <class Condition>
void SpinUntil(Condition condition) {
  const auto start = Clock::now();
  while (!condition() && Clock::now() - start < kSpin) {
  }
}

void *Help(void *) {
  pthread_mutex_lock(&lock);
  for (;;) {
    ++awake;
    pthread_mutex_unlock(&lock);
    SpinUntil([] { return wanted.load(std::memory_order_relaxed) > 0; });
    pthread_mutex_lock(&lock);
    --awake;
    while (wanted == 0) pthread_cond_wait(&wake, &lock);
    const int own = wanted--;
    ++busy;
    Job *const current = job;
    pthread_mutex_unlock(&lock);
    current->Work(own);
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
  helpers = awake = 0;
  wanted = busy = 0;
}

const int registered = pthread_atfork(nullptr, nullptr, ForgetHelpers);

// Helpers that sleep are woken for large jobs, and for one that follows another so closely that they will stay awake.
void Share(Job *shared) {
  const bool rouse = shared->n * shared->size >= kWakeBytes || Clock::now() - last_job < kSpin;
  pthread_mutex_lock(&lock);
  if (rouse) StartHelpers(shared->slices - 1);
  job = shared;
  const int count = std::min(rouse ? helpers : awake, shared->slices - 1);
  wanted = count;
  for (int i = awake; i < count; ++i) pthread_cond_signal(&wake);
  pthread_mutex_unlock(&lock);

  shared->Work(0);

  pthread_mutex_lock(&lock);
  wanted = 0;
  pthread_mutex_unlock(&lock);
  SpinUntil([] { return busy.load(std::memory_order_relaxed) == 0; });
  pthread_mutex_lock(&lock);
  while (busy > 0) pthread_cond_wait(&done, &lock);
  job = nullptr;
  pthread_mutex_unlock(&lock);
  last_job = Clock::now();
}

int DefaultThreads() {
  cpu_set_t cpus;
  const int count = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
  return std::min(count, kMaxDefaultThreads);
}

std::atomic<int> num_threads{0};  // 0: the default

}  // namespace

void SetNumThreads(int n) { num_threads.store(std::min(std::max(n, 0), kMaxThreads), std::memory_order_relaxed); }

int NumThreads() {
  const int n = num_threads.load(std::memory_order_relaxed);
  return n > 0 ? n : DefaultThreads();
}

void RunThreaded(Kernel kernel, int64_t size, const char *g, const char *y, char *out, int64_t n) {
  const int64_t bytes = n * size;
  const bool stream = bytes >= kStreamBytes && reinterpret_cast<uintptr_t>(out) % static_cast<uintptr_t>(size) == 0;
  const int64_t worth = bytes / kSplitBytes;
  const int threads = worth < 2 ? 1 : static_cast<int>(std::min<int64_t>(worth, NumThreads()));
  if (threads < 2 || pthread_mutex_trylock(&pool_taken) != 0) {
    DefaultFloatMode mode;
    kernel(g, y, out, n, stream);
    return;
  }
  Job split{kernel, size, g, y, out, n, stream, threads, {}};
  Share(&split);
  pthread_mutex_unlock(&pool_taken);
}
