// The older operator route, where an operator is called by its type's name.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#ifndef CANN_SIM_OPS_ACLOP_H_
#define CANN_SIM_OPS_ACLOP_H_

#include <map>
#include <string>
#include <vector>

#include "kernels.h"

namespace sim {

struct Attribute {
  int64_t integer = 0;
  double real = 0;
  std::string text;
  std::vector<int64_t> integers;
};
using Attributes = std::map<std::string, Attribute>;

// Inputs and outputs apart, in the order of the operator's prototype.
struct AclopCall {
  const Tensors &in;
  const Tensors &out;
  const Attributes &attributes;

  bool flag(const std::string &name, bool otherwise = false) const {
    auto it = attributes.find(name);
    return it == attributes.end() ? otherwise : it->second.integer != 0;
  }
  double real(const std::string &name, double otherwise) const {
    auto it = attributes.find(name);
    return it == attributes.end() ? otherwise : it->second.real;
  }
};
using AclopKernel = void (*)(const AclopCall &);

// The operators of this route by type; aclop_ops.cc fills it.
const std::map<std::string, AclopKernel> &aclop_table();

bool has_aclop(const std::string &type);

}  // namespace sim

#endif
