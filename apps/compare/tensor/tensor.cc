#include "apps/compare/tensor/tensor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <utility>

#include "kernels/tensor/entries.h"

namespace tensormg
{
namespace
{
  bool has_patches(const std::string &form) { return form != "nodal_cells"; }

  /// Uniform in [-1, 1].
  std::vector<double> random_numbers(int size, unsigned seed)
  {
    std::mt19937_64 generator(seed);
    std::vector<double> numbers(static_cast<std::size_t>(size));
    for (double &number : numbers)
      number = static_cast<double>(static_cast<std::int64_t>(generator())) * 0x1p-63;
    return numbers;
  }

  TensorSetup patches(int dim, int degree, const std::array<std::int64_t, 3> &cells,
      const std::array<int, 3> &colour)
  {
    return {tensor::make_patch_batch(dim, degree, cells, colour), cells,
        tensor::mesh_size(dim, degree, cells)};
  }

  TensorSetup list_of_cells(int dim, int degree, std::int64_t cells)
  {
    const tensor::Batch batch = tensor::make_cell_batch(dim, degree, cells);
    return {batch, {cells, 1, 1}, batch.entries()};
  }
} // namespace

bool is_tensor_form(const std::string &form)
{
  return std::find(tensor_forms.begin(), tensor_forms.end(), form) != tensor_forms.end();
}

int tensor_size(const std::string &form, int degree)
{
  return (has_patches(form) ? 2 : 1) * (degree + 1);
}

TensorSetup timed_tensors(const std::string &form, int dim, int degree, std::int64_t dofs)
{
  const int n = tensor_size(form, degree);
  if (!has_patches(form))
    return list_of_cells(dim, degree,
        std::max<std::int64_t>(1, std::llround(static_cast<double>(dofs) / std::pow(n, dim))));
  const auto pairs =
      std::max<std::int64_t>(1, std::llround(std::pow(static_cast<double>(dofs), 1. / dim) / n));
  return patches(dim, degree, {2 * pairs, 2 * pairs, dim == 3 ? 2 * pairs : 1}, {0, 0, 0});
}

std::vector<TensorSetup> small_tensors(const std::string &form, int dim, int degree)
{
  if (!has_patches(form))
    return {list_of_cells(dim, degree, 3), list_of_cells(dim, degree, 29)};
  if (dim == 2)
    return {patches(2, degree, {2, 2, 1}, {0, 0, 0}), patches(2, degree, {7, 6, 1}, {1, 0, 0})};
  return {patches(3, degree, {2, 2, 2}, {0, 0, 0}), patches(3, degree, {7, 5, 4}, {0, 1, 0})};
}

std::vector<std::array<std::int64_t, 3>> sample_of(const tensor::Batch &batch)
{
  std::vector<std::array<std::int64_t, 3>> sample;
  for (int corner = 0; corner < (1 << batch.dim); ++corner)
  {
    std::array<std::int64_t, 3> which{};
    for (std::size_t d = 0; d < 3; ++d)
      which[d] = (corner >> d & 1) != 0 ? batch.count[d] - 1 : 0;
    sample.push_back(which);
  }
  std::mt19937_64 generator(1);
  for (int other = 0; other < 24; ++other)
  {
    std::array<std::int64_t, 3> which{};
    for (std::size_t d = 0; d < 3; ++d)
      which[d] =
          static_cast<std::int64_t>(generator() % static_cast<std::uint64_t>(batch.count[d]));
    sample.push_back(which);
  }
  return sample;
}

template <typename Number>
const std::vector<Number> &noise()
{
  static const std::vector<Number> numbers = [] {
    std::vector<Number> result;
    for (const double number : random_numbers(static_cast<int>(noise_period), 7))
      result.push_back(tensor::to_number<Number>(0.5 * number));
    return result;
  }();
  return numbers;
}

nodal::Matrices tensor_matrices(int n)
{
  nodal::Matrices matrices;
  unsigned seed = 100;
  for (auto &direction : matrices)
    for (nodal::LineMatrices &line : direction)
    {
      line.mass = random_numbers(n * n, seed++);
      line.stiffness = random_numbers(n * n, seed++);
    }
  return matrices;
}

patch_inverse::Factors tensor_factors(int n)
{
  patch_inverse::Factors factors;
  unsigned seed = 200;
  for (auto &direction : factors)
    for (patch_inverse::LineFactors &line : direction)
    {
      line.vectors = random_numbers(n * n, seed++);
      line.values = random_numbers(n, seed++);
      for (double &value : line.values)
        value += 2.; // no division by a number near zero
    }
  return factors;
}

template const std::vector<double> &noise<double>();
template const std::vector<float> &noise<float>();
template const std::vector<Half> &noise<Half>();
} // namespace tensormg
