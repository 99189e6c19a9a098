#include "operators/vectors/device_vector_space.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "kernels/device/meters/launch_profile.h"

namespace tensormg
{
namespace vk = vector_kernels;
using Operation = ProfiledOperation;

namespace
{
  constexpr int most_sums = vk::max_vectors + 1;
  // Results on the host: those that are waited for, then those that are known later, each of which one function writes.
  constexpr int of_update = most_sums, of_dot = of_update + 1, of_multi_dot = of_dot + 1,
                n_results = of_multi_dot + most_sums;

  template <typename Number>
  std::vector<const Number *> pointers(
      const std::vector<DeviceVector<Number>> &v, std::size_t count)
  {
    std::vector<const Number *> result;
    for (std::size_t i = 0; i < count; ++i)
      result.push_back(v[i].data());
    return result;
  }
} // namespace

DeviceVectorSpace::Scratch::Scratch(Stream stream)
  : partial(vk::cuda::scratch_size(most_sums), stream)
  , largest(1, stream)
  , later(most_sums + 1, stream)
  , result(n_results)
{
  // Read where nothing has been computed, when kernels are only loaded.
  std::fill_n(result.data(), n_results, 1.);
}

DeviceVectorSpace::DeviceVectorSpace(
    const Block &block, MPI_Comm communicator, Stream stream, std::shared_ptr<Scratch> scratch)
  : block_(block)
  , communicator_(communicator)
  , stream_(stream)
  , scratch_(scratch ? std::move(scratch) : std::make_shared<Scratch>(stream))
{}

double *DeviceVectorSpace::result_of_update() const { return result() + of_update; }

void DeviceVectorSpace::sum_results(double *first, int count) const
{
  device::synchronize(stream_);
  if (!is_distributed())
    return;
  std::array<double, most_sums + 1> sums{};
  std::copy_n(first, count, sums.begin());
  const bool with_update = scratch_->update_is_local && first != result_of_update();
  if (with_update)
    sums[static_cast<std::size_t>(count)] = *result_of_update();
  MPI_Allreduce(
      MPI_IN_PLACE, sums.data(), count + (with_update ? 1 : 0), MPI_DOUBLE, MPI_SUM, communicator_);
  std::copy_n(sums.begin(), count, first);
  if (with_update)
    *result_of_update() = sums[static_cast<std::size_t>(count)];
  scratch_->update_is_local = false;
}

void DeviceVectorSpace::sum_later(double *on_device, double *on_host, int count) const
{
  if (!is_distributed())
    return;
  sum_results(on_host, count);
  device::to_device(on_device, on_host, static_cast<std::size_t>(count) * sizeof(double), stream_);
}

double DeviceVectorSpace::largest_of_ranks(double largest) const
{
  if (is_distributed())
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, communicator_);
  return largest;
}

double DeviceVectorSpace::wait_for_result() const
{
  sum_results(result(), 1);
  return result()[0];
}

template <typename Number>
double DeviceVectorSpace::dot(const DeviceVector<Number> &x, const DeviceVector<Number> &y) const
{
  const bool is_norm = &x == &y;
  const Operation operation(
      stream_, (is_norm ? 1. : 2.) * x.bytes(), is_norm ? "norm" : "dot product");
  vk::cuda::dot(x.size(), x.data(), y.data(), partial(), result(), stream_);
  return wait_for_result();
}

double DeviceVectorSpace::norm(const VectorType &x) const { return std::sqrt(dot(x, x)); }

template <typename Number>
double DeviceVectorSpace::max_abs(const DeviceVector<Number> &x) const
{
  const Operation operation(stream_, x.bytes(), "largest entry");
  vk::cuda::max_abs(x.size(), x.data(), partial(), result(), stream_);
  device::synchronize(stream_);
  const double largest = largest_of_ranks(result()[0]);
  if (is_distributed() && scratch_->update_is_local)
    sum_results(result_of_update(), 1);
  return largest;
}

template <typename Number>
std::vector<double> DeviceVectorSpace::multi_dot(
    const std::vector<DeviceVector<Number>> &v, int count, const DeviceVector<Number> &w) const
{
  const auto vectors = pointers(v, static_cast<std::size_t>(count));
  const Operation operation(stream_, (count + 1) * w.bytes(), "dot products");
  vk::cuda::multi_dot(w.size(), count, vectors.data(), w.data(), partial(), result(), stream_);
  sum_results(result(), count + 1);
  return {result(), result() + count + 1};
}

template <typename Number>
const double *DeviceVectorSpace::multi_update_later(const std::vector<double> &c,
    const std::vector<DeviceVector<Number>> &v, DeviceVector<Number> &w, double factor) const
{
  const auto vectors = pointers(v, c.size());
  Number *const to = w.data();
  const Operation operation(
      stream_, static_cast<double>(c.size() + 2) * w.bytes(), "orthogonalisation of a vector");
  vk::cuda::multi_update(w.size(), static_cast<int>(c.size()), c.data(), vectors.data(), factor, to,
      partial(), result_of_update(), w.largest_to_come(), stream_);
  scratch_->update_is_local = is_distributed();
  return result_of_update();
}

double DeviceVectorSpace::wait_for(const double *sum) const
{
  device::synchronize(stream_);
  if (is_distributed() && scratch_->update_is_local)
    sum_results(result_of_update(), 1);
  return *sum;
}

template <typename Number>
void DeviceVectorSpace::add_combination(
    const std::vector<double> &c, const std::vector<DeviceVector<Number>> &v, VectorType &x) const
{
  const auto vectors = pointers(v, c.size());
  const double of_basis = static_cast<double>(x.block().dofs() * std::int64_t(sizeof(Number)));
  const Operation operation(
      stream_, static_cast<double>(c.size()) * of_basis + 2. * x.bytes(), "update of the solution");
  vk::cuda::multi_update(x.size(), static_cast<int>(c.size()), c.data(), vectors.data(), 1.,
      x.data(), partial(), nullptr, nullptr, stream_);
}

double DeviceVectorSpace::convert_with_norm(
    double factor, const VectorType &src, WideFloatVector &dst) const
{
  const Operation operation(stream_, src.bytes() + dst.bytes(), "conversion with a norm");
  WideFloat *const to = dst.data();
  vk::cuda::convert_with_norm(
      src.size(), factor, src.data(), to, partial(), result(), dst.largest_to_come(), stream_);
  return std::sqrt(wait_for_result());
}

template <typename Number>
void DeviceVectorSpace::axpby(
    double a, const DeviceVector<Number> &x, double b, DeviceVector<Number> &y) const
{
  const Operation operation(stream_, x.bytes() + (b == 0. ? 1. : 2.) * y.bytes(), "a x + b y");
  vk::cuda::axpby(x.size(), a, x.data(), b, y.data(), stream_);
}

template <typename Number>
DeviceVectorSpace::Later DeviceVectorSpace::dot_later(
    const DeviceVector<Number> &x, const DeviceVector<Number> &y) const
{
  const Operation operation(stream_, x.bytes() + y.bytes(), "dot product");
  const Later sum{scratch_->later.data(), result() + of_dot};
  vk::cuda::dot(
      x.size(), x.data(), y.data(), partial(), scratch_->later.data(), stream_, result() + of_dot);
  sum_later(scratch_->later.data(), result() + of_dot, 1);
  return sum;
}

template <typename Number>
std::vector<DeviceVectorSpace::Later> DeviceVectorSpace::multi_dot_later(
    const std::vector<DeviceVector<Number>> &v, int count, const DeviceVector<Number> &w) const
{
  const auto vectors = pointers(v, static_cast<std::size_t>(count));
  const Operation operation(stream_, (count + 1) * w.bytes(), "dot products");
  double *const sums = scratch_->later.data() + 1, *const copies = result() + of_multi_dot;
  vk::cuda::multi_dot(w.size(), count, vectors.data(), w.data(), partial(), sums, stream_, copies);
  sum_later(sums, copies, count + 1);
  std::vector<Later> numbers;
  for (int i = 0; i < count; ++i)
    numbers.push_back({sums + i, copies + i});
  return numbers;
}

template <typename Number>
void DeviceVectorSpace::axpby(
    double a, const DeviceVector<Number> &x, const Quotient &b, DeviceVector<Number> &y) const
{
  const Operation operation(stream_, x.bytes() + 2. * y.bytes(), "a x + b y");
  vk::cuda::axpby(x.size(), a, x.data(), b, y.data(), stream_);
}

template <typename Number>
double DeviceVectorSpace::cg_update(const Quotient &a, double unit, const DeviceVector<Number> &p,
    const DeviceVector<Number> &q, VectorType &x, DeviceVector<Number> &r) const
{
  const Operation operation(
      stream_, 2. * x.bytes() + 4. * r.bytes(), "update of conjugate gradients");
  Number *const to = r.data();
  vk::cuda::cg_update(x.size(), a, unit, p.data(), q.data(), x.data(), to, partial(), result(),
      r.largest_to_come(), stream_);
  return wait_for_result();
}

template <typename Number>
DeviceVectorSpace::Scale DeviceVectorSpace::scale_by_largest(
    double target, const DeviceVector<Number> &x) const
{
  if (x.largest() != nullptr && !is_distributed())
    return {target, x.largest(), false};
  double *const largest = scratch_->largest.data();
  if (x.largest() != nullptr)
    device::copy(largest, x.largest(), sizeof(double), stream_);
  else
  {
    const Operation operation(stream_, x.bytes(), "largest entry");
    vk::cuda::max_abs(x.size(), x.data(), partial(), largest, stream_);
  }
  if (is_distributed())
  {
    device::to_host(result(), largest, sizeof(double), stream_);
    device::synchronize(stream_);
    result()[0] = largest_of_ranks(result()[0]);
    device::to_device(largest, result(), sizeof(double), stream_);
  }
  return {target, largest, false};
}

template <typename To, typename From>
void DeviceVectorSpace::convert(
    const Scale &scale, const DeviceVector<From> &src, DeviceVector<To> &dst) const
{
  const Operation operation(stream_, src.bytes() + dst.bytes(), "conversion");
  vk::cuda::convert(src.size(), scale, src.data(), dst.data(), stream_);
}

template <typename To, typename From>
void DeviceVectorSpace::convert_sum(const Scale &scale, const DeviceVector<From> &x,
    const DeviceVector<From> &d, DeviceVector<To> &dst) const
{
  const Operation operation(stream_, x.bytes() + d.bytes() + dst.bytes(), "conversion of a sum");
  vk::cuda::convert_sum(x.size(), scale, x.data(), d.data(), dst.data(), stream_);
}

template <typename To, typename From>
void DeviceVectorSpace::convert_to_pair(
    const DeviceVector<From> &src, DeviceVector<To> &x, DeviceVector<To> &d) const
{
  const Operation operation(stream_, src.bytes() + x.bytes() + d.bytes(), "conversion to a pair");
  vk::cuda::convert_to_pair(src.size(), src.data(), x.data(), d.data(), stream_);
}

template double DeviceVectorSpace::dot(
    const DeviceVector<float> &, const DeviceVector<float> &) const;
template void DeviceVectorSpace::axpby(
    double, const DeviceVector<float> &, double, DeviceVector<float> &) const;
template double DeviceVectorSpace::dot(
    const DeviceVector<double> &, const DeviceVector<double> &) const;
template double DeviceVectorSpace::dot(
    const DeviceVector<WideFloat> &, const DeviceVector<WideFloat> &) const;
template void DeviceVectorSpace::axpby(
    double, const DeviceVector<double> &, double, DeviceVector<double> &) const;
template void DeviceVectorSpace::axpby(
    double, const DeviceVector<WideFloat> &, double, DeviceVector<WideFloat> &) const;
template DeviceVectorSpace::Later DeviceVectorSpace::dot_later(
    const DeviceVector<double> &, const DeviceVector<double> &) const;
template std::vector<DeviceVectorSpace::Later> DeviceVectorSpace::multi_dot_later(
    const std::vector<DeviceVector<double>> &, int, const DeviceVector<double> &) const;
template void DeviceVectorSpace::axpby(
    double, const DeviceVector<double> &, const Quotient &, DeviceVector<double> &) const;
template double DeviceVectorSpace::cg_update(const Quotient &, double, const DeviceVector<double> &,
    const DeviceVector<double> &, VectorType &, DeviceVector<double> &) const;
template DeviceVectorSpace::Later DeviceVectorSpace::dot_later(
    const DeviceVector<WideFloat> &, const DeviceVector<WideFloat> &) const;
template std::vector<DeviceVectorSpace::Later> DeviceVectorSpace::multi_dot_later(
    const std::vector<DeviceVector<WideFloat>> &, int, const DeviceVector<WideFloat> &) const;
template void DeviceVectorSpace::axpby(
    double, const DeviceVector<WideFloat> &, const Quotient &, DeviceVector<WideFloat> &) const;
template double DeviceVectorSpace::cg_update(const Quotient &, double,
    const DeviceVector<WideFloat> &, const DeviceVector<WideFloat> &, VectorType &,
    DeviceVector<WideFloat> &) const;
template double DeviceVectorSpace::max_abs(const DeviceVector<double> &) const;
template double DeviceVectorSpace::max_abs(const DeviceVector<float> &) const;
template double DeviceVectorSpace::max_abs(const DeviceVector<Half> &) const;
template double DeviceVectorSpace::max_abs(const DeviceVector<WideFloat> &) const;
template std::vector<double> DeviceVectorSpace::multi_dot(
    const std::vector<DeviceVector<double>> &, int, const DeviceVector<double> &) const;
template const double *DeviceVectorSpace::multi_update_later(const std::vector<double> &,
    const std::vector<DeviceVector<double>> &, DeviceVector<double> &, double) const;
template void DeviceVectorSpace::add_combination(
    const std::vector<double> &, const std::vector<DeviceVector<double>> &, VectorType &) const;
template DeviceVectorSpace::Scale DeviceVectorSpace::scale_by_largest(
    double, const DeviceVector<double> &) const;
template std::vector<double> DeviceVectorSpace::multi_dot(
    const std::vector<DeviceVector<WideFloat>> &, int, const DeviceVector<WideFloat> &) const;
template const double *DeviceVectorSpace::multi_update_later(const std::vector<double> &,
    const std::vector<DeviceVector<WideFloat>> &, DeviceVector<WideFloat> &, double) const;
template void DeviceVectorSpace::add_combination(
    const std::vector<double> &, const std::vector<DeviceVector<WideFloat>> &, VectorType &) const;
template DeviceVectorSpace::Scale DeviceVectorSpace::scale_by_largest(
    double, const DeviceVector<WideFloat> &) const;
template void DeviceVectorSpace::convert(
    const Scale &, const DeviceVector<double> &, DeviceVector<double> &) const;
template void DeviceVectorSpace::convert(
    const Scale &, const DeviceVector<double> &, DeviceVector<float> &) const;
template void DeviceVectorSpace::convert(
    const Scale &, const DeviceVector<double> &, DeviceVector<Half> &) const;
template void DeviceVectorSpace::convert(
    const Scale &, const DeviceVector<double> &, DeviceVector<WideFloat> &) const;
template void DeviceVectorSpace::convert(
    const Scale &, const DeviceVector<float> &, DeviceVector<double> &) const;
template void DeviceVectorSpace::convert(
    const Scale &, const DeviceVector<Half> &, DeviceVector<double> &) const;
template void DeviceVectorSpace::convert(
    const Scale &, const DeviceVector<WideFloat> &, DeviceVector<double> &) const;
template void DeviceVectorSpace::convert(
    const Scale &, const DeviceVector<WideFloat> &, DeviceVector<float> &) const;
template void DeviceVectorSpace::convert(
    const Scale &, const DeviceVector<WideFloat> &, DeviceVector<Half> &) const;
template void DeviceVectorSpace::convert(
    const Scale &, const DeviceVector<float> &, DeviceVector<WideFloat> &) const;
template void DeviceVectorSpace::convert(
    const Scale &, const DeviceVector<Half> &, DeviceVector<WideFloat> &) const;
template void DeviceVectorSpace::convert_sum(const Scale &, const DeviceVector<double> &,
    const DeviceVector<double> &, DeviceVector<double> &) const;
template void DeviceVectorSpace::convert_sum(const Scale &, const DeviceVector<float> &,
    const DeviceVector<float> &, DeviceVector<double> &) const;
template void DeviceVectorSpace::convert_sum(const Scale &, const DeviceVector<Half> &,
    const DeviceVector<Half> &, DeviceVector<double> &) const;
template void DeviceVectorSpace::convert_sum(const Scale &, const DeviceVector<double> &,
    const DeviceVector<double> &, DeviceVector<WideFloat> &) const;
template void DeviceVectorSpace::convert_sum(const Scale &, const DeviceVector<float> &,
    const DeviceVector<float> &, DeviceVector<WideFloat> &) const;
template void DeviceVectorSpace::convert_sum(const Scale &, const DeviceVector<Half> &,
    const DeviceVector<Half> &, DeviceVector<WideFloat> &) const;
template void DeviceVectorSpace::convert(
    const Scale &, const DeviceVector<Half> &, DeviceVector<float> &) const;
template void DeviceVectorSpace::convert(
    const Scale &, const DeviceVector<float> &, DeviceVector<float> &) const;
template void DeviceVectorSpace::convert_to_pair(
    const DeviceVector<float> &, DeviceVector<Half> &, DeviceVector<Half> &) const;
template void DeviceVectorSpace::convert_to_pair(
    const DeviceVector<float> &, DeviceVector<float> &, DeviceVector<float> &) const;
} // namespace tensormg
