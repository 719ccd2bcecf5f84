// Writing of trace lines (--trace FILE).
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#include "trace.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace sim {
namespace {

int trace_file() {
  static const int file = [] {
    const char *path = std::getenv("CANN_SIM_TRACE");
    if (path == nullptr || *path == '\0') return -1;
    const int opened = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (opened < 0) {
      std::fprintf(stderr, "cann_sim: cannot open the trace file %s: %s\n", path, std::strerror(errno));
      std::_Exit(2);
    }
    return opened;
  }();
  return file;
}

std::string quoted(const std::string &value) {
  std::string out = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", c);
      out += escape;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace

bool tracing() { return trace_file() >= 0; }

TraceLine::TraceLine(const std::string &call) : line_("{\"call\": " + quoted(call)) {}

TraceLine &TraceLine::number(const char *key, long long value) { return raw(key, std::to_string(value)); }

TraceLine &TraceLine::text(const char *key, const std::string &value) { return raw(key, quoted(value)); }

TraceLine &TraceLine::raw(const char *key, const std::string &json) {
  line_ += std::string(", \"") + key + "\": " + json;
  return *this;
}

void TraceLine::write() {
  line_ += "}\n";
  if (::write(trace_file(), line_.data(), line_.size()) != static_cast<ssize_t>(line_.size())) {
    std::fprintf(stderr, "cann_sim: the trace line could not be written whole: %s\n", std::strerror(errno));
    std::_Exit(2);
  }
}

std::string code_address(void *address) {
  Dl_info info;
  char text[32];
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) {
    std::snprintf(text, sizeof text, "?+%p", address);
    return text;
  }
  const char *slash = std::strrchr(info.dli_fname, '/');
  std::snprintf(text, sizeof text, "+0x%zx",
                static_cast<size_t>(static_cast<char *>(address) - static_cast<char *>(info.dli_fbase)));
  return std::string(slash ? slash + 1 : info.dli_fname) + text;
}

}  // namespace sim
