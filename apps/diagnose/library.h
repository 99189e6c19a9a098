// `csr_merge` against the fastest algorithm of cuSPARSE for the same compressed rows, over the matrices that memory bounds.
#pragma once

#include <string>
#include <vector>

#include "apps/diagnose/diagnose.h"

namespace tensormg::diagnose
{
struct LibraryQuotient
{
  std::string problem;
  std::string algorithm; ///< the fastest one of cuSPARSE: "cusparse_csr2"
  double quotient = 0.;  ///< its time over that of csr_merge
};

/// One precision.
struct LibraryComparison
{
  std::string precision;
  std::vector<LibraryQuotient> matrices;
  double mean = 1.; ///< geometric
};

/// By precision, in the order of the entries; none without a device or cuSPARSE. A matrix is bound by memory in a precision
/// if the bytes of its product are more than twice what is meant to fit into caches (diagnose.cached_megabytes).
std::vector<LibraryComparison> csr_against_library(const Diagnosis &diagnosis);

/// Means, ranges and matrices, a line per precision; empty if there is nothing to compare.
std::string library_text(const Diagnosis &diagnosis);
} // namespace tensormg::diagnose
