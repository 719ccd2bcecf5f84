// PyNative mode's short way to the operator's kernel, for gradients and for calls of tanh_backward, and its mark.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#include <Python.h>
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#if __has_include("include/pynative/utils/pyboost/pyboost_utils.h")
#include "include/pynative/utils/pyboost/pyboost_utils.h"
#include "include/pynative/utils/runtime/op_runner.h"
#else  // before 2.8
#include "pyboost/pyboost_utils.h"
#include "runtime/pynative/op_runner.h"
#endif
#if __has_include("include/utils/pynative/grad_state.h")
#include "include/utils/pynative/grad_state.h"
#else  // before 2.8
#include "include/common/pynative/grad_state.h"
#endif
#if __has_include("utils/current_state.h")
#include "utils/current_state.h"
#else  // before 2.10
#include "utils/stream_guard.h"
#endif
#if __has_include("include/pynative/utils/pynative_utils.h")
#include "include/pynative/utils/pynative_utils.h"
#include "include/runtime/pipeline/pipeline.h"
#include "include/utils/tensor_py.h"
#include "pynative/backward/op_grad/func_grad.h"
#define TANHBW_CALLS  // before 2.8 tensors of Python's are of another kind, and calls go the long way
#endif
#if __has_include("include/utils/pynative/dispatch/ms_dispatch.h")
#include "include/utils/pynative/dispatch/ms_dispatch.h"
#endif

namespace {
using namespace mindspore;  // NOLINT
using kernel::pyboost::PyBoostUtils;
using tensor::TensorPtr;

[[noreturn]] void Fail(const std::string &call, int status, const std::string &detail = "") {
  throw std::runtime_error("mindspore_tanhbw: " + call + " failed with status " + std::to_string(status) + "." +
                           (detail.empty() ? "" : " " + detail));
}

// MindSpore's aot convention, that the Custom operator's kernel on CPU follows.
using CpuKernel = int (*)(int, void **, int *, int64_t **, const char **, void *, void *);
CpuKernel cpu_kernel = nullptr;

const char *DtypeName(TypeId type) {
  switch (type) {
    case kNumberTypeFloat16: return "float16";
    case kNumberTypeFloat32: return "float32";
    case kNumberTypeFloat64: return "float64";
    default: return "bfloat16";
  }
}

void *Address(const TensorPtr &tensor) {
  return std::static_pointer_cast<device::DeviceAddress>(tensor->device_address())->GetMutablePtr();
}

void LaunchOnCpu(const TensorPtr &grad_output, const TensorPtr &output, const TensorPtr &grad_input) {
  const TensorPtr *tensors[] = {&grad_output, &output, &grad_input};
  std::vector<int64_t> shape(output->shape());
  void *params[3];
  int ndims[3];
  int64_t *shapes[3];
  const char *dtypes[3];
  for (int i = 0; i < 3; ++i) {
    params[i] = Address(*tensors[i]);
    ndims[i] = static_cast<int>(shape.size());
    shapes[i] = shape.data();
    dtypes[i] = DtypeName(output->data_type());
  }
  const int status = cpu_kernel(3, params, ndims, shapes, dtypes, nullptr, nullptr);
  if (status != 0) Fail("the CPU kernel of tanh_backward", status);
}

// The part of CANN's C interface that one operator needs, written after its documentation.
struct Aclnn {
  void *(*create_tensor)(const int64_t *, uint64_t, int, const int64_t *, int64_t, int, const int64_t *, uint64_t, void *);
  int (*destroy_tensor)(const void *);
  const char *(*recent_error)();
  int (*get_workspace_size)(const void *, const void *, const void *, uint64_t *, void **);
  int (*run)(void *, uint64_t, void *, void *);
  std::string name;
};
Aclnn aclnn{};
std::atomic<int64_t> launches_on_ascend{0};

int AclDtype(TypeId type) {
  switch (type) {
    case kNumberTypeFloat32: return 0;
    case kNumberTypeFloat16: return 1;
    case kNumberTypeFloat64: return 11;
    default: return 27;  // bfloat16
  }
}

std::string RecentError() {
  const char *text = aclnn.recent_error();
  return text == nullptr ? "" : text;
}

std::shared_ptr<void> AclTensor(const TensorPtr &tensor) {
  constexpr int kFormatNd = 2;
  const auto shape = tensor->shape();
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  void *made = aclnn.create_tensor(shape.data(), shape.size(), AclDtype(tensor->data_type()), strides.data(), 0,
                                   kFormatNd, shape.data(), shape.size(), Address(tensor));
  if (made == nullptr) throw std::runtime_error(std::string("mindspore_tanhbw: aclCreateTensor failed. ") + RecentError());
  return std::shared_ptr<void>(made, aclnn.destroy_tensor);
}

void Check(const std::string &call, int status) {
  if (status != 0) Fail(call, status, RecentError());
}

void LaunchOnAscend(const device::DeviceContext *context, size_t stream_id, const TensorPtr &grad_output,
                    const TensorPtr &output, const TensorPtr &grad_input) {
  std::vector<std::shared_ptr<void>> tensors{AclTensor(grad_output), AclTensor(output), AclTensor(grad_input)};
  uint64_t size = 0;
  void *executor = nullptr;
  Check(aclnn.name + "GetWorkspaceSize",
        aclnn.get_workspace_size(tensors[0].get(), tensors[1].get(), tensors[2].get(), &size, &executor));
  auto *memory = context->device_res_manager_.get();
  std::shared_ptr<void> workspace;
  if (size > 0) {
    workspace.reset(memory->AllocateMemory(size, stream_id), [memory](void *block) { memory->FreeMemory(block); });
    if (workspace == nullptr) throw std::runtime_error("mindspore_tanhbw: no device memory for the workspace of " + aclnn.name);
  }
  runtime::DeviceAddressUtils::ProcessCrossStreamAddress(aclnn.name, context, stream_id, grad_output, output, grad_input);
  runtime::OpExecutor::DispatchLaunchTask([tensors, workspace, size, executor, memory, stream_id]() {
    Check(aclnn.name, aclnn.run(workspace.get(), size, executor, memory->GetStream(stream_id)));
    ++launches_on_ascend;
    if (runtime::OpExecutor::NeedSync() && !memory->SyncAllStreams()) {
      throw std::runtime_error("mindspore_tanhbw: " + aclnn.name + " failed on the device.");
    }
  });
}

// Whether the kernel for that target was found.
bool HasRun(bool ascend) { return ascend ? aclnn.run != nullptr : cpu_kernel != nullptr; }

// Both contiguous, of one shape and of one dtype that the kernel has.
TensorPtr Launch(const TensorPtr &grad_output, const TensorPtr &output, bool ascend) {
  const auto *context = runtime::OpRunner::GetDeviceContext(ascend ? device::DeviceType::kAscend : device::DeviceType::kCPU);
  const size_t stream_id = CurrentStream::id();
  std::vector<TensorPtr> outputs;
  PyBoostUtils::CreateOutputTensor(output->data_type(), output->shape(), &outputs);
  PyBoostUtils::PrepareOpInputs(context, stream_id, grad_output, output);
  PyBoostUtils::PrepareOpOutputs(context, stream_id, outputs);
  PyBoostUtils::DispatchRun(std::make_shared<runtime::PyBoostDeviceTask>([=]() {
    PyBoostUtils::MallocOpInputs(context, grad_output, output);
    PyBoostUtils::MallocOpOutputs(context, outputs);
    if (output->DataSize() == 0) return;
    if (ascend) {
      LaunchOnAscend(context, stream_id, grad_output, output, outputs[0]);
    } else {
      LaunchOnCpu(grad_output, output, outputs[0]);
    }
  }));
  return outputs[0];
}

#ifdef TANHBW_CALLS
std::mutex one_producer;

// MindSpore's queue is for one producer, whose first task starts its thread, but DispatchOp gives the GIL away before it
// pushes: of several threads at once some would start a second thread, which ends the process.
void Dispatch(const std::shared_ptr<runtime::AsyncTask> &task) {
  PyThreadState *python = PyEval_SaveThread();  // a full queue may wait for it
  std::shared_ptr<void> restored(python, [](void *state) { PyEval_RestoreThread(static_cast<PyThreadState *>(state)); });
  std::lock_guard<std::mutex> lock(one_producer);
  pynative::DispatchOp(task);
}

// By a MsDispatchMode, which 2.10 has, or a tensor of a class that wants its operators for itself.
bool IsIntercepted(const TensorPtr &g, const TensorPtr &y) {
#if __has_include("include/utils/pynative/dispatch/ms_dispatch.h")
  return pynative::ShouldDispatch(g, y);
#else
  return false;
#endif
}

bool HasKernel(TypeId type) {
  return type == kNumberTypeFloat16 || type == kNumberTypeFloat32 || type == kNumberTypeFloat64 ||
         type == kNumberTypeBFloat16;
}

// tanh_backward(grad_output, output); None where the long way must do it: bad input, a gradient to be recorded, views.
PyObject *CallTanhBackward(PyObject *, PyObject *const *arguments, Py_ssize_t count) {
  constexpr size_t kMaxRank = 8;
  if (count != 2 || pynative::GradState::Get().RequiresGrad()) Py_RETURN_NONE;
  if (!tensor::IsTensorPy(arguments[0]) || !tensor::IsTensorPy(arguments[1])) Py_RETURN_NONE;
  TensorPtr g, y;
  try {
    g = tensor::ConvertToTensor(arguments[0]);
    y = tensor::ConvertToTensor(arguments[1]);
  } catch (const std::exception &) {  // of the operator that was to make them, which the long way raises as it is
    Py_RETURN_NONE;
  }
  try {
    const bool ascend = MsContext::GetInstance()->get_param<std::string>(MS_CTX_DEVICE_TARGET) == "Ascend";
    if (!HasRun(ascend) || IsIntercepted(g, y) || g->data_type() != y->data_type() || !HasKernel(y->data_type()) || g->shape() != y->shape() ||
        y->shape().size() > kMaxRank || IsDynamic(y->shape()) || g->storage_info() != nullptr || y->storage_info() != nullptr) {
      Py_RETURN_NONE;
    }
    auto promise = std::make_shared<stub::TensorNode>();
    PyObject *result = tensor::PackStubTensor(promise);
    Dispatch(std::make_shared<pynative::PassthroughFrontendTask>(
      [g, y, ascend, promise]() { promise->SetValue(Launch(g, y, ascend)); },
      [promise]() { promise->SetException(std::current_exception()); }));
    return result;
  } catch (const std::exception &error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
    return nullptr;
  }
}

std::string mark;

// Returns whether there was a node to mark.
bool MarkGradient(const TensorPtr &tensor) {
  const auto &meta = tensor->auto_grad_meta_data();
  const auto node = meta == nullptr ? nullptr : meta->UnsafeGetGradNodeImpl();
  if (node == nullptr) return false;
  // The type is hidden in MindSpore's library, its name is not.
  if (node->name() != "Tanh" || std::string(typeid(*node).name()).find("16FuncBackwardNode") == std::string::npos) {
    throw std::runtime_error("mindspore_tanhbw: the gradient of this tanh is not MindSpore's Tanh but " + node->name());
  }
  auto *function = static_cast<pynative::autograd::FuncBackwardNode *>(node.get());
  auto attributes = function->attrs();
  attributes[mark] = MakeValue(true);
  function->set_attrs(attributes);
  return true;
}

struct GradientTask : runtime::AsyncTask {
  explicit GradientTask(std::function<void()> work) : AsyncTask(runtime::kBpropTask), work(std::move(work)) {}
  void Run() override { work(); }
  std::function<void()> work;
};

// Gradients are recorded in a queue of their own, which frontend tasks fill.
void AmongGradients(std::function<void()> work) {
  runtime::Pipeline::Get().bprop_stage()->Push(std::make_shared<GradientTask>(std::move(work)));
}

// A frontend task runs after the operator's own, which is the one before it.
void MarkInOrder(const stub::StubNodePtr &promise, TensorPtr tensor) {
  try {
    if (promise != nullptr) tensor = promise->WaitValue()->cast<TensorPtr>();
  } catch (const std::exception &) {  // the operator failed, and says so itself
    return;
  }
  if (tensor == nullptr) return;
  if (runtime::OpExecutor::NeedSync() && MarkGradient(tensor)) return;
  AmongGradients([tensor]() { MarkGradient(tensor); });
}

template <typename Work>
PyObject *AsFrontendTask(Work work) {
  try {
    Dispatch(std::make_shared<pynative::PassthroughFrontendTask>(work));
    Py_RETURN_NONE;
  } catch (const std::exception &error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
    return nullptr;
  }
}

// mark(result of Tanh): the gradient that was recorded for it is the operator.
PyObject *CallMark(PyObject *, PyObject *result) {
  if (!pynative::GradState::Get().RequiresGrad() || !tensor::IsTensorPy(result)) Py_RETURN_NONE;
  const auto &python = reinterpret_cast<tensor::PyType<tensor::TensorPy> *>(result)->value;
  const auto promise = python.stub();
  const auto tensor = promise == nullptr ? python.GetTensor() : nullptr;
  return AsFrontendTask([=]() { MarkInOrder(promise, tensor); });
}

void (*recording)(int) = nullptr;

// Made even where an error empties the queues before it is its turn, or the entry would stay another one.
struct Change {
  explicit Change(int by) : by(by) {}
  ~Change() { Make(); }
  void Make() {
    if (!made) recording(by);
    made = true;
  }
  int by;
  bool made = false;
};

// record(+1) and record(-1): of what is recorded in between every Tanh is bound.
PyObject *CallRecord(PyObject *, PyObject *by) {
  auto change = std::make_shared<Change>(static_cast<int>(PyLong_AsLong(by)));
  return AsFrontendTask([change]() {
    if (runtime::OpExecutor::NeedSync()) return change->Make();
    AmongGradients([change]() { change->Make(); });
  });
}
#endif
}  // namespace

extern "C" {

void tanhbw_runner_set_cpu(void *kernel) { cpu_kernel = reinterpret_cast<CpuKernel>(kernel); }

// The name of what is missing, or null.
const char *tanhbw_runner_set_ascend(const char *folder, const char *kernel) {
  static const std::string libraries[] = {"libopapi.so", "libnnopbase.so", "libascendcl.so"};
  void *handles[3];
  for (int i = 0; i < 3; ++i) {
    handles[i] = dlopen((std::string(folder) + "/" + libraries[i]).c_str(), RTLD_LAZY);
    if (handles[i] == nullptr) return libraries[i].c_str();
  }
  Aclnn found{};
  found.name = kernel;
  auto find = [](void *library, const std::string &name, auto *function) {
    *function = reinterpret_cast<std::decay_t<decltype(*function)>>(dlsym(library, name.c_str()));
    return *function != nullptr;
  };
  if (!find(handles[0], found.name + "GetWorkspaceSize", &found.get_workspace_size)) return kernel;
  if (!find(handles[0], found.name, &found.run)) return kernel;
  if (!find(handles[1], "aclCreateTensor", &found.create_tensor)) return "aclCreateTensor";
  if (!find(handles[1], "aclDestroyTensor", &found.destroy_tensor)) return "aclDestroyTensor";
  if (!find(handles[2], "aclGetRecentErrMsg", &found.recent_error)) return "aclGetRecentErrMsg";
  aclnn = found;
  return nullptr;
}

int64_t tanhbw_runner_launches_on_ascend() { return launches_on_ascend; }

// For a gradient, of one dtype that the kernel has. False: there is no kernel for that target here, or the gradient will
// be differentiated again, and then the operator must be seen.
bool tanhbw_runner_run(const TensorPtr &grad_output, const TensorPtr &output, bool ascend, TensorPtr *grad_input) {
  if (!HasRun(ascend) || pynative::GradState::Get().RequiresGrad() || grad_output->shape() != output->shape()) return false;
  *grad_input = Launch(grad_output, output, ascend);
  return true;
}

void tanhbw_runner_set_recording(void *function) {
#ifdef TANHBW_CALLS
  recording = reinterpret_cast<void (*)(int)>(function);
#endif
}

// The functions for Python, (tanh_backward, mark, record), or None where this release has them not.
PyObject *tanhbw_runner_functions(const char *name_of_mark) {
#ifdef TANHBW_CALLS
  static PyMethodDef methods[] = {
    {"tanh_backward", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(CallTanhBackward)), METH_FASTCALL, nullptr},
    {"mark", CallMark, METH_O, nullptr},
    {"record", CallRecord, METH_O, nullptr}};
  mark = name_of_mark;
  // A child would wait forever for a thread that it has not.
  pthread_atfork([]() { one_producer.lock(); }, []() { one_producer.unlock(); }, []() { one_producer.unlock(); });
  return Py_BuildValue("(NNN)", PyCFunction_New(&methods[0], nullptr), PyCFunction_New(&methods[1], nullptr),
                       PyCFunction_New(&methods[2], nullptr));
#else
  Py_RETURN_NONE;
#endif
}

}  // extern "C"
