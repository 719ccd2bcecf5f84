// Threads that use the simulated CANN at once, as MindSpore's do: streams, events, copies, executors, memory, failures.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_tanh_backward.h"

extern "C" {
size_t cann_sim_counts(char *buffer, size_t size);
void cann_sim_memory(size_t *current, size_t *peak);
size_t cann_sim_live_executors();
aclError aclrtLaunchCallback(aclrtCallback callback, void *data, int block, aclrtStream stream);
}

namespace {

constexpr int kThreads = 4, kRounds = 60, kStillUsed = 107000;
constexpr int64_t kCount = 37;
constexpr size_t kBytes = kCount * sizeof(float);

std::atomic<int> initialised{0}, refused{0}, called_back{0};

#define CHECK(condition)                                                                  \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      const char *message = aclGetRecentErrMsg();                                         \
      std::printf("line %d: %s: %s\n", __LINE__, #condition, message ? message : "");     \
      std::fflush(stdout);                                                                \
      std::_Exit(1);                                                                      \
    }                                                                                     \
  } while (0)

// A call may fail once, as CANN_SIM_FAIL plans it; its message is then this thread's own.
#define CALL(call)                                              \
  do {                                                          \
    if ((call) != 0) {                                          \
      CHECK(std::strstr(aclGetRecentErrMsg(), "injected"));     \
      ++refused;                                                \
      CHECK((call) == 0);                                       \
    }                                                           \
  } while (0)

float *on_device() {
  void *pointer = nullptr;
  CALL(aclrtMalloc(&pointer, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  return static_cast<float *>(pointer);
}

aclTensor *tensor(float *data) {
  const int64_t shape[] = {kCount}, strides[] = {1};
  return aclCreateTensor(shape, 1, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, shape, 1, data);
}

void count_call(void *) { ++called_back; }

void destroy_stream(void *stream) {
  CHECK(aclrtDestroyStream(stream) == 0);
  ++called_back;
}

// Frees memory that the stream may still use.
void free_when_done(void *pointer, aclrtStream stream) {
  while (const aclError status = aclrtFree(pointer)) {
    CHECK(status == kStillUsed);
    CHECK(std::strstr(aclGetRecentErrMsg(), "still used"));
    CALL(aclrtSynchronizeStream(stream));
  }
}

void work(int number, aclrtStream shared) {
  if (aclInit(nullptr) == 0) ++initialised;
  CALL(aclrtSetDevice(0));
  aclrtStream stream, short_lived;
  aclrtEvent launched, copied;
  CALL(aclrtCreateStream(&stream));
  CALL(aclrtCreateEvent(&launched));
  CALL(aclrtCreateEvent(&copied));
  float *const g = on_device(), *const y = on_device(), *const results[] = {on_device(), on_device()};
  void *pinned = nullptr;
  CALL(aclrtMallocHost(&pinned, kBytes));
  const auto *host = static_cast<const float *>(pinned);
  aclTensor *const tensors[] = {tensor(g), tensor(y), tensor(results[0])};
  uint64_t workspace = 0;
  aclOpExecutor *executor = nullptr;
  CALL(aclnnTanhBackwardGetWorkspaceSize(tensors[0], tensors[1], tensors[2], &workspace, &executor));
  CALL(aclSetAclOpExecutorRepeatable(executor));

  for (int round = 0; round < kRounds; ++round) {
    float *const result = results[round % 2];
    {  // gone before the copies ran
      std::vector<float> dy(kCount), output(kCount);
      for (int64_t i = 0; i < kCount; ++i) {
        dy[i] = static_cast<float>(1000 * number + 10 * round + i);
        output[i] = static_cast<float>(i % 7) / 4;
      }
      CALL(aclrtMemcpyAsync(g, kBytes, dy.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
      CALL(aclrtMemcpyAsync(y, kBytes, output.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    }
    CALL(aclSetTensorAddr(executor, 2, tensors[2], result));
    CALL(aclnnTanhBackward(nullptr, 0, executor, stream));
    CALL(aclrtRecordEvent(launched, stream));
    CALL(aclrtStreamWaitEvent(shared, launched));
    CALL(aclrtMemcpyAsync(pinned, kBytes, result, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, shared));
    CALL(aclrtLaunchCallback(count_call, nullptr, 0, shared));
    CALL(aclrtRecordEvent(copied, shared));
    float *const scratch = on_device();
    CALL(aclrtMemsetAsync(scratch, kBytes, number, kBytes, stream));
    free_when_done(scratch, stream);
    CALL(aclrtSynchronizeEvent(copied));
    for (int64_t i = 0; i < kCount; ++i) {
      const float output = static_cast<float>(i % 7) / 4;
      CHECK(host[i] == static_cast<float>(1000 * number + 10 * round + i) * (1 - output * output));
    }
    CALL(aclrtCreateStream(&short_lived));
    CALL(aclrtLaunchCallback(destroy_stream, short_lived, 0, short_lived));
  }

  CALL(aclrtSynchronizeStream(stream));
  CALL(aclDestroyAclOpExecutor(executor));
  for (const aclTensor *one : tensors) CALL(aclDestroyTensor(one));
  for (float *one : {g, y, results[0], results[1]}) CALL(aclrtFree(one));
  CALL(aclrtFreeHost(pinned));
  CALL(aclrtDestroyEvent(launched));
  CALL(aclrtDestroyEvent(copied));
  CALL(aclrtDestroyStream(stream));
}

void observe(const std::atomic<bool> &done, aclrtStream shared) {
  CALL(aclrtSetDevice(0));
  while (!done) {
    char counts[4096];
    size_t current, peak, free, total;
    aclrtStreamStatus status;
    CHECK(cann_sim_counts(counts, sizeof counts) > 0);
    cann_sim_memory(&current, &peak);
    CHECK(current <= peak);
    CALL(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
    CALL(aclrtStreamQuery(shared, &status));
    CALL(aclrtSynchronizeDevice());
  }
}

// Of two threads that free the same memory one is refused, and it is counted once.
void free_twice(aclError (*allocate)(void **), aclError (*release)(void *)) {
  for (int round = 0; round < 100; ++round) {
    void *pointer = nullptr;
    CALL(allocate(&pointer));
    std::atomic<int> ready{0}, freed{0};
    auto one = [&] {
      for (++ready; ready < 2;) std::this_thread::yield();
      if (release(pointer) == 0) ++freed;
    };
    std::thread other(one);
    one();
    other.join();
    CHECK(freed == 1);
  }
}

}  // namespace

// The argument: how many failures CANN_SIM_FAIL plans.
int main(int, char **arguments) {
  aclrtStream shared;
  CALL(aclrtCreateStream(&shared));
  std::atomic<bool> done{false};
  std::thread observer(observe, std::cref(done), shared);
  std::vector<std::thread> workers;
  for (int i = 0; i < kThreads; ++i) workers.emplace_back(work, i + 1, shared);
  for (std::thread &worker : workers) worker.join();
  done = true;
  observer.join();
  free_twice([](void **pointer) { return aclrtMalloc(pointer, kBytes, ACL_MEM_MALLOC_HUGE_FIRST); }, aclrtFree);
  free_twice([](void **pointer) { return aclrtMallocHost(pointer, kBytes); }, aclrtFreeHost);
  CALL(aclrtDestroyStream(shared));

  while (called_back < 2 * kThreads * kRounds) std::this_thread::yield();  // short-lived streams end on their own
  size_t current, peak;
  cann_sim_memory(&current, &peak);
  CHECK(current == 0 && peak > 0);
  CHECK(cann_sim_live_executors() == 0);
  CHECK(initialised == 1);
  CHECK(refused == std::atoi(arguments[1]));
  std::printf("%d launches, %d failures\n", kThreads * kRounds, refused.load());
}
