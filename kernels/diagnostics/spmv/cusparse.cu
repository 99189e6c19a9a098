#include "kernels/diagnostics/spmv/cusparse.h"

#include <string>
#include <type_traits>

#include <cusparse.h>

#include "kernels/device/cuda_check.h"
#include "kernels/device/shared_library.h"

namespace tensormg::spmv
{
namespace
{
  /// The functions of the library, and one handle for the whole program.
  struct Cusparse
  {
    decltype(&::cusparseGetErrorString) text = nullptr;
    decltype(&::cusparseSetStream) set_stream = nullptr;
    decltype(&::cusparseCreateConstCsr) create_matrix = nullptr;
    decltype(&::cusparseCreateConstBsr) create_blocks = nullptr;
    decltype(&::cusparseCreateConstSlicedEll) create_slices = nullptr;
    decltype(&::cusparseCreateConstDnVec) create_input = nullptr;
    decltype(&::cusparseCreateDnVec) create_output = nullptr;
    decltype(&::cusparseDestroySpMat) destroy_matrix = nullptr;
    decltype(&::cusparseDestroyDnVec) destroy_vector = nullptr;
    decltype(&::cusparseSpMV_bufferSize) buffer_size = nullptr;
    decltype(&::cusparseSpMV_preprocess) preprocess = nullptr;
    decltype(&::cusparseSpMV) multiply = nullptr;
    cusparseHandle_t handle = nullptr;

    static const Cusparse &instance()
    {
      static const Cusparse cusparse;
      return cusparse;
    }

    void check(cusparseStatus_t status, const char *what) const
    {
      if (status != CUSPARSE_STATUS_SUCCESS)
        throw DeviceError(std::string("cuSPARSE, ") + what + ": " + text(status));
    }

  private:
    Cusparse()
    {
      const SharedLibrary library(
          "cuSPARSE", "libcusparse.so." + std::to_string(CUSPARSE_VER_MAJOR));
      library.find("cusparseGetErrorString", text);
      library.find("cusparseSetStream", set_stream);
      library.find("cusparseCreateConstCsr", create_matrix);
      library.find("cusparseCreateConstBsr", create_blocks);
      library.find("cusparseCreateConstSlicedEll", create_slices);
      library.find("cusparseCreateConstDnVec", create_input);
      library.find("cusparseCreateDnVec", create_output);
      library.find("cusparseDestroySpMat", destroy_matrix);
      library.find("cusparseDestroyDnVec", destroy_vector);
      library.find("cusparseSpMV_bufferSize", buffer_size);
      library.find("cusparseSpMV_preprocess", preprocess);
      library.find("cusparseSpMV", multiply);
      decltype(&::cusparseCreate) create = nullptr;
      library.find("cusparseCreate", create);
      check(create(&handle), "starting");
    }
  };

  constexpr cusparseOperation_t as_it_is = CUSPARSE_OPERATION_NON_TRANSPOSE;
} // namespace

template <typename Number>
struct CusparseProduct<Number>::Data
{
  using Result = Compute<Number>;
  static constexpr cudaDataType type = std::is_same_v<Number, double> ? CUDA_R_64F
      : std::is_same_v<Number, float>                                 ? CUDA_R_32F
                                                                      : CUDA_R_16F;
  static constexpr cudaDataType result_type =
      std::is_same_v<Result, double> ? CUDA_R_64F : CUDA_R_32F;

  Data(const Csr<Number> &m, std::int32_t entries, const Number *from, Result *to,
      CusparseAlgorithm wanted)
    : algorithm(wanted == CusparseAlgorithm::csr1 ? CUSPARSE_SPMV_CSR_ALG1 : CUSPARSE_SPMV_CSR_ALG2)
  {
    cusparse.check(
        cusparse.create_matrix(&matrix, m.rows, m.columns, entries, m.row_begin, m.column, m.value,
            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type),
        "describing the matrix");
    make_vectors(m.columns, m.rows, from, to);
    cusparse.check(cusparse.set_stream(cusparse.handle, nullptr), "choosing the stream");
    cusparse.check(cusparse.preprocess(cusparse.handle, as_it_is, &one, matrix, x, &zero, y,
                       result_type, algorithm, buffer.data()),
        "preprocessing");
    device::synchronize(nullptr);
  }

  Data(const Bsr<Number> &m, const Number *from, Result *to)
    : algorithm(CUSPARSE_SPMV_BSR_ALG1)
  {
    cusparse.check(cusparse.create_blocks(&matrix, m.block_rows, m.block_columns, m.blocks, m.block,
                       m.block, m.row_begin, m.column, m.value, CUSPARSE_INDEX_32I,
                       CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type, CUSPARSE_ORDER_ROW),
        "describing the matrix in blocks");
    make_vectors(static_cast<std::int64_t>(m.block) * m.block_columns,
        static_cast<std::int64_t>(m.block) * m.block_rows, from, to);
  }

  Data(const Sell<Number> &m, const Number *from, Result *to)
    : algorithm(CUSPARSE_SPMV_SELL_ALG1)
  {
    cusparse.check(cusparse.create_slices(&matrix, m.rows, m.columns, m.entries, m.stored, m.slice,
                       m.slice_begin, m.column, m.value, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                       CUSPARSE_INDEX_BASE_ZERO, type),
        "describing the matrix in slices");
    make_vectors(m.columns, m.rows, from, to);
  }

  void make_vectors(std::int64_t columns, std::int64_t rows, const Number *from, Result *to)
  {
    cusparse.check(cusparse.create_input(&x, columns, from, type), "describing x");
    cusparse.check(cusparse.create_output(&y, rows, to, result_type), "describing y");
    std::size_t bytes = 0;
    cusparse.check(cusparse.buffer_size(cusparse.handle, as_it_is, &one, matrix, x, &zero, y,
                       result_type, algorithm, &bytes),
        "asking for a buffer");
    buffer = DeviceArray<unsigned char>(static_cast<std::int64_t>(bytes));
    device::synchronize(nullptr);
  }
  ~Data()
  {
    cusparse.destroy_vector(y);
    cusparse.destroy_vector(x);
    cusparse.destroy_matrix(matrix);
  }
  Data(const Data &) = delete;
  Data &operator=(const Data &) = delete;

  const Cusparse &cusparse = Cusparse::instance();
  cusparseSpMVAlg_t algorithm;
  cusparseConstSpMatDescr_t matrix = nullptr;
  cusparseConstDnVecDescr_t x = nullptr;
  cusparseDnVecDescr_t y = nullptr;
  DeviceArray<unsigned char> buffer;
  Result one = 1, zero = 0;
};

template <typename Number>
CusparseProduct<Number>::CusparseProduct(const Csr<Number> &matrix, std::int32_t entries,
    const Number *x, Compute<Number> *y, CusparseAlgorithm algorithm)
  : data_(std::make_unique<Data>(matrix, entries, x, y, algorithm))
{}

template <typename Number>
CusparseProduct<Number>::CusparseProduct(
    const Bsr<Number> &matrix, const Number *x, Compute<Number> *y)
  : data_(std::make_unique<Data>(matrix, x, y))
{}

template <typename Number>
CusparseProduct<Number>::CusparseProduct(
    const Sell<Number> &matrix, const Number *x, Compute<Number> *y)
  : data_(std::make_unique<Data>(matrix, x, y))
{}

template <typename Number>
CusparseProduct<Number>::~CusparseProduct() = default;

template <typename Number>
void CusparseProduct<Number>::multiply(Stream stream) const
{
  const Data &d = *data_;
  d.cusparse.check(d.cusparse.set_stream(d.cusparse.handle, stream), "choosing the stream");
  d.cusparse.check(
      d.cusparse.multiply(d.cusparse.handle, as_it_is, &d.one, d.matrix, d.x, &d.zero, d.y,
          Data::result_type, d.algorithm, const_cast<unsigned char *>(d.buffer.data())),
      "multiplying");
}

template class CusparseProduct<double>;
template class CusparseProduct<float>;
template class CusparseProduct<Half>;
} // namespace tensormg::spmv
