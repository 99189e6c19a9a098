#include "operators/cellwise/cholesky.h"

#include <cmath>
#include <stdexcept>
#include <utility>

extern "C"
{
  void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);
  void dpotrs_(const char *uplo, const int *n, const int *nrhs, const double *a, const int *lda,
      double *b, const int *ldb, int *info);
  void dpotri_(const char *uplo, const int *n, double *a, const int *lda, int *info);
}

namespace tensormg
{
Cholesky::Cholesky(std::vector<double> matrix, const std::string &name)
  : size_(static_cast<int>(std::lround(std::sqrt(static_cast<double>(matrix.size())))))
  , factor_(std::move(matrix))
{
  int info = 0;
  dpotrf_("L", &size_, factor_.data(), &size_, &info);
  if (info != 0)
    throw std::runtime_error(name + " is not positive definite");
}

void Cholesky::solve(std::vector<double> &b) const
{
  const int one = 1;
  int info = 0;
  dpotrs_("L", &size_, &one, factor_.data(), &size_, b.data(), &size_, &info);
}

std::vector<double> Cholesky::inverse() const
{
  std::vector<double> result = factor_;
  int info = 0;
  dpotri_("L", &size_, result.data(), &size_, &info);
  const auto size = static_cast<std::size_t>(size_);
  for (std::size_t j = 0; j < size; ++j)
    for (std::size_t i = 0; i < j; ++i)
      result[j * size + i] = result[i * size + j];
  return result;
}
} // namespace tensormg
