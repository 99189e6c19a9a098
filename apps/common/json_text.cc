#include "apps/common/json_text.h"

#include <nlohmann/json.hpp>

namespace tensormg
{
std::string text_of_json(const nlohmann::ordered_json &value)
{
  return value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

nlohmann::ordered_json json_of_text(const std::string &text)
{
  return nlohmann::ordered_json::parse(text);
}
} // namespace tensormg
