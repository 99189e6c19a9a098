#include "kernels/laplace/pointwise/half_metric.h"

#include <algorithm>
#include <cmath>

namespace tensormg::laplace
{
namespace
{
  constexpr int largest_exponent = 15; ///< numbers are below two to this
  constexpr double least_normal = 0x1p-14;

  /// Numbers of a cell that have a power in common: every group_cells-th one of an array.
  template <typename T>
  struct Strided
  {
    T *first;
    std::int64_t size;

    T &operator[](std::int64_t i) const { return first[i * group_cells]; }
  };

  /// Places of the numbers of a cell.
  struct Cell
  {
    const Block &block;
    std::int64_t row, cx;

    template <typename T>
    Strided<T> volume(T *numbers) const
    {
      return {numbers + volume_index(block, row, 0, 0, cx),
          points_of_cell(block) * volume_numbers(block.dim)};
    }
    template <typename T>
    Strided<T> reaction(T *numbers) const
    {
      return {numbers + reaction_index(block, row, 0, cx), points_of_cell(block)};
    }
    /// G and T of a point of a side.
    template <typename T>
    Strided<T> face(T *numbers, int side, std::int64_t q) const
    {
      return {numbers + face_index(block, row, side, q, 0, cx), face_numbers(block.dim)};
    }

    double largest_metric(const PointNumbers<double> &numbers) const
    {
      double largest = 0.;
      const auto of_volume = volume(numbers.volume);
      for (std::int64_t i = 0; i < of_volume.size; ++i)
        largest = std::max(largest, std::abs(of_volume[i]));
      for_face_points([&](int side, std::int64_t q) {
        for (int g = 0; g < block.dim; ++g)
          largest = std::max(largest, std::abs(face(numbers.face, side, q)[g]));
      });
      return largest;
    }
    double largest_penalty(const PointNumbers<double> &numbers, int side) const
    {
      double largest = 0.;
      for (std::int64_t q = 0; q < points_of_face(block); ++q)
        largest = std::max(largest, face(numbers.face, side, q)[block.dim]);
      return largest;
    }
    template <typename Use>
    void for_face_points(const Use &use) const
    {
      for (int side = 0; side < 2 * block.dim; ++side)
        for (std::int64_t q = 0; q < points_of_face(block); ++q)
          use(side, q);
    }
  };

  template <typename Use>
  void for_cells(const Block &block, const Use &use)
  {
    for (std::int64_t row = 0; row < block.cells[1] * block.cells[2]; ++row)
      for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
        use(Cell{block, row, cx});
  }

  /// Within the normal numbers of float.
  double power_for(double largest)
  {
    int exponent = largest_exponent;
    if (largest > 0.)
      std::frexp(largest, &exponent);
    return std::ldexp(1., std::clamp(exponent - largest_exponent, -126, 127));
  }

  /// det G over the product of the G_aa.
  double relative_determinant(const Strided<const double> &g, std::int64_t first, int dim)
  {
    const auto at = [&](int a, int b) { return g[first + volume_place(dim, a, b)]; };
    const auto relative = [&](int a, int b) {
      return at(a, b) / std::sqrt(at(a, a)) / std::sqrt(at(b, b));
    };
    const double xy = relative(0, 1);
    if (dim == 2)
      return 1. - xy * xy;
    const double xz = relative(0, 2), yz = relative(1, 2);
    return 1. - xy * xy - xz * xz - yz * yz + 2. * xy * xz * yz;
  }

  bool holds(const Cell &cell, const PointNumbers<double> &numbers)
  {
    constexpr double least_determinant = 1. / 32;
    const Block &block = cell.block;
    const int dim = block.dim;
    const double least = least_normal * power_for(cell.largest_metric(numbers));
    const auto volume = cell.volume(numbers.volume);
    for (std::int64_t first = 0; first < volume.size; first += volume_numbers(dim))
    {
      for (int a = 0; a < dim; ++a)
        if (!(volume[first + volume_place(dim, a, a)] >= least))
          return false;
      if (!(relative_determinant(volume, first, dim) >= least_determinant))
        return false;
    }
    bool result = true;
    for (int side = 0; side < 2 * dim; ++side)
    {
      const double least_penalty = least_normal * power_for(cell.largest_penalty(numbers, side));
      for (std::int64_t q = 0; q < points_of_face(block); ++q)
      {
        const double penalty = cell.face(numbers.face, side, q)[dim];
        result = result && (penalty == 0. || penalty >= least_penalty);
      }
    }
    return result;
  }
} // namespace

HalfMetric::HalfMetric(const Block &block, const PointNumbers<double> &numbers)
  : volume_(volume_size(block))
  , face_(face_size(block))
  , reaction_(numbers.reaction != nullptr ? reaction_size(block) : 0)
  , powers_(power_size(block))
{
  for_cells(block, [&](const Cell &cell) { round_cell(block, numbers, cell.row, cell.cx); });
}

void HalfMetric::round_cell(
    const Block &block, const PointNumbers<double> &numbers, std::int64_t row, std::int64_t cx)
{
  const Cell cell{block, row, cx};
  const auto keep = [&](int number, double largest) {
    const double power = power_for(largest);
    powers_[power_index(block, row, number, cx)] = static_cast<float>(power);
    return [power](double x) { return Half(static_cast<float>(x / power)); };
  };
  const auto of_metric = keep(power_of_metric, cell.largest_metric(numbers));
  const auto from = cell.volume(numbers.volume);
  const auto to = cell.volume(volume_.data());
  for (std::int64_t i = 0; i < from.size; ++i)
    to[i] = of_metric(from[i]);
  for (int side = 0; side < 2 * block.dim; ++side)
  {
    const auto of_penalty = keep(power_of_penalty(side), cell.largest_penalty(numbers, side));
    for (std::int64_t q = 0; q < points_of_face(block); ++q)
    {
      const auto at = cell.face(numbers.face, side, q);
      const auto stored = cell.face(face_.data(), side, q);
      for (int g = 0; g < block.dim; ++g)
        stored[g] = of_metric(at[g]);
      stored[block.dim] = of_penalty(at[block.dim]);
    }
  }
  if (numbers.reaction == nullptr)
    return;
  const auto c = cell.reaction(numbers.reaction);
  double largest = 0.;
  for (std::int64_t q = 0; q < c.size; ++q)
    largest = std::max(largest, c[q]);
  const auto of_reaction = keep(power_of_reaction, largest);
  const auto stored = cell.reaction(reaction_.data());
  for (std::int64_t q = 0; q < c.size; ++q)
    stored[q] = of_reaction(c[q]);
}

PointNumbers<Half> HalfMetric::view() const
{
  return {volume_.data(), face_.data(), reaction_.size() == 0 ? nullptr : reaction_.data(),
      powers_.data()};
}

std::int64_t HalfMetric::bytes(const Block &block, bool has_reaction)
{
  return (volume_size(block) + face_size(block) + (has_reaction ? reaction_size(block) : 0)) *
      std::int64_t{sizeof(Half)} +
      power_size(block) * std::int64_t{sizeof(float)};
}

bool holds_in_half(const Block &block, const PointNumbers<double> &numbers)
{
  bool result = true;
  for_cells(block, [&](const Cell &cell) { result = result && holds(cell, numbers); });
  return result;
}
} // namespace tensormg::laplace
