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
          "read, write and copy on a device; the shapes of mma.sync one by one; wgmma",
          run_ceilings},
      ClassRow{"scale", "a[i] = q b[i], the least arithmetic that a kernel can have",
          "on tensor cores (WMMA, m8n8k4, m16n8k4)", run_scale},
      ClassRow{"spmv", "y = A x with a sparse matrix",
          "on a device (cuSPARSE, CSR by vectors and by merge path, a tensor-core format and its twin)",
          run_spmv},
      ClassRow{"stencil", "weighted sums over neighbours on a grid, one or several steps per pass",
          "on a device (naive, tiled, temporally blocked; tensor cores as matrix product and low-rank)",
          run_stencil},
      ClassRow{"gemm", "dense matrix products", "all", nullptr},
      ClassRow{"smallmat", "batches of small dense products", "all", nullptr},
      ClassRow{"precision", "errors of products in low precision", "all", nullptr},
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
