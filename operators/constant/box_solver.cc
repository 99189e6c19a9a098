#include "operators/constant/box_solver.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "operators/constant/line_pencil.h"

extern "C" void dgemm_(const char *transa, const char *transb, const int *m, const int *n,
    const int *k, const double *alpha, const double *a, const int *lda, const double *b,
    const int *ldb, const double *beta, double *c, const int *ldc);

namespace tensormg
{
namespace
{
  /// Row-major C (m x n) = op(A) (m x k) B (k x n); lda is the row length of A as stored.
  void multiply(bool transpose_a, std::int64_t m, std::int64_t n, std::int64_t k, const double *a,
      std::int64_t lda, const double *b, std::int64_t ldb, double *c, std::int64_t ldc)
  {
    const int mi = static_cast<int>(m), ni = static_cast<int>(n), ki = static_cast<int>(k);
    const int la = static_cast<int>(lda), lb = static_cast<int>(ldb), lc = static_cast<int>(ldc);
    const double one = 1., zero = 0.;
    // Column-major BLAS sees the transposes: C' = B' op(A)'.
    dgemm_("N", transpose_a ? "T" : "N", &ni, &mi, &ki, &one, b, &lb, a, &la, &zero, c, &lc);
  }

  std::int64_t length(const Block &block, int d)
  {
    return d == 2 && block.dim == 2 ? 1 : block.cells[d] * block.n;
  }

  /// Calls f(place of a row in a local vector, in one of all cells) for the local rows of a level with ny rows in a plane.
  void for_each_local_row(const LevelGrid &level, std::int64_t ny, auto &&f)
  {
    const Block &local = level.block;
    const std::int64_t row = local.row(), first_row = level.offset[1] * local.n,
                       first_plane = level.offset[2] * local.nz();
    for (std::int64_t z = 0; z < local.planes(); ++z)
      for (std::int64_t y = 0; y < local.rows_per_plane(); ++y)
        f((z * local.rows_per_plane() + y) * row, ((first_plane + z) * ny + first_row + y) * row);
  }
} // namespace

std::int64_t BoxSolver::memory(const Block &whole)
{
  std::int64_t numbers = 2 * whole.size();
  for (int d = 0; d < whole.dim; ++d)
    numbers += length(whole, d) * (d == 0 ? whole.row() : length(whole, d));
  return numbers * static_cast<std::int64_t>(sizeof(double));
}

BoxSolver::BoxSolver(const LevelGrid &level, const CellBasis &basis, const Problem &problem)
  : level_(level)
  , whole_(level.block.dim, level.block.degree(), level.global_cells)
{
  for (int d = 0; d < whole_.dim; ++d)
    if (const std::int64_t size = length(whole_, d); size > 16384)
      throw std::length_error("direct solver: " + std::to_string(size) +
          " unknowns in one direction; at most 16384 (the dense eigenproblem would take hours)");
  if (level.cells == nullptr)
    find_spectra(basis, problem);
  else if (level.cells->separation)
    find_pencil_spectra(basis, problem);
  else
    throw std::invalid_argument(
        "fast diagonalisation needs coefficients that are products of functions of x, y and z");
  if (whole_.dim == 2)
    eigenvalues_[2] = {0.};
  else if (level.communicator != MPI_COMM_SELF) // perhaps in a thread that must not call MPI
  {
    MPI_Comm_rank(level.communicator, &rank_);
    MPI_Comm_size(level.communicator, &n_ranks_);
  }
}

void BoxSolver::take_memory()
{
  u_.resize(whole_.size());
  t_.resize(whole_.size());
}

void BoxSolver::set_direction(int d, const LineSpectrum &spectrum)
{
  const int n = whole_.n;
  const std::int64_t size = length(whole_, d), rows = d == 0 ? whole_.row() : size;
  eigenvalues_[d] = spectrum.values;
  q_[d].assign(rows * size, 0.);
  for (std::int64_t c = 0; c < whole_.cells[d]; ++c)
    for (int i = 0; i < n; ++i)
    {
      const std::int64_t to = d == 0 ? i * whole_.pitch + c : c * n + i;
      for (std::int64_t e = 0; e < size; ++e)
        q_[d][to * size + e] = spectrum.vectors[e * size + c * n + i];
    }
}

void BoxSolver::find_spectra(const CellBasis &basis, const Problem &problem)
{
  const auto factors = level_.direction_factors();
  LineSpectra spectra; // directions that are alike share the work
  for (int d = 0; d < whole_.dim; ++d)
  {
    set_direction(d,
        spectra.of(basis, whole_.cells[d], problem.boundary[2 * d], problem.boundary[2 * d + 1]));
    for (double &value : eigenvalues_[d])
      value *= factors[d];
  }
}

void BoxSolver::find_pencil_spectra(const CellBasis &basis, const Problem &problem)
{
  LinePencil before;
  LineSpectrum of_pencil;
  for (int d = 0; d < whole_.dim; ++d)
  {
    if (LinePencil pencil = line_pencil(level_, problem, d); !(pencil == before))
    {
      of_pencil = spectrum(basis, pencil);
      before = std::move(pencil);
    }
    set_direction(d, of_pencil);
  }
  const double reaction = pencil_reaction(level_);
  for (double &value : eigenvalues_[0])
    value += reaction;
}

std::int64_t BoxSolver::first_plane(int r) const { return length(whole_, 2) * r / n_ranks_; }
std::int64_t BoxSolver::first_row(int r) const { return length(whole_, 1) * r / n_ranks_; }

template <typename Number>
void BoxSolver::gather(const Vector<Number> &b)
{
  const std::int64_t row = whole_.row(), ny = length(whole_, 1), nz = length(whole_, 2);
  take_memory();
  std::fill(u_.begin(), u_.end(), 0.);
  for_each_local_row(level_, ny, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t at = 0; at < row; ++at)
      u_[to + at] = static_cast<Compute<Number>>(b[from + at]);
  });
  if (level_.communicator != MPI_COMM_SELF)
    for (std::int64_t z = 0; z < nz; ++z) // by planes: MPI counts are 32-bit
      MPI_Allreduce(MPI_IN_PLACE, u_.data() + z * ny * row, static_cast<int>(ny * row), MPI_DOUBLE,
          MPI_SUM, level_.communicator);
}

void BoxSolver::exchange(bool to_rows)
{
  if (n_ranks_ == 1)
    return;
  const std::int64_t nx = length(whole_, 0), ny = length(whole_, 1);
  // By rank: the rows of one on the planes of the other.
  std::vector<MPI_Datatype> own_planes(n_ranks_), own_rows(n_ranks_);
  const auto part = [&](int of_planes, int of_rows, MPI_Datatype &type) {
    const std::int64_t z = first_plane(of_planes), y = first_row(of_rows);
    const std::array<int, 3> sizes{
        static_cast<int>(length(whole_, 2)), static_cast<int>(ny), static_cast<int>(nx)},
        counts{static_cast<int>(first_plane(of_planes + 1) - z),
            static_cast<int>(first_row(of_rows + 1) - y), static_cast<int>(nx)},
        starts{static_cast<int>(z), static_cast<int>(y), 0};
    if (counts[0] == 0 || counts[1] == 0)
      MPI_Type_contiguous(0, MPI_DOUBLE, &type);
    else
      MPI_Type_create_subarray(
          3, sizes.data(), counts.data(), starts.data(), MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
  };
  for (int r = 0; r < n_ranks_; ++r)
  {
    part(rank_, r, own_planes[r]);
    part(r, rank_, own_rows[r]);
  }
  const std::vector<int> one(n_ranks_, 1), zero(n_ranks_, 0);
  const auto &from = to_rows ? own_planes : own_rows, &to = to_rows ? own_rows : own_planes;
  // What a rank keeps is in its place in u_.
  MPI_Alltoallw(u_.data(), one.data(), zero.data(), from.data(), t_.data(), one.data(), zero.data(),
      to.data(), level_.communicator);
  u_.swap(t_);
  for (int r = 0; r < n_ranks_; ++r)
  {
    MPI_Type_free(&own_planes[r]);
    MPI_Type_free(&own_rows[r]);
  }
}

void BoxSolver::solve_gathered()
{
  const std::int64_t nx = length(whole_, 0), ny = length(whole_, 1), nz = length(whole_, 2),
                     row = whole_.row();
  const auto for_planes = [&](auto &&f) {
    for (std::int64_t z = first_plane(rank_); z < first_plane(rank_ + 1); ++z)
      f(z);
  };
  const auto along_y = [&](bool transpose, std::int64_t z, const double *from, double *to) {
    multiply(transpose, ny, nx, ny, q_[1].data(), ny, from + z * ny * nx, nx, to + z * ny * nx, nx);
  };
  // Into the eigenbasis: x (rows become nx long), y plane by plane, z row by row.
  for_planes([&](std::int64_t z) {
    multiply(false, ny, nx, row, u_.data() + z * ny * row, row, q_[0].data(), nx,
        t_.data() + z * ny * nx, nx);
  });
  for_planes([&](std::int64_t z) { along_y(true, z, t_.data(), u_.data()); });
  exchange(true);
  // Strips of y keep the 32-bit leading dimensions of BLAS small.
  const auto along_z = [&](bool transpose, std::int64_t y, const double *from, double *to) {
    if (whole_.dim == 2)
      std::copy(from + y * nx, from + (y + 1) * nx, to + y * nx);
    else
      multiply(
          transpose, nz, nx, nz, q_[2].data(), nz, from + y * nx, ny * nx, to + y * nx, ny * nx);
  };
  for (std::int64_t y = first_row(rank_); y < first_row(rank_ + 1); ++y)
  {
    along_z(true, y, u_.data(), t_.data());
    divide_row(y);
    along_z(false, y, t_.data(), u_.data());
  }
  exchange(false);
  for_planes([&](std::int64_t z) { along_y(false, z, u_.data(), t_.data()); });
  for_planes([&](std::int64_t z) { // back to padded rows: (rows x nx) (row x nx)'
    const int m = static_cast<int>(row), n = static_cast<int>(ny), k = static_cast<int>(nx);
    const double one = 1., zero = 0.;
    dgemm_("T", "N", &m, &n, &k, &one, q_[0].data(), &k, t_.data() + z * ny * nx, &k, &zero,
        u_.data() + z * ny * row, &m);
  });
  for (int r = 0; n_ranks_ > 1 && r < n_ranks_; ++r)
    for (std::int64_t z = first_plane(r); z < first_plane(r + 1); ++z)
      MPI_Bcast(
          u_.data() + z * ny * row, static_cast<int>(ny * row), MPI_DOUBLE, r, level_.communicator);
}

void BoxSolver::divide_row(std::int64_t y)
{
  const std::int64_t nx = length(whole_, 0), ny = length(whole_, 1), nz = length(whole_, 2);
  for (std::int64_t z = 0; z < nz; ++z)
  {
    double *const t = t_.data() + (z * ny + y) * nx;
    const double sum = eigenvalues_[2][z] + eigenvalues_[1][y];
    for (std::int64_t x = 0; x < nx; ++x)
    {
      const double value = sum + eigenvalues_[0][x];
      t[x] = value == 0. ? 0. : t[x] / value;
    }
  }
}

template <typename Number>
void BoxSolver::solve(Vector<Number> &x, const Vector<Number> &b)
{
  gather(b);
  solve_gathered();
  for_each_local_row(level_, length(whole_, 1), [&](std::int64_t to, std::int64_t from) {
    for (std::int64_t at = 0; at < whole_.row(); ++at)
      x[to + at] = Number(static_cast<Compute<Number>>(u_[from + at]));
  });
}

template void BoxSolver::solve(Vector<double> &, const Vector<double> &);
template void BoxSolver::solve(Vector<float> &, const Vector<float> &);
template void BoxSolver::solve(Vector<Half> &, const Vector<Half> &);
} // namespace tensormg
