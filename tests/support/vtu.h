// Reads the arrays of a VTU file, by other code than that which has written it.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <zlib.h>

#include "tests/support/temporary_directory.h"

namespace tensormg::test
{
struct VtuField
{
  std::string type; ///< "Float32", ...
  std::vector<double> values;
};

inline std::vector<unsigned char> from_base64(const std::string &text)
{
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<unsigned char> bytes;
  unsigned int word = 0, bits = 0;
  for (const char c : text)
  {
    if (c == '=')
      break;
    word = word << 6 | static_cast<unsigned int>(letters.find(c));
    bits += 6;
    if (bits >= 8)
      bytes.push_back(static_cast<unsigned char>(word >> (bits -= 8) & 255U));
  }
  return bytes;
}

/// What stands between blocks' sizes and end of a compressed array.
inline std::vector<unsigned char> uncompressed(const std::string &text)
{
  const auto count = [](const std::vector<unsigned char> &bytes, std::size_t i) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + 8 * i, 8);
    return value;
  };
  const std::size_t blocks = count(from_base64(text.substr(0, 32)), 0);
  const std::size_t letters = (8 * (3 + blocks) + 2) / 3 * 4;
  const std::vector<unsigned char> head = from_base64(text.substr(0, letters)),
                                   data = from_base64(text.substr(letters));
  std::vector<unsigned char> bytes;
  std::size_t from = 0;
  for (std::size_t b = 0; b < blocks; ++b)
  {
    const std::size_t to = bytes.size();
    uLongf size = b + 1 == blocks && count(head, 2) > 0 ? count(head, 2) : count(head, 1);
    const uLongf expected = size;
    bytes.resize(to + size);
    EXPECT_EQ(uncompress(bytes.data() + to, &size, data.data() + from, count(head, 3 + b)), Z_OK);
    EXPECT_EQ(size, expected);
    from += count(head, 3 + b);
  }
  EXPECT_EQ(from, data.size());
  return bytes;
}

template <typename Number>
std::vector<double> numbers(const std::vector<unsigned char> &bytes)
{
  std::vector<Number> values(bytes.size() / sizeof(Number));
  if (!values.empty())
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(Number));
  return {values.begin(), values.end()};
}

/// By their names; "" are the points.
inline std::map<std::string, VtuField> read_vtu(const std::filesystem::path &file)
{
  const std::string text = content(file);
  const auto attribute = [](const std::string &head, const std::string &name) -> std::string {
    const std::size_t begin = head.find(name + "=\"");
    if (begin == std::string::npos)
      return "";
    const std::size_t value = begin + name.size() + 2;
    return head.substr(value, head.find('"', value) - value);
  };
  std::map<std::string, VtuField> fields;
  for (std::size_t at = text.find("<DataArray "); at != std::string::npos;
       at = text.find("<DataArray ", at + 1))
  {
    const std::size_t begin = text.find('>', at) + 1;
    const std::string head = text.substr(at, begin - at);
    const std::string body = text.substr(begin, text.find('<', begin) - begin);
    VtuField &field = fields[attribute(head, "Name")];
    field.type = attribute(head, "type");
    if (attribute(head, "format") == "ascii")
    {
      field.values = {std::stod(body)};
      continue;
    }
    const std::vector<unsigned char> bytes = uncompressed(body);
    field.values = field.type == "Float64" ? numbers<double>(bytes)
        : field.type == "Float32"          ? numbers<float>(bytes)
        : field.type == "Int32"            ? numbers<std::int32_t>(bytes)
                                           : numbers<std::uint8_t>(bytes);
  }
  return fields;
}
} // namespace tensormg::test
