// The matrices that a user has named.
#pragma once

#include <string>
#include <vector>

#include "apps/common/console.h"
#include "apps/common/progress.h"
#include "apps/parameters/parameters.h"
#include "kernels/diagnostics/sparse/sparse_matrix.h"

namespace tensormg::diagnose
{
struct MatrixFile
{
  std::string path;
  sparse::SparseMatrix<double> matrix;
};

/// The files of class spmv, before anything is measured: a mistake in one should not cost a run. Throws ParameterError.
std::vector<MatrixFile> read_matrix_files(
    const DiagnoseOptions &options, Console &console, Progress &progress);
} // namespace tensormg::diagnose
