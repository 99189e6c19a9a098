// The generators of deal.II, and what their arguments have to be.
#pragma once

#include <string>
#include <vector>

namespace tensormg
{
/// Rules are comparisons of arguments, "0 < inner_radius < outer_radius", in words with a blank between them; with <, <=, =, != and `in`, which takes numbers
/// that are separated by bars. Those of lists hold for each of their numbers. Other values than arguments are in derived_values() (argument_rules.cc).
struct Generator
{
  const char *name, *arguments;
  std::vector<const char *> rules; ///< "3D: " begins those of one dimension
  bool has_2d = true;
  char separator = ':'; ///< of arguments: deal.II takes another one where colons are within them
};

/// nullptr: not known here.
const Generator *find_generator(const std::string &name);
} // namespace tensormg
