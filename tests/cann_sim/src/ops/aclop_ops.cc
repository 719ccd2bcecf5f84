// The operators of the older route that nn.Dense, losses and optimizers use.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/aclop.h"
#include "ops/reduce.h"
#include "ops/shapes.h"
#include "ops/slice.h"

namespace sim {
namespace {

// out[0] = f(in...), element by element.
template <size_t N, class F>
void map(const AclopCall &call, F f, Compute at_least = Compute::kInteger) {
  Tensors tensors(call.in.begin(), call.in.begin() + N);
  tensors.push_back(call.out[0]);
  elementwise<N>(f, at_least)(tensors);
}

void copy(const AclopCall &call, size_t from) {
  elementwise<1>([](auto x) { return x; })({call.in[from], call.out[0]});
}

void elu(const AclopCall &call) {
  const double alpha = call.real("alpha", 1);
  map<1>(call, [alpha](auto x) { return x > 0 ? x : decltype(x)(alpha * std::expm1(x)); }, Compute::kFloat);
}

// dy, y
void elu_grad(const AclopCall &call) {
  map<2>(call, [](auto dy, auto y) { return y > 0 ? dy : dy * (y + 1); }, Compute::kFloat);
}

// The bias, or its gradient, belongs to the second axis, with data_format NHWC to the last.
size_t channel_axis(const AclopCall &call, const Shape &shape) {
  auto it = call.attributes.find("data_format");
  const bool last = it != call.attributes.end() && it->second.text == "NHWC";
  return last || shape.size() <= 2 ? shape.size() - 1 : 1;
}

void bias_add(const AclopCall &call) {
  Tensor bias = call.in[1];
  const size_t axis = channel_axis(call, call.in[0].shape);
  bias.shape.assign(call.in[0].shape.size() - axis, 1);
  bias.shape[0] = call.in[1].shape[0];
  bias.strides.assign(bias.shape.size(), 0);
  bias.strides[0] = call.in[1].strides[0];
  elementwise<2>([](auto x, auto b) { return x + b; })({call.in[0], bias, call.out[0]});
}

void bias_add_grad(const AclopCall &call) {
  std::vector<int64_t> axes;
  const size_t channel = channel_axis(call, call.in[0].shape);
  for (size_t i = 0; i < call.in[0].shape.size(); ++i) {
    if (i != channel) axes.push_back(static_cast<int64_t>(i));
  }
  sum_or_mean(call.in[0], axes, false, call.out[0]);
}

// The axes are an input, or in the D variants an attribute.
std::vector<int64_t> axes_of(const AclopCall &call) {
  if (call.in.size() > 1) return read<int64_t>(call.in[1]);
  auto it = call.attributes.find("axes");
  return it == call.attributes.end() ? std::vector<int64_t>{} : it->second.integers;
}

void softmax_cross_entropy(const AclopCall &call, const std::vector<double> &labels) {
  const Tensor &logits = call.in[0];
  auto x = read<double>(logits);
  const Lines lines(logits.shape, -1);
  std::vector<double> losses, gradient(x.size());
  lines.each([&](int64_t start, int64_t step) {
    double highest = x[start], sum = 0, loss = 0;
    for (int64_t k = 0; k < lines.length; ++k) highest = std::max(highest, x[start + k * step]);
    for (int64_t k = 0; k < lines.length; ++k) sum += std::exp(x[start + k * step] - highest);
    for (int64_t k = 0; k < lines.length; ++k) {
      const int64_t at = start + k * step;
      loss -= labels[at] * (x[at] - highest - std::log(sum));
      gradient[at] = std::exp(x[at] - highest) / sum - labels[at];
    }
    losses.push_back(loss);
  });
  write(call.out[0], losses);
  write(call.out[1], gradient);
}

void dense_cross_entropy(const AclopCall &call) {
  softmax_cross_entropy(call, read<double>(broadcast_to(call.in[1], call.in[0].shape)));
}

void sparse_cross_entropy(const AclopCall &call) {
  const Lines lines(call.in[0].shape, -1);
  const auto labels = read<int64_t>(call.in[1]);
  std::vector<double> one_hot(call.in[0].count(), 0.0);
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || labels[i] >= lines.length) throw std::runtime_error("a label is out of range");
    one_hot[i * lines.length + labels[i]] = 1;
  }
  softmax_cross_entropy(call, one_hot);
}

void add_n(const AclopCall &call) {
  with_compute(compute_of(call.in, call.in.size()), [&](auto example) {
    using C = decltype(example);
    std::vector<C> sum(call.out[0].count(), C(0));
    for (const Tensor &one : call.in) {
      const auto values = read<C>(broadcast_to(one, call.out[0].shape));
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
    }
    write(call.out[0], sum);
  });
}

// indices, depth, value where an index points, value elsewhere
void one_hot(const AclopCall &call) {
  auto axis = call.attributes.find("axis");
  const Lines lines(call.out[0].shape, axis == call.attributes.end() ? -1 : axis->second.integer);
  const auto labels = read<int64_t>(call.in[0]);
  const double on = read<double>(call.in[2]).at(0), off = read<double>(call.in[3]).at(0);
  std::vector<double> result(call.out[0].count(), off);
  size_t i = 0;
  lines.each([&](int64_t start, int64_t step) {
    const int64_t label = labels.at(i++);
    if (label >= 0 && label < lines.length) result[start + label * step] = on;
  });
  write(call.out[0], result);
}

// x, axis; the first of equal ones
void arg_max(const AclopCall &call) {
  const auto x = read<double>(call.in[0]);
  const Lines lines(call.in[0].shape, read<int64_t>(call.in[1]).at(0));
  std::vector<int64_t> places;
  lines.each([&](int64_t start, int64_t step) {
    int64_t best = 0;
    for (int64_t k = 1; k < lines.length; ++k) {
      if (x[start + k * step] > x[start + best * step]) best = k;
    }
    places.push_back(best);
  });
  write(call.out[0], places);
}

int64_t integer_of(const AclopCall &call, const char *name, int64_t otherwise) {
  auto it = call.attributes.find(name);
  return it == call.attributes.end() ? otherwise : it->second.integer;
}

// Copies a piece to or from its place along an axis of the whole, and returns where the next piece begins.
int64_t piece_end(Tensor *piece_of_whole, const Tensor &whole, int64_t axis, int64_t begin, int64_t length) {
  *piece_of_whole = whole;
  piece_of_whole->shape[axis] = length;
  piece_of_whole->offset += begin * whole.strides[axis];
  return begin + length;
}

// All inputs stacked along a new axis.
void pack(const AclopCall &call) {
  const Tensor &whole = call.out[0];
  int64_t axis = integer_of(call, "axis", 0), begin = 0;
  if (axis < 0) axis += static_cast<int64_t>(whole.shape.size());
  for (const Tensor &in : call.in) {
    Tensor piece, thick = in;
    begin = piece_end(&piece, whole, axis, begin, 1);
    thick.shape.insert(thick.shape.begin() + axis, 1);
    thick.strides.insert(thick.strides.begin() + axis, 0);
    elementwise<1>([](auto x) { return x; })({thick, piece});
  }
}

// axis, x; as many equal pieces as there are outputs
void split(const AclopCall &call) {
  const Tensor &whole = call.in[1];
  int64_t axis = read<int64_t>(call.in[0]).at(0), begin = 0;
  if (axis < 0) axis += static_cast<int64_t>(whole.shape.size());
  for (const Tensor &out : call.out) {
    Tensor piece;
    begin = piece_end(&piece, whole, axis, begin, out.shape.at(axis));
    elementwise<1>([](auto x) { return x; })({piece, out});
  }
}

// One output per element along the axis, which goes.
void unpack(const AclopCall &call) {
  int64_t axis = integer_of(call, "axis", 0), begin = 0;
  if (axis < 0) axis += static_cast<int64_t>(call.in[0].shape.size());
  for (const Tensor &out : call.out) {
    Tensor piece;
    begin = piece_end(&piece, call.in[0], axis, begin, 1);
    piece.shape.erase(piece.shape.begin() + axis);
    piece.strides.erase(piece.strides.begin() + axis);
    elementwise<1>([](auto x) { return x; })({piece, out});
  }
}

// x, segment of each of its first rows, number of segments
void segment_sum(const AclopCall &call) {
  const auto x = read<double>(call.in[0]);
  const auto segments = read<int64_t>(call.in[1]);
  std::vector<double> sums(call.out[0].count(), 0.0);
  const size_t inner = segments.empty() ? 0 : x.size() / segments.size();
  for (size_t i = 0; i < segments.size(); ++i) {
    if (segments[i] < 0) continue;  // belongs nowhere
    for (size_t k = 0; k < inner; ++k) sums.at(segments[i] * inner + k) += x[i * inner + k];
  }
  write(call.out[0], sums);
}

// x, indices, axis: rows along the axis
void gather(const AclopCall &call) {
  if (integer_of(call, "batch_dims", 0) != 0) throw std::runtime_error("GatherV2 with batch_dims is not simulated");
  const auto places = read<int64_t>(call.in[1]);
  int64_t axis = read<int64_t>(call.in[2]).at(0);
  const Lines lines(call.in[0].shape, axis);
  const auto count = static_cast<int64_t>(places.size());
  with_compute(compute_of(call.in[0].dtype), [&](auto example) {
    using C = decltype(example);
    const auto x = read<C>(call.in[0]);
    std::vector<C> result(call.out[0].count());
    for (int64_t o = 0; o < lines.outer; ++o) {
      for (int64_t k = 0; k < count; ++k) {
        const int64_t place = places[k] < 0 ? places[k] + lines.length : places[k];
        if (place < 0 || place >= lines.length) throw std::runtime_error("an index is out of range");
        for (int64_t i = 0; i < lines.inner; ++i) {
          result.at((o * count + k) * lines.inner + i) = x[(o * lines.length + place) * lines.inner + i];
        }
      }
    }
    write(call.out[0], result);
  });
}

// One element of an input that holds a scalar.
double scalar_of(const Tensor &tensor) { return read<double>(tensor).at(0); }

// parameters, gradient, learning rate, accumulator, momentum, stat (1 until the first step has been done)
void sgd(const AclopCall &call) {
  auto p = read<float>(call.in[0]), g = read<float>(call.in[1]), velocity = read<float>(call.in[3]),
       stat = read<float>(call.in[5]);
  const auto rate = static_cast<float>(scalar_of(call.in[2])), momentum = static_cast<float>(scalar_of(call.in[4]));
  const auto decay = static_cast<float>(call.real("weight_decay", 0));
  const auto dampening = static_cast<float>(call.real("dampening", 0));
  const bool nesterov = call.flag("nesterov");
  for (size_t i = 0; i < p.size(); ++i) {
    float step = g[i] + decay * p[i];
    if (momentum != 0) {
      velocity[i] = stat[i] > 0 ? step : velocity[i] * momentum + (1 - dampening) * step;
      step = nesterov ? step + velocity[i] * momentum : velocity[i];
      stat[i] = 0;
    }
    p[i] -= rate * step;
  }
  write(call.in[3], velocity);
  write(call.in[5], stat);
  write(call.in[0], p);
  write(call.out[0], p);
}

// var, accum, lr, grad, momentum
void momentum(const AclopCall &call) {
  auto p = read<float>(call.in[0]), velocity = read<float>(call.in[1]), g = read<float>(call.in[3]);
  const auto rate = static_cast<float>(scalar_of(call.in[2])), factor = static_cast<float>(scalar_of(call.in[4]));
  const bool nesterov = call.flag("use_nesterov");
  for (size_t i = 0; i < p.size(); ++i) {
    velocity[i] = velocity[i] * factor + g[i];
    p[i] -= nesterov ? rate * (g[i] + factor * velocity[i]) : rate * velocity[i];
  }
  write(call.in[1], velocity);
  write(call.in[0], p);
  write(call.out[0], p);
  if (call.out.size() > 1) write(call.out[1], velocity);
}

// var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad
void adam(const AclopCall &call) {
  auto p = read<float>(call.in[0]), m = read<float>(call.in[1]), v = read<float>(call.in[2]), g = read<float>(call.in[9]);
  const double rate = scalar_of(call.in[5]) * std::sqrt(1 - scalar_of(call.in[4])) / (1 - scalar_of(call.in[3]));
  const auto scaled = static_cast<float>(rate), beta1 = static_cast<float>(scalar_of(call.in[6])),
             beta2 = static_cast<float>(scalar_of(call.in[7])), epsilon = static_cast<float>(scalar_of(call.in[8]));
  const bool nesterov = call.flag("use_nesterov");
  for (size_t i = 0; i < p.size(); ++i) {
    m[i] += (g[i] - m[i]) * (1 - beta1);
    v[i] += (g[i] * g[i] - v[i]) * (1 - beta2);
    const float direction = nesterov ? m[i] * beta1 + (1 - beta1) * g[i] : m[i];
    p[i] -= scaled * direction / (std::sqrt(v[i]) + epsilon);
  }
  write(call.in[1], m);
  write(call.in[2], v);
  write(call.in[0], p);
  const std::vector<float> *results[] = {&p, &m, &v};
  for (size_t i = 0; i < std::min<size_t>(3, call.out.size()); ++i) write(call.out[i], *results[i]);
}

// One step of Adam with decoupled decay, as graphs of nn.AdamWeightDecay are fused to it.
// g, v, m, p, lr, beta1, 1 - beta1, beta2, 1 - beta2, decay, epsilon; writes v, m, p
void adam_with_decay(const AclopCall &call) {
  const auto g = read<float>(call.in[0]);
  auto v = read<float>(call.in[1]), m = read<float>(call.in[2]), p = read<float>(call.in[3]);
  float k[11];
  for (size_t i = 4; i < 11; ++i) k[i] = static_cast<float>(scalar_of(call.in.at(i)));
  for (size_t i = 0; i < p.size(); ++i) {
    v[i] = v[i] * k[7] + g[i] * g[i] * k[8];
    m[i] = m[i] * k[5] + g[i] * k[6];
    p[i] -= k[4] * (m[i] / (std::sqrt(v[i]) + k[10]) + p[i] * k[9]);
  }
  const std::vector<float> *results[] = {&v, &m, &p};
  for (size_t i = 0; i < 3; ++i) {
    write(call.in[1 + i], *results[i]);
    if (i < call.out.size()) write(call.out[i], *results[i]);
  }
}

}  // namespace

const std::map<std::string, AclopKernel> &aclop_table() {
  static const auto *table = new std::map<std::string, AclopKernel>{
    {"Identity", [](const AclopCall &c) { copy(c, 0); }},
    {"Assign", [](const AclopCall &c) { copy(c, 1); }},
    {"AssignAdd", [](const AclopCall &c) { map<2>(c, [](auto x, auto y) { return x + y; }); }},
    {"AssignSub", [](const AclopCall &c) { map<2>(c, [](auto x, auto y) { return x - y; }); }},
    {"RealDiv", [](const AclopCall &c) { map<2>(c, [](auto x, auto y) { return x / y; }, Compute::kFloat); }},
    {"OnesLike", [](const AclopCall &c) { map<1>(c, [](auto x) { return decltype(x)(1); }); }},
    {"ZerosLike", [](const AclopCall &c) { map<1>(c, [](auto x) { return decltype(x)(0); }); }},
    {"Add", [](const AclopCall &c) { map<2>(c, [](auto x, auto y) { return x + y; }); }},
    {"IsNan", [](const AclopCall &c) { map<1>(c, [](auto x) { return x != x; }); }},
    {"SqrtGrad", [](const AclopCall &c) { map<2>(c, [](auto y, auto dy) { return dy / (2 * y); }, Compute::kFloat); }},
    {"Elu", elu},
    {"EluGrad", elu_grad},
    {"AddN", add_n},
    {"ArgMaxV2", arg_max},
    {"Pack", pack},
    {"Split", split},
    {"StridedSlice", strided_slice},
    {"StridedSliceGrad", strided_slice_grad},
    {"Unpack", unpack},
    {"UnsortedSegmentSum", segment_sum},
    {"Fill", [](const AclopCall &c) { elementwise<1>([](auto x) { return x; })({c.in[1], c.out[0]}); }},
    {"GatherV2", gather},
    {"OneHot", one_hot},
    {"BiasAdd", bias_add},
    {"BiasAddGrad", bias_add_grad},
    {"ReduceMean", [](const AclopCall &c) { sum_or_mean(c.in[0], axes_of(c), true, c.out[0]); }},
    {"ReduceMeanD", [](const AclopCall &c) { sum_or_mean(c.in[0], axes_of(c), true, c.out[0]); }},
    {"ReduceSum", [](const AclopCall &c) { sum_or_mean(c.in[0], axes_of(c), false, c.out[0]); }},
    {"ReduceSumD", [](const AclopCall &c) { sum_or_mean(c.in[0], axes_of(c), false, c.out[0]); }},
    {"SoftmaxCrossEntropyWithLogits", dense_cross_entropy},
    {"SparseSoftmaxCrossEntropyWithLogits", sparse_cross_entropy},
    {"SGD", sgd},
    {"ApplyMomentum", momentum},
    {"ApplyMomentumD", momentum},
    {"ApplyAdam", adam},
    {"ApplyAdamD", adam},
    {"AdamApplyOneWithDecayAssign", adam_with_decay},
  };
  return *table;
}

}  // namespace sim
