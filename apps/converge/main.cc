// tensormg-converge: errors and their orders on a sequence of grids.
#include "apps/common/program.h"
#include "apps/converge/converge.h"

int main(int argc, char **argv)
{
  return tensormg::run_program(argc, argv,
      {"tensormg converge", "Measures orders of convergence on a sequence of grids.",
          tensormg::converge_program});
}
