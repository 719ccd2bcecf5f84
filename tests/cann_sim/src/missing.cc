// Where every generated stub ends: the call says its name and fails, it never returns a made-up value.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "call.h"

namespace {

// Which jit_level leads to calls of this kind.
std::string hint(const std::string &name) {
  const char *const no = "; jit_level O0 is what the simulator runs";
  if (name.rfind("ge::", 0) == 0) return std::string(" (part of the graph engine, which jit_level O2 needs)") + no;
  if (name.rfind("Msprof", 0) == 0 || name.rfind("rt", 0) == 0) {
    return std::string(" (used by generated kernels, which jit_level O1 makes)") + no;
  }
  return "";
}

}  // namespace

extern "C" void cann_sim_missing(const char *symbol) {
  int ignored = 0;
  char *readable = abi::__cxa_demangle(symbol, nullptr, nullptr, &ignored);
  const std::string name = readable != nullptr ? readable : symbol;
  std::free(readable);
  sim::Call::named(name).enter();
  const std::string text = "cann_sim: " + name + " was called, and is not simulated" + hint(name);
  std::fprintf(stderr, "%s\n", text.c_str());
  throw std::runtime_error(text);
}
