#include <chrono>
#include <type_traits>
#include <vector>

#include "apps/common/console.h"
#include "apps/diagnose/spmv/product.h"
#include "kernels/device/device.h"
#include "kernels/diagnostics/sparse/sliced_matrix.h"
#include "kernels/diagnostics/spmv/sliced.h"

namespace tensormg::diagnose
{
namespace
{
  using sparse::SparseMatrix;

  template <typename Number, CsrMethod method>
  class CsrProduct : public DeviceProduct<Number>
  {
  public:
    explicit CsrProduct(const ProductProblem &problem)
      : DeviceProduct<Number>(problem)
      , structure_(problem.structure())
      , values_(problem.device_values<Number>())
      , carries_(method == CsrMethod::merge
                ? spmv::merge_blocks(problem.matrix.rows, problem.matrix.entries())
                : 0)
      , view_{problem.matrix.rows, problem.matrix.columns, structure_->row_begin.data(),
            structure_->column.data(), values_->data()}
    {
      device::synchronize(nullptr);
      if constexpr (method == CsrMethod::merge)
      {
        first_rows_ = DeviceArray<std::int32_t>(carries_.size() + 1);
        const auto start = std::chrono::steady_clock::now();
        spmv::find_merge_rows(view_, problem.matrix.entries(), first_rows_.data(), nullptr);
        device::synchronize(nullptr);
        preprocessing_ =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      }
    }

    std::vector<Figure> figures() const override
    {
      if (method != CsrMethod::merge)
        return {};
      return {{"preprocessing on the device", 1e3 * preprocessing_, "ms"}};
    }

  private:
    void product(const Number *x, Compute<Number> *y, Stream stream) override
    {
      const std::int32_t entries = this->matrix().entries();
      if constexpr (method == CsrMethod::rows)
        spmv::cuda_vector(view_, entries, x, y, spmv::lanes_per_row(view_.rows, entries), stream);
      else
        spmv::cuda_merge(view_, entries, first_rows_.data(), x, y, carries_.data(), stream);
    }

    std::shared_ptr<const DeviceStructure> structure_;
    std::shared_ptr<const DeviceArray<Number>> values_;
    DeviceArray<spmv::Carry<Compute<Number>>> carries_;
    DeviceArray<std::int32_t> first_rows_;
    double preprocessing_ = 0.; ///< seconds
    spmv::Csr<Number> view_;
  };

  template <typename Number, SlicedBy by>
  class SlicedProduct : public DeviceProduct<Number>
  {
  public:
    explicit SlicedProduct(const ProductProblem &problem)
      : DeviceProduct<Number>(problem)
    {
      const std::shared_ptr<const SlicedForm<Number>> form = problem.sliced<Number>();
      const sparse::SlicedMatrix<Number> &sliced = form->matrix;
      preprocessing_ = form->seconds;
      stored_ = sliced.stored();
      in_quads_ = sliced.stored_in_quads();
      block_begin_ = on_device(sliced.block_begin);
      column_ = on_device(sliced.column);
      target_ = on_device(sliced.target);
      long_row_ = on_device(sliced.long_row);
      piece_begin_ = on_device(sliced.piece_begin);
      value_ = on_device(sliced.value);
      pieces_ = DeviceArray<Compute<Number>>(sliced.pieces());
      view_ = sliced.view();
      view_.block_begin = block_begin_.data();
      view_.column = column_.data();
      view_.value = value_.data();
      view_.target = target_.data();
      view_.long_row = long_row_.data();
      view_.piece_begin = piece_begin_.data();
      device::synchronize(nullptr);
    }

    /// Of mma.sync: each quad takes four products of 8 x 8 x 4 or 16 x 8 x 4, in FP16 two of 16 x 8 x 8. Singles are multiplied
    /// by FMA.
    double executed_flops() const override
    {
      constexpr double products = std::is_same_v<Number, Half> ? 2 * 16 * 8 * 8
          : by == SlicedBy::mma                                ? 4 * 8 * 8 * 4
                                                               : 4 * 16 * 8 * 4;
      const auto in_quads = static_cast<double>(in_quads_);
      return 2. * (static_cast<double>(stored_) - in_quads) +
          2. * in_quads * (by == SlicedBy::fma ? 1. : products / spmv::quad_size);
    }

    std::vector<Figure> figures() const override
    {
      return {{"preprocessing on the host", 1e3 * preprocessing_, "ms"},
          {"stored entries", static_cast<double>(stored_) / this->matrix().entries(),
              "per entry of the matrix"}};
    }

  private:
    void product(const Number *x, Compute<Number> *y, Stream stream) override
    {
      if constexpr (by == SlicedBy::mma)
        spmv::cuda_sliced_mma(view_, x, y, pieces_.data(), stream);
      else if constexpr (by == SlicedBy::mma_m16n8k4)
        spmv::cuda_sliced_mma_m16n8k4(view_, x, y, pieces_.data(), stream);
      else
        spmv::cuda_sliced_fma(view_, x, y, pieces_.data(), stream);
    }

    double preprocessing_ = 0.; ///< seconds
    std::int64_t stored_ = 0, in_quads_ = 0;
    DeviceArray<std::int32_t> block_begin_, column_, target_, long_row_, piece_begin_;
    DeviceArray<Number> value_;
    DeviceArray<Compute<Number>> pieces_;
    spmv::Sliced<Number> view_;
  };

  /// A group of at most 32 threads has a whole row.
  void require_short_rows(const SparseMatrix<double> &matrix)
  {
    constexpr std::int32_t longest = 200'000;
    for (std::int32_t row = 0; row < matrix.rows; ++row)
      if (const std::int32_t length = matrix.row_begin[row + 1] - matrix.row_begin[row];
          length > longest)
        throw NotAvailable("a row has " + format_count(length) +
            " entries, and no more than 32 threads would work on it");
  }

} // namespace

template <typename Number, CsrMethod method>
std::unique_ptr<Candidate> make_device_csr(const ProductProblem &problem, ThreadTeam &)
{
  require_memory<Number>(problem);
  if (method == CsrMethod::rows)
    require_short_rows(problem.matrix);
  return std::make_unique<CsrProduct<Number, method>>(problem);
}

template <typename Number, SlicedBy by>
std::unique_ptr<Candidate> make_device_sliced(const ProductProblem &problem, ThreadTeam &)
{
  require_memory<Number>(problem);
  return std::make_unique<SlicedProduct<Number, by>>(problem);
}

template std::unique_ptr<Candidate> make_device_csr<double, CsrMethod::rows>(
    const ProductProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_csr<double, CsrMethod::merge>(
    const ProductProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_csr<float, CsrMethod::rows>(
    const ProductProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_csr<float, CsrMethod::merge>(
    const ProductProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_csr<Half, CsrMethod::merge>(
    const ProductProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_sliced<double, SlicedBy::fma>(
    const ProductProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_sliced<float, SlicedBy::fma>(
    const ProductProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_sliced<Half, SlicedBy::fma>(
    const ProductProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_sliced<double, SlicedBy::mma>(
    const ProductProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_sliced<double, SlicedBy::mma_m16n8k4>(
    const ProductProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_sliced<Half, SlicedBy::mma>(
    const ProductProblem &, ThreadTeam &);
} // namespace tensormg::diagnose
