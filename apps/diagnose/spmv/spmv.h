// What the kernels of class `spmv` work on, how their results are checked, and those of the device.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>

#include "apps/diagnose/table.h"
#include "kernels/core/array.h"
#include "kernels/core/half.h"
#include "kernels/diagnostics/sparse/sliced_matrix.h"
#include "kernels/diagnostics/sparse/sparse_matrix.h"
#include "kernels/diagnostics/spmv/cusparse.h"
#include "kernels/diagnostics/spmv/spmv.h"

namespace tensormg::diagnose
{
/// x, A x in double precision for the rounded A and x, and |A| |x|.
template <typename Number>
struct ProductReference
{
  ProductReference(const sparse::SparseMatrix<double> &matrix, ThreadTeam &team);
  /// The largest |y - A x| relative to |A| |x| of the row; infinite if an entry is not finite.
  double error_of(const Compute<Number> *y) const;

  Array<Number> x;
  Array<double> exact, magnitude;
  double largest_entry = 0.; ///< magnitude of the matrix's entries, before they are rounded
  double largest_sum = 0.;   ///< of |A| |x|; may be infinite

private:
  ThreadTeam &team_;
};

/// A matrix in slices with the time to make it.
template <typename Number>
struct SlicedForm
{
  sparse::SlicedMatrix<Number> matrix;
  double seconds = 0.;
};

/// What kernels of a precision share.
template <typename Number>
struct ProductParts
{
  std::shared_ptr<const ProductReference<Number>> reference;
  std::shared_ptr<const DeviceArray<Number>> values, x;
  std::shared_ptr<const SlicedForm<Number>> sliced;
};

/// The structure of a matrix in device memory.
struct DeviceStructure
{
  DeviceArray<std::int32_t> row_begin, column;
};

/// A matrix with everything that several kernels need, made when the first asks for it.
class ProductProblem
{
public:
  ProductProblem(const sparse::SparseMatrix<double> &matrix_, ThreadTeam &team)
    : matrix(matrix_)
    , team_(team)
  {}
  template <typename Number>
  std::shared_ptr<const ProductReference<Number>> reference() const;
  std::shared_ptr<const DeviceStructure> structure() const;
  /// Entries and x in device memory.
  template <typename Number>
  std::shared_ptr<const DeviceArray<Number>> device_values() const;
  template <typename Number>
  std::shared_ptr<const DeviceArray<Number>> device_x() const;
  template <typename Number>
  std::shared_ptr<const SlicedForm<Number>> sliced() const;

  ThreadTeam &team() const { return team_; }
  const sparse::SparseMatrix<double> &matrix;

private:
  template <typename Number>
  ProductParts<Number> &parts() const
  {
    return std::get<ProductParts<Number>>(parts_);
  }

  ThreadTeam &team_;
  mutable std::shared_ptr<const DeviceStructure> structure_;
  mutable std::tuple<ProductParts<double>, ProductParts<float>, ProductParts<Half>> parts_;
};

/// Throws NotAvailable if an entry is beyond the format, or what a row adds up to beyond that of the sums: no kernel can be
/// right then.
template <typename Number>
void require_within_format(const ProductProblem &problem);

/// A copy in device memory, complete on return.
template <typename T>
DeviceArray<T> on_device(const Array<T> &from)
{
  DeviceArray<T> array(from.size());
  if (from.size() > 0)
    array.copy_from_host(from.data());
  device::synchronize(nullptr);
  return array;
}

/// The parts of a loop over rows or entries, by all threads.
sparse::ForParts parts_of(ThreadTeam &team);

enum class CsrMethod : std::uint8_t
{
  rows,
  merge
};

template <typename Number, CsrMethod method>
std::unique_ptr<Candidate> make_device_csr(const ProductProblem &problem, ThreadTeam &team);
template <typename Number, spmv::CusparseAlgorithm algorithm>
std::unique_ptr<Candidate> make_device_cusparse(const ProductProblem &problem, ThreadTeam &team);
/// Blocks of rows and columns.
template <typename Number>
std::unique_ptr<Candidate> make_device_blocks(const ProductProblem &problem, ThreadTeam &team);
/// Sliced ELL.
template <typename Number>
std::unique_ptr<Candidate> make_device_slices(const ProductProblem &problem, ThreadTeam &team);
/// How the sums of slices are formed (kernels/diagnostics/spmv/sliced.h).
enum class SlicedBy : std::uint8_t
{
  fma,
  mma, ///< m8n8k4, in FP16 m16n8k8
  mma_m16n8k4
};
template <typename Number, SlicedBy by>
std::unique_ptr<Candidate> make_device_sliced(const ProductProblem &problem, ThreadTeam &team);
} // namespace tensormg::diagnose
