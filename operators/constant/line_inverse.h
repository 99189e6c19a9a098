// The cell-wise fast diagonalisation with the exact operator in the exact directions of a level.
#pragma once

#include <array>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "kernels/basis/cell_basis.h"
#include "kernels/core/wide_float.h"
#include "kernels/device/device.h"
#include "kernels/line_inverse/line_inverse.h"
#include "operators/constant/line_operator.h"
#include "operators/mesh/grid.h"

namespace tensormg
{
/// The number type of an operator's steps; those without every form have none, and this is never used.
template <typename Number>
using StepNumber = std::conditional_t<std::is_same_v<Number, WideFloat>, float, Number>;

/// The numbers of kernels/line_inverse/line_inverse.h; matrices of exact directions only.
struct LineTables
{
  std::array<std::vector<double>, 3> to_modes, from_modes; ///< V' and V
  std::array<std::vector<double>, 3> diagonal;
};
LineTables make_line_tables(const LevelGrid &level, const CellBasis &basis, LineSpectra &spectra);

/// Where arrays lie in host memory.
struct HostLines
{
  template <typename C>
  using Array = std::vector<C>;

  template <typename C>
  static Array<C> upload(const std::vector<double> &from)
  {
    return Array<C>(from.begin(), from.end());
  }
  template <typename C>
  static Array<C> scratch(std::int64_t size)
  {
    return Array<C>(static_cast<std::size_t>(size));
  }
  template <typename Src, typename C>
  static void rotate(const line_inverse::Rotate<Src, C> &pass)
  {
    line_inverse::rotate(pass);
  }
  template <typename Number>
  static void rotate_and_add(const line_inverse::RotateAndAdd<Number> &pass)
  {
    line_inverse::rotate_and_add(pass);
  }
};

/// In device memory, queued in a stream.
struct DeviceLines
{
  template <typename C>
  using Array = DeviceArray<C>;

  Stream stream;

  template <typename C>
  Array<C> upload(const std::vector<double> &from) const
  {
    const std::vector<C> rounded(from.begin(), from.end());
    Array<C> array(static_cast<std::int64_t>(from.size()), stream);
    array.copy_from_host(rounded.data(), stream);
    device::synchronize(stream); // `rounded` goes
    return array;
  }
  template <typename C>
  Array<C> scratch(std::int64_t size) const
  {
    return Array<C>(size, stream);
  }
  template <typename Src, typename C>
  void rotate(const line_inverse::Rotate<Src, C> &pass) const
  {
    line_inverse::rotate_cuda(pass, stream);
  }
  template <typename Number>
  void rotate_and_add(const line_inverse::RotateAndAdd<Number> &pass) const
  {
    line_inverse::rotate_and_add_cuda(pass, stream);
  }
};

/// D^-1 of a level with exact directions. Place: HostLines or DeviceLines.
template <typename Number, typename Place>
class LineInverse
{
  using C = Compute<Number>;

public:
  LineInverse(const LevelGrid &level, const CellBasis &basis, LineSpectra &spectra, Place place)
    : block_(level.block)
    , place_(place)
  {
    const LineTables tables = make_line_tables(level, basis, spectra);
    for (int d = 0; d < 3; ++d)
    {
      diagonal_[d] = place_.template upload<C>(tables.diagonal[d]);
      if (!level.exact[d])
        continue;
      directions_.push_back(d);
      to_modes_.push_back(place_.template upload<C>(tables.to_modes[d]));
      from_modes_.push_back(place_.template upload<C>(tables.from_modes[d]));
      scratch_.push_back(place_.template scratch<C>(block_.size()));
    }
    if (directions_.empty())
      throw std::logic_error("a level without exact directions has no line inverse");
  }

  /// dst = start + theta (start - old) + alpha D^-1 r; start and old may be nullptr, which is zero; dst may be any of the others.
  void step(Number *dst, const Number *start, const Number *old, const Number *r, double theta,
      double alpha)
  {
    const std::size_t last = directions_.size() - 1;
    for (std::size_t k = 0; k <= last; ++k)
    {
      const auto rotate = [&](const auto *src) {
        using Src = std::remove_cvref_t<decltype(*src)>;
        line_inverse::Rotate<Src, C> pass{
            block_, directions_[k], to_modes_[k].data(), src, scratch_[k].data(), {}};
        if (k == last)
          pass.diagonal = {diagonal_[0].data(), diagonal_[1].data(), diagonal_[2].data()};
        place_.rotate(pass);
      };
      if (k == 0)
        rotate(r);
      else
        rotate(static_cast<const C *>(scratch_[k - 1].data()));
    }
    for (std::size_t k = last; k > 0; --k)
      place_.rotate(line_inverse::Rotate<C, C>{block_, directions_[k], from_modes_[k].data(),
          scratch_[k].data(), scratch_[k - 1].data(), {}});
    place_.rotate_and_add(line_inverse::RotateAndAdd<Number>{block_, directions_[0],
        from_modes_[0].data(), scratch_[0].data(), alpha, theta, start, old, dst});
  }

private:
  template <typename T>
  using Array = typename Place::template Array<T>;

  Block block_;
  Place place_;
  std::vector<int> directions_;                           ///< the exact ones
  std::vector<Array<C>> to_modes_, from_modes_, scratch_; ///< by exact direction
  std::array<Array<C>, 3> diagonal_;
};
} // namespace tensormg
