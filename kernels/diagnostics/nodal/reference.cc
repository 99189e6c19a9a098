#include "kernels/diagnostics/nodal/reference.h"

#include <cstring>
#include <stdexcept>

#include "kernels/tensor/contract.h"
#include "kernels/tensor/entries.h"

namespace tensormg::nodal
{
namespace
{
  template <typename Number>
  void apply_to_tensor(const Arguments<Number> &arguments, const std::array<std::int64_t, 3> &which)
  {
    const tensor::Batch &batch = arguments.batch;
    const int dim = batch.dim, n = batch.n;
    const auto *tables = reinterpret_cast<const double *>(arguments.tables);
    const auto contract = [&](bool stiffness, int d, const std::vector<double> &in,
                              std::vector<double> &out) {
      const int end = static_cast<int>(batch.end(d, which[d]));
      const double *matrix =
          tables + ((d * tensor::n_ends + end) * 2 + (stiffness ? 1 : 0)) * n * n;
      tensor::add_contraction(dim, n, d, matrix, false, in, out);
    };
    const std::vector<double> u = tensor::read_tensor(batch, which, arguments.src);
    std::vector<double> sum(u.size(), 0.);
    for (int term = 0; term < dim; ++term)
    {
      std::vector<double> from = u;
      for (int d = 0; d < dim; ++d)
      {
        std::vector<double> to(u.size(), 0.);
        contract(d == term, d, from, to);
        from = std::move(to);
      }
      for (std::size_t at = 0; at < sum.size(); ++at)
        sum[at] += from[at];
    }
    tensor::write_tensor(batch, which, sum, arguments.add, arguments.dst);
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
  tensor::for_each_tensor(arguments.batch,
      [&](const std::array<std::int64_t, 3> &which) { apply_to_tensor(arguments, which); });
}

template void apply_reference(const Arguments<double> &);
template void apply_reference(const Arguments<float> &);
template void apply_reference(const Arguments<Half> &);
} // namespace tensormg::nodal
