// Abaqus files as deal.II takes them.
#pragma once

#include <string>

namespace tensormg
{
/// Throws MeshError, with the line, for what deal.II does not look at: a list *ELSET with other words than numbers, such as names of other sets, which it
/// would read for ever; sides of elements in *ELSET or *SURFACE where the elements are not numbered from 1 in the order of the file, since it takes the
/// numbers for places, or that are not there.
void check_abaqus(const std::string &content);
} // namespace tensormg
