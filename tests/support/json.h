// JSON that a test has been given, parsed by code that is compiled once for all tests.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace tensormg::test
{
/// Throws nlohmann::json::parse_error.
nlohmann::json parse_json(const std::string &text);
} // namespace tensormg::test
