// Corrections by exact solves on vertex patches, on a level that may be distributed.
#pragma once

#include <array>
#include <vector>

#include "kernels/laplace/laplace.h"
#include "kernels/patch/patch.h"
#include "operators/mesh/grid.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
/// The patches of one direction with the eigenvectors (LAPACK's dsyev) of their line matrices.
patch::Line make_diagonalised_line(const CellBasis &basis, const patch::LineRange &range);

/// Direction d of a level as the whole grid has it. Collective: the ranks at its ends know how it is closed.
patch::LineRange line_range(const LevelGrid &level, int d);

/// All colours by direction, in the order in which multiplicative Schwarz takes them. First those with an even sum
/// (0 0 0, 1 1 0, ... in lexicographic order, x fastest), then the others in the opposite order: one colour after
/// the other, patches overlap as little as they can, and multiplicative Schwarz contracts better than in
/// lexicographic order (3D: 0.0020 instead of 0.0055 per V(1,1)-cycle with FGMRES, measured for degrees 1, 3, 5).
std::vector<std::array<int, 3>> ordered_colours(const std::array<patch::Line, 3> &lines, int dim);

/// x += damping * sum_patches R' A^+ R r for the patches of a colour or all
/// (kernels/patch/patch.h).
///
/// A patch belongs to the rank of its lower cells. Where patches cross a border, the upper
/// neighbours send the residual of their first layer of cells, and get back the corrections that
/// belong to them. y goes first, then z including the layer in y, so that the cells across an edge
/// come along. All functions are collective over the level's communicator.
template <typename Number>
class PatchCorrection
{
public:
  /// `level` and `basis` must outlive the object. Throws std::length_error if a layer does not fit
  /// one message.
  PatchCorrection(const LevelGrid &level, const CellBasis &basis, laplace::Backend backend);

  /// The same on every rank; in the order in which multiplicative Schwarz takes them.
  int n_colours() const { return static_cast<int>(colours_.size()); }
  /// The patches of one colour; x must not be r.
  void add(Vector<Number> &x, const Vector<Number> &r, int colour, double damping);
  /// All patches from the same residual: additive Schwarz.
  void add_all(Vector<Number> &x, const Vector<Number> &r, double damping);

  static void set_zero(Vector<Number> &x);
  /// (x, old) = ((1 + theta) x - theta old, x)
  static void extrapolate(double theta, Vector<Number> &x, Vector<Number> &old);

private:
  using C = Compute<Number>;

  /// Which patches cross a border, by direction (entry 0 is not used): colour, -1 if there is none.
  struct Crossing
  {
    std::array<int, 3> up{-1, -1, -1};   ///< from this block to the upper neighbour
    std::array<int, 3> down{-1, -1, -1}; ///< from the lower neighbour to this block
  };
  /// Whether this rank receives from above and sends below in a direction, for the colours at hand.
  struct Exchange
  {
    bool up = false, down = false;
  };
  using Exchanges = std::array<Exchange, 3>;

  /// For one colour, or for all: nullptr.
  Exchanges exchanges(const std::array<int, 3> *colour) const;
  /// Fills the layers beyond the block with the residual, and their corrections with zero.
  void fetch_residual(const Number *r, const Exchanges &exchanges);
  void return_corrections(Number *x, const Exchanges &exchanges);
  void solve(
      Vector<Number> &x, const Vector<Number> &r, const std::array<int, 3> &colour, double damping);

  const LevelGrid &level_;
  const CellBasis &basis_;
  bool reference_;
  std::array<patch::Line, 3> lines_;
  std::vector<std::array<int, 3>> colours_;
  Crossing crossing_;
  std::array<std::vector<Number>, 3> residual_; ///< upper_y, upper_z, upper_yz
  std::array<std::vector<C>, 3> correction_;
  std::vector<Number> send_;              ///< the first layer of cells in y
  std::array<std::vector<C>, 3> receive_; ///< corrections of those layers from the neighbours
};

extern template class PatchCorrection<double>;
extern template class PatchCorrection<float>;
extern template class PatchCorrection<Half>;
} // namespace tensormg
