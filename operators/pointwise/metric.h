// The metric of curved cells at the points of the operator of kernels/laplace/pointwise/pointwise.h, or once per cell.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/basis/cell_basis.h"
#include "kernels/core/array.h"
#include "kernels/laplace/cellmean/cellmean.h"
#include "kernels/laplace/pointwise/pointwise.h"
#include "operators/blocks/block_geometry.h"
#include "operators/division/block_division.h"
#include "operators/division/failure.h"
#include "operators/pointwise/cell_map.h"
#include "tensormg/mesh.h"

namespace tensormg
{
/// The modes at Gauss points.
laplace::PointTables make_point_tables(const CellBasis &basis);

/// The largest eigenvalue of D^-1/2 G D^-1/2, D = diag G.
double kappa_of(const Matrix3 &g, int dim);

/// A symmetric tensor: xx, yy, zz, xy, xz, yz.
using SymmetricTensor = std::array<double, 6>;

/// Which points of a cell of a block are meant: those of the operator, or samples.
struct PointsOfCell
{
  std::array<std::int64_t, 3> cell{};
  std::int64_t per_direction = 1; ///< cells in a block
  int side = -1;                  ///< on which the points are; -1: inside
  /// Of each direction, for means over parts of the cell; nullptr: the points of the operator.
  const std::vector<double> *samples = nullptr;
  /// Of a level of which every rank has all blocks: all must get the same.
  bool is_of_all_ranks = true;
};

/// K at points of a block.
class DiffusionTensor
{
public:
  using Points = std::vector<std::array<double, 3>>;
  using Tensors = std::vector<SymmetricTensor>; ///< as many as there are points
  using AtPoints = std::function<void(std::int64_t block, const Points &points, Tensors &k)>;
  using OfCell = std::function<void(std::int64_t block, const PointsOfCell &points, Tensors &k)>;

  static DiffusionTensor at_points(AtPoints f)
  {
    DiffusionTensor result;
    result.f_ = std::move(f);
    return result;
  }
  /// Known by the numbers of points instead of where they are.
  static DiffusionTensor of_cells(OfCell f)
  {
    DiffusionTensor result;
    result.of_cell_ = std::move(f);
    return result;
  }
  /// The same at all points of a block.
  static DiffusionTensor constant_in_blocks(AtPoints f)
  {
    DiffusionTensor result = at_points(std::move(f));
    result.is_constant_in_blocks_ = true;
    return result;
  }
  /// The same everywhere.
  static DiffusionTensor constant(const SymmetricTensor &k)
  {
    DiffusionTensor result =
        constant_in_blocks([k](auto, const auto &, std::vector<SymmetricTensor> &out) {
          std::fill(out.begin(), out.end(), k);
        });
    result.is_constant_ = true;
    return result;
  }
  /// Of a function f(block, point).
  template <typename F>
  requires std::is_invocable_r_v < SymmetricTensor, F, std::int64_t, const std::array<double, 3>
  & > DiffusionTensor(F f)
    : f_([f = std::move(f)](std::int64_t block, const std::vector<std::array<double, 3>> &points,
             std::vector<SymmetricTensor> &k) {
      for (std::size_t q = 0; q < points.size(); ++q)
        k[q] = f(block, points[q]);
    })
  {}

  Tensors operator()(
      std::int64_t block, const Points &points, const PointsOfCell &of_cell = {}) const
  {
    Tensors k(points.size());
    if (of_cell_)
      of_cell_(block, of_cell, k);
    else
      f_(block, points, k);
    return k;
  }

  bool is_constant() const { return is_constant_; }
  bool is_constant_in_blocks() const { return is_constant_in_blocks_; }

private:
  DiffusionTensor() = default;
  AtPoints f_;
  OfCell of_cell_;
  bool is_constant_ = false, is_constant_in_blocks_ = false;
};

/// A number at points of a block; `boundary`: of the side that the points are on.
using NumberAtPoints = std::function<std::vector<double>(
    std::int64_t block, int boundary, const std::vector<std::array<double, 3>> &points)>;

/// K is its mean over each cell where blocks have so many cells per direction, by its values in the middles of `samples` equal parts of each direction.
struct CellMeansOfK
{
  std::int64_t per_direction = 0; ///< 0: nowhere
  int samples = 0;
};

/// What belongs to points of cells and their sides.
struct PointwiseData
{
  template <typename K>
  requires std::is_convertible_v<K, DiffusionTensor> PointwiseData(
      K of_points, NumberAtPoints reaction_ = {}, NumberAtPoints robin_ = {})
    : k(std::move(of_points))
    , reaction(std::move(reaction_))
    , robin(std::move(robin_))
  {}

  DiffusionTensor k;
  NumberAtPoints reaction; ///< c >= 0; empty: none
  NumberAtPoints robin;    ///< r >= 0 of K du/dn + r u at sides that are Side::neumann; empty: none
  FaceAverage averages = FaceAverage::arithmetic;
  CellMeansOfK means_of_k{};
  /// The reaction is the same at all points of a block, and r at all of one side of a block.
  bool has_numbers_of_blocks = false;
};

/// G = det J J^-1 K J^-T
template <typename T>
Matrix3Of<T> metric_of(
    T det, const Matrix3Of<T> &inverse_j, const std::array<T, 6> &tensor, int dim)
{
  const auto &t = tensor;
  const Matrix3Of<T> k{{{t[0], t[3], t[4]}, {t[3], t[1], t[5]}, {t[4], t[5], t[2]}}};
  Matrix3Of<T> result{};
  for (int a = 0; a < dim; ++a)
  {
    std::array<T, 3> row{}; // of det J J^-1 K
    for (int l = 0; l < dim; ++l)
      for (int i = 0; i < dim; ++i)
        row[l] += det * inverse_j[a][i] * k[i][l];
    for (int b = a; b < dim; ++b)
    {
      for (int l = 0; l < dim; ++l)
        result[a][b] += row[l] * inverse_j[b][l];
      result[b][a] = result[a][b];
    }
  }
  return result;
}
/// Throws CoefficientError if K is not positive definite at x, a point of this block.
void check_positive(
    const SymmetricTensor &k, std::int64_t block, const std::array<double, 3> &x, int dim);
/// Throws CoefficientError for a reaction, or an r of `boundary`, that is negative at x.
void check_number(double value, CoefficientError::Of of, const std::array<double, 3> &x, int dim,
    int boundary = -1);

/// By this part of the way to the middle of the corners of a cell points of its sides are moved for K, which may jump there.
inline constexpr double inwards = 1e-9;
/// Points that are near to a cell, so moved; `middle` of its corners.
std::vector<std::array<double, 3>> moved_inwards(
    std::vector<std::array<double, 3>> points, const std::array<double, 3> &middle);
/// The same for a lattice of points of the whole cell, x fastest, as many in each direction, with its corners.
std::vector<std::array<double, 3>> moved_inwards(
    std::vector<std::array<double, 3>> lattice, int dim);
/// The mean of the corners of such a lattice.
std::array<double, 3> middle_of_corners(const std::vector<std::array<double, 3>> &lattice, int dim);

/// Volume and face numbers of all cells, dimensionless where K and the geometry are.
///
/// kappa of a cell is the largest eigenvalue of D^-1/2 G D^-1/2, D = diag G, over its volume and face points: 1 where the axes of the cell are
/// those of K and orthogonal, at most the dimension. With it the penalty holds back what the mixed terms of G take. rho of a point of a side is
/// 1, or where it is more G_aa there times the mean of 1 / G_aa over the volume points of the line that ends there, with the weights r_q^2 / w_q, r_q
/// the Lagrange polynomial of point q at the end: by the inequality of Cauchy and Schwarz (D u)^2 at the end is at most the sum of these terms times
/// that of w_q G_q (D u)_q^2.
///
/// FaceAverage::harmonic: with t = sigma / 2 kappa rho G_aa of one side of a face and t' of the other one, the face has the penalty T = 4 t t' / (t + t') in place of t + t', and the
/// fluxes the weights w = t' / (t + t') and 1 - w in place of 1/2: the G_aa and G_ab of the face are multiplied by 2 w. These weights make w^2 t + (1 - w)^2 t', which T must
/// outweigh, as small as it can be: the operator is definite as with equal weights, and a face has the penalty of the side with the smaller K.
/// Source: A. Ern, A. Stephansen, P. Zunino, IMA J. Numer. Anal. 29 (2009), with t in the place of n.K n.
///
/// Where all cells are affine with one K and one reaction each (affine_cells.h) there are the numbers of kernels/laplace/cellmean/cellmean.h in place of those at
/// points, which volume(), face() and reaction() give all the same.
class PointwiseMetric
{
public:
  /// kappa of a cell, and its shape: the quotient of the smallest det J and the largest one at its points.
  struct CellQuality
  {
    double kappa = 1., quality = 1.;
  };

  /// `links`: of all sides of the level's blocks; `shared`: those that are joined with blocks of other ranks, or nullptr. Collective over these. Throws MeshError, naming the place, if det J is not positive at a point; CoefficientError if K is not
  /// positive definite there, or another number negative.
  /// With means_of_k, for coarse levels, K at a point is its mean over the part of the cell that belongs to the point, whose lengths are the weights of
  /// the quadrature, by two samples per direction; at sides that of the nearest point. Where K jumps within a coarse cell, points alone may miss
  /// what is stiff, and corrections from there are too large.
  PointwiseMetric(const BlockGeometry &geometry, const BlockLevel &level, const CellBasis &basis,
      const PointwiseData &data, const std::vector<laplace::BlockLink> &links,
      bool means_of_k = false, const SharedSides *shared = nullptr);

  /// One metric per cell: `means` of kernels/laplace/cellmean/cellmean.h, for the operator with this basis on these cells.
  PointwiseMetric(const Block &block, const CellBasis &basis, Array<double> means,
      std::vector<CellQuality> of_cells);

  /// Of one metric per cell; nullptr: there are those of points.
  const double *means() const { return means_.size() > 0 ? means_.data() : nullptr; }

  /// Of points, at cell cx of a row, times their weights (places of pointwise.h). No reaction: zero.
  double volume(std::int64_t row, std::int64_t q, int number, std::int64_t cx) const;
  double face(std::int64_t row, int side, std::int64_t q, int number, std::int64_t cx) const;
  double reaction(std::int64_t row, std::int64_t q, std::int64_t cx) const;

  /// All of them, where they are.
  laplace::PointNumbers<double> view() const
  {
    return {volume_.data(), face_.data(), reaction_.size() == 0 ? nullptr : reaction_.data()};
  }
  /// Multiplies all numbers.
  void scale(double factor);
  /// Cells of the stacked block, x fastest.
  const std::vector<CellQuality> &of_cells() const { return of_cells_; }
  double largest_kappa() const;
  double least_quality() const;

private:
  double mean(std::int64_t row, int number, std::int64_t cx) const
  {
    return means_[laplace::cell_mean_index(block_, row, number, cx)];
  }
  double weight_of_face_point(std::int64_t q) const
  {
    return weights_[q % block_.n] * (block_.dim == 3 ? weights_[q / block_.n] : 1.);
  }
  double weight_of_point(std::int64_t q) const
  {
    return weights_[q % block_.n] * weight_of_face_point(q / block_.n);
  }

  Block block_;
  std::vector<double> weights_; ///< of the points of a direction
  Array<double> volume_, face_, reaction_;
  Array<double> means_;
  std::vector<CellQuality> of_cells_;
};
} // namespace tensormg
