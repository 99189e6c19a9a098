// The SIPG Laplace operator on one level in device memory, in one number type, through one backend.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "kernels/laplace/laplace.h"
#include "operators/constant/line_inverse.h"
#include "operators/mesh/grid.h"
#include "operators/vectors/device_vector.h"

namespace tensormg
{
/// LaplaceOperator (operators/constant/laplace_operator.h) for vectors in device memory: the same functions, queued
/// in one stream. One rank; what a periodic side in y or z needs of the opposite cells is packed on the
/// device before each application.
template <typename Number>
class DeviceLaplaceOperator
{
public:
  using VectorType = DeviceVector<Number>;

  /// `backend` = automatic takes fastest_device_backend() for each form; mma and wmma serve all forms on tensor
  /// cores, in solver_arithmetic(); for WideFloat they take the fastest.
  /// `exact`: as for LaplaceOperator. `steps` is what Chebyshev steps are computed in instead; automatic then takes mma for them.
  /// `level` and `basis` must outlive the operator. Throws std::invalid_argument unless `backend` is one
  /// for device memory that has these kernels and the level lies on one rank.
  DeviceLaplaceOperator(const LevelGrid &level, const CellBasis &basis, laplace::Backend backend,
      Stream stream, std::optional<laplace::Arithmetic> steps = std::nullopt,
      LineSpectra *exact = nullptr);

  // Of numbers without every form (laplace.h) there is vmult() alone.
  /// dst = B src
  void vmult(VectorType &dst, const VectorType &src);
  /// dst = b - B src
  void residual(VectorType &dst, const VectorType &src,
      const VectorType &b) requires laplace::has_every_form<Number>;
  /// dst = src + theta (src - old) + alpha D^-1 (b - B src). dst and old may be the same vector;
  /// old = nullptr is the zero vector.
  void chebyshev_step(VectorType &dst, const VectorType &src, const VectorType *old,
      const VectorType &b, double theta, double alpha) requires laplace::has_every_form<Number>;
  /// dst = alpha D^-1 b; dst may be b
  void inverse_diagonal(VectorType &dst, const VectorType &b,
      double alpha) const requires laplace::has_every_form<Number>;

  bool has_pointwise_diagonal() const { return lines_ == nullptr; }

  VectorType make_vector() const { return {level_.block, stream_}; }
  const LevelGrid &level() const { return level_; }
  const CellBasis &basis() const { return basis_; }
  laplace::Backend backend() const { return backend_; }
  Stream stream() const { return stream_; }

private:
  void run(laplace::Form form, const laplace::Arguments<Number> &arguments);

  const LevelGrid &level_;
  const CellBasis &basis_;
  laplace::Backend backend_;
  Stream stream_;
  std::array<laplace::Apply<Number> *, 3> kernels_{};
  std::array<const char *, 3> backends_{};             ///< which serve the forms
  std::array<DeviceArray<Compute<Number>>, 6> traces_; ///< of the opposite cells, periodic sides
  DeviceArray<unsigned> progress_;
  laplace::Arguments<Number> arguments_;
  std::unique_ptr<LineInverse<StepNumber<Number>, DeviceLines>> lines_;
  VectorType rest_; ///< b - B src of a step with lines
};

extern template class DeviceLaplaceOperator<double>;
extern template class DeviceLaplaceOperator<float>;
extern template class DeviceLaplaceOperator<Half>;
extern template class DeviceLaplaceOperator<WideFloat>;
} // namespace tensormg
