// A kernel on a batch of tensors with its vectors, in host or in device memory, and its check.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "apps/compare/operation.h"
#include "apps/compare/tensor/tensor.h"
#include "kernels/tensor/entries.h"

namespace tensormg
{
/// An array in host memory.
template <typename T>
class HostNumbers
{
public:
  explicit HostNumbers(std::int64_t size)
    : numbers_(static_cast<std::size_t>(size))
  {}
  explicit HostNumbers(std::vector<T> numbers)
    : numbers_(std::move(numbers))
  {}
  T *data() { return numbers_.data(); }
  void get(std::int64_t first, std::int64_t count, T *to) const
  {
    std::copy_n(numbers_.data() + first, count, to);
  }
  void poison()
  {
    std::memset(static_cast<void *>(numbers_.data()), 0xff, numbers_.size() * sizeof(T));
  }
  /// The numbers over and over.
  void repeat(const std::vector<T> &numbers)
  {
    for (std::size_t i = 0; i < numbers_.size(); ++i)
      numbers_[i] = numbers[i % numbers.size()];
  }

private:
  std::vector<T> numbers_;
};

/// `Array<T>` is HostNumbers<T> or something with the same functions.
template <typename Family, typename Number, template <typename> typename Array>
class TensorOperation
{
public:
  using Kernel = typename Family::template Kernel<Number>;

  TensorOperation(const TensorSetup &setup, const Kernel &kernel, Stream stream)
    : setup_(setup)
    , kernel_(kernel)
    , stream_(stream)
    , src_(setup.size)
    , dst_(setup.size)
    , tables_(kernel.pack(Family::constants(setup.batch.n), setup.batch.n))
  {
    src_.repeat(noise<Number>());
  }
  TensorOperation(const TensorOperation &) = delete;
  TensorOperation &operator=(const TensorOperation &) = delete;

  void run()
  {
    kernel_.apply({setup_.batch, tables_.data(), src_.data(), dst_.data(), false, stream_});
  }

  /// Every number of the vector, also those that no tensor has.
  double check_all()
  {
    run_poisoned();
    const auto size = static_cast<std::size_t>(setup_.size);
    std::vector<Number> src(size), expected(size), found(size);
    for (std::size_t i = 0; i < size; ++i)
      src[i] = noise_at(static_cast<std::int64_t>(i));
    std::memset(static_cast<void *>(expected.data()), 0xff, size * sizeof(Number));
    apply_reference(setup_.batch, src.data(), expected.data());
    dst_.get(0, setup_.size, found.data());
    Difference difference;
    for (std::size_t i = 0; i < size; ++i)
      if (std::isfinite(tensor::to_double(expected[i])))
        add(difference, found[i], expected[i]);
      else if (!is_poison(found[i]))
        return std::numeric_limits<double>::infinity();
    return difference.relative();
  }

  /// Tensors here and there; all others must be finite. Every number must belong to a tensor.
  double check_sample()
  {
    run_poisoned();
    if (!is_finite())
      return std::numeric_limits<double>::infinity();
    const tensor::Batch &batch = setup_.batch;
    const auto size = static_cast<std::size_t>(batch.size());
    Difference difference;
    std::vector<Number> src(size), expected(size), row(static_cast<std::size_t>(batch.n));
    for (const auto &which : sample_of(batch))
    {
      tensor::for_each_entry(batch, which, [&](std::int64_t position, int at) {
        src[static_cast<std::size_t>(at)] = noise_at(position);
      });
      apply_reference(single(which), src.data(), expected.data());
      for (int line = 0; line < batch.size() / batch.n; ++line)
      {
        dst_.get(batch.position(which, {0, line % batch.n, line / batch.n}), batch.n, row.data());
        for (int i = 0; i < batch.n; ++i)
          add(difference, row[static_cast<std::size_t>(i)],
              expected[static_cast<std::size_t>(line) * row.size() + static_cast<std::size_t>(i)]);
      }
    }
    return difference.relative();
  }

private:
  static Number noise_at(std::int64_t position)
  {
    return noise<Number>()[static_cast<std::size_t>(position % noise_period)];
  }

  static bool is_poison(const Number &number)
  {
    const auto *bytes = reinterpret_cast<const unsigned char *>(&number);
    return std::all_of(
        bytes, bytes + sizeof(Number), [](unsigned char byte) { return byte == 0xff; });
  }

  static void add(Difference &difference, Number found, Number expected)
  {
    const double error = std::abs(tensor::to_double(found) - tensor::to_double(expected));
    difference.error = std::isfinite(error) ? std::max(difference.error, error)
                                            : std::numeric_limits<double>::infinity();
    difference.largest = std::max(difference.largest, std::abs(tensor::to_double(expected)));
  }

  void run_poisoned()
  {
    dst_.poison();
    run();
    if (stream_ != nullptr)
      device::synchronize(stream_);
  }

  bool is_finite() const
  {
    std::vector<Number> piece(static_cast<std::size_t>(std::min(setup_.size, piece_size)));
    for (std::int64_t first = 0; first < setup_.size; first += piece_size)
    {
      const std::int64_t count = std::min(piece_size, setup_.size - first);
      dst_.get(first, count, piece.data());
      for (std::int64_t i = 0; i < count; ++i)
        if (!std::isfinite(tensor::to_double(piece[static_cast<std::size_t>(i)])))
          return false;
    }
    return true;
  }

  /// The tensor alone, with the ends that it touches.
  tensor::Batch single(const std::array<std::int64_t, 3> &which) const
  {
    tensor::Batch batch = setup_.batch;
    batch.first = 0;
    batch.count = {1, 1, 1};
    batch.stride = {1, batch.n, std::int64_t(batch.n) * batch.n};
    for (std::size_t d = 0; d < 3; ++d)
    {
      batch.at_lower[d] = setup_.batch.at_lower[d] && which[d] == 0;
      batch.at_upper[d] = setup_.batch.at_upper[d] && which[d] == setup_.batch.count[d] - 1;
    }
    return batch;
  }

  void apply_reference(const tensor::Batch &batch, const Number *src, Number *dst) const
  {
    const Kernel reference = Family::template select<Number>({}, batch.dim, batch.n);
    const std::vector<std::byte> tables = reference.pack(Family::constants(batch.n), batch.n);
    reference.apply({batch, tables.data(), src, dst, false, nullptr});
  }

  TensorSetup setup_;
  Kernel kernel_;
  Stream stream_;
  Array<Number> src_, dst_;
  Array<std::byte> tables_;
};

/// What candidates on tensors have in common.
template <typename Family, typename Number, template <typename> typename Array>
class TensorCandidate : public Candidate
{
public:
  using Operation = TensorOperation<Family, Number, Array>;

  TensorCandidate(const Choice &choice, const TensorSetup &setup, Stream stream)
    : choice_(choice)
    , setup_(setup)
    , stream_(stream)
    , kernel_(Family::template select<Number>(
          requested_variant(choice), setup.batch.dim, setup.batch.n))
    , operation_(setup, kernel_, stream)
  {}

  std::array<std::int64_t, 3> cells() const override { return setup_.cells; }
  laplace::Work work() const override
  {
    return Family::work(setup_.batch.dim, setup_.batch.n, sizeof(Number));
  }

  double error() override
  {
    double error = operation_.check_sample();
    for (const TensorSetup &small : small_tensors(choice_.form, choice_.dim, choice_.degree))
      error = std::max(error, Operation(small, kernel_, stream_).check_all());
    return error;
  }

protected:
  Choice choice_;
  TensorSetup setup_;
  Stream stream_;
  typename Operation::Kernel kernel_;
  Operation operation_;
};

/// Throws NotAvailable, also where a kernel exists but the step is no plain application.
inline void require_tensor_kernel(const Choice &choice)
{
  if (choice.step != "apply")
    throw NotAvailable("form " + choice.form + " has the step apply only");
  find_tensor_kernels(choice);
}
} // namespace tensormg
