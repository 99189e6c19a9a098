// Texts of the user in messages, which stay one line of a readable length.
#pragma once

#include <string>

namespace tensormg
{
/// The text's begin, and how long it is, if it is longer than some hundred characters; line breaks become blanks.
std::string cut(const std::string &text);

/// The same for words of a library, whose end says where something is: the middle is left out.
std::string cut_middle(const std::string &text);
} // namespace tensormg
