// Creation and destruction of tensors, scalars, arrays and lists.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor.h"

#include "acl/acl.h"
#include "call.h"
#include "handles.h"
#include "numbers.h"

namespace sim {
namespace {

template <class T, uintptr_t kind>
Handles<T> &table() {
  static auto *instance = new Handles<T>(kind);
  return *instance;
}

auto &tensors() { return table<Tensor, kTensors>(); }
auto &scalars() { return table<Scalar, kScalars>(); }
auto &int_arrays() { return table<std::vector<int64_t>, kArrays>(); }
auto &float_arrays() { return table<std::vector<float>, kArrays + 0x100>(); }
auto &bool_arrays() { return table<std::vector<bool>, kArrays + 0x200>(); }
auto &tensor_lists() { return table<TensorList, kLists>(); }
auto &scalar_lists() { return table<std::vector<std::shared_ptr<Scalar>>, kLists + 0x100>(); }

std::string joined(const Shape &values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i) text += (i ? ", " : "") + std::to_string(values[i]);
  return text + "]";
}

template <class T>
aclnnStatus destroy(const char *call, Handles<T> &handles, const void *handle) {
  if (handle == nullptr) return fail(call, ACLNN_ERR_PARAM_NULLPTR, "the pointer is null");
  if (!handles.remove(handle)) return fail(call, ACLNN_ERR_PARAM_INVALID, "%p is not live", handle);
  return ACLNN_SUCCESS;
}

}  // namespace

int64_t element_count(const Shape &shape) {
  int64_t count = 1;
  for (const int64_t dim : shape) count *= dim;
  return count;
}

std::string to_text(const Shape &shape) { return joined(shape); }

bool Tensor::contiguous() const {
  int64_t expected = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

Range Tensor::touched() const {
  if (count() == 0) return {};
  int64_t low = offset, high = offset;
  for (size_t i = 0; i < shape.size(); ++i) (strides[i] < 0 ? low : high) += (shape[i] - 1) * strides[i];
  const auto size = static_cast<int64_t>(element_size());
  const auto base = reinterpret_cast<uintptr_t>(data);
  return {base + low * size, base + (high + 1) * size};
}

std::string Tensor::json() const {
  return std::string("{\"dtype\": \"") + dtype_name(dtype) + "\", \"shape\": " + joined(shape) +
         ", \"strides\": " + joined(strides) + ", \"offset\": " + std::to_string(offset) + "}";
}

bool Scalar::is_integer() const { return !is_float(dtype); }

std::shared_ptr<Tensor> find(const aclTensor *tensor) { return tensors().find(tensor); }
std::shared_ptr<TensorList> find(const aclTensorList *list) { return tensor_lists().find(list); }
std::shared_ptr<Scalar> find(const aclScalar *scalar) { return scalars().find(scalar); }
std::shared_ptr<std::vector<int64_t>> find(const aclIntArray *array) { return int_arrays().find(array); }
std::shared_ptr<std::vector<float>> find(const aclFloatArray *array) { return float_arrays().find(array); }
std::shared_ptr<std::vector<bool>> find(const aclBoolArray *array) { return bool_arrays().find(array); }

}  // namespace sim

using sim::fail;

extern "C" {

size_t aclDataTypeSize(aclDataType dtype) {
  switch (static_cast<int>(dtype)) {
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_BOOL: return 1;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16: return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32: return 4;
    case ACL_DOUBLE:
    case ACL_INT64:
    case ACL_UINT64:
    case ACL_COMPLEX64: return 8;
    case ACL_COMPLEX128: return 16;
    default: return 0;
  }
}

aclTensor *aclCreateTensor(const int64_t *dims, uint64_t rank, aclDataType dtype, const int64_t *strides,
                           int64_t offset, aclFormat format, const int64_t *storage, uint64_t storage_rank,
                           void *data) {
  SIM_CALL_POINTER();
  if ((rank > 0 && dims == nullptr) || (storage_rank > 0 && storage == nullptr)) {
    fail(__func__, ACLNN_ERR_PARAM_NULLPTR, "the dimensions are null");
    return nullptr;
  }
  auto tensor = std::make_shared<sim::Tensor>();
  tensor->dtype = dtype;
  if (rank > 0) tensor->shape.assign(dims, dims + rank);
  tensor->strides.assign(rank, 1);
  for (uint64_t i = rank; i-- > 0;) {
    if (strides != nullptr) {
      tensor->strides[i] = strides[i];
    } else if (i + 1 < rank) {
      tensor->strides[i] = tensor->strides[i + 1] * dims[i + 1];
    }
    if (dims[i] < 0) {
      fail(__func__, ACLNN_ERR_PARAM_INVALID, "dimension %llu is %lld", static_cast<unsigned long long>(i),
           static_cast<long long>(dims[i]));
      return nullptr;
    }
  }
  tensor->offset = offset;
  tensor->format = format;
  if (storage_rank > 0) tensor->storage.assign(storage, storage + storage_rank);
  tensor->data = data;
  return static_cast<aclTensor *>(sim::tensors().add(std::move(tensor)));
}

aclScalar *aclCreateScalar(void *value, aclDataType dtype) {
  SIM_CALL_POINTER();
  if (value == nullptr) return nullptr;
  auto scalar = std::make_shared<sim::Scalar>();
  scalar->dtype = dtype;
  try {
    sim::with_storage(dtype, [&](auto example) {
      std::memcpy(&example, value, sizeof example);
      scalar->real = sim::load<double>(example);
      scalar->integer = sim::load<int64_t>(example);
    });
  } catch (const std::exception &error) {
    fail(__func__, ACLNN_ERR_PARAM_INVALID, "%s", error.what());
    return nullptr;
  }
  return static_cast<aclScalar *>(sim::scalars().add(std::move(scalar)));
}

aclIntArray *aclCreateIntArray(const int64_t *value, uint64_t size) {
  SIM_CALL_POINTER();
  return static_cast<aclIntArray *>(sim::int_arrays().add(std::make_shared<std::vector<int64_t>>(value, value + size)));
}

aclFloatArray *aclCreateFloatArray(const float *value, uint64_t size) {
  SIM_CALL_POINTER();
  return static_cast<aclFloatArray *>(sim::float_arrays().add(std::make_shared<std::vector<float>>(value, value + size)));
}

aclBoolArray *aclCreateBoolArray(const bool *value, uint64_t size) {
  SIM_CALL_POINTER();
  return static_cast<aclBoolArray *>(sim::bool_arrays().add(std::make_shared<std::vector<bool>>(value, value + size)));
}

aclTensorList *aclCreateTensorList(const aclTensor *const *value, uint64_t size) {
  SIM_CALL_POINTER();
  auto list = std::make_shared<sim::TensorList>();
  for (uint64_t i = 0; i < size; ++i) {
    list->tensors.push_back(sim::find(value[i]));
    list->handles.push_back(value[i]);
  }
  return static_cast<aclTensorList *>(sim::tensor_lists().add(std::move(list)));
}

aclScalarList *aclCreateScalarList(const aclScalar *const *value, uint64_t size) {
  SIM_CALL_POINTER();
  auto list = std::make_shared<std::vector<std::shared_ptr<sim::Scalar>>>();
  for (uint64_t i = 0; i < size; ++i) list->push_back(sim::find(value[i]));
  return static_cast<aclScalarList *>(sim::scalar_lists().add(std::move(list)));
}

aclnnStatus aclDestroyTensor(const aclTensor *tensor) {
  SIM_CALL();
  return sim::destroy(__func__, sim::tensors(), tensor);
}
aclnnStatus aclDestroyScalar(const aclScalar *scalar) {
  SIM_CALL();
  return sim::destroy(__func__, sim::scalars(), scalar);
}
aclnnStatus aclDestroyIntArray(const aclIntArray *array) {
  SIM_CALL();
  return sim::destroy(__func__, sim::int_arrays(), array);
}
aclnnStatus aclDestroyFloatArray(const aclFloatArray *array) {
  SIM_CALL();
  return sim::destroy(__func__, sim::float_arrays(), array);
}
aclnnStatus aclDestroyBoolArray(const aclBoolArray *array) {
  SIM_CALL();
  return sim::destroy(__func__, sim::bool_arrays(), array);
}
aclnnStatus aclDestroyTensorList(const aclTensorList *list) {
  SIM_CALL();
  // A list owns its tensors.
  if (auto owned = sim::find(list)) {
    for (const aclTensor *tensor : owned->handles) sim::tensors().remove(tensor);
  }
  return sim::destroy(__func__, sim::tensor_lists(), list);
}
aclnnStatus aclDestroyScalarList(const aclScalarList *list) {
  SIM_CALL();
  return sim::destroy(__func__, sim::scalar_lists(), list);
}

// The caller frees the dimensions with delete[], as CANN's page says.
aclnnStatus aclGetViewShape(const aclTensor *handle, int64_t **dims, uint64_t *rank) {
  SIM_CALL();
  auto tensor = sim::find(handle);
  if (!tensor || dims == nullptr || rank == nullptr) {
    return fail(__func__, handle == nullptr ? ACLNN_ERR_PARAM_NULLPTR : ACLNN_ERR_PARAM_INVALID, "%p is not a tensor",
                static_cast<const void *>(handle));
  }
  *rank = tensor->shape.size();
  *dims = new int64_t[tensor->shape.size()];
  for (size_t i = 0; i < tensor->shape.size(); ++i) (*dims)[i] = tensor->shape[i];
  return ACLNN_SUCCESS;
}

}  // extern "C"
