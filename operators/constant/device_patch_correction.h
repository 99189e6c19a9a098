// Corrections by exact solves on vertex patches, on a level in device memory.
#pragma once

#include <array>
#include <vector>

#include "kernels/laplace/laplace.h"
#include "kernels/patch/cuda.h"
#include "operators/mesh/grid.h"
#include "operators/vectors/device_vector.h"

namespace tensormg
{
/// PatchCorrection (operators/constant/patch_correction.h) for vectors in device memory: the same patches, colours and
/// local inverses, queued in one stream. One rank.
template <typename Number>
class DevicePatchCorrection
{
public:
  /// `level` and `basis` must outlive the object. `backend`: mma and automatic contract on tensor cores from compute capability 9.0 on, the rest on CUDA cores. Waits until the tables are there. Throws
  /// std::invalid_argument if the level is distributed over several ranks.
  DevicePatchCorrection(
      const LevelGrid &level, const CellBasis &basis, laplace::Backend backend, Stream stream);

  /// In the order in which multiplicative Schwarz takes them.
  int n_colours() const { return static_cast<int>(colours_.size()); }
  /// x += damping * sum R' A^+ R r over the patches of one colour; x must not be r.
  void add(DeviceVector<Number> &x, const DeviceVector<Number> &r, int colour, double damping);
  /// All patches from the same residual: additive Schwarz.
  void add_all(DeviceVector<Number> &x, const DeviceVector<Number> &r, double damping);

  /// Whether replace() does the same as add(x, b - B x, colour, 1.): where no local problem is singular.
  bool can_replace() const { return can_replace_; }
  /// y = x + sum R' A^-1 R (b - B x) over the patches of one colour, by one pass over b and x. x = nullptr: the zero
  /// vector, which y must then be.
  void replace(DeviceVector<Number> &y, const DeviceVector<Number> *x,
      const DeviceVector<Number> &b, int colour);

  void set_zero(DeviceVector<Number> &x) const;
  /// (x, old) = ((1 + theta) x - theta old, x); theta = 0: old = x, whatever old was
  void extrapolate(double theta, DeviceVector<Number> &x, DeviceVector<Number> &old) const;

private:
  const LevelGrid &level_;
  const CellBasis &basis_;
  Stream stream_;
  patch::DeviceKernel<Number> kernel_;
  bool can_replace_ = false;
  std::vector<patch::Patches> colours_;
  DeviceArray<std::byte> tables_;
};

extern template class DevicePatchCorrection<double>;
extern template class DevicePatchCorrection<float>;
extern template class DevicePatchCorrection<Half>;
} // namespace tensormg
