#include "apps/diagnose/classes.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "apps/parameters/words.h"

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
      ClassRow{"spmv", "y = A x with a sparse matrix", "", 10., run_spmv},
      ClassRow{"gemm", "dense matrix products; those of the host by BLAS in one thread", "", 7.,
          run_gemm},
      ClassRow{"smallmat",
          "batches of small matrices: products, reflections, rotations; contractions of the operator",
          "", 3., run_smallmat},
      ClassRow{"precision",
          "errors of products in low precision, by a model and by the units; the kernels of cuBLAS",
          "", 1., run_precision},
      ClassRow{"stencil", "weighted sums over neighbours on a grid, one or several steps per pass",
          "", 8., run_stencil},
  };
} // namespace

std::span<const ClassRow> class_rows() { return rows; }

std::vector<std::string> report_order(const DiagnoseOptions &options)
{
  std::vector<std::string> names = effective(options).classes;
  if (names == options.classes)
    return names;
  const auto place = [](const std::string &name) {
    return std::find(diagnose_classes.begin(), diagnose_classes.end(), name);
  };
  std::sort(names.begin(), names.end(),
      [&](const std::string &a, const std::string &b) { return place(a) < place(b); });
  return names;
}

const ClassRow &find_class(const std::string &name)
{
  for (const ClassRow &row : rows)
    if (name == row.name)
      return row;
  throw std::logic_error("unknown class '" + name + "'");
}
} // namespace tensormg::diagnose
