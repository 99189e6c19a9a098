// The numbers of cells as kernels take them.
#pragma once

#include <array>
#include <vector>

#include "kernels/basis/cell_basis.h"
#include "kernels/device/device.h"
#include "kernels/laplace/cellwise/cellwise.h"
#include "operators/mesh/grid.h"

namespace tensormg
{
template <typename C>
class DeviceCellNumbers;

/// CellNumbers of a level that has cells of its own, dimensionless as LevelGrid::direction_factors(): with H the level's reference length
/// and a = CellData::reference,
///   c_d = (H / h_d)^2 K_d / a,   m = H^2 reaction / a,   rho = H^2 r / (a h_d) at a Robin side,
/// all times the volume of the cell in units of the mean one, and h_d its own size.
template <typename C>
class CellNumbersOf
{
public:
  CellNumbersOf(const LevelGrid &level, const CellBasis &basis) { update(level, basis); }
  /// The same with what the cells of the level have now.
  void update(const LevelGrid &level, const CellBasis &basis);
  const laplace::CellNumbers<C> &view() const { return view_; }

  static std::int64_t bytes(const LevelGrid &level);

private:
  friend class DeviceCellNumbers<C>;
  void set_robin(const LevelGrid &level, int side);

  std::array<std::vector<C>, 3> c_, jump_;
  std::vector<C> reaction_;
  laplace::CellNumbers<C> view_;
};

/// The same in device memory.
template <typename C>
class DeviceCellNumbers
{
public:
  DeviceCellNumbers(const LevelGrid &level, const CellBasis &basis, Stream stream);
  void update(const LevelGrid &level, const CellBasis &basis);
  const laplace::CellNumbers<C> &view() const { return view_; }

private:
  Stream stream_;
  std::array<DeviceArray<C>, 3> c_, jump_;
  DeviceArray<C> reaction_;
  laplace::CellNumbers<C> view_;
};

extern template class CellNumbersOf<double>;
extern template class CellNumbersOf<float>;
extern template class DeviceCellNumbers<double>;
extern template class DeviceCellNumbers<float>;
} // namespace tensormg
