#include "operators/constant/line_operator.h"

#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/laplace/reference/reference.h"

extern "C" void dsyevd_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda,
    double *w, double *work, const int *lwork, int *iwork, const int *liwork, int *info);

namespace tensormg
{
std::vector<double> line_operator(
    const CellBasis &basis, std::int64_t cells, BoundaryKind lower, BoundaryKind upper)
{
  const int n = basis.n;
  const std::int64_t size = cells * n;
  const laplace::DenseBlocks blocks = laplace::make_dense_blocks(basis);
  std::vector<double> matrix(size * size, 0.);
  const auto add = [&](std::int64_t row, std::int64_t column, const std::vector<double> &block) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        matrix[(row * n + i) * size + column * n + j] += block[i * n + j];
  };
  for (std::int64_t c = 0; c < cells; ++c)
  {
    add(c, c, blocks.own);
    if (c > 0 || lower == BoundaryKind::periodic)
      add(c, (c + cells - 1) % cells, blocks.left);
    else
      add(c, c, lower == BoundaryKind::dirichlet ? blocks.dirichlet_left : blocks.neumann_left);
    if (c + 1 < cells || upper == BoundaryKind::periodic)
      add(c, (c + 1) % cells, blocks.right);
    else
      add(c, c, upper == BoundaryKind::dirichlet ? blocks.dirichlet_right : blocks.neumann_right);
  }
  return matrix;
}

std::vector<double> diagonalise(std::vector<double> &matrix, bool is_singular)
{
  int size = 0;
  while (static_cast<std::size_t>(size) * size < matrix.size())
    ++size;
  std::vector<double> values(size);
  const int lwork = 1 + 6 * size + 2 * size * size, liwork = 3 + 5 * size;
  std::vector<double> work(lwork);
  std::vector<int> iwork(liwork);
  int info = 0;
  dsyevd_("V", "U", &size, matrix.data(), &size, values.data(), work.data(), &lwork, iwork.data(),
      &liwork, &info);
  if (info != 0)
    throw std::runtime_error("dsyevd failed on a line operator of size " + std::to_string(size));
  if (is_singular)
    values.front() = 0.; // the constant's, up to rounding
  return values;
}

const LineSpectrum &LineSpectra::of(
    const CellBasis &basis, std::int64_t cells, BoundaryKind lower, BoundaryKind upper)
{
  for (const Entry &entry : entries_)
    if (entry.cells == cells && entry.n == basis.n && entry.lower == lower && entry.upper == upper)
      return entry.spectrum;
  LineSpectrum spectrum{line_operator(basis, cells, lower, upper), {}};
  spectrum.values = diagonalise(spectrum.vectors, is_free(lower) && is_free(upper));
  entries_.push_back({cells, basis.n, lower, upper, std::move(spectrum)});
  return entries_.back().spectrum;
}
} // namespace tensormg
