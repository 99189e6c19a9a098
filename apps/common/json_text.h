// JSON values to text and back. The library is made of templates: what parses and prints is compiled once here, which
// halves the time that a file takes which only puts values together.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace tensormg
{
/// Indented by two spaces; bytes that are no UTF-8 become replacement characters.
std::string text_of_json(const nlohmann::ordered_json &value);

/// Throws nlohmann::json::parse_error.
nlohmann::ordered_json json_of_text(const std::string &text);
} // namespace tensormg
