// The calls of the older operator route: descriptions, buffers, attributes, execution.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/aclop.h"

#include <cstring>
#include <memory>

#include "acl/acl.h"
#include "call.h"
#include "handles.h"
#include "stream.h"
#include "trace.h"

// Here the objects are real structs: their users only pass them back.
struct aclTensorDesc {
  sim::Tensor tensor;
  std::string name;
  int storage_format = ACL_FORMAT_UNDEFINED;
  sim::Shape storage_shape;
  bool on_host = false;
  std::shared_ptr<std::vector<char>> constant;
};

struct aclDataBuffer {
  void *data;
  size_t size;
};

struct aclopAttr {
  sim::Attributes values;
};

namespace sim {

bool has_aclop(const std::string &type) { return aclop_table().count(type) > 0; }

namespace {

bool is_plain(int format) {
  return format == ACL_FORMAT_UNDEFINED || format == ACL_FORMAT_ND || format == ACL_FORMAT_NCHW ||
         format == ACL_FORMAT_NCL || format == ACL_FORMAT_NCDHW;
}

struct Operands {
  Tensors tensors;
  std::vector<std::shared_ptr<std::vector<char>>> host;  // keeps copies of host operands alive; null for device ones
};

int add_operand(const char *call, const aclTensorDesc *desc, const aclDataBuffer *buffer, bool input, Operands *to) {
  if (desc == nullptr || buffer == nullptr) return fail(call, ACL_ERROR_INVALID_PARAM, "a description or buffer is null");
  if (!is_plain(desc->tensor.format) || !is_plain(desc->storage_format)) {
    return fail(call, ACL_ERROR_API_NOT_SUPPORT, "format %d is not simulated", desc->storage_format);
  }
  Tensor tensor = desc->tensor;
  tensor.data = buffer->data;
  const size_t bytes = tensor.count() * tensor.element_size();
  std::shared_ptr<std::vector<char>> host = desc->constant;
  if (!host && desc->on_host && input) {
    if (buffer->size < bytes) return fail(call, ACL_ERROR_INVALID_PARAM, "a host buffer is too small");
    const char *data = static_cast<const char *>(buffer->data);
    host = std::make_shared<std::vector<char>>(data, data + bytes);
  }
  if (host) {
    if (host->size() < bytes) return fail(call, ACL_ERROR_INVALID_PARAM, "a constant is too small");
    tensor.data = host->data();
  } else if (buffer->size < bytes) {
    return fail(call, ACL_ERROR_INVALID_PARAM, "a buffer of %zu bytes for %zu", buffer->size, bytes);
  }
  to->tensors.push_back(std::move(tensor));
  to->host.push_back(std::move(host));
  return 0;
}

template <class DescIn, class BufferIn, class DescOut, class BufferOut>
int execute(const char *call, const char *type, int inputs, DescIn in_desc, BufferIn in, int outputs, DescOut out_desc,
            BufferOut out, const aclopAttr *attr, void *stream) {
  if (type == nullptr) return fail(call, ACL_ERROR_INVALID_PARAM, "the operator's type is null");
  const std::string name = std::string(call) + "(" + type + ")";
  auto entry = aclop_table().find(type);
  if (entry == aclop_table().end()) {
    return fail(name, ACL_ERROR_OP_NOT_FOUND, "operator %s is not simulated", type);
  }
  auto operands = std::make_shared<Operands>();
  for (int i = 0; i < inputs; ++i) {
    if (int status = add_operand(name.c_str(), in_desc[i], in[i], true, operands.get())) return status;
  }
  for (int i = 0; i < outputs; ++i) {
    if (int status = add_operand(name.c_str(), out_desc[i], out[i], false, operands.get())) return status;
  }
  auto target = Stream::of(stream);
  if (tracing()) {
    TraceLine(call)
      .text("op", type)
      .number("status", 0)
      .raw("inputs", json_list(operands->tensors, 0, inputs))
      .raw("outputs", json_list(operands->tensors, inputs, operands->tensors.size()))
      .raw("stream", target ? std::to_string(target->id()) : "null")
      .write();
  }
  // Only what lies on the device is checked to lie there.
  Tensors on_device;
  for (size_t i = 0; i < operands->tensors.size(); ++i) {
    if (!operands->host[i]) on_device.push_back(operands->tensors[i]);
  }
  auto kernel = [operands, inputs, run = entry->second,
                 attributes = attr == nullptr ? Attributes{} : attr->values](const Tensors &) {
    const Tensors ins(operands->tensors.begin(), operands->tensors.begin() + inputs);
    const Tensors outs(operands->tensors.begin() + inputs, operands->tensors.end());
    run({ins, outs, attributes});
  };
  return queue_kernel(name.c_str(), kernel, std::move(on_device), {}, stream);
}

Attribute &attribute(aclopAttr *attr, const char *name) { return attr->values[name]; }

}  // namespace
}  // namespace sim

using sim::fail;

extern "C" {

aclTensorDesc *aclCreateTensorDesc(aclDataType dtype, int rank, const int64_t *dims, aclFormat format) {
  SIM_CALL_POINTER();
  auto *desc = new aclTensorDesc;
  desc->tensor.dtype = dtype;
  desc->tensor.format = format;
  if (rank > 0) desc->tensor.shape.assign(dims, dims + rank);
  desc->tensor.strides.assign(desc->tensor.shape.size(), 1);
  for (int i = rank - 2; i >= 0; --i) desc->tensor.strides[i] = desc->tensor.strides[i + 1] * dims[i + 1];
  return desc;
}

void aclDestroyTensorDesc(const aclTensorDesc *desc) { delete desc; }
void aclSetTensorDescName(aclTensorDesc *desc, const char *name) { desc->name = name == nullptr ? "" : name; }

aclError aclSetTensorFormat(aclTensorDesc *desc, aclFormat format) {
  SIM_CALL();
  desc->storage_format = format;
  return ACL_SUCCESS;
}

aclError aclSetTensorShape(aclTensorDesc *desc, int rank, const int64_t *dims) {
  SIM_CALL();
  desc->storage_shape.assign(dims, dims + rank);
  return ACL_SUCCESS;
}

aclError aclSetTensorPlaceMent(aclTensorDesc *desc, int memory) {
  SIM_CALL();
  desc->on_host = memory != 0;
  return ACL_SUCCESS;
}

aclError aclSetTensorConst(aclTensorDesc *desc, void *data, size_t size) {
  SIM_CALL();
  const char *bytes = static_cast<const char *>(data);
  desc->constant = std::make_shared<std::vector<char>>(bytes, bytes + size);
  return ACL_SUCCESS;
}

size_t aclGetTensorDescNumDims(const aclTensorDesc *desc) { return desc->tensor.shape.size(); }
size_t aclGetTensorDescSize(const aclTensorDesc *desc) { return desc->tensor.count() * desc->tensor.element_size(); }
int64_t aclGetTensorDescDim(const aclTensorDesc *desc, size_t i) {
  return i < desc->tensor.shape.size() ? desc->tensor.shape[i] : -1;
}
aclError aclGetTensorDescDimV2(const aclTensorDesc *desc, size_t i, int64_t *size) {
  SIM_CALL();
  if (i >= desc->tensor.shape.size()) return fail(__func__, ACL_ERROR_INVALID_PARAM, "axis %zu is out of range", i);
  *size = desc->tensor.shape[i];
  return ACL_SUCCESS;
}

aclDataBuffer *aclCreateDataBuffer(void *data, size_t size) {
  SIM_CALL_POINTER();
  return new aclDataBuffer{data, size};
}
aclError aclDestroyDataBuffer(const aclDataBuffer *buffer) {
  SIM_CALL();
  delete buffer;
  return ACL_SUCCESS;
}
aclError aclUpdateDataBuffer(aclDataBuffer *buffer, void *data, size_t size) {
  SIM_CALL();
  *buffer = {data, size};
  return ACL_SUCCESS;
}
void *aclGetDataBufferAddr(const aclDataBuffer *buffer) { return buffer->data; }

aclopAttr *aclopCreateAttr() {
  SIM_CALL_POINTER();
  return new aclopAttr;
}
void aclopDestroyAttr(const aclopAttr *attr) { delete attr; }

aclError aclopSetAttrBool(aclopAttr *attr, const char *name, uint8_t value) {
  SIM_CALL();
  sim::attribute(attr, name).integer = value;
  return ACL_SUCCESS;
}
aclError aclopSetAttrInt(aclopAttr *attr, const char *name, int64_t value) {
  SIM_CALL();
  sim::attribute(attr, name).integer = value;
  return ACL_SUCCESS;
}
aclError aclopSetAttrFloat(aclopAttr *attr, const char *name, float value) {
  SIM_CALL();
  sim::attribute(attr, name).real = value;
  return ACL_SUCCESS;
}
aclError aclopSetAttrString(aclopAttr *attr, const char *name, const char *value) {
  SIM_CALL();
  sim::attribute(attr, name).text = value;
  return ACL_SUCCESS;
}
aclError aclopSetAttrDataType(aclopAttr *attr, const char *name, aclDataType value) {
  SIM_CALL();
  sim::attribute(attr, name).integer = value;
  return ACL_SUCCESS;
}
aclError aclopSetAttrListInt(aclopAttr *attr, const char *name, int count, const int64_t *values) {
  SIM_CALL();
  sim::attribute(attr, name).integers.assign(values, values + count);
  return ACL_SUCCESS;
}

aclError aclopCompileAndExecute(const char *type, int inputs, const aclTensorDesc *const in_desc[],
                                const aclDataBuffer *const in[], int outputs, const aclTensorDesc *const out_desc[],
                                aclDataBuffer *const out[], const aclopAttr *attr, int, int, const char *,
                                aclrtStream stream) {
  SIM_CALL();
  return sim::execute(__func__, type, inputs, in_desc, in, outputs, out_desc, out, attr, stream);
}

aclError aclopCompileAndExecuteV2(const char *type, int inputs, aclTensorDesc *in_desc[], aclDataBuffer *in[],
                                  int outputs, aclTensorDesc *out_desc[], aclDataBuffer *out[], aclopAttr *attr, int,
                                  int, const char *, aclrtStream stream) {
  SIM_CALL();
  return sim::execute(__func__, type, inputs, in_desc, in, outputs, out_desc, out, attr, stream);
}

}  // extern "C"
