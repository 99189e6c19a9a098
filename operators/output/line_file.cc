#include "operators/output/line_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace tensormg
{
namespace
{
  std::string quoted(const std::string &name)
  {
    if (name.find_first_of(",\"\n") == std::string::npos)
      return name;
    std::string result = "\"";
    for (const char c : name)
      result += c == '"' ? std::string("\"\"") : std::string(1, c);
    return result + '"';
  }

  class Row
  {
  public:
    explicit Row(std::ostream &out)
      : out_(out)
    {}
    void add(double number)
    {
      if (!is_first_)
        out_ << ',';
      is_first_ = false;
      if (std::isfinite(number))
      {
        std::array<char, 32> text{};
        const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
        out_.write(text.data(), end - text.data());
      }
      else
        out_ << (std::isnan(number) ? "nan" : number > 0. ? "inf" : "-inf"); // not -nan
    }

  private:
    std::ostream &out_;
    bool is_first_ = true;
  };
} // namespace

std::vector<std::array<double, 3>> LineProbe::points() const
{
  std::vector<std::array<double, 3>> result(static_cast<std::size_t>(n_points));
  for (std::size_t i = 0; i < result.size(); ++i)
    for (std::size_t d = 0; d < 3; ++d)
      result[i][d] = std::lerp(
          from[d], to[d], static_cast<double>(i) / static_cast<double>(result.size() - 1));
  return result;
}

std::int64_t count_outside(const std::vector<PointValue> &values)
{
  return std::count_if(values.begin(), values.end(),
      [](const PointValue &point) { return std::isnan(point.value); });
}

void write_line(const std::vector<PointValue> &values, const std::string &field, std::ostream &out)
{
  out << line_file_mark << quoted(field) << ",gradient_x,gradient_y,gradient_z\n";
  for (const PointValue &value : values)
  {
    const auto &[x, y, z] = value.point;
    const auto &first = values.front().point;
    Row row(out);
    for (const double coordinate : value.point)
      row.add(coordinate);
    row.add(std::hypot(x - first[0], y - first[1], z - first[2]));
    row.add(value.value);
    for (const double derivative : value.gradient)
      row.add(std::isnan(value.value) ? value.value : derivative);
    out << '\n';
  }
}
} // namespace tensormg
