// SeparableRelaxation in device memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "kernels/laplace/pointwise/relaxation_cuda.h"
#include "operators/curved/relaxation.h"
#include "operators/vectors/device_vector.h"

namespace tensormg
{
template <typename Number>
class DeviceSeparableRelaxation
{
public:
  /// `levels` must outlive the object; `relaxation`, which has cells or lines, is not asked for again. Waits for the stream.
  DeviceSeparableRelaxation(const BlockLevels &levels, std::size_t l,
      const std::shared_ptr<const LevelRelaxation> &relaxation, Stream stream);

  /// z = factor S r; they are not the same vector. Queued in the stream; one at a time, since lines have scratch memory.
  void apply(DeviceVector<Number> &z, const DeviceVector<Number> &r, double factor) const;
  /// In device memory. Lines end with groups and chunks that are not full: a little more on small levels.
  static std::int64_t bytes(const Block &block, const RelaxationChoice &choice);

private:
  using C = Compute<Number>;
  const CellBasis &basis_;
  Block block_;
  Stream stream_;
  double weight_;
  DeviceArray<C> of_cells_, of_lines_; ///< empty where S has none
  std::optional<laplace::DeviceCellLines> lines_;
  mutable DeviceArray<Number> results_; ///< of lines
  mutable DeviceArray<double> work_;
};
} // namespace tensormg
