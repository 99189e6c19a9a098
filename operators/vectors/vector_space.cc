#include "operators/vectors/vector_space.h"

#include <cmath>

#include "kernels/vector/vector.h"

namespace tensormg
{
namespace vk = vector_kernels;

namespace
{
  void sum_over_ranks(double *values, int count, MPI_Comm communicator)
  {
    if (communicator != MPI_COMM_SELF)
      MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_SUM, communicator);
  }

  template <typename Number>
  std::vector<const Number *> pointers(const std::vector<Vector<Number>> &v, int count)
  {
    std::vector<const Number *> result;
    for (int i = 0; i < count; ++i)
      result.push_back(v[i].data());
    return result;
  }
} // namespace

template <typename Number>
double VectorSpace::dot(const Vector<Number> &x, const Vector<Number> &y) const
{
  double sum = vk::dot(x.size(), x.data(), y.data());
  sum_over_ranks(&sum, 1, communicator_);
  return sum;
}

double VectorSpace::norm(const VectorType &x) const { return std::sqrt(dot(x, x)); }

template <typename Number>
double VectorSpace::max_abs(const Vector<Number> &x) const
{
  double largest = vk::max_abs(x.size(), x.data());
  if (communicator_ != MPI_COMM_SELF)
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, communicator_);
  return largest;
}

template <typename Number>
std::vector<double> VectorSpace::multi_dot(
    const std::vector<Vector<Number>> &v, int count, const Vector<Number> &w) const
{
  std::vector<double> result(count + 1);
  const auto vectors = pointers(v, count);
  vk::multi_dot(w.size(), count, vectors.data(), w.data(), result.data());
  sum_over_ranks(result.data(), count + 1, communicator_);
  return result;
}

template <typename Number>
double VectorSpace::multi_update_later(const std::vector<double> &c,
    const std::vector<Vector<Number>> &v, Vector<Number> &w, double factor) const
{
  const int count = static_cast<int>(c.size());
  const auto vectors = pointers(v, count);
  double norm = vk::multi_update(w.size(), count, c.data(), vectors.data(), factor, w.data());
  sum_over_ranks(&norm, 1, communicator_);
  return norm;
}

template <typename Number>
void VectorSpace::add_combination(
    const std::vector<double> &c, const std::vector<Vector<Number>> &v, VectorType &x) const
{
  const int count = static_cast<int>(c.size());
  const auto vectors = pointers(v, count);
  vk::multi_update(x.size(), count, c.data(), vectors.data(), 1., x.data());
}

double VectorSpace::convert_with_norm(
    double factor, const VectorType &src, WideFloatVector &dst) const
{
  double sum = vk::convert_with_norm(src.size(), factor, src.data(), dst.data());
  sum_over_ranks(&sum, 1, communicator_);
  return std::sqrt(sum);
}

template <typename Number>
void VectorSpace::axpby(double a, const Vector<Number> &x, double b, Vector<Number> &y) const
{
  vk::axpby(x.size(), a, x.data(), b, y.data());
}

template <typename Number>
double VectorSpace::cg_update(const Quotient &a, double unit, const Vector<Number> &p,
    const Vector<Number> &q, VectorType &x, Vector<Number> &r) const
{
  if (!a.is_positive())
    return dot(r, r);
  double norm = vk::cg_update(x.size(), a.value(), unit, p.data(), q.data(), x.data(), r.data());
  sum_over_ranks(&norm, 1, communicator_);
  return norm;
}

template <typename Number>
VectorSpace::Scale VectorSpace::scale_by_largest(double target, const Vector<Number> &x) const
{
  const double largest = max_abs(x);
  return largest > 0. && std::isfinite(largest) ? target * power_of_two_below(1. / largest)
                                                : target;
}

template <typename To, typename From>
void VectorSpace::convert(Scale scale, const Vector<From> &src, Vector<To> &dst) const
{
  vk::convert(src.size(), scale, src.data(), dst.data());
}

template <typename To, typename From>
void VectorSpace::convert_sum(
    Scale scale, const Vector<From> &x, const Vector<From> &d, Vector<To> &dst) const
{
  vk::convert_sum(x.size(), scale, x.data(), d.data(), dst.data());
}

template <typename To, typename From>
void VectorSpace::convert_to_pair(const Vector<From> &src, Vector<To> &x, Vector<To> &d) const
{
  vk::convert_to_pair(src.size(), src.data(), x.data(), d.data());
}

template double VectorSpace::dot(const Vector<double> &, const Vector<double> &) const;
template double VectorSpace::dot(const Vector<float> &, const Vector<float> &) const;
template double VectorSpace::dot(const Vector<WideFloat> &, const Vector<WideFloat> &) const;
template void VectorSpace::axpby(double, const Vector<double> &, double, Vector<double> &) const;
template void VectorSpace::axpby(double, const Vector<float> &, double, Vector<float> &) const;
template void VectorSpace::axpby(
    double, const Vector<WideFloat> &, double, Vector<WideFloat> &) const;
template double VectorSpace::cg_update(const Quotient &, double, const Vector<double> &,
    const Vector<double> &, VectorType &, Vector<double> &) const;
template double VectorSpace::cg_update(const Quotient &, double, const Vector<WideFloat> &,
    const Vector<WideFloat> &, VectorType &, Vector<WideFloat> &) const;
template double VectorSpace::max_abs(const Vector<double> &) const;
template double VectorSpace::max_abs(const Vector<float> &) const;
template double VectorSpace::max_abs(const Vector<Half> &) const;
template double VectorSpace::max_abs(const Vector<WideFloat> &) const;
template std::vector<double> VectorSpace::multi_dot(
    const std::vector<Vector<double>> &, int, const Vector<double> &) const;
template double VectorSpace::multi_update_later(const std::vector<double> &,
    const std::vector<Vector<double>> &, Vector<double> &, double) const;
template void VectorSpace::add_combination(
    const std::vector<double> &, const std::vector<Vector<double>> &, VectorType &) const;
template VectorSpace::Scale VectorSpace::scale_by_largest(double, const Vector<double> &) const;
template std::vector<double> VectorSpace::multi_dot(
    const std::vector<Vector<WideFloat>> &, int, const Vector<WideFloat> &) const;
template double VectorSpace::multi_update_later(const std::vector<double> &,
    const std::vector<Vector<WideFloat>> &, Vector<WideFloat> &, double) const;
template void VectorSpace::add_combination(
    const std::vector<double> &, const std::vector<Vector<WideFloat>> &, VectorType &) const;
template VectorSpace::Scale VectorSpace::scale_by_largest(double, const Vector<WideFloat> &) const;
template void VectorSpace::convert(Scale, const Vector<double> &, Vector<double> &) const;
template void VectorSpace::convert(Scale, const Vector<double> &, Vector<float> &) const;
template void VectorSpace::convert(Scale, const Vector<double> &, Vector<Half> &) const;
template void VectorSpace::convert(Scale, const Vector<double> &, Vector<WideFloat> &) const;
template void VectorSpace::convert(Scale, const Vector<float> &, Vector<double> &) const;
template void VectorSpace::convert(Scale, const Vector<Half> &, Vector<double> &) const;
template void VectorSpace::convert(Scale, const Vector<WideFloat> &, Vector<double> &) const;
template void VectorSpace::convert(Scale, const Vector<WideFloat> &, Vector<float> &) const;
template void VectorSpace::convert(Scale, const Vector<WideFloat> &, Vector<Half> &) const;
template void VectorSpace::convert(Scale, const Vector<float> &, Vector<WideFloat> &) const;
template void VectorSpace::convert(Scale, const Vector<Half> &, Vector<WideFloat> &) const;
template void VectorSpace::convert_sum(
    Scale, const Vector<double> &, const Vector<double> &, Vector<double> &) const;
template void VectorSpace::convert_sum(
    Scale, const Vector<float> &, const Vector<float> &, Vector<double> &) const;
template void VectorSpace::convert_sum(
    Scale, const Vector<Half> &, const Vector<Half> &, Vector<double> &) const;
template void VectorSpace::convert_sum(
    Scale, const Vector<double> &, const Vector<double> &, Vector<WideFloat> &) const;
template void VectorSpace::convert_sum(
    Scale, const Vector<float> &, const Vector<float> &, Vector<WideFloat> &) const;
template void VectorSpace::convert_sum(
    Scale, const Vector<Half> &, const Vector<Half> &, Vector<WideFloat> &) const;
template void VectorSpace::convert(Scale, const Vector<Half> &, Vector<float> &) const;
template void VectorSpace::convert(Scale, const Vector<float> &, Vector<float> &) const;
template void VectorSpace::convert_to_pair(
    const Vector<float> &, Vector<Half> &, Vector<Half> &) const;
template void VectorSpace::convert_to_pair(
    const Vector<float> &, Vector<float> &, Vector<float> &) const;
} // namespace tensormg
