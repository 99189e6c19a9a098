// Prolongation and restriction between two levels in device memory.
#pragma once

#include "kernels/device/launch_profile.h"
#include "kernels/transfer/cuda.h"
#include "operators/mesh/grid.h"
#include "operators/vectors/device_vector.h"

namespace tensormg
{
/// TransferOperator (operators/constant/transfer_operator.h) for vectors in device memory, on one rank.
template <typename Number>
class DeviceTransferOperator
{
public:
  /// All arguments must outlive the object.
  DeviceTransferOperator(
      const LevelGrid &fine, const LevelGrid &coarse, const CellBasis &basis, Stream stream)
    : fine_(fine)
    , coarse_(coarse)
    , basis_(basis)
    , stream_(stream)
    , between_(transfer::between(fine.block, coarse.block).size(), Unset())
  {}

  /// coarse = factor * R fine, R the L2 projection
  void restrict_to(DeviceVector<Number> &coarse, const DeviceVector<Number> &fine, double factor)
  {
    const launch_profile::Operation operation(fine.bytes() + coarse.bytes(), "restriction");
    transfer::restrict_cuda<Number>(
        {fine_.block, coarse_.block, &basis_, factor, fine.data(), coarse.data()}, stream_,
        between_.data());
  }
  /// fine = factor * P coarse, or fine += ...
  void prolongate(
      DeviceVector<Number> &fine, const DeviceVector<Number> &coarse, double factor, bool add)
  {
    const launch_profile::Operation operation(
        (add ? 2. : 1.) * fine.bytes() + coarse.bytes(), "prolongation");
    transfer::prolongate_cuda<Number>(
        {fine_.block, coarse_.block, &basis_, factor, add, coarse.data(), fine.data()}, stream_,
        between_.data());
  }
  void prolongate_pair(DeviceVector<Number> &x, DeviceVector<Number> &d,
      const DeviceVector<Number> &coarse, const DeviceVector<Number> *rest, double factor, bool add,
      bool add_rest)
  {
    const double coarse_vectors = rest != nullptr ? 2. : 1.;
    const double fine_vectors = 2. + (add ? 1. : 0.) + (add && add_rest ? 1. : 0.);
    const launch_profile::Operation operation(
        coarse_vectors * coarse.bytes() + fine_vectors * x.bytes(), "prolongation of a pair");
    transfer::prolongate_cuda<Number>(
        {fine_.block, coarse_.block, &basis_, factor, add, coarse.data(), x.data(),
            rest != nullptr ? rest->data() : nullptr, d.data(), add_rest},
        stream_, between_.data());
  }

private:
  const LevelGrid &fine_;
  const LevelGrid &coarse_;
  const CellBasis &basis_;
  Stream stream_;
  DeviceArray<Compute<Number>> between_; ///< empty where all directions are halved, or one
};
} // namespace tensormg
