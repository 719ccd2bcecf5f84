// The trace: one JSON object a line, written whole, so that several processes can share a file.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#ifndef CANN_SIM_TRACE_H_
#define CANN_SIM_TRACE_H_

#include <cstdint>
#include <string>

namespace sim {

bool tracing();

class TraceLine {
 public:
  explicit TraceLine(const std::string &call);
  TraceLine &number(const char *key, long long value);
  TraceLine &text(const char *key, const std::string &value);
  TraceLine &raw(const char *key, const std::string &json);
  void write();

 private:
  std::string line_;
};

// "library+0xoffset" for a code address.
std::string code_address(void *address);

}  // namespace sim

#endif
