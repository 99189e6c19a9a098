// tensormg-solve: solves one problem.
#include "apps/common/program.h"
#include "apps/solve/solve.h"

int main(int argc, char **argv)
{
  return tensormg::run_program(argc, argv,
      {"tensormg solve", "Solves -div(a grad u) = f on a box by multigrid.",
          tensormg::solve_program});
}
