// Abaqus files as deal.II takes them.
#pragma once

#include <string>

namespace tensormg
{
/// Throws MeshError, with the line, if a list *ELSET has other words than numbers, such as names of other sets: deal.II would read it for ever.
void check_abaqus(const std::string &content);
} // namespace tensormg
