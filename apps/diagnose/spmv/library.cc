// Class `spmv` by cuSPARSE: compressed rows, square blocks, sliced ELL.
#include <chrono>
#include <optional>

#include "apps/diagnose/spmv/product.h"
#include "kernels/diagnostics/sparse/block_matrix.h"
#include "kernels/diagnostics/sparse/sliced_ell.h"
#include "kernels/diagnostics/spmv/cusparse.h"

namespace tensormg::diagnose
{
namespace
{
  double seconds_since(std::chrono::steady_clock::time_point start)
  {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  /// In some format of its own, which the derived class makes.
  template <typename Number>
  class ByCusparse : public DeviceProduct<Number>
  {
  public:
    using DeviceProduct<Number>::DeviceProduct;

  protected:
    std::optional<spmv::CusparseProduct<Number>> product_;
    double preprocessing_ = 0.; ///< seconds

  private:
    void product(const Number *, Compute<Number> *, Stream stream) override
    {
      product_->multiply(stream);
    }
  };

  template <typename Number, spmv::CusparseAlgorithm algorithm>
  class CusparseCsr : public ByCusparse<Number>
  {
  public:
    explicit CusparseCsr(const ProductProblem &problem)
      : ByCusparse<Number>(problem)
      , structure_(problem.structure())
      , values_(problem.device_values<Number>())
    {
      const auto start = std::chrono::steady_clock::now();
      this->product_.emplace(
          spmv::Csr<Number>{problem.matrix.rows, problem.matrix.columns,
              structure_->row_begin.data(), structure_->column.data(), values_->data()},
          problem.matrix.entries(), this->x(), this->y(), algorithm);
      this->preprocessing_ = seconds_since(start);
    }

    std::vector<Figure> figures() const override
    {
      return {{"preprocessing on the device", 1e3 * this->preprocessing_, "ms"}};
    }

  private:
    std::shared_ptr<const DeviceStructure> structure_;
    std::shared_ptr<const DeviceArray<Number>> values_;
  };

  template <typename Number>
  class CusparseBlocks : public ByCusparse<Number>
  {
  public:
    CusparseBlocks(const ProductProblem &problem, std::int32_t block)
      : ByCusparse<Number>(problem)
    {
      const auto start = std::chrono::steady_clock::now();
      const sparse::BlockMatrix<Number> matrix =
          sparse::make_blocks<Number>(problem.matrix, block, parts_of(problem.team()));
      this->preprocessing_ = seconds_since(start);
      stored_ = matrix.value.size();
      block_ = block;
      row_begin_ = on_device(matrix.row_begin);
      column_ = on_device(matrix.column);
      value_ = on_device(matrix.value);
      spmv::Bsr<Number> view = matrix.view();
      view.row_begin = row_begin_.data();
      view.column = column_.data();
      view.value = value_.data();
      this->product_.emplace(view, this->x(), this->y());
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
      return {{"preprocessing on the host", 1e3 * this->preprocessing_, "ms"},
          {"blocks", static_cast<double>(block_), "rows and columns each"},
          {"stored entries", static_cast<double>(stored_) / this->matrix().entries(),
              "per entry of the matrix"}};
    }

  private:
    std::int64_t stored_ = 0;
    std::int32_t block_ = 1;
    DeviceArray<std::int32_t> row_begin_, column_;
    DeviceArray<Number> value_;
  };

  template <typename Number>
  class CusparseSlices : public ByCusparse<Number>
  {
  public:
    explicit CusparseSlices(const ProductProblem &problem)
      : ByCusparse<Number>(problem)
    {
      const auto start = std::chrono::steady_clock::now();
      const sparse::SlicedEll<Number> matrix =
          sparse::make_sliced_ell<Number>(problem.matrix, parts_of(problem.team()));
      this->preprocessing_ = seconds_since(start);
      stored_ = matrix.value.size();
      slice_begin_ = on_device(matrix.slice_begin);
      column_ = on_device(matrix.column);
      value_ = on_device(matrix.value);
      spmv::Sell<Number> view = matrix.view();
      view.slice_begin = slice_begin_.data();
      view.column = column_.data();
      view.value = value_.data();
      this->product_.emplace(view, this->x(), this->y());
    }

    double executed_flops() const override { return 2. * static_cast<double>(stored_); }

    std::vector<Figure> figures() const override
    {
      return {{"preprocessing on the host", 1e3 * this->preprocessing_, "ms"},
          {"stored entries", static_cast<double>(stored_) / this->matrix().entries(),
              "per entry of the matrix"}};
    }

  private:
    std::int64_t stored_ = 0;
    DeviceArray<std::int32_t> slice_begin_, column_;
    DeviceArray<Number> value_;
  };
} // namespace

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

template <typename Number>
std::unique_ptr<Candidate> make_device_slices(const ProductProblem &problem, ThreadTeam &)
{
  constexpr double most_filling = 3.;
  require_memory<Number>(problem);
  const double filling = sparse::filling_of_sliced_ell(problem.matrix);
  if (filling == 0.)
    throw NotAvailable("cuSPARSE does not take empty matrices");
  if (filling > most_filling)
    throw NotAvailable("sliced ELL would store " + format_number(filling) +
        " numbers for each entry; allowed are " + format_number(most_filling));
  require_device_bytes(
      static_cast<std::int64_t>(filling * static_cast<double>(problem.matrix.entries()) *
          (sizeof(Number) + sizeof(std::int32_t))),
      "the slices");
  return std::make_unique<CusparseSlices<Number>>(problem);
}

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
template std::unique_ptr<Candidate> make_device_slices<double>(
    const ProductProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_slices<float>(const ProductProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_slices<Half>(const ProductProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_blocks<double>(
    const ProductProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_blocks<float>(const ProductProblem &, ThreadTeam &);
} // namespace tensormg::diagnose
