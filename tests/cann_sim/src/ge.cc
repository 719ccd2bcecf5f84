// The few classes of the graph engine that MindSpore touches while it loads and for the older operator route.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ops/aclop.h"

// Their layout is part of the interface: Operator has a virtual table and one pointer, StatusFactory only its map.
namespace ge {

enum DataType : int;

struct OperatorImpl {
  std::string type;
};

class Operator {
 public:
  Operator() = default;
  explicit Operator(const char *type) : impl_(std::make_shared<OperatorImpl>(OperatorImpl{type})) {}
  virtual ~Operator() = default;

  // MindSpore asks for the defaults of attributes it does not set. There are none here: the kernels have theirs.
  uint32_t GetAttr(const char *name, bool &value) const;
  uint32_t GetAttr(const char *name, int64_t &value) const;
  uint32_t GetAttr(const char *name, int32_t &value) const;
  uint32_t GetAttr(const char *name, float &value) const;
  uint32_t GetAttr(const char *name, DataType &value) const;
  uint32_t GetAttr(const char *name, std::vector<DataType> &value) const;
  uint32_t GetAttr(const char *name, std::vector<std::vector<int64_t>> &value) const;
  uint32_t GetAttr(const char *name, std::vector<int64_t> &value) const;
  uint32_t GetAttr(const char *name, std::vector<int32_t> &value) const;
  uint32_t GetAttr(const char *name, std::vector<float> &value) const;
  uint32_t GetAttr(const std::string &name, std::string &value) const;
  uint32_t GetAttr(const std::string &name, std::vector<std::string> &value) const;

 private:
  std::shared_ptr<OperatorImpl> impl_;
};

constexpr uint32_t kNoSuchAttribute = 0xffffffff;
uint32_t Operator::GetAttr(const char *, bool &) const { return kNoSuchAttribute; }
uint32_t Operator::GetAttr(const char *, int64_t &) const { return kNoSuchAttribute; }
uint32_t Operator::GetAttr(const char *, int32_t &) const { return kNoSuchAttribute; }
uint32_t Operator::GetAttr(const char *, float &) const { return kNoSuchAttribute; }
uint32_t Operator::GetAttr(const char *, DataType &) const { return kNoSuchAttribute; }
uint32_t Operator::GetAttr(const char *, std::vector<DataType> &) const { return kNoSuchAttribute; }
uint32_t Operator::GetAttr(const char *, std::vector<std::vector<int64_t>> &) const { return kNoSuchAttribute; }
uint32_t Operator::GetAttr(const char *, std::vector<int64_t> &) const { return kNoSuchAttribute; }
uint32_t Operator::GetAttr(const char *, std::vector<int32_t> &) const { return kNoSuchAttribute; }
uint32_t Operator::GetAttr(const char *, std::vector<float> &) const { return kNoSuchAttribute; }
uint32_t Operator::GetAttr(const std::string &, std::string &) const { return kNoSuchAttribute; }
uint32_t Operator::GetAttr(const std::string &, std::vector<std::string> &) const { return kNoSuchAttribute; }

class AscendString {
 public:
  AscendString(const char *text);
  const char *GetString() const;

 private:
  std::shared_ptr<std::string> text_;
};
AscendString::AscendString(const char *text) : text_(std::make_shared<std::string>(text == nullptr ? "" : text)) {}
const char *AscendString::GetString() const { return text_ ? text_->c_str() : ""; }

// Static initialisers of MindSpore's libraries fill the map that Instance() returns.
class StatusFactory {
 public:
  static StatusFactory *Instance();

 private:
  std::map<uint32_t, std::string> descriptions_;
};
StatusFactory *StatusFactory::Instance() {
  static auto *instance = new StatusFactory;
  return instance;
}

// MindSpore registers its own operators; nothing here reads them.
class OperatorCreatorRegister {
 public:
  OperatorCreatorRegister(const std::string &, const std::function<Operator(const std::string &)> &);
  OperatorCreatorRegister(const char *, const std::function<Operator(const AscendString &)> &);
};
OperatorCreatorRegister::OperatorCreatorRegister(const std::string &,
                                                 const std::function<Operator(const std::string &)> &) {}
OperatorCreatorRegister::OperatorCreatorRegister(const char *, const std::function<Operator(const AscendString &)> &) {}

class InferShapeFuncRegister {
 public:
  InferShapeFuncRegister(const std::string &, const std::function<uint32_t(Operator &)> &);
};
InferShapeFuncRegister::InferShapeFuncRegister(const std::string &, const std::function<uint32_t(Operator &)> &) {}

// Before it launches an operator by the older route, MindSpore asks whether there is one of that name.
class OperatorFactory {
 public:
  static bool IsExistOp(const char *type);
  static bool IsExistOp(const std::string &type);
  static Operator CreateOperator(const char *name, const char *type);
  static Operator CreateOperator(const std::string &name, const std::string &type);
};
bool OperatorFactory::IsExistOp(const char *type) { return sim::has_aclop(type); }
bool OperatorFactory::IsExistOp(const std::string &type) { return sim::has_aclop(type); }
Operator OperatorFactory::CreateOperator(const char *, const char *type) { return Operator(type); }
Operator OperatorFactory::CreateOperator(const std::string &, const std::string &type) {
  return Operator(type.c_str());
}

// Initialising the engine does nothing; what needs it, a session, is not simulated and says so.
uint32_t GEInitialize(const std::map<std::string, std::string> &) { return 0; }
uint32_t GEFinalize() { return 0; }

}  // namespace ge
