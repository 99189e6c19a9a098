#include "kernels/nodal/reference.h"

#include <cstring>
#include <stdexcept>

#include "kernels/tensor/contract.h"

namespace tensormg::nodal
{
namespace
{
  double to_double(double x) { return x; }
  double to_double(float x) { return x; }
  double to_double(Half x) { return static_cast<float>(x); }

  template <typename Number>
  Number to_number(double x)
  {
    if constexpr (sizeof(Number) == 2)
      return Half(static_cast<float>(x));
    else
      return static_cast<Number>(x);
  }

  /// Applies f(position in the vector, position in the tensor) to the entries of a tensor.
  template <typename Function>
  void for_each_entry(
      const tensor::Batch &batch, const std::array<std::int64_t, 3> &which, Function f)
  {
    int at = 0;
    for (int k = 0; k < (batch.dim == 3 ? batch.n : 1); ++k)
      for (int j = 0; j < batch.n; ++j)
        for (int i = 0; i < batch.n; ++i)
          f(batch.position(which, {i, j, k}), at++);
  }

  template <typename Number>
  void apply_to_tensor(const Arguments<Number> &arguments, const std::array<std::int64_t, 3> &which)
  {
    const tensor::Batch &batch = arguments.batch;
    const int dim = batch.dim, n = batch.n;
    const auto size = static_cast<std::size_t>(batch.size());
    const auto *tables = reinterpret_cast<const double *>(arguments.tables);
    const auto contract = [&](bool stiffness, int d, const std::vector<double> &in,
                              std::vector<double> &out) {
      const int end = static_cast<int>(batch.end(d, which[d]));
      const double *matrix = tables + ((d * tensor::n_ends + end) * 2 + stiffness) * n * n;
      tensor::add_contraction(dim, n, d, matrix, false, in, out);
    };
    std::vector<double> u(size), sum(size, 0.);
    for_each_entry(batch, which,
        [&](std::int64_t position, int at) { u[at] = to_double(arguments.src[position]); });
    for (int term = 0; term < dim; ++term)
    {
      std::vector<double> from = u;
      for (int d = 0; d < dim; ++d)
      {
        std::vector<double> to(size, 0.);
        contract(d == term, d, from, to);
        from = std::move(to);
      }
      for (std::size_t at = 0; at < size; ++at)
        sum[at] += from[at];
    }
    for_each_entry(batch, which, [&](std::int64_t position, int at) {
      Number &to = arguments.dst[position];
      to = to_number<Number>(sum[at] + (arguments.add ? to_double(to) : 0.));
    });
  }
} // namespace

void check_sizes(const Matrices &matrices, int n)
{
  const auto fits = [n](const std::vector<double> &matrix) {
    return matrix.size() == static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  };
  for (const auto &direction : matrices)
    for (const LineMatrices &line : direction)
      if (!(line.mass.empty() && line.stiffness.empty()) &&
          !(fits(line.mass) && fits(line.stiffness)))
        throw std::invalid_argument("a line matrix has " + std::to_string(line.mass.size()) +
            " and " + std::to_string(line.stiffness.size()) + " entries instead of " +
            std::to_string(n) + " x " + std::to_string(n));
}

std::vector<std::byte> pack_reference(const Matrices &matrices, int n)
{
  check_sizes(matrices, n);
  std::vector<double> numbers;
  for (const auto &direction : matrices)
    for (const LineMatrices &line : direction)
      for (const std::vector<double> *matrix : {&line.mass, &line.stiffness})
      {
        numbers.insert(numbers.end(), matrix->begin(), matrix->end());
        numbers.resize(numbers.size() + (matrix->empty() ? n * n : 0), 0.);
      }
  std::vector<std::byte> bytes(numbers.size() * sizeof(double));
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

template <typename Number>
void apply_reference(const Arguments<Number> &arguments)
{
  const tensor::Batch &batch = arguments.batch;
  for (std::int64_t c = 0; c < batch.count[2]; ++c)
    for (std::int64_t b = 0; b < batch.count[1]; ++b)
      for (std::int64_t a = 0; a < batch.count[0]; ++a)
        apply_to_tensor(arguments, {a, b, c});
}

template void apply_reference(const Arguments<double> &);
template void apply_reference(const Arguments<float> &);
template void apply_reference(const Arguments<Half> &);
} // namespace tensormg::nodal
