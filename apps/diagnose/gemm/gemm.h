// Dense products with data to work on: what the tables of class `gemm` have in common.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <tuple>
#include <type_traits>
#include <vector>

#include "apps/diagnose/gemm/check.h"
#include "apps/diagnose/kernel_names.h"
#include "apps/diagnose/run.h"
#include "kernels/core/array.h"
#include "kernels/core/random_numbers.h"
#include "kernels/device/device.h"
#include "kernels/diagnostics/gemm/device.h"

namespace tensormg::diagnose::gemm_class
{
using gemm::Size;

inline constexpr std::uint64_t seed_a = 51, seed_b = 52;
template <typename Number>
Array<Number> random_matrix(ThreadTeam &team, std::uint64_t seed, std::int64_t size)
{
  Array<Number> matrix(size);
  for_parts(team, size, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
    {
      const double value = random_value(seed, static_cast<std::uint64_t>(i));
      if constexpr (std::is_floating_point_v<Number>)
        matrix[i] = static_cast<Number>(value);
      else
        matrix[i] = Number(static_cast<float>(value));
    }
  });
  return matrix;
}

/// How many rows the reference computes in a fraction of a second.
inline std::int64_t affordable_rows(const Size &size, int threads)
{
  constexpr double most_flops = 2e8; // of the reference, per thread
  constexpr std::int64_t least = 8;
  return std::max(least,
      static_cast<std::int64_t>(
          threads * most_flops / (1. + gemm::work({1, size.n, size.k}, 8).flops)));
}

/// What the reference takes: FP16 numbers as floats.
inline const double *readable(ThreadTeam &, const Array<double> &matrix, Array<float> &)
{
  return matrix.data();
}
inline const float *readable(ThreadTeam &, const Array<float> &matrix, Array<float> &)
{
  return matrix.data();
}
inline const float *readable(ThreadTeam &team, const Array<Half> &matrix, Array<float> &storage)
{
  storage = Array<float>(matrix.size());
  for_parts(team, matrix.size(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      storage[i] = static_cast<float>(matrix[i]);
  });
  return storage.data();
}

/// Random matrices, rows of what the reference makes of them, and sums of all entries.
template <typename Number>
struct Inputs
{
  Inputs(ThreadTeam &team, const Size &size)
    : a(random_matrix<Number>(team, seed_a, size.m * size.k))
    , b(random_matrix<Number>(team, seed_b, size.k * size.n))
  {
    Array<float> storage_a, storage_b;
    const auto *const readable_a = readable(team, a, storage_a);
    const auto *const readable_b = readable(team, b, storage_b);
    for (const std::int64_t row : checked_rows(size.m, affordable_rows(size, team.size())))
      rows.push_back({row, std::vector<double>(static_cast<std::size_t>(size.n)),
          std::vector<double>(static_cast<std::size_t>(size.n))});
    for_parts(
        team, static_cast<std::int64_t>(rows.size()), [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t r = begin; r < end; ++r)
          {
            Row &row = rows[static_cast<std::size_t>(r)];
            gemm::reference_row(size, row.index, readable_a, readable_b, row.exact.data());
            gemm::magnitude_row(size, row.index, readable_a, readable_b, row.magnitude.data());
          }
        });
    sums = {team, size, readable_a, readable_b};
  }
  struct Row
  {
    std::int64_t index;
    std::vector<double> exact, magnitude;
  };
  Array<Number> a, b;
  std::vector<Row> rows;
  SumsOfEntries<std::conditional_t<std::is_same_v<Number, double>, double, float>> sums;
};

/// All kernels of a precision work on the same matrices, which are made when the first asks for them.
class Problem
{
public:
  explicit Problem(const Size &size_)
    : size(size_)
  {}
  template <typename Number>
  std::shared_ptr<const Inputs<Number>> inputs(ThreadTeam &team) const
  {
    auto &known = std::get<std::shared_ptr<const Inputs<Number>>>(inputs_);
    if (known == nullptr)
      known = std::make_shared<const Inputs<Number>>(team, size);
    return known;
  }
  Size size;

private:
  mutable std::tuple<std::shared_ptr<const Inputs<double>>, std::shared_ptr<const Inputs<float>>,
      std::shared_ptr<const Inputs<Half>>>
      inputs_;
};

/// The larger one of both errors that check.h defines; infinite if any entry is not finite.
template <typename Number, typename Result>
double relative_error(
    ThreadTeam &team, const Size &size, const Inputs<Number> &inputs, const Result *c)
{
  double error = inputs.sums.error(team, c);
  for (const auto &row : inputs.rows)
    for (std::size_t j = 0; j < row.exact.size(); ++j)
      error = std::max(error,
          std::abs(static_cast<double>(c[row.index * size.n + static_cast<std::int64_t>(j)]) -
              row.exact[j]) /
              row.magnitude[j]);
  return error;
}

/// void(size, a, b, c, stream), or with a workspace of `workspace_numbers(size)` numbers: (size, a, b, c, workspace, stream).
/// `products` are those of tensor cores for each product of numbers. `shared_bytes(size)` pass through shared memory; nullptr: not counted.
template <typename Number, typename Result, auto kernel, Rounding rounding, int products,
    auto count_shared_bytes, auto workspace_numbers, bool is_library>
class DeviceProduct : public Candidate
{
  static constexpr bool has_workspace = !std::is_null_pointer_v<decltype(workspace_numbers)>;

public:
  DeviceProduct(const Problem &problem, ThreadTeam &team)
    : size_(problem.size)
    , team_(team)
    , inputs_(problem.inputs<Number>(team))
    , a_(inputs_->a.size())
    , b_(inputs_->b.size())
    , c_(size_.m * size_.n)
  {
    if constexpr (has_workspace)
    {
      const std::int64_t numbers = workspace_numbers(size_);
      require_device_bytes(numbers * static_cast<std::int64_t>(sizeof(Number)),
          "copies of the matrices and sums of parts");
      workspace_ = DeviceArray<Number>(numbers);
    }
    a_.copy_from_host(inputs_->a.data());
    b_.copy_from_host(inputs_->b.data());
    device::synchronize(nullptr);
  }

  Work work() const override
  {
    Work work = gemm::work(size_, sizeof(Number));
    work.bytes += static_cast<double>(c_.size()) * (sizeof(Result) - 1. * sizeof(Number));
    return work;
  }
  double executed_flops() const override { return products * work().flops; }
  double shared_bytes() const override
  {
    // By its type: with sanitizers GCC does not take the comparison with a null pointer for a constant.
    if constexpr (std::is_null_pointer_v<decltype(count_shared_bytes)>)
      return 0.;
    else
      return count_shared_bytes(size_);
  }
  double error_growth() const override { return expected_error(rounding, size_.k); }

  double error() override
  {
    device::fill_bytes(
        c_.data(), 0xff, static_cast<std::size_t>(c_.size()) * sizeof(Result), nullptr);
    device::synchronize(nullptr);
    milliseconds(1);
    Array<Result> c(c_.size());
    c_.copy_to_host(c.data());
    return relative_error(team_, size_, *inputs_, c.data());
  }

  double milliseconds(int runs) override
  {
    timer_.start(stream_.get());
    for (int r = 0; r < runs; ++r)
      if constexpr (has_workspace)
        kernel(size_, a_.data(), b_.data(), c_.data(), workspace_.data(), stream_.get());
      else
        kernel(size_, a_.data(), b_.data(), c_.data(), stream_.get());
    return timer_.stop(stream_.get());
  }

  /// Of cuBLAS; none where the driver cannot record them.
  std::vector<std::string> library_kernels() override
  {
    if constexpr (is_library)
      try
      {
        return kernel_names(
            [this](Stream stream) { kernel(size_, a_.data(), b_.data(), c_.data(), stream); });
      }
      catch (const DeviceError &)
      {}
    return {};
  }

private:
  Size size_;
  ThreadTeam &team_;
  std::shared_ptr<const Inputs<Number>> inputs_;
  DeviceArray<Number> a_, b_, workspace_;
  DeviceArray<Result> c_;
  OwnedStream stream_;
  DeviceTimer timer_;
};

template <typename Number, typename Result, auto kernel, Rounding rounding, int products = 1,
    auto count_shared_bytes = nullptr, auto workspace_numbers = nullptr, bool is_library = false>
std::unique_ptr<Candidate> make_on_device(const Problem &problem, ThreadTeam &team)
{
  const Size &size = problem.size;
  const double bytes = gemm::work(size, std::max(sizeof(Number), sizeof(Result))).bytes; // at least
  require_host_bytes(bytes, "the matrices");
  require_device_bytes(static_cast<std::int64_t>(bytes), "the matrices");
  return std::make_unique<DeviceProduct<Number, Result, kernel, rounding, products,
      count_shared_bytes, workspace_numbers, is_library>>(problem, team);
}

/// A kernel of cuBLAS.
template <typename Number, typename Result, auto kernel, Rounding rounding>
std::unique_ptr<Candidate> make_by_library(const Problem &problem, ThreadTeam &team)
{
  return make_on_device<Number, Result, kernel, rounding, 1, nullptr, nullptr, true>(problem, team);
}
} // namespace tensormg::diagnose::gemm_class
