#include <chrono>
#include <cmath>
#include <optional>
#include <type_traits>
#include <vector>

#include "apps/console.h"
#include "apps/diagnose_spmv.h"
#include "kernels/core/device.h"
#include "kernels/spmv/cusparse.h"
#include "kernels/spmv/sliced.h"
#include "operators/sparse/block_matrix.h"
#include "operators/sparse/sliced_matrix.h"

namespace tensormg::diagnose
{
namespace
{
  using sparse::SparseMatrix;

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
    const SparseMatrix<double> &matrix() const { return matrix_; }
    const Number *x() const { return x_->data(); }
    Result *y() { return y_.data(); }

  private:
    virtual void product(const Number *x, Result *y, Stream stream) = 0;

    const SparseMatrix<double> &matrix_;
    std::shared_ptr<const ProductReference<Number>> reference_;
    std::shared_ptr<const DeviceArray<Number>> x_;
    DeviceArray<Result> y_;
    OwnedStream stream_;
    DeviceTimer timer_;
  };

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

  template <typename Number, spmv::CusparseAlgorithm algorithm>
  class CusparseCsr : public DeviceProduct<Number>
  {
  public:
    explicit CusparseCsr(const ProductProblem &problem)
      : DeviceProduct<Number>(problem)
      , structure_(problem.structure())
      , values_(problem.device_values<Number>())
    {
      const auto start = std::chrono::steady_clock::now();
      product_.emplace(
          spmv::Csr<Number>{problem.matrix.rows, problem.matrix.columns,
              structure_->row_begin.data(), structure_->column.data(), values_->data()},
          problem.matrix.entries(), this->x(), this->y(), algorithm);
      preprocessing_ =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }

    std::vector<Figure> figures() const override
    {
      return {{"preprocessing on the device", 1e3 * preprocessing_, "ms"}};
    }

  private:
    void product(const Number *, Compute<Number> *, Stream stream) override
    {
      product_->multiply(stream);
    }

    std::shared_ptr<const DeviceStructure> structure_;
    std::shared_ptr<const DeviceArray<Number>> values_;
    std::optional<spmv::CusparseProduct<Number>> product_;
    double preprocessing_ = 0.; ///< seconds
  };

  template <typename Number>
  class CusparseBlocks : public DeviceProduct<Number>
  {
  public:
    CusparseBlocks(const ProductProblem &problem, std::int32_t block)
      : DeviceProduct<Number>(problem)
    {
      const auto start = std::chrono::steady_clock::now();
      const sparse::BlockMatrix<Number> matrix =
          sparse::make_blocks<Number>(problem.matrix, block, parts_of(problem.team()));
      preprocessing_ =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      stored_ = matrix.value.size();
      block_ = block;
      row_begin_ = on_device(matrix.row_begin);
      column_ = on_device(matrix.column);
      value_ = on_device(matrix.value);
      spmv::Bsr<Number> view = matrix.view();
      view.row_begin = row_begin_.data();
      view.column = column_.data();
      view.value = value_.data();
      product_.emplace(view, this->x(), this->y());
    }

    /// One column per block instead of one per entry, and the zeros within blocks.
    Work work() const override
    {
      const double vectors =
          static_cast<double>(this->matrix().rows) + static_cast<double>(this->matrix().columns);
      return {2. * this->matrix().entries(),
          (static_cast<double>(stored_) + vectors) * sizeof(Number) +
              4. * static_cast<double>(column_.size() + row_begin_.size())};
    }
    double executed_flops() const override { return 2. * static_cast<double>(stored_); }

    std::vector<Figure> figures() const override
    {
      return {{"preprocessing on the host", 1e3 * preprocessing_, "ms"},
          {"blocks", static_cast<double>(block_), "rows and columns each"},
          {"stored entries", static_cast<double>(stored_) / this->matrix().entries(),
              "per entry of the matrix"}};
    }

  private:
    void product(const Number *, Compute<Number> *, Stream stream) override
    {
      product_->multiply(stream);
    }

    double preprocessing_ = 0.; ///< seconds
    std::int64_t stored_ = 0;
    std::int32_t block_ = 1;
    DeviceArray<std::int32_t> row_begin_, column_;
    DeviceArray<Number> value_;
    std::optional<spmv::CusparseProduct<Number>> product_;
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

  template <typename Number>
  void require_memory(const ProductProblem &problem)
  {
    const SparseMatrix<double> &m = problem.matrix;
    const double bytes = spmv::work(m.rows, m.columns, m.entries(), sizeof(Number)).bytes;
    require_device_bytes(static_cast<std::int64_t>(bytes), "the matrix and its vectors");
    constexpr double largest_half = 65504.;
    if constexpr (std::is_same_v<Number, Half>)
      for (const double value : m.value)
        if (std::abs(value) > largest_half)
          throw NotAvailable("an entry of " + format_number(value) + " is beyond FP16");
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

template <typename Number, spmv::CusparseAlgorithm algorithm>
std::unique_ptr<Candidate> make_device_cusparse(const ProductProblem &problem, ThreadTeam &)
{
  require_memory<Number>(problem);
  if (problem.matrix.entries() == 0)
    throw NotAvailable("cuSPARSE does not take empty matrices");
  return std::make_unique<CusparseCsr<Number, algorithm>>(problem);
}

template <typename Number>
std::unique_ptr<Candidate> make_device_blocks(const ProductProblem &problem, ThreadTeam &)
{
  require_memory<Number>(problem);
  const std::int32_t block = sparse::find_block(problem.matrix);
  if (block == 1)
    throw NotAvailable("the matrix has no dense blocks");
  return std::make_unique<CusparseBlocks<Number>>(problem, block);
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
template std::unique_ptr<Candidate> make_device_cusparse<double, spmv::CusparseAlgorithm::csr1>(
    const ProductProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_cusparse<double, spmv::CusparseAlgorithm::csr2>(
    const ProductProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_cusparse<float, spmv::CusparseAlgorithm::csr1>(
    const ProductProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_cusparse<float, spmv::CusparseAlgorithm::csr2>(
    const ProductProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_cusparse<Half, spmv::CusparseAlgorithm::csr1>(
    const ProductProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_cusparse<Half, spmv::CusparseAlgorithm::csr2>(
    const ProductProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_blocks<double>(
    const ProductProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_blocks<float>(const ProductProblem &, ThreadTeam &);
} // namespace tensormg::diagnose
