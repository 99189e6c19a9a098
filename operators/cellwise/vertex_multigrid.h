// Black-box multigrid for symmetric positive definite matrices on the vertices of a box: the part of the cycle below the elements where
// coefficients jump.
//
// Interpolation comes from the matrix. A vertex with odd numbers in some directions is interpolated from its neighbours in these
// directions by its equation, in which the other directions are summed ("collapsed"): first vertices on edges of coarse cells, then
// on faces, then inside. Coarse matrices are P'AP, which keeps 3^dim entries per row. Smoother: Chebyshev of the fourth kind on
// the diagonal. Source: J. E. Dendy, Black box multigrid, J. Comput. Phys. 48 (1982).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "operators/cellwise/cholesky.h"
#include "operators/cellwise/vertex_hierarchy.h"

namespace tensormg
{
/// The vertices of a box with a layer around them: vertex (x, y, z) lies at first() + x + y * row() + z * plane(), in 2D z = 0.
struct VertexGrid
{
  int dim = 3; ///< a periodic direction may have one vertex in 3D, too
  std::array<std::int64_t, 3> count{1, 1, 1};
  std::array<bool, 3> periodic{false, false, false};

  bool is_3d() const { return dim == 3; }
  std::int64_t row() const { return count[0] + 2; }
  std::int64_t plane() const { return row() * (count[1] + 2); }
  /// Vectors are read from one entry before the first to one behind the last place.
  std::int64_t first() const { return 1 + (1 + row()) + (is_3d() ? plane() : 0); }
  std::int64_t size() const { return plane() * (count[2] + (is_3d() ? 2 : 0)) + 2 + row() + 16; }
  std::int64_t place(std::int64_t x, std::int64_t y, std::int64_t z) const
  {
    return first() + x + y * row() + z * plane();
  }
  template <typename Use>
  void for_each(const Use &use) const
  {
    for (std::int64_t z = 0; z < count[2]; ++z)
      for (std::int64_t y = 0; y < count[1]; ++y)
        for (std::int64_t x = 0; x < count[0]; ++x)
          use(std::array<std::int64_t, 3>{x, y, z});
  }
  /// In the order of for_each().
  std::int64_t number(const std::array<std::int64_t, 3> &v) const
  {
    return v[0] + count[0] * (v[1] + count[1] * v[2]);
  }
  /// Neighbour number o of vertex v, which is one of the box, across periodic sides, too.
  std::array<std::int64_t, 3> neighbour(std::array<std::int64_t, 3> v, int o) const
  {
    const std::array<int, 3> offset{o % 3 - 1, o / 3 % 3 - 1, o / 9 - 1};
    for (std::size_t d = 0; d < 3; ++d)
      if (v[d] += offset[d]; periodic[d])
        v[d] = (v[d] + count[d]) % count[d];
    return v;
  }
  std::int64_t place_of_neighbour(const std::array<std::int64_t, 3> &v, int o) const
  {
    const auto other = neighbour(v, o);
    return place(other[0], other[1], other[2]);
  }
  /// From a vertex to its neighbour number 0..26: (dz + 1) * 9 + (dy + 1) * 3 + dx + 1.
  std::int64_t step(int neighbour) const
  {
    return neighbour % 3 - 1 + (neighbour / 3 % 3 - 1) * row() + (neighbour / 9 - 1) * plane();
  }
};

/// Entries of a matrix: [neighbour][place]. A vertex without unknown has a one on the diagonal, and nobody refers to it.
struct VertexMatrix
{
  VertexGrid grid;
  std::array<std::vector<double>, 27> entries;
  /// Of further unknowns, numbers from grid.size() on: what is added to these entries and those above.
  struct Entry
  {
    std::int64_t row, column;
    double value;
  };
  std::vector<Entry> further;

  explicit VertexMatrix(const VertexGrid &grid);
  static constexpr int centre = 13;
};

class VertexMultigrid
{
public:
  /// is_singular: constants are in the kernel, and right-hand sides without mean. Throws std::runtime_error if the matrix of the
  /// coarsest level is not positive definite.
  VertexMultigrid(VertexMatrix matrix, bool is_singular);

  /// x = one V-cycle for A x = b from zero; both have VertexGrid::size() numbers, those that belong to no vertex are zero in b and
  /// undefined in x.
  void cycle(std::vector<double> &x, const std::vector<double> &b);

  /// By conjugate gradients with cycles, to vertex_accuracy; vectors as for cycle().
  void solve(std::vector<double> &x, const std::vector<double> &b);
  /// The levels as matrices; vertices by VertexGrid::number().
  VertexHierarchy hierarchy() const;

  static double bytes_per_vertex() { return 8. * (27 + 8 + 6 + 4); }

private:
  struct Level
  {
    VertexMatrix matrix;
    std::array<bool, 3> halved{false, false, false};
    /// To coarser vertices, [corner][place]: bit d of the corner is the upper one in direction d.
    std::array<std::vector<double>, 8> weights;
    std::vector<double> inverse_diagonal;
    double lambda_max = 0.;
    std::vector<double> x, b, work, old;

    explicit Level(VertexMatrix matrix_)
      : matrix(std::move(matrix_))
    {}
  };

  SparseRows matrix_rows(const Level &level) const;
  SparseRows prolongation_rows(const Level &fine, const Level &coarse) const;
  void cycle(std::size_t l);
  void smooth(Level &level, bool zero_start);
  void restrict_to(const Level &fine, Level &coarse) const;
  void prolongate(Level &fine, const Level &coarse) const;
  void factorise();
  void solve_coarsest();

  bool is_singular_;
  std::vector<Level> levels_; ///< finest first
  std::vector<std::int64_t> places_;
  Cholesky factor_;
  std::vector<double> dense_;
  std::vector<double> r_, z_, p_, q_; ///< of conjugate gradients
};
} // namespace tensormg
