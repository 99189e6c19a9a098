#include "tests/support/json.h"

#include <nlohmann/json.hpp>

namespace tensormg::test
{
nlohmann::json parse_json(const std::string &text) { return nlohmann::json::parse(text); }
} // namespace tensormg::test
