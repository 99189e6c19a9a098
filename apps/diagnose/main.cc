// tensormg-diagnose: which kernels gain from tensor cores on this machine, and what bounds the rest.
#include "apps/common/program.h"
#include "apps/diagnose/diagnose.h"
#include "apps/parameters/words.h"

int main(int argc, char **argv)
{
  using namespace tensormg;
  return run_program(argc, argv,
      {.name = "tensormg diagnose",
          .description =
              "Measures what this machine can do and how far kernels are from it: whether they "
              "gain from tensor cores, and what bounds them.",
          .run = diagnose::program,
          .flags = {{"--quick", "diagnose.quick=true", "fewer problems and repetitions"}},
          .words = {diagnose_classes.begin(), diagnose_classes.end()},
          .words_parameter = "diagnose.classes",
          .overrides_without_file = {"output.directory=output/diagnose"}});
}
