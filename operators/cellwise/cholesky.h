// The factorisation of a small dense matrix, for coarsest levels.
#pragma once

#include <string>
#include <vector>

namespace tensormg
{
class Cholesky
{
public:
  Cholesky() = default;
  /// Of a symmetric matrix, all entries. Throws std::runtime_error "NAME is not positive definite".
  Cholesky(std::vector<double> matrix, const std::string &name);
  bool empty() const { return size_ == 0; }
  /// b = A^-1 b
  void solve(std::vector<double> &b) const;
  /// A^-1, all entries.
  std::vector<double> inverse() const;

private:
  int size_ = 0;
  std::vector<double> factor_;
};
} // namespace tensormg
