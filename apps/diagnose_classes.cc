#include "apps/diagnose_classes.h"

#include <array>
#include <stdexcept>

namespace tensormg::diagnose
{
namespace
{
  constexpr std::array rows{
      ClassRow{"ceilings",
          "what memory, caches and units give at most, and the quotient alpha of tensor and plain units",
          "", 1., run_ceilings},
      ClassRow{
          "scale", "a[i] = q b[i], the least arithmetic that a kernel can have", "", 2., run_scale},
      ClassRow{"spmv", "y = A x with a sparse matrix", "", 8., run_spmv},
      ClassRow{"stencil", "weighted sums over neighbours on a grid, one or several steps per pass",
          "", 8., run_stencil},
      ClassRow{"gemm", "dense matrix products", "on the host: more threads than one", 5., run_gemm},
      ClassRow{"smallmat",
          "batches of small matrices: products, reflections, rotations; contractions of the operator",
          "", 3., run_smallmat},
      ClassRow{"precision",
          "errors of products in low precision, by a model and by the units; the kernels of cuBLAS",
          "", 1., run_precision},
  };
} // namespace

std::span<const ClassRow> class_rows() { return rows; }

const ClassRow &find_class(const std::string &name)
{
  for (const ClassRow &row : rows)
    if (name == row.name)
      return row;
  throw std::logic_error("unknown class '" + name + "'");
}
} // namespace tensormg::diagnose
