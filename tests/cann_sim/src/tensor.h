// What aclTensor, aclScalar and the arrays hold.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#ifndef CANN_SIM_TENSOR_H_
#define CANN_SIM_TENSOR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "aclnn/acl_meta.h"
#include "memory.h"

namespace sim {

using Shape = std::vector<int64_t>;

int64_t element_count(const Shape &shape);
std::string to_text(const Shape &shape);

struct Tensor {
  int dtype = ACL_DT_UNDEFINED;
  Shape shape;
  Shape strides;
  int64_t offset = 0;  // in elements, from data
  int format = ACL_FORMAT_ND;
  Shape storage;
  void *data = nullptr;

  int64_t count() const { return element_count(shape); }
  size_t element_size() const { return aclDataTypeSize(static_cast<aclDataType>(dtype)); }
  char *first() const { return static_cast<char *>(data) + offset * static_cast<int64_t>(element_size()); }
  bool contiguous() const;
  // The bytes that the view can touch.
  Range touched() const;
  std::string json() const;
};

struct Scalar {
  int dtype = ACL_DT_UNDEFINED;
  double real = 0;
  int64_t integer = 0;

  template <class C>
  C as() const {
    return is_integer() ? static_cast<C>(integer) : static_cast<C>(real);
  }
  bool is_integer() const;
};

struct TensorList {
  std::vector<std::shared_ptr<Tensor>> tensors;
  std::vector<const aclTensor *> handles;
};

// Null for a null, stale or foreign handle.
std::shared_ptr<Tensor> find(const aclTensor *tensor);
std::shared_ptr<TensorList> find(const aclTensorList *list);
std::shared_ptr<Scalar> find(const aclScalar *scalar);
std::shared_ptr<std::vector<int64_t>> find(const aclIntArray *array);
std::shared_ptr<std::vector<float>> find(const aclFloatArray *array);
std::shared_ptr<std::vector<bool>> find(const aclBoolArray *array);

}  // namespace sim

#endif
