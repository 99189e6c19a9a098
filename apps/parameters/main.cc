// tensormg-parameters: prints docs/parameters.md.
#include <iostream>

#include "apps/parameters/parameters.h"

int main()
{
  tensormg::print_parameter_reference(std::cout);
  return std::cout.flush() ? 0 : 1;
}
