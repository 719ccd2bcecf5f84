// Calls aclnnTanhBackward on an NPU through CANN's two-phase interface and prints the eight gradients.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
//
// gradInput = gradOutput * (1 - output^2), element by element; prints: 0 0 0 -9 -12 -15 -48 -56
// Build and run: see aclnn_tanh_backward.mk. Everything acquired is an object that gives it back, on every path out.
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_tanh_backward.h"

namespace {

void check(int status, const char *call) {
  if (status == ACL_SUCCESS) return;
  const char *detail = aclGetRecentErrMsg();
  throw std::runtime_error(std::string(call) + " returned " + std::to_string(status) +
                           (detail != nullptr ? std::string(": ") + detail : ""));
}
#define CHECK(call, ...) check(call(__VA_ARGS__), #call)

// Base of everything that is owned: made once, never copied.
struct Owner {
  Owner() = default;
  Owner(const Owner &) = delete;
  Owner &operator=(const Owner &) = delete;
};

struct Acl : Owner {
  Acl() { CHECK(aclInit, nullptr); }
  ~Acl() { aclFinalize(); }
};

struct Device : Owner {
  explicit Device(int32_t number) : id(number) { CHECK(aclrtSetDevice, id); }
  ~Device() { aclrtResetDevice(id); }
  const int32_t id;
};

struct Context : Owner {
  explicit Context(const Device &device) { CHECK(aclrtCreateContext, &handle, device.id); }
  ~Context() { aclrtDestroyContext(handle); }
  aclrtContext handle = nullptr;
};

struct Stream : Owner {
  Stream() { CHECK(aclrtCreateStream, &handle); }
  ~Stream() {
    // Nothing that was queued may still use the memory that is freed next.
    aclrtSynchronizeStream(handle);
    aclrtDestroyStream(handle);
  }
  aclrtStream handle = nullptr;
};

struct Memory : Owner {
  explicit Memory(size_t bytes) : size(bytes) {
    if (size > 0) CHECK(aclrtMalloc, &data, size, ACL_MEM_MALLOC_HUGE_FIRST);
  }
  ~Memory() {
    if (data != nullptr) aclrtFree(data);
  }
  void *data = nullptr;
  const size_t size;
};

// A contiguous float tensor in device memory.
class Tensor : Owner {
 public:
  Tensor(const std::vector<int64_t> &shape, const std::vector<float> &values)
      : memory_(values.size() * sizeof(float)), count_(values.size()) {
    CHECK(aclrtMemcpy, memory_.data, memory_.size, values.data(), memory_.size, ACL_MEMCPY_HOST_TO_DEVICE);
    std::vector<int64_t> strides(shape.size(), 1);
    for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
    handle_ = aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, strides.data(), 0, ACL_FORMAT_ND, shape.data(),
                              shape.size(), memory_.data);
    if (handle_ == nullptr) throw std::runtime_error("aclCreateTensor returned null");
  }
  ~Tensor() { aclDestroyTensor(handle_); }

  aclTensor *handle() const { return handle_; }

  std::vector<float> values() const {
    std::vector<float> result(count_);
    CHECK(aclrtMemcpy, result.data(), memory_.size, memory_.data, memory_.size, ACL_MEMCPY_DEVICE_TO_HOST);
    return result;
  }

 private:
  Memory memory_;
  size_t count_;
  aclTensor *handle_ = nullptr;
};

std::vector<float> tanh_backward() {
  const std::vector<int64_t> shape = {4, 2};
  const Tensor grad_output(shape, {0, 1, 2, 3, 4, 5, 6, 7});
  const Tensor output(shape, {1, 1, 1, 2, 2, 2, 3, 3});
  const Tensor grad_input(shape, std::vector<float>(8, 0));

  // Phase 1 checks the parameters and says how much workspace phase 2 needs.
  uint64_t workspace_size = 0;
  aclOpExecutor *executor = nullptr;
  CHECK(aclnnTanhBackwardGetWorkspaceSize, grad_output.handle(), output.handle(), grad_input.handle(), &workspace_size,
        &executor);
  struct Unused : Owner {  // an executor that was not launched has to be destroyed; a launch uses it up
    explicit Unused(aclOpExecutor *e) : executor(e) {}
    ~Unused() {
      if (executor != nullptr) aclDestroyAclOpExecutor(executor);
    }
    aclOpExecutor *executor;
  } unused(executor);
  const Memory workspace(workspace_size);

  // The stream comes last, so that it is synchronised before the memory goes.
  const Stream stream;
  unused.executor = nullptr;
  CHECK(aclnnTanhBackward, workspace.data, workspace.size, executor, stream.handle);
  CHECK(aclrtSynchronizeStream, stream.handle);
  // The result is in gradInput.
  return grad_input.values();
}

}  // namespace

int main() {
  try {
    const Acl acl;
    const Device device(0);
    const Context context(device);
    const std::vector<float> result = tanh_backward();
    for (size_t i = 0; i < result.size(); ++i) std::printf(i > 0 ? " %g" : "%g", result[i]);
    std::printf("\n");
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "aclnn_tanh_backward: %s\n", error.what());
    return 1;
  }
}
