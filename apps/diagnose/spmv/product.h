// What all kernels of class `spmv` on a device have in common.
#pragma once

#include <cmath>
#include <type_traits>

#include "apps/common/console.h"
#include "apps/diagnose/spmv/spmv.h"
#include "kernels/device/device.h"
#include "kernels/diagnostics/spmv/spmv.h"

namespace tensormg::diagnose
{
/// The vectors, the check and the timing of all kernels; product() queues one.
template <typename Number>
class DeviceProduct : public Candidate
{
public:
  using Result = Compute<Number>;

  explicit DeviceProduct(const ProductProblem &problem)
    : matrix_(problem.matrix)
    , reference_(problem.reference<Number>())
    , x_(problem.device_x<Number>())
    , y_(matrix_.rows)
  {}

  Work work() const override
  {
    Work work = spmv::work(matrix_.rows, matrix_.columns, matrix_.entries(), sizeof(Number));
    work.bytes += static_cast<double>(matrix_.rows) * (sizeof(Result) - 1. * sizeof(Number));
    return work;
  }

  double error() override
  {
    if (matrix_.rows == 0)
      return 0.;
    device::fill_bytes(
        y_.data(), 0xff, static_cast<std::size_t>(y_.size()) * sizeof(Result), nullptr);
    device::synchronize(nullptr);
    milliseconds(1);
    Array<Result> y(matrix_.rows);
    y_.copy_to_host(y.data());
    return reference_->error_of(y.data());
  }

  double milliseconds(int runs) override
  {
    timer_.start(stream_.get());
    for (int r = 0; r < runs; ++r)
      product(x_->data(), y_.data(), stream_.get());
    return timer_.stop(stream_.get());
  }

protected:
  const sparse::SparseMatrix<double> &matrix() const { return matrix_; }
  const Number *x() const { return x_->data(); }
  Result *y() { return y_.data(); }

private:
  virtual void product(const Number *x, Result *y, Stream stream) = 0;

  const sparse::SparseMatrix<double> &matrix_;
  std::shared_ptr<const ProductReference<Number>> reference_;
  std::shared_ptr<const DeviceArray<Number>> x_;
  DeviceArray<Result> y_;
  OwnedStream stream_;
  DeviceTimer timer_;
};

/// Throws NotAvailable or DeviceError if there is no room for it, or it is beyond the format.
template <typename Number>
void require_memory(const ProductProblem &problem)
{
  const sparse::SparseMatrix<double> &m = problem.matrix;
  const double bytes = spmv::work(m.rows, m.columns, m.entries(), sizeof(Number)).bytes;
  require_device_bytes(static_cast<std::int64_t>(bytes), "the matrix and its vectors");
  require_within_format<Number>(problem);
}
} // namespace tensormg::diagnose
