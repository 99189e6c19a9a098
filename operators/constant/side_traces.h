// What a block needs of the cells behind its sides in y and z before the operator is applied.
#pragma once

#include <array>
#include <functional>

#include "kernels/laplace/laplace.h"
#include "operators/mesh/device_exchange.h"
#include "operators/mesh/ghost_exchange.h"
#include "operators/mesh/grid.h"
#include "operators/mesh/row_split.h"
#include "operators/vectors/context.h"

namespace tensormg
{
/// Sets what of the arguments belongs to the sides, and calls a kernel when the traces are there.
template <typename Number, typename Context>
class SideTraces;

/// Over ranks: the traces of src at sides of other ranks are packed and sent; the rows of cells that do not touch such a side
/// are computed, with a look at the messages after each layer; then the rest, one cell thick at each of these sides
/// (split_rows()). The result has the same bits as with everything computed after the exchange. What does not overlap:
/// packing, and blocks without interior.
template <typename Number>
class SideTraces<Number, HostContext>
{
public:
  /// `level` and `basis` must outlive the object.
  SideTraces(const LevelGrid &level, const CellBasis &basis, const HostContext &context,
      laplace::Arguments<Number> &arguments);

  using Kernel = std::function<void(const laplace::Arguments<Number> &)>;
  void run(const Kernel &kernel, laplace::Arguments<Number> arguments);

private:
  GhostExchange<Number> exchange_;
  RowSplit split_;
};

/// Of a device: what leaves at a periodic side of a rank that is alone in that direction enters at the opposite one, packed before each
/// application; traces at sides of other ranks are packed and exchanged. Where messages are slow, these sides lie in z alone and there are layers enough, the
/// interior is computed meanwhile, then the layers at these sides, with the same bits.
template <typename Number>
class SideTraces<Number, DeviceContext>
{
public:
  /// `level` and `basis` must outlive the object.
  SideTraces(const LevelGrid &level, const CellBasis &basis, const DeviceContext &context,
      laplace::Arguments<Number> &arguments);

  using Kernel = std::function<void(const laplace::Arguments<Number> &)>;
  void run(const Kernel &kernel, laplace::Arguments<Number> arguments);

private:
  static bool overlaps(const LevelGrid &level, const DeviceLinks &links);
  void pack(const Number *src);
  /// Of the cells along a side.
  void pack_side(int side, const Number *src, Compute<Number> *to);

  const LevelGrid &level_;
  const CellBasis &basis_;
  Stream stream_;
  DeviceExchange<Compute<Number>> exchange_;
  RowSplit split_;                                     ///< of all rows where nothing overlaps
  std::array<DeviceArray<Compute<Number>>, 6> traces_; ///< of the opposite cells of this rank
  DeviceArray<unsigned> progress_;
};
} // namespace tensormg
