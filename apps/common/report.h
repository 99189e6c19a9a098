// What the screen shows of a run: texts made from its record.
#pragma once

#include <string>

#include "apps/common/run_record.h"

namespace tensormg
{
/// Program, problem, discretisation, method, machine and memory. Verbose adds the partition
/// and all parameters; otherwise those that differ from the defaults.
std::string header_text(const RunRecord &record, bool verbose);

/// Of a mesh of blocks: sizes, quality, and its boundaries and materials, with fluxes and integrals of the solution if there is one.
std::string mesh_text(const RunRecord &record, bool has_solution);

/// The line of iteration i, i = 0 with the heading of the columns; residuals relative to the
/// right-hand side.
std::string iteration_text(int iteration, double residual, double previous);

/// What the setup took; empty unless output.level_times asks for it.
std::string setup_text(const RunRecord &record);

/// Where the time of the cycles went; empty without multigrid.
std::string levels_text(const RunRecord &record);

/// What is doubtful about a solve that has met its tolerance: that the error which is left is more than a tenth of the solution. Or nothing.
std::string doubt_text(const RunRecord &record);

/// How it ended, speed and errors.
std::string summary_text(const RunRecord &record, bool verbose);

/// "files    a, b"; empty if nothing was written.
/// The values at output.probes as a table; empty without them.
std::string probes_text(const RunRecord &record);

/// How many points of output.probe_lines lie outside of the mesh; empty if none do.
std::string probe_lines_text(const RunRecord &record);

std::string files_text(const RunRecord &record);

/// All that matters in one line.
std::string result_line(const RunRecord &record);

/// "16 x 16 x 8"
std::string cells_text(const std::array<std::int64_t, 3> &cells, int dim);

/// "tensormg 0.2.0 (GIT HASH, COMPILER)" and "built with ..."
std::string version_text();
} // namespace tensormg
