#include "kernels/patch_inverse/reference.h"

#include <cstring>
#include <stdexcept>

#include "kernels/tensor/contract.h"
#include "kernels/tensor/entries.h"

namespace tensormg::patch_inverse
{
namespace
{
  /// Q and l of each direction for one tensor.
  std::array<const double *, 3> factors_of(
      const tensor::Batch &batch, const std::array<std::int64_t, 3> &which, const std::byte *tables)
  {
    std::array<const double *, 3> factors{};
    for (int d = 0; d < batch.dim; ++d)
    {
      const int end = static_cast<int>(batch.end(d, which[d]));
      factors[d] = reinterpret_cast<const double *>(tables) +
          (d * tensor::n_ends + end) * (batch.n + 1) * batch.n;
    }
    return factors;
  }

  /// L^+
  void scale(const tensor::Batch &batch, const std::array<const double *, 3> &factors,
      std::vector<double> &tensor)
  {
    const int n = batch.n;
    for (int at = 0; at < static_cast<int>(tensor.size()); ++at)
    {
      double value = 0.;
      int index = at;
      for (int d = 0; d < batch.dim; ++d)
      {
        value += factors[d][n * n + index % n];
        index /= n;
      }
      tensor[at] = value == 0. ? 0. : tensor[at] / value;
    }
  }
} // namespace

void check_sizes(const Factors &factors, int n)
{
  for (const auto &direction : factors)
    for (const LineFactors &line : direction)
    {
      const auto size = static_cast<std::size_t>(n);
      if (!(line.vectors.empty() && line.values.empty()) &&
          (line.vectors.size() != size * size || line.values.size() != size))
        throw std::invalid_argument("a line has " + std::to_string(line.vectors.size()) +
            " numbers in its vectors and " + std::to_string(line.values.size()) +
            " values; expected " + std::to_string(size * size) + " and " + std::to_string(n));
    }
}

std::vector<std::byte> pack_reference(const Factors &factors, int n)
{
  check_sizes(factors, n);
  std::vector<double> numbers;
  for (const auto &direction : factors)
    for (const LineFactors &line : direction)
    {
      numbers.insert(numbers.end(), line.vectors.begin(), line.vectors.end());
      numbers.insert(numbers.end(), line.values.begin(), line.values.end());
      numbers.resize(numbers.size() + (line.values.empty() ? (n + 1) * n : 0), 0.);
    }
  std::vector<std::byte> bytes(numbers.size() * sizeof(double));
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

template <typename Number>
void apply_reference(const Arguments<Number> &arguments)
{
  const tensor::Batch &batch = arguments.batch;
  tensor::for_each_tensor(batch, [&](const std::array<std::int64_t, 3> &which) {
    const auto factors = factors_of(batch, which, arguments.tables);
    std::vector<double> x = tensor::read_tensor(batch, which, arguments.src);
    for (const bool transposed : {true, false})
    {
      for (int d = 0; d < batch.dim; ++d)
      {
        std::vector<double> result(x.size(), 0.);
        tensor::add_contraction(batch.dim, batch.n, d, factors[d], transposed, x, result);
        x = std::move(result);
      }
      if (transposed)
        scale(batch, factors, x);
    }
    tensor::write_tensor(batch, which, x, arguments.add, arguments.dst);
  });
}

template void apply_reference(const Arguments<double> &);
template void apply_reference(const Arguments<float> &);
template void apply_reference(const Arguments<Half> &);
} // namespace tensormg::patch_inverse
