// Arithmetic on vectors in host memory, over all ranks.
#pragma once

#include <cmath>
#include <vector>

#include <mpi.h>

#include "operators/vectors/vector.h"
#include "solvers/quotient.h"

namespace tensormg
{
/// The largest power of two that is at most x > 0.
inline double power_of_two_below(double x) { return std::exp2(std::floor(std::log2(x))); }

/// What Krylov methods need of the outer vectors: FP64, and for the basis of fgmres also WideFloat. Every function
/// is collective; sums are taken in FP64 in an order that depends on the partition alone.
class VectorSpace
{
public:
  using VectorType = Vector<double>;
  using WideFloatVector = Vector<WideFloat>;

  /// Of vectors whose local part is `block`.
  VectorSpace(const Block &block, MPI_Comm communicator)
    : block_(block)
    , communicator_(communicator)
  {}

  template <typename V = VectorType>
  V make_vector() const
  {
    return V(block_);
  }

  template <typename Number>
  double dot(const Vector<Number> &x, const Vector<Number> &y) const;
  double norm(const VectorType &x) const;
  /// max |x_i|, infinity if an entry is not finite
  template <typename Number>
  double max_abs(const Vector<Number> &x) const;
  /// [v_0'w, ..., v_{k-1}'w, w'w] in one pass and one reduction
  template <typename Number>
  std::vector<double> multi_dot(
      const std::vector<Vector<Number>> &v, int count, const Vector<Number> &w) const;
  /// w = factor w + sum_i c[i] v[i]; w'w of the result is known() after any function that returned a number since,
  /// wait_for() waits for it (here both have nothing to wait for)
  template <typename Number>
  double multi_update_later(const std::vector<double> &c, const std::vector<Vector<Number>> &v,
      Vector<Number> &w, double factor = 1.) const;
  static double known(double sum) { return sum; }
  static double wait_for(double sum) { return sum; }
  /// x += sum_i c[i] v[i]
  template <typename Number>
  void add_combination(
      const std::vector<double> &c, const std::vector<Vector<Number>> &v, VectorType &x) const;
  /// dst = factor * src, rounded; returns the norm of factor * src
  double convert_with_norm(double factor, const VectorType &src, WideFloatVector &dst) const;
  /// y = a x + b y
  template <typename Number>
  void axpby(double a, const Vector<Number> &x, double b, Vector<Number> &y) const;

  /// dot(x, y), and the first `count` numbers of multi_dot(), known() as what multi_update_later() gives.
  template <typename Number>
  double dot_later(const Vector<Number> &x, const Vector<Number> &y) const
  {
    return dot(x, y);
  }
  template <typename Number>
  std::vector<double> multi_dot_later(
      const std::vector<Vector<Number>> &v, int count, const Vector<Number> &w) const
  {
    return multi_dot(v, count, w);
  }
  /// factor * numerator / denominator of numbers that may not be known yet
  static Quotient quotient(double factor, double numerator, double denominator)
  {
    return {factor, numerator, denominator};
  }
  /// y = a x + b y
  template <typename Number>
  void axpby(double a, const Vector<Number> &x, const Quotient &b, Vector<Number> &y) const
  {
    axpby(a, x, b.value(), y);
  }
  /// x += a unit p, r -= a q; returns r'r. unit: what one in p, q and r stands for. Where numerator and denominator of
  /// `a` are not positive, or their quotient is not finite, x and r stay as they are.
  template <typename Number>
  double cg_update(const Quotient &a, double unit, const Vector<Number> &p, const Vector<Number> &q,
      VectorType &x, Vector<Number> &r) const;
  /// What convert() multiplies by.
  using Scale = double;
  /// `target` times the largest power of two that is at most 1 / max |x_i|; `target` if x is zero or not finite
  template <typename Number>
  Scale scale_by_largest(double target, const Vector<Number> &x) const;
  static Scale scale(double factor) { return factor; }
  static Scale inverse(Scale scale) { return 1. / scale; }
  /// dst = scale * src, rounded to the type of dst
  template <typename To, typename From>
  void convert(Scale scale, const Vector<From> &src, Vector<To> &dst) const;

  /// dst = scale * (x + d)
  template <typename To, typename From>
  void convert_sum(
      Scale scale, const Vector<From> &x, const Vector<From> &d, Vector<To> &dst) const;
  /// x + d = src: x rounded, d what that leaves
  template <typename To, typename From>
  void convert_to_pair(const Vector<From> &src, Vector<To> &x, Vector<To> &d) const;

private:
  Block block_;
  MPI_Comm communicator_;
};
} // namespace tensormg
