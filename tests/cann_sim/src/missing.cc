// Where every generated stub ends: the call says its name and fails, it never returns a made-up value.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "call.h"

extern "C" void cann_sim_missing(const char *symbol) {
  int ignored = 0;
  char *readable = abi::__cxa_demangle(symbol, nullptr, nullptr, &ignored);
  const std::string name = readable != nullptr ? readable : symbol;
  std::free(readable);
  sim::Call::named(name).enter();
  const std::string text = "cann_sim: " + name + " was called, and is not simulated";
  std::fprintf(stderr, "%s\n", text.c_str());
  throw std::runtime_error(text);
}
