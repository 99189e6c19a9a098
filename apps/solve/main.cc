// tensormg-solve: solves one problem.
#include "apps/common/program.h"
#include "apps/solve/solve.h"

int main(int argc, char **argv)
{
  return tensormg::run_program(argc, argv,
      {.name = "tensormg solve",
          .description = "Solves -div(K grad u) + c u = f by multigrid.",
          .run = tensormg::solve_program,
          .dry_run = tensormg::dry_run_program});
}
