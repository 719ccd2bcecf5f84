// Puts the Custom operator into MindSpore's own bprop registry as the gradient of Tanh, and takes it out again.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <typeinfo>

#if __has_include("mindspore/ccsrc/include/frontend/expander/bprop_interface.h")
#include "mindspore/ccsrc/include/frontend/expander/bprop_interface.h"
#else
#include "mindspore/ccsrc/frontend/expander/bprop/bprop_irbuilder.h"
#define TANHBW_REGISTRY_IS_AN_OBJECT
#endif

// Python and pybind11 by the little that is used of them, so that neither's headers nor ABI tags matter: pybind11's
// object is one pointer, and MindSpore's library does the conversion.
namespace pybind11 {
class object {
 public:
  void *pointer;
};
}  // namespace pybind11
extern "C" {
int PyGILState_Ensure();
void PyGILState_Release(int);
}

namespace mindspore {
namespace parse {
bool ConvertData(const pybind11::object &, ValuePtr *, bool, const TypePtr &, bool);
}
}  // namespace mindspore

namespace {
using namespace mindspore;                    // NOLINT
using namespace mindspore::expander::bprop;   // NOLINT
using mindspore::expander::Emitter;
using mindspore::expander::NodePtr;
using mindspore::expander::NodePtrList;

struct Emit : Emitter {  // EmitOp is protected
  using Emitter::EmitOp;
};

struct Entry {
  const char *name;
  BpropHandle *handle = nullptr;
  BpropBuilderFunc shipped;
};

// Never destroyed: at exit Python is gone before this library is, and primitives of Python's need it to go.
struct State {
  Entry entries[2] = {{"Tanh"}, {"InplaceTanh"}};
  std::string mark;
  void *(*resolve)(const char *target) = nullptr;
  bool (*run)(const tensor::TensorPtr &, const tensor::TensorPtr &, bool, tensor::TensorPtr *) = nullptr;
  std::atomic<bool> every_tanh{false};
  std::mutex mutex;
  std::map<std::string, PrimitivePtr> operators;
  bool installed = false;
  int bound_calls = 0;  // of bound networks, as the queue of gradients sees them
};
State &state = *new State;
thread_local int bound_calls_here = 0;  // as this thread sees them

// The Custom operator of a device target; it is Python's, and asked for once.
PrimitivePtr Operator(const std::string &target) {
  {
    std::lock_guard<std::mutex> lock(state.mutex);
    auto known = state.operators.find(target);
    if (known != state.operators.end()) return known->second;
  }
  ValuePtr value;
  const int gil = PyGILState_Ensure();
  const pybind11::object python{state.resolve(target.c_str())};
  const bool converted = python.pointer != nullptr && parse::ConvertData(python, &value, false, nullptr, false);
  PyGILState_Release(gil);
  if (!converted || !value->isa<Primitive>()) {
    throw std::runtime_error("mindspore_tanhbw: the Custom operator cannot be built for " + target +
                             "; mindspore_tanhbw.tanh_backward tells why.");
  }
  std::lock_guard<std::mutex> lock(state.mutex);
  return state.operators[target] = value->cast<PrimitivePtr>();
}

bool HasKernel(TypeId type) {
  return type == kNumberTypeFloat16 || type == kNumberTypeFloat32 || type == kNumberTypeFloat64 ||
         type == kNumberTypeBFloat16;
}

// The builder of PyNative mode holds values; its type is hidden in MindSpore's library, its name is not.
bool HoldsValues(const BpropBuilder &builder) {
  static std::atomic<const std::type_info *> known{nullptr};
  const std::type_info &type = typeid(builder);
  if (known.load(std::memory_order_relaxed) == &type) return true;
  if (std::string(type.name()).find("11FuncBuilder") == std::string::npos) return false;
  known = &type;
  return true;
}

tensor::TensorPtr Contiguous(BpropBuilder *builder, const NodePtr &node) {
  auto tensor = node->Value() == nullptr ? nullptr : node->Value()->cast<tensor::TensorPtr>();
  if (tensor == nullptr || tensor->storage_info() == nullptr) return tensor;
  return builder->Emit("Contiguous", {node})->Value()->cast<tensor::TensorPtr>();
}

// In PyNative mode: the kernel's result, without a Custom node; null where only the node will do.
NodePtr RunAtOnce(BpropBuilder *builder, const std::string &target, const NodePtr &dout, const NodePtr &y) {
  if (state.run == nullptr || !HoldsValues(*builder)) return nullptr;
  const auto g = Contiguous(builder, dout), output = Contiguous(builder, y);
  tensor::TensorPtr grad_input;
  if (g == nullptr || output == nullptr || !state.run(g, output, target == "Ascend", &grad_input)) return nullptr;
  return builder->EmitValue(grad_input);
}

// y = tanh(x), so dy/dx = 1 - y^2 and, for dout the gradient with respect to y, that with respect to x is
// dout * (1 - y^2): the operator on (dout, y). A complex Tanh keeps the gradient that MindSpore ships.
NodePtrList Gradient(BpropBuilder *builder, const Entry &entry, bool always) {
  const NodePtr &y = builder->GetInput(1);
  NodePtr dout = builder->GetInput(2);
  const bool ours = always || state.every_tanh || builder->GetAttrs().count(state.mark) > 0 || bound_calls_here > 0;
  if (!ours || !HasKernel(builder->GetDtypeId(y))) return entry.shipped(builder);
  if (builder->GetDtypeId(dout) != builder->GetDtypeId(y)) dout = builder->Cast(dout, builder->GetDtype(y));
  const std::string target = builder->GetTargetFromContext();
  const PrimitivePtr custom = Operator(target);
  const NodePtr done = RunAtOnce(builder, target, dout, y);
  return {done != nullptr ? done : (builder->*&Emit::EmitOp)(custom, {dout, y})};
}

// Builders without state, so that std::function's last word, the code that it calls, is all there is to exchange:
// one store, which a backward pass in another thread sees done or not done. The rest of the entry stays as it is.
template <int index, bool always>
BpropBuilderFunc Builder() {
  return [](BpropBuilder *builder) { return Gradient(builder, state.entries[index], always); };
}

uintptr_t *Code(BpropBuilderFunc *function) {
  static_assert(sizeof(BpropBuilderFunc) == 4 * sizeof(uintptr_t), "not libstdc++'s std::function");
  return reinterpret_cast<uintptr_t *>(function) + 3;
}

BpropHandle *Find(const char *name) {
#ifdef TANHBW_REGISTRY_IS_AN_OBJECT
  return const_cast<BpropHandle *>(BpropIRBuilderFactory::Instance().GetBuilder(name));
#else
  return const_cast<BpropHandle *>(GetBpropIRBuilder(name));
#endif
}
// Guarded by the mutex.
void Exchange() {
  BpropBuilderFunc checking[] = {Builder<0, false>(), Builder<1, false>()};
  BpropBuilderFunc serving[] = {Builder<0, true>(), Builder<1, true>()};
  for (int i = 0; i < 2; ++i) {
    Entry &entry = state.entries[i];
    if (!entry.shipped) continue;
    BpropBuilderFunc *now = state.bound_calls > 0 ? &serving[i] : state.installed ? &checking[i] : &entry.shipped;
    __atomic_store_n(Code(&entry.handle->func), *Code(now), __ATOMIC_SEQ_CST);
  }
}
}  // namespace

extern "C" {

// Returns how many operators of MindSpore's have an entry that can be bound; Tanh is always one of them.
int tanhbw_registry_open(const char *mark, void *(*resolve)(const char *)) {
  state.mark = mark;
  state.resolve = resolve;
  int found = 0;
  for (Entry &entry : state.entries) {
    entry.handle = Find(entry.name);
    if (entry.handle == nullptr || !entry.handle->func) continue;
    entry.shipped = entry.handle->func;
    ++found;
  }
  return state.entries[0].shipped ? found : 0;
}

// run: tanhbw_runner_run of runner.cc.
void tanhbw_registry_set_runner(void *run) { state.run = reinterpret_cast<decltype(state.run)>(run); }

// installed: our builders stand in the registry; every_tanh: they serve all, else only Tanh that are bound alone.
void tanhbw_registry_set(int installed, int every_tanh) {
  std::lock_guard<std::mutex> lock(state.mutex);
  state.every_tanh = every_tanh != 0;
  state.installed = installed != 0;
  Exchange();
}

// A call of a bound network begins (+1) or ends (-1). PyNative mode copies an entry when it records an operator, so what
// is recorded in between keeps the builder that serves always; this one is called between the operators, in their order.
void tanhbw_registry_recording(int change) {
  std::lock_guard<std::mutex> lock(state.mutex);
  state.bound_calls += change;
  Exchange();
}

// The same, called by the thread that calls the network: for a graph that it compiles in between.
void tanhbw_registry_calling(int change) { bound_calls_here += change; }

// The 32 bytes of an entry's builder, for tests.
int tanhbw_registry_bytes(const char *name, unsigned char *bytes) {
  const BpropHandle *handle = Find(name);
  if (handle == nullptr) return 1;
  const auto *from = reinterpret_cast<const unsigned char *>(&handle->func);
  std::copy(from, from + sizeof(handle->func), bytes);
  return 0;
}

}  // extern "C"
