// One operator for vectors of two kinds.
#pragma once

namespace tensormg
{
/// Residuals by one object, products by another one of the same matrix that takes vectors of other numbers: what a
/// method asks whose basis has fewer digits than its solution. Both must outlive the object.
template <typename Outer, typename Basis>
class MixedOperator
{
public:
  MixedOperator(Outer &outer, Basis &basis)
    : outer_(outer)
    , basis_(basis)
  {}

  /// dst = A src
  void vmult(typename Basis::VectorType &dst, const typename Basis::VectorType &src)
  {
    basis_.vmult(dst, src);
  }
  /// dst = b - A src
  void residual(typename Outer::VectorType &dst, const typename Outer::VectorType &src,
      const typename Outer::VectorType &b)
  {
    outer_.residual(dst, src, b);
  }

private:
  Outer &outer_;
  Basis &basis_;
};
} // namespace tensormg
