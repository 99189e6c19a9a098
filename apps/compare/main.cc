// tensormg-compare: the operator in all its implementations, checked and timed side by side.
#include "apps/common/program.h"
#include "apps/compare/compare.h"

int main(int argc, char **argv)
{
  return tensormg::run_program(argc, argv,
      {"tensormg compare", "Compares backends and precisions of the operator, each checked first.",
          tensormg::compare_program,
          {{"--solve", "compare.solve=true",
              "whole solves of the problem instead of the operator"}}});
}
