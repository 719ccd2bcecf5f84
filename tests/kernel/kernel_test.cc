// The kernel's own test program: every promise of api.h, on every path this machine has.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
//
//     g++ -std=c++17 -O2 -ffp-contract=off -pthread -o kernel_test
//         tests/kernel/kernel_test.cc mindspore_tanhbw/kernel/*.cc -ldl
//
// Prints one line per test and returns the number of those that failed. With words, only the tests that have one of
// them in their name run; with --all, those of values leave none out (16-bit types: some minutes, float32: half one).
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdarg>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "../../mindspore_tanhbw/kernel/api.h"
#include "guarded.h"
#include "reference.h"

#if defined(__SANITIZE_THREAD__)
#define TEST_UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TEST_UNDER_TSAN 1
#endif
#endif

// MindSpore's two inference functions, with its own types as far as the ABI knows them.
extern "C" {
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wreturn-type-c-linkage"
#endif
std::vector<int64_t> TanhBackwardInferShape(int *ndims, int64_t **shapes, void *extra);
int TanhBackwardInferType(std::vector<int> types, void *extra);
}

namespace {

constexpr int kDtypes = 4;
constexpr size_t kSize[kDtypes] = {2, 4, 8, 2};
constexpr const char *kName[kDtypes] = {"float16", "float32", "float64", "bfloat16"};

int failures = 0;             // of the test that runs
const char *skipped = nullptr;  // why it cannot run here

__attribute__((format(printf, 2, 3))) void Check(bool ok, const char *format, ...) {
  if (ok) return;
  if (++failures > 5) return;
  va_list args;
  va_start(args, format);
  std::fputs("    ", stdout);
  std::vprintf(format, args);
  std::fputc('\n', stdout);
  va_end(args);
}

std::vector<const char *> Paths() {
  std::vector<const char *> paths;
  for (const char *name : {"portable", "avx2", "avx512"}) {
    if (tanhbw_force_path(name) == 0) paths.push_back(name);
  }
  tanhbw_force_path(nullptr);
  return paths;
}

uint64_t Get(const char *buffer, int dtype, int64_t i) {
  uint64_t bits = 0;
  std::memcpy(&bits, buffer + static_cast<size_t>(i) * kSize[dtype], kSize[dtype]);  // little endian
  return bits;
}

void Put(char *buffer, int dtype, int64_t i, uint64_t bits) {
  std::memcpy(buffer + static_cast<size_t>(i) * kSize[dtype], &bits, kSize[dtype]);
}

// Any bit pattern, but in every second case numbers as they occur: gradients near 1, outputs within [-1, 1].
uint64_t RandomBits(int dtype, bool output, std::mt19937_64 *random) {
  const uint64_t raw = (*random)();
  if (raw >> 63) return raw & (~uint64_t{0} >> (64 - 8 * kSize[dtype]));
  const double unit = static_cast<double>(raw % 2000001) / 1000000 - 1;
  const double value = output ? std::tanh(9 * unit) : 3 * unit;
  switch (dtype) {
    case 0:
      return Float16::Encode(static_cast<float>(value));
    case 1:
      return Bits<uint32_t>(static_cast<float>(value));
    case 2:
      return Bits<uint64_t>(value);
    default:
      return BFloat16::Encode(static_cast<float>(value));
  }
}

// Large inputs repeat themselves after this many elements, a prime number: what is computed from them must, too.
constexpr int64_t kPeriod = 10007;

void Compare(int dtype, const char *g, const char *y, const char *out, int64_t n, const char *what) {
  if (n > kPeriod) {
    const size_t period = static_cast<size_t>(kPeriod) * kSize[dtype];
    Check(std::memcmp(out, out + period, static_cast<size_t>(n) * kSize[dtype] - period) == 0,
          "%s %s, %" PRId64 " elements: the result does not repeat itself", kName[dtype], what, n);
    n = kPeriod;
  }
  for (int64_t i = 0; i < n && failures < 6; ++i) {
    const uint64_t expected = ExpectBits(dtype, Get(g, dtype, i), Get(y, dtype, i));
    const uint64_t actual = Get(out, dtype, i);
    Check(actual == expected,
          "%s %s, element %" PRId64 " of %" PRId64 ": g %" PRIx64 " y %" PRIx64 " gives %" PRIx64 ", not %" PRIx64,
          kName[dtype], what, i, n, Get(g, dtype, i), Get(y, dtype, i), actual, expected);
  }
}

// One 16-bit input takes all 65536 values, the other a partner's.
void SixteenBit(int dtype, bool all) {
  const std::vector<uint16_t> some = {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x007f, 0x0080, 0x3c00, 0xbc00,
                                      0x3bff, 0x3bfe, 0x3f80, 0xbf80, 0x3f7f, 0x3f7e, 0x3555, 0xb555, 0x3eab, 0x7bff,
                                      0xfbff, 0x7c00, 0xfc00, 0x7c01, 0x7e00, 0xfe00, 0x7f7f, 0x7f80, 0xff80, 0x7f81,
                                      0x7fc0, 0xffff, 0x4248, 0x4049, 0x1400, 0x2000};
  constexpr int64_t n = 65536;
  std::vector<uint16_t> every(n), partner(n), out(n), expected(n);
  for (int64_t i = 0; i < n; ++i) every[static_cast<size_t>(i)] = static_cast<uint16_t>(i);
  const size_t partners = all ? 65536 : some.size();
  for (size_t k = 0; k < partners && failures == 0; ++k) {
    partner.assign(n, all ? static_cast<uint16_t>(k) : some[k]);
    for (int swapped = 0; swapped < (all ? 1 : 2); ++swapped) {
      const auto &g = swapped ? partner : every, &y = swapped ? every : partner;
      for (size_t i = 0; i < n; ++i) expected[i] = static_cast<uint16_t>(ExpectBits(dtype, g[i], y[i]));
      for (const char *path : Paths()) {
        tanhbw_force_path(path);
        out.assign(n, 0xabcd);
        Check(tanhbw_backward(dtype, g.data(), y.data(), out.data(), n) == 0, "status");
        if (out == expected) continue;
        for (size_t i = 0; i < n; ++i) {
          Check(out[i] == expected[i], "%s %s: g %x y %x gives %x, not %x", kName[dtype], path, g[i], y[i], out[i],
                expected[i]);
        }
      }
    }
  }
}

// Every pair from a list of values that are special in some way.
template <class T, class U>
void Classes(int dtype, int fraction_bits) {
  std::vector<T> values;
  const T least = std::numeric_limits<T>::denorm_min(), normal = std::numeric_limits<T>::min();
  const T most = std::numeric_limits<T>::max(), eps = std::numeric_limits<T>::epsilon();
  for (T v : {T(0), least, 3 * least, normal - least, normal, normal + least, std::sqrt(normal), std::sqrt(eps), eps,
              eps / 2, T(1) / 3, T(0.5), T(0.70710678118654752440), 1 - eps, 1 - eps / 2, T(1), 1 + eps, T(1.0000098),
              T(2), T(3.25), std::sqrt(most), most / 2, most, std::numeric_limits<T>::infinity()}) {
    values.push_back(v);
    values.push_back(-v);
  }
  const U quiet = Bits<U>(std::numeric_limits<T>::infinity()) | U{1} << (fraction_bits - 1);
  const U signalling = Bits<U>(std::numeric_limits<T>::infinity()) | U{5};
  for (U nan : {quiet, static_cast<U>(quiet | U{77}), signalling}) {
    values.push_back(Bits<T>(nan));
    values.push_back(Bits<T>(static_cast<U>(nan | U{1} << (8 * sizeof(U) - 1))));
  }
  std::vector<T> g, y;
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = 0; j < values.size(); ++j) {
      g.push_back(values[i]);
      y.push_back(values[j]);
    }
  }
  std::vector<T> out(g.size());
  for (const char *path : Paths()) {
    tanhbw_force_path(path);
    Check(tanhbw_backward(dtype, g.data(), y.data(), out.data(), static_cast<int64_t>(g.size())) == 0, "status");
    Compare(dtype, reinterpret_cast<char *>(g.data()), reinterpret_cast<char *>(y.data()),
            reinterpret_cast<char *>(out.data()), static_cast<int64_t>(g.size()), path);
  }
}

// The one step of float32 in which the paths differ, for outputs over all bit patterns.
void WholeRange(bool all) {
  constexpr size_t n = 1 << 16;
  const uint64_t step = all ? 1 : 509;
  std::vector<float> g(n, 1), y(n), out(n), expected(n);
  for (uint64_t bits = 0; bits < uint64_t{1} << 32 && failures == 0;) {
    for (size_t i = 0; i < n; ++i, bits += step) {
      y[i] = Bits<float>(static_cast<uint32_t>(bits));
      expected[i] = Expect(g[i], y[i]);
    }
    for (const char *path : Paths()) {
      tanhbw_force_path(path);
      tanhbw_backward(kTanhbwFloat32, g.data(), y.data(), out.data(), n);
      if (std::memcmp(out.data(), expected.data(), n * sizeof(float)) == 0) continue;
      for (size_t i = 0; i < n; ++i) {
        Check(std::memcmp(&out[i], &expected[i], sizeof(float)) == 0, "%s: 1 - %a^2 gives %a, not %a", path,
              static_cast<double>(y[i]), static_cast<double>(out[i]), static_cast<double>(expected[i]));
      }
    }
  }
}

// Distance from the same formula in a wider type, in units of the last place.
template <class T, class Wide>
void Ulps(int dtype, double most_allowed) {
  std::mt19937_64 random(5);
  std::vector<T> g(1 << 20), y(g.size()), out(g.size());
  for (size_t i = 0; i < g.size(); ++i) {
    g[i] = static_cast<T>(static_cast<double>(random() % 2000001) / 1000000 - 1);
    y[i] = static_cast<T>(std::tanh(static_cast<double>(random() % 2000001) / 100000 - 10));
  }
  tanhbw_backward(dtype, g.data(), y.data(), out.data(), static_cast<int64_t>(g.size()));
  for (size_t i = 0; i < g.size(); ++i) {
    const Wide wide = static_cast<Wide>(g[i]) * (1 - static_cast<Wide>(y[i]) * static_cast<Wide>(y[i]));
    const T rounded = static_cast<T>(wide);
    const T place = std::nextafter(std::fabs(rounded), std::numeric_limits<T>::infinity()) - std::fabs(rounded);
    const double ulps = std::fabs(static_cast<double>((out[i] - rounded) / place));
    Check(ulps <= most_allowed, "%s: %a * (1 - %a^2) is %g ULP off", kName[dtype], static_cast<double>(g[i]),
          static_cast<double>(y[i]), ulps);
  }
}

struct Inputs {
  Guarded g, y, out;
  Inputs(int dtype, int64_t n, size_t offset, bool at_start)
      : g(Bytes(dtype, n, 3 * offset), at_start),
        y(Bytes(dtype, n, 2 * offset), at_start),
        out(Bytes(dtype, n, offset), at_start) {
    std::mt19937_64 random(static_cast<uint64_t>(n) + 1);
    for (int64_t i = 0; i < n; ++i) {
      Put(g.data(), dtype, i, i < kPeriod ? RandomBits(dtype, false, &random) : Get(g.data(), dtype, i - kPeriod));
      Put(y.data(), dtype, i, i < kPeriod ? RandomBits(dtype, true, &random) : Get(y.data(), dtype, i - kPeriod));
    }
  }
  // The offset spoils the alignment that the page's end would give, in each buffer otherwise.
  static size_t Bytes(int dtype, int64_t n, size_t offset) { return static_cast<size_t>(n) * kSize[dtype] + offset; }
};

void SmallSizes() {
  for (int dtype = 0; dtype < kDtypes; ++dtype) {
    for (int64_t n = 0; n <= 130; ++n) {
      for (size_t offset : {size_t{0}, size_t{1}, kSize[dtype], size_t{13}}) {
        for (bool at_start : {false, true}) {
          const Inputs in(dtype, n, offset, at_start);
          for (const char *path : Paths()) {
            tanhbw_force_path(path);
            char *const out = in.out.data();
            std::memset(out, 0x5a, static_cast<size_t>(n) * kSize[dtype] + offset);
            Check(tanhbw_backward(dtype, in.g.data(), in.y.data(), out, n) == 0, "status");
            Compare(dtype, in.g.data(), in.y.data(), out, n, path);
            for (size_t i = 0; i < offset; ++i) {
              Check(out[static_cast<size_t>(n) * kSize[dtype] + i] == 0x5a, "%s wrote past %" PRId64, kName[dtype], n);
            }
          }
        }
      }
    }
  }
}

// Around the sizes from which on threads and streaming stores are used, every number of threads gives the same bits.
void LargeSizes() {
  for (int dtype = 0; dtype < kDtypes; ++dtype) {
    for (int64_t bytes : {int64_t{256} << 10, int64_t{2} << 20, int64_t{12} << 20}) {
      for (int64_t more : {-1, 0, 1, 77}) {
        const int64_t n = bytes / static_cast<int64_t>(kSize[dtype]) + more;
        const size_t offset = more == 77 ? 1 : 0;
        const Inputs in(dtype, n, offset, false);
        const size_t size = static_cast<size_t>(n) * kSize[dtype];
        std::vector<char> first;
        for (const char *path : Paths()) {
          tanhbw_force_path(path);
          for (int threads : {1, 2, 7}) {
            tanhbw_set_num_threads(threads);
            std::memset(in.out.data(), 0x5a, size);
            Check(tanhbw_backward(dtype, in.g.data(), in.y.data(), in.out.data(), n) == 0, "status");
            if (first.empty()) {
              first.assign(in.out.data(), in.out.data() + size);
              Compare(dtype, in.g.data(), in.y.data(), in.out.data(), n, path);
            }
            Check(std::memcmp(first.data(), in.out.data(), size) == 0,
                  "%s: other bits with %s and %d threads, n %" PRId64, kName[dtype], path, threads, n);
          }
        }
      }
    }
  }
}

void InPlace() {
  for (int dtype = 0; dtype < kDtypes; ++dtype) {
    for (int64_t n : {int64_t{131}, (int64_t{12} << 20) / static_cast<int64_t>(kSize[dtype]) + 77}) {
      const Inputs in(dtype, n, 0, false);
      const size_t size = static_cast<size_t>(n) * kSize[dtype];
      tanhbw_backward(dtype, in.g.data(), in.y.data(), in.out.data(), n);
      for (const char *path : Paths()) {
        tanhbw_force_path(path);
        for (char *input : {in.g.data(), in.y.data()}) {
          const std::vector<char> saved(input, input + size);
          tanhbw_backward(dtype, in.g.data(), in.y.data(), input, n);
          Check(std::memcmp(input, in.out.data(), size) == 0, "%s in place with %s, n %" PRId64, kName[dtype], path, n);
          std::memcpy(input, saved.data(), size);
        }
      }
    }
  }
}

void Errors() {
  float g[4] = {1, 2, 3, 4}, y[4] = {0.1f, 0.2f, 0.3f, 0.4f}, out[4] = {7, 7, 7, 7};
  const int64_t before = tanhbw_launch_count();
  Check(tanhbw_backward(-1, g, y, out, 4) == kTanhbwInvalidParam, "dtype -1");
  Check(tanhbw_backward(4, g, y, out, 4) == kTanhbwInvalidParam, "dtype 4");
  Check(tanhbw_backward(1, g, y, out, -1) == kTanhbwInvalidParam, "n -1");
  Check(tanhbw_backward(1, g, y, out, INT64_MAX / 2) == kTanhbwInvalidParam, "more bytes than there are");
  Check(tanhbw_backward(1, nullptr, y, out, 4) == kTanhbwNullPointer, "no grad_output");
  Check(tanhbw_backward(1, g, nullptr, out, 4) == kTanhbwNullPointer, "no output");
  Check(tanhbw_backward(1, g, y, nullptr, 4) == kTanhbwNullPointer, "no grad_input");

  void *params[3] = {g, y, out};
  int ndims[3] = {2, 2, 2};
  int64_t a[2] = {2, 2}, b[2] = {4, 1}, c[2] = {2, -2}, d[2] = {INT64_MAX, 3};
  int64_t *shapes[3] = {a, a, a};
  const char *dtypes[3] = {"float32", "float32", "float32"};
  const auto call = [&](int nparam) { return TanhBackward(nparam, params, ndims, shapes, dtypes, nullptr, nullptr); };
  for (int nparam : {-1, 0, 1, 2, 4, 5}) Check(call(nparam) == kTanhbwInvalidParam, "%d parameters", nparam);
  for (int i = 0; i < 3; ++i) {
    for (const char *name : {"float64", "float16", "bfloat16", "int32", "float", "float3", "float323", "Float32", ""}) {
      dtypes[i] = name;
      Check(call(3) == kTanhbwInvalidParam, "parameter %d of dtype %s", i, name);
    }
    dtypes[i] = nullptr;
    Check(call(3) != 0, "parameter %d without dtype", i);
    dtypes[i] = "float32";
    for (int64_t *shape : {b, c, d}) {
      shapes[i] = shape;
      Check(call(3) == kTanhbwInvalidParam, "parameter %d of another shape", i);
    }
    shapes[i] = nullptr;
    Check(call(3) != 0, "parameter %d without shape", i);
    shapes[i] = a;
    for (int ndim : {-1, 1}) {
      ndims[i] = ndim;
      Check(call(3) == kTanhbwInvalidParam, "parameter %d of another rank", i);
    }
    ndims[i] = 2;
    void *const saved = params[i];
    params[i] = nullptr;
    Check(call(3) == kTanhbwNullPointer, "parameter %d null", i);
    params[i] = saved;
  }
  for (const char *&name : dtypes) name = "int32";
  Check(call(3) == kTanhbwInvalidParam, "all of an unknown dtype");
  for (const char *&name : dtypes) name = "float32";
  for (int64_t *&shape : shapes) shape = d;
  Check(call(3) == kTanhbwInvalidParam, "a product of dimensions that overflows");
  for (int64_t *&shape : shapes) shape = a;
  Check(TanhBackward(3, nullptr, ndims, shapes, dtypes, nullptr, nullptr) == kTanhbwNullPointer, "no params");
  Check(TanhBackward(3, params, nullptr, shapes, dtypes, nullptr, nullptr) == kTanhbwNullPointer, "no ndims");
  Check(TanhBackward(3, params, ndims, nullptr, dtypes, nullptr, nullptr) == kTanhbwNullPointer, "no shapes");
  Check(TanhBackward(3, params, ndims, shapes, nullptr, nullptr, nullptr) == kTanhbwNullPointer, "no dtypes");
  for (float v : out) Check(v == 7, "an error wrote to the output");
  Check(tanhbw_launch_count() == before, "an error counted as a launch");

  Check(tanhbw_force_path("sse9") != 0 && tanhbw_force_path("") != 0, "an unknown path was taken");
  Check(call(3) == 0 && out[1] == 2 * std::fma(-0.2f, 0.2f, 1.0f), "the next call works");
}

void MindSporeEntry() {
  float g = 3, y = 0.5f, out = 0;
  void *params[3] = {&g, &y, &out};
  int ndims[3] = {0, 0, 0};
  int64_t *shapes[3] = {nullptr, nullptr, nullptr};
  const char *dtypes[3] = {"float32", "float32", "float32"};
  const int64_t before = tanhbw_launch_count();
  Check(TanhBackward(3, params, ndims, shapes, dtypes, nullptr, nullptr) == 0 && out == 2.25f, "a scalar gave %g",
        static_cast<double>(out));
  int64_t empty[3] = {2, 0, 3};
  for (int i = 0; i < 3; ++i) {
    params[i] = nullptr;
    ndims[i] = 3;
    shapes[i] = empty;
  }
  Check(TanhBackward(3, params, ndims, shapes, dtypes, nullptr, nullptr) == 0, "an empty tensor");
  Check(tanhbw_launch_count() == before + 2, "the count");
}

void Inference() {
  int64_t a[3] = {2, 3, 4}, b[3] = {2, -1, 4}, c[3] = {2, 3, 5}, any[1] = {-2};
  const auto infer = [](int rank_g, int64_t *g, int rank_y, int64_t *y) {
    int ndims[2] = {rank_g, rank_y};
    int64_t *shapes[2] = {g, y};
    return TanhBackwardInferShape(ndims, shapes, nullptr);
  };
  const auto raises = [](const std::function<void()> &call) {
    try {
      call();
    } catch (const std::exception &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::vector<int64_t> whole(a, a + 3), open(b, b + 3);
  Check(infer(3, a, 3, a) == whole, "equal shapes");
  Check(infer(3, a, 3, b) == whole && infer(3, b, 3, a) == whole && infer(3, b, 3, b) == open, "an unknown dimension");
  Check(infer(1, any, 3, a) == whole && infer(3, a, 1, any) == whole, "an unknown rank");
  Check(infer(1, any, 1, any) == std::vector<int64_t>{-2}, "both ranks unknown");
  Check(infer(0, nullptr, 0, nullptr).empty(), "scalars");
  const std::string shapes = raises([&] { infer(3, a, 3, c); });
  Check(shapes.find("(2, 3, 4)") != std::string::npos && shapes.find("(2, 3, 5)") != std::string::npos &&
            shapes.find("161002") != std::string::npos,
        "unequal shapes: '%s'", shapes.c_str());
  Check(raises([&] { infer(2, a, 3, a); }).find("(2, 3) and (2, 3, 4)") != std::string::npos, "unequal ranks");
  std::vector<int64_t> wide(200, 1234567890123456789);
  Check(!raises([&] { infer(200, wide.data(), 3, a); }).empty(), "a message longer than its buffer");
  Check(TanhBackwardInferType({43, 43}, nullptr) == 43, "equal dtypes");
  Check(!raises([] { TanhBackwardInferType({43, 44}, nullptr); }).empty(), "mixed dtypes");
  Check(!raises([] { TanhBackwardInferType({43}, nullptr); }).empty(), "one input");
}

void Concurrency() {
  constexpr int kThreads = 6, kCalls = 40, kShortCalls = 200000;
  const int64_t before = tanhbw_launch_count();
  const Inputs in(1, 200000, 0, false);
  tanhbw_set_num_threads(3);
  tanhbw_backward(1, in.g.data(), in.y.data(), in.out.data(), 200000);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::vector<char> out(4 * 200000);
      for (int i = 0; i < kCalls; ++i) {
        const int64_t n = i % 2 ? 200000 : 100 + t;
        if (tanhbw_backward(1, in.g.data(), in.y.data(), out.data(), n) != 0) ++wrong;
        if (std::memcmp(out.data(), in.out.data(), static_cast<size_t>(4 * n)) != 0) ++wrong;
        if (tanhbw_backward(9, in.g.data(), in.y.data(), out.data(), n) == 0) ++wrong;
        tanhbw_set_num_threads(1 + (i + t) % 5);
      }
      for (int i = 0; i < kShortCalls; ++i) tanhbw_backward(1, in.g.data(), in.y.data(), out.data(), 1);
    });
  }
  for (std::thread &thread : threads) thread.join();
  Check(wrong == 0, "%d wrong results", wrong.load());
  constexpr int kAll = 1 + kThreads * (kCalls + kShortCalls);
  Check(tanhbw_launch_count() - before == kAll, "%" PRId64 " launches counted, not %d",
        tanhbw_launch_count() - before, kAll);
}

bool LargeCallIsRight() {
  const int64_t n = 1 << 20;
  std::vector<float> g(n, 2), y(n, 0.5f), out(n);
  const int status = tanhbw_backward(1, g.data(), y.data(), out.data(), n);
  for (float v : out) {
    if (v != 1.5f) return false;
  }
  return status == 0;
}

void Fork() {
#if defined(TEST_UNDER_TSAN)
  skipped = "ThreadSanitizer does not follow forks";
#else
  const int64_t n = 1 << 20;
  const Inputs in(1, n, 0, false);
  tanhbw_set_num_threads(4);
  for (int round = 0; round < 20 && failures == 0; ++round) {
    Check(LargeCallIsRight(), "before the fork");
    // A second thread and its helpers are somewhere in a call while this one forks.
    std::atomic<bool> stop{false};
    std::atomic<int> calls{0};
    std::thread other([&] {
      for (; !stop; ++calls) tanhbw_backward(1, in.g.data(), in.y.data(), in.out.data(), n);
    });
    while (calls < 2) std::this_thread::yield();
    usleep(static_cast<useconds_t>(37 * round));
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      _exit(LargeCallIsRight() && LargeCallIsRight() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    stop = true;
    other.join();
    Check(status == 0, "the child ended with status %d", status);
  }
#endif
}

std::atomic<bool> refuse_threads{false};

void NoThreads() {
#if defined(TEST_UNDER_TSAN)
  skipped = "ThreadSanitizer has its own pthread_create";
#else
  // In a fresh process, because this one has its helpers already.
  tanhbw_set_num_threads(4);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    refuse_threads = true;
    _exit(LargeCallIsRight() && LargeCallIsRight() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  Check(status == 0, "the child ended with status %d", status);
#endif
}

// The mode of the processor's floating-point arithmetic: subnormals flushed to zero, results rounded up.
#if defined(__x86_64__)
constexpr unsigned kOddMode = 0xc040;
unsigned GetMode() { return __builtin_ia32_stmxcsr(); }
void SetMode(unsigned mode) { __builtin_ia32_ldmxcsr(mode); }
#elif defined(__aarch64__)
constexpr unsigned kOddMode = 1 << 24 | 1 << 22;
unsigned GetMode() {
  uint64_t mode;
  __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
  return static_cast<unsigned>(mode);
}
void SetMode(unsigned mode) { __asm__ volatile("msr fpcr, %0" : : "r"(uint64_t{mode}) : "memory"); }
#endif

void OddFloatMode() {
  const unsigned saved = GetMode(), odd = saved | kOddMode;
  tanhbw_set_num_threads(3);
  for (int dtype = 0; dtype < kDtypes; ++dtype) {
    for (int64_t n : {int64_t{100}, int64_t{300000}}) {
      const Inputs in(dtype, n, 0, false);
      SetMode(odd);
      tanhbw_backward(dtype, in.g.data(), in.y.data(), in.out.data(), n);
      const unsigned after = GetMode();
      SetMode(saved);
      Check((after & kOddMode) == kOddMode, "the caller's mode was changed");
      Compare(dtype, in.g.data(), in.y.data(), in.out.data(), n, "in another mode");
    }
  }
}

void Settings() {
  tanhbw_set_num_threads(3);
  Check(tanhbw_num_threads() == 3, "3 threads");
  tanhbw_set_num_threads(1000000);
  Check(tanhbw_num_threads() >= 8 && LargeCallIsRight(), "too many threads");
  for (int n : {0, -5}) {
    tanhbw_set_num_threads(n);
    Check(tanhbw_num_threads() >= 1, "the default");
  }
  for (const char *path : Paths()) {
    Check(tanhbw_force_path(path) == 0 && std::string(tanhbw_path()) == path, "forcing %s", path);
  }
  tanhbw_force_path(nullptr);
  Check(std::string(tanhbw_path()) == Paths().back(), "the widest path is the default");
}

}  // namespace

#if !defined(TEST_UNDER_TSAN)
extern "C" int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg) {
  if (refuse_threads) return EAGAIN;
  using Create = int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  static const Create create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return create(thread, attr, start, arg);
}
#endif

int main(int argc, char **argv) {
  const bool all = argc > 1 && std::strcmp(argv[1], "--all") == 0;
  const std::vector<std::string> words(argv + (all ? 2 : 1), argv + argc);
  const auto chosen = [&](const std::string &name) {
    bool found = words.empty();
    for (const std::string &word : words) found = found || name.find(word) != std::string::npos;
    return found;
  };
  const struct {
    const char *name;
    std::function<void()> run;
  } tests[] = {
      {"float16, all bit patterns", [&] { SixteenBit(kTanhbwFloat16, all); }},
      {"bfloat16, all bit patterns", [&] { SixteenBit(kTanhbwBFloat16, all); }},
      {"float32, classes of values", [] { Classes<float, uint32_t>(kTanhbwFloat32, 23); }},
      {"float64, classes of values", [] { Classes<double, uint64_t>(kTanhbwFloat64, 52); }},
      {"float32, outputs over the whole range", [&] { WholeRange(all); }},
      {"float32 within 1 ULP of double", [] { Ulps<float, double>(kTanhbwFloat32, 1); }},
      {"sizes 0 to 130, unaligned, between guard pages", SmallSizes},
      {"large sizes, every path and thread count, same bits", LargeSizes},
      {"in place", InPlace},
      {"errors write nothing", Errors},
      {"MindSpore's entry", MindSporeEntry},
      {"shape and type inference", Inference},
      {"calls from several threads, counted", Concurrency},
      {"fork after use", Fork},
      {"no threads to be had", NoThreads},
      {"a caller that flushes subnormals and rounds up", OddFloatMode},
      {"settings", Settings},
  };
  std::printf("paths:");
  for (const char *path : Paths()) std::printf(" %s", path);
  std::puts("");
  int failed = 0;
  for (const auto &test : tests) {
    if (!chosen(test.name)) continue;
    tanhbw_force_path(nullptr);
    tanhbw_set_num_threads(0);
    failures = 0;
    skipped = nullptr;
    test.run();
    if (skipped != nullptr) {
      std::printf("skipped  %s: %s\n", test.name, skipped);
    } else {
      std::printf("%s  %s\n", failures == 0 ? "ok    " : "FAILED", test.name);
    }
    std::fflush(stdout);
    failed += failures > 0;
  }
  return failed;
}
