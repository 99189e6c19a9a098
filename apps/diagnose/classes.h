// The classes of kernels: what each is about, what it lacks, and the function that runs it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "apps/common/progress.h"
#include "apps/diagnose/clock.h"
#include "apps/diagnose/counters.h"
#include "apps/diagnose/diagnose.h"
#include "apps/diagnose/spmv/matrix_files.h"

namespace tensormg::diagnose
{
/// What a class gets.
struct Run
{
  Diagnosis &diagnosis;
  const DiagnoseOptions &options; ///< effective() ones
  ThreadTeam &team;
  Console &console;
  const std::vector<MatrixFile> &matrix_files;
  RunClock clock{}; ///< nothing is left out unless it has a limit
  RunCounters *counters = nullptr;
  Progress progress{}; ///< says nothing by default
};

struct ClassRow
{
  const char *name;
  const char *about;
  /// Kernels that belong here and are not written yet, in words; empty: none.
  const char *missing;
  double weight; ///< part of the time of a run, relative to other classes
  /// nullptr: the class has no kernel yet.
  void (*run)(Run &);
};

/// THE table of classes, in the order in which all of them run: what they leave of their time is for those behind them, so the one
/// whose last problems are worth any time stands last.
std::span<const ClassRow> class_rows();

/// The classes of a report: as they are named, or all in the order of the words of the parameter file.
std::vector<std::string> report_order(const DiagnoseOptions &options);

/// The table's row; throws std::logic_error if there is none.
const ClassRow &find_class(const std::string &name);

void run_ceilings(Run &run);
void run_scale(Run &run);
void run_spmv(Run &run);
void run_stencil(Run &run);
void run_gemm(Run &run);
void run_smallmat(Run &run);
void run_batched_products(Run &run); ///< a part of run_smallmat()
void run_contractions(Run &run);     ///< another one
void run_precision(Run &run);
} // namespace tensormg::diagnose
