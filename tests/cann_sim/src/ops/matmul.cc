// Matrix products.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/matmul.h"

namespace sim {

Shape matmul_shape(const Shape &a, const Shape &b, bool *ok) {
  if (a.size() < 2 || b.size() < 2 || a.back() != b[b.size() - 2]) {
    *ok = false;
    return {};
  }
  Shape shape = broadcast(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2), ok);
  shape.push_back(a[a.size() - 2]);
  shape.push_back(b.back());
  return shape;
}

Tensor transposed(const Tensor &tensor) {
  Tensor result = tensor;
  const size_t rank = tensor.shape.size();
  std::swap(result.shape[rank - 1], result.shape[rank - 2]);
  std::swap(result.strides[rank - 1], result.strides[rank - 2]);
  return result;
}

std::vector<double> matmul(const Tensor &a, const Tensor &b) {
  bool ok = true;
  const Shape shape = matmul_shape(a.shape, b.shape, &ok);
  if (!ok) throw std::runtime_error("matrices " + to_text(a.shape) + " and " + to_text(b.shape) + " do not multiply");
  const int64_t rows = shape[shape.size() - 2], columns = shape.back(), inner = a.shape.back();
  Shape batch(shape.begin(), shape.end() - 2);
  Shape shape_a = batch, shape_b = batch;
  shape_a.insert(shape_a.end(), {rows, inner});
  shape_b.insert(shape_b.end(), {inner, columns});
  const auto left = read<double>(broadcast_to(a, shape_a)), right = read<double>(broadcast_to(b, shape_b));
  std::vector<double> out(element_count(shape), 0.0);
  for (int64_t n = 0; n < element_count(batch); ++n) {
    for (int64_t i = 0; i < rows; ++i) {
      double *sums = out.data() + (n * rows + i) * columns;
      for (int64_t k = 0; k < inner; ++k) {
        const double factor = left[(n * rows + i) * inner + k];
        const double *row = right.data() + (n * inner + k) * columns;
        for (int64_t j = 0; j < columns; ++j) sums[j] += factor * row[j];
      }
    }
  }
  return out;
}

namespace {

aclnnStatus product(Plan &plan, const aclTensor *a, const aclTensor *b, aclTensor *out) {
  plan.in(a, "self").in(b, "mat2").out(out, "out");
  if (plan.ok()) {
    bool ok = true;
    const Shape shape = matmul_shape(plan.tensor(0).shape, plan.tensor(1).shape, &ok);
    if (!ok || plan.tensor(2).shape != shape) {
      plan.reject(ACLNN_ERR_PARAM_INVALID, "%s @ %s does not give %s", to_text(plan.tensor(0).shape).c_str(),
                  to_text(plan.tensor(1).shape).c_str(), to_text(plan.tensor(2).shape).c_str());
    }
  }
  return plan.launch([](const Tensors &t) { write(t[2], matmul(t[0], t[1])); });
}

}  // namespace
}  // namespace sim

// The last parameter says how exact the cube unit computes; the simulator is always exact.

SIM_OPERATOR(aclnnMm, const aclTensor *self, const aclTensor *mat2, aclTensor *out, int8_t) {
  SIM_PLAN(plan);
  return sim::product(plan, self, mat2, out);
}
SIM_OPERATOR(aclnnMatmul, const aclTensor *self, const aclTensor *mat2, aclTensor *out, int8_t) {
  SIM_PLAN(plan);
  return sim::product(plan, self, mat2, out);
}
SIM_OPERATOR(aclnnBatchMatMul, const aclTensor *self, const aclTensor *mat2, aclTensor *out, int8_t) {
  SIM_PLAN(plan);
  return sim::product(plan, self, mat2, out);
}

SIM_OPERATOR(aclnnAddmm, const aclTensor *self, const aclTensor *mat1, const aclTensor *mat2, const aclScalar *beta,
             const aclScalar *alpha, aclTensor *out, int8_t) {
  SIM_PLAN(plan);
  sim::Scalar b, a;
  plan.in(self, "self").in(mat1, "mat1").in(mat2, "mat2").scalar(beta, "beta", &b).scalar(alpha, "alpha", &a);
  plan.out(out, "out");
  if (plan.ok()) {
    bool ok = true;
    const sim::Shape shape = sim::matmul_shape(plan.tensor(1).shape, plan.tensor(2).shape, &ok);
    if (!ok || plan.tensor(3).shape != shape || !sim::broadcasts_to(plan.tensor(0).shape, shape)) {
      plan.reject(ACLNN_ERR_PARAM_INVALID, "the shapes do not go together");
    }
  }
  return plan.launch([a, b](const sim::Tensors &t) {
    auto result = sim::matmul(t[1], t[2]);
    const auto added = sim::read<double>(sim::broadcast_to(t[0], t[3].shape));
    for (size_t i = 0; i < result.size(); ++i) result[i] = b.as<double>() * added[i] + a.as<double>() * result[i];
    sim::write(t[3], result);
  });
}
