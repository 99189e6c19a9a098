#include "operators/vector_space.h"

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
} // namespace

double VectorSpace::dot(const VectorType &x, const VectorType &y) const
{
  double sum = vk::dot(x.size(), x.data(), y.data());
  sum_over_ranks(&sum, 1, level_.communicator);
  return sum;
}

double VectorSpace::norm(const VectorType &x) const { return std::sqrt(dot(x, x)); }

template <typename Number>
double VectorSpace::max_abs(const Vector<Number> &x) const
{
  double largest = vk::max_abs(x.size(), x.data());
  if (level_.communicator != MPI_COMM_SELF)
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, level_.communicator);
  return largest;
}

std::vector<double> VectorSpace::multi_dot(
    const std::vector<VectorType> &v, int count, const VectorType &w) const
{
  std::vector<double> result(count + 1);
  std::vector<const double *> pointers;
  for (int i = 0; i < count; ++i)
    pointers.push_back(v[i].data());
  vk::multi_dot(w.size(), count, pointers.data(), w.data(), result.data());
  sum_over_ranks(result.data(), count + 1, level_.communicator);
  return result;
}

double VectorSpace::multi_update(
    const std::vector<double> &c, const std::vector<VectorType> &v, VectorType &w) const
{
  std::vector<const double *> pointers;
  for (std::size_t i = 0; i < c.size(); ++i)
    pointers.push_back(v[i].data());
  double norm =
      vk::multi_update(w.size(), static_cast<int>(c.size()), c.data(), pointers.data(), w.data());
  sum_over_ranks(&norm, 1, level_.communicator);
  return norm;
}

void VectorSpace::axpby(double a, const VectorType &x, double b, VectorType &y) const
{
  vk::axpby(x.size(), a, x.data(), b, y.data());
}

double VectorSpace::cg_update(
    double a, const VectorType &p, const VectorType &q, VectorType &x, VectorType &r) const
{
  double norm = vk::cg_update(x.size(), a, p.data(), q.data(), x.data(), r.data());
  sum_over_ranks(&norm, 1, level_.communicator);
  return norm;
}

VectorSpace::Scale VectorSpace::scale_by_largest(double target, const VectorType &x) const
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

template <typename From>
void VectorSpace::convert_sum(
    Scale scale, const Vector<From> &x, const Vector<From> &d, VectorType &dst) const
{
  vk::convert_sum(x.size(), scale, x.data(), d.data(), dst.data());
}

template void VectorSpace::convert_sum(
    Scale, const Vector<double> &, const Vector<double> &, Vector<double> &) const;
template void VectorSpace::convert_sum(
    Scale, const Vector<float> &, const Vector<float> &, Vector<double> &) const;
template void VectorSpace::convert_sum(
    Scale, const Vector<Half> &, const Vector<Half> &, Vector<double> &) const;
template double VectorSpace::max_abs(const Vector<double> &) const;
template double VectorSpace::max_abs(const Vector<float> &) const;
template double VectorSpace::max_abs(const Vector<Half> &) const;
template void VectorSpace::convert(double, const Vector<double> &, Vector<double> &) const;
template void VectorSpace::convert(double, const Vector<double> &, Vector<float> &) const;
template void VectorSpace::convert(double, const Vector<double> &, Vector<Half> &) const;
template void VectorSpace::convert(double, const Vector<float> &, Vector<double> &) const;
template void VectorSpace::convert(double, const Vector<Half> &, Vector<double> &) const;
} // namespace tensormg
