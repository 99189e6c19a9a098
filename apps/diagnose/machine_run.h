// The machines of a run: measured at its begin, and again at its end.
#pragma once

#include "apps/common/progress.h"
#include "apps/diagnose/diagnose.h"

namespace tensormg::diagnose
{
/// Measures what kernels will be compared with. If no device is used, that and its reason come first on the screen.
void measure_machines(Diagnosis &diagnosis, const DiagnoseOptions &options, ThreadTeam &team,
    Console &console, Progress &progress);

/// The bandwidth of memory once more: a yardstick that changed makes percentages uncertain, which becomes a remark.
void check_memory_again(Diagnosis &diagnosis, const DiagnoseOptions &options, ThreadTeam &team,
    Console &console, Progress &progress);
} // namespace tensormg::diagnose
