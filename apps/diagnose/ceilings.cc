// Class `ceilings`: the machines themselves are its result; they are measured before all classes.
#include "apps/diagnose/classes.h"
#include "apps/diagnose/report.h"

namespace tensormg::diagnose
{
void run_ceilings(Run &run)
{
  for (const Machine &machine : run.diagnosis.machines)
    run.console.normal(ceilings_text(machine));
}
} // namespace tensormg::diagnose
