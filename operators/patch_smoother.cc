#include "operators/patch_smoother.h"

#include <cmath>
#include <cstring>
#include <stdexcept>

#include "kernels/vector/vector.h"
#include "operators/vector_space.h"

extern "C" void dsterf_(const int *n, double *d, double *e, int *info);

namespace tensormg
{
namespace
{
  /// Upper bound of a spectrum from the largest Ritz value; the same margin as for block Jacobi.
  constexpr double safety = 1.05;
  constexpr int lanczos_steps = 12;

  template <typename Number>
  void set_zero(Vector<Number> &x)
  {
    std::memset(
        static_cast<void *>(x.data()), 0, static_cast<std::size_t>(x.size()) * sizeof(Number));
  }

  /// In [-1, 1), by the global position, so that every partition starts from the same vector.
  void fill(Vector<double> &v, const LevelGrid &level)
  {
    const Block &block = level.block;
    const auto hash = [](std::uint64_t x) {
      // SplitMix64 (Steele, Lea, Flood 2014).
      x += 0x9e3779b97f4a7c15ull;
      x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
      x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
      return x ^ (x >> 31);
    };
    const std::int64_t rows = level.global_cells[1] * block.n;
    for (std::int64_t z = 0; z < block.planes(); ++z)
      for (std::int64_t y = 0; y < block.rows_per_plane(); ++y)
        for (int i = 0; i < block.n; ++i)
          for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
          {
            const std::int64_t line =
                (level.offset[2] * block.nz() + z) * rows + level.offset[1] * block.n + y;
            const auto position =
                static_cast<std::uint64_t>((line * block.n + i) * block.cells[0] + cx);
            v[z * block.plane() + y * block.row() + i * block.pitch + cx] =
                static_cast<double>(hash(position) >> 11) * 0x1p-52 - 1.;
          }
  }
} // namespace

double estimate_patch_lambda_max(
    const LevelGrid &level, const CellBasis &basis, laplace::Backend backend, int steps)
{
  LaplaceOperator<double> op(level, basis, backend);
  PatchCorrection<double> correction(level, basis, backend);
  const VectorSpace space(level);
  // Lanczos for P B in the P^-1 inner product: q = P p is the current vector, w = B q in the
  // making.
  Vector<double> p = op.make_vector(), p_old = op.make_vector(), q = op.make_vector(),
                 w = op.make_vector();
  fill(w, level);
  std::vector<double> diagonal, off_diagonal;
  double beta = 0.;
  for (int j = 0; j < steps; ++j)
  {
    set_zero(q);
    correction.add_all(q, w, 1.);
    const double next = std::sqrt(std::max(space.dot(q, w), 0.));
    if (j > 0 && !(next > 1e-10 * diagonal.front()))
      break; // an invariant subspace: its Ritz values are eigenvalues
    if (j > 0)
      off_diagonal.push_back(next);
    beta = next;
    p_old.swap(p);
    space.axpby(1. / beta, w, 0., p);
    space.axpby(1. / beta, q, 0., q);
    op.vmult(w, q);
    diagonal.push_back(space.dot(w, q));
    space.axpby(-diagonal.back(), p, 1., w);
    if (j > 0)
      space.axpby(-beta, p_old, 1., w);
  }
  const int n = static_cast<int>(diagonal.size());
  off_diagonal.resize(n);
  int info = 0;
  dsterf_(&n, diagonal.data(), off_diagonal.data(), &info);
  if (info != 0 || !std::isfinite(diagonal.back()))
    throw std::runtime_error("the eigenvalue estimate of the patch smoother failed");
  return diagonal.back();
}

template <typename Number>
PatchSmoother<Number>::PatchSmoother(
    LaplaceOperator<Number> &op, SchwarzKind kind, int sweeps, double damping, double lambda_max)
  : op_(op)
  , correction_(op.level(), op.basis(), op.backend())
  , kind_(kind)
  , sweeps_(sweeps)
{
  if (sweeps < 1)
    throw std::invalid_argument("the patch smoother needs at least one sweep");
  if (kind != SchwarzKind::additive)
    return;
  if (!(damping >= 0.) || (damping == 0. && !(lambda_max > 0.)))
    throw std::invalid_argument(
        "the additive patch smoother needs a positive damping or a positive largest eigenvalue");
  steps_ =
      damping > 0. ? damped_jacobi(sweeps, damping) : chebyshev_fourth_kind(sweeps, lambda_max);
  for (const ThreeTermStep &step : steps_)
    if (step.theta != 0. && old_.size() == 0)
      old_ = op.make_vector();
}

template <typename Number>
PatchSmoother<Number>::PatchSmoother(
    LaplaceOperator<Number> &op, SchwarzKind kind, int sweeps, double damping)
  : PatchSmoother(op, kind, sweeps, damping,
        kind == SchwarzKind::additive && damping == 0. ? safety *
                estimate_patch_lambda_max(op.level(), op.basis(), op.backend(), lanczos_steps)
                                                       : 1.)
{}

template <typename Number>
void PatchSmoother<Number>::smooth(
    Vector<Number> &x, const Vector<Number> &b, Vector<Number> &work, bool zero_start, bool forward)
{
  if (zero_start)
    set_zero(x);
  if (kind_ == SchwarzKind::multiplicative)
    multiplicative(x, b, work, zero_start, forward);
  else
    additive(x, b, work, zero_start);
}

template <typename Number>
void PatchSmoother<Number>::multiplicative(
    Vector<Number> &x, const Vector<Number> &b, Vector<Number> &work, bool zero_start, bool forward)
{
  const int n_colours = correction_.n_colours();
  for (int k = 0; k < sweeps_ * n_colours; ++k)
  {
    const int colour = forward ? k % n_colours : n_colours - 1 - k % n_colours;
    const bool residual_is_b = zero_start && k == 0;
    if (!residual_is_b)
      op_.residual(work, x, b);
    correction_.add(x, residual_is_b ? b : work, colour, 1.);
  }
}

template <typename Number>
void PatchSmoother<Number>::additive(
    Vector<Number> &x, const Vector<Number> &b, Vector<Number> &work, bool zero_start)
{
  for (std::size_t k = 0; k < steps_.size(); ++k)
  {
    const bool residual_is_b = zero_start && k == 0;
    if (!residual_is_b)
      op_.residual(work, x, b);
    // x becomes (1 + theta) x_k - theta x_{k-1}, old_ becomes x_k.
    const double theta = steps_[k].theta;
    if (theta != 0. || (k + 1 < steps_.size() && steps_[k + 1].theta != 0.))
    {
      vector_kernels::axpby(x.size(), 1. + theta, x.data(), -theta, old_.data());
      x.swap(old_);
    }
    correction_.add_all(x, residual_is_b ? b : work, steps_[k].alpha);
  }
}

template class PatchSmoother<double>;
template class PatchSmoother<float>;
template class PatchSmoother<Half>;
} // namespace tensormg
