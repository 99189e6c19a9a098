#include "apps/common/console.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iostream>

namespace tensormg
{
namespace
{
  bool is_first_rank(MPI_Comm communicator)
  {
    int rank = 0;
    MPI_Comm_rank(communicator, &rank);
    return rank == 0;
  }

  std::string print(const char *format, int digits, double value)
  {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), format, digits, value);
    return text.data();
  }
} // namespace

Console::Console(MPI_Comm communicator, Verbosity verbosity, LogFile *log)
  : Console(communicator, verbosity, std::cout, std::cerr, log)
{}

Console::Console(MPI_Comm communicator, Verbosity verbosity, std::ostream &out, std::ostream &error,
    LogFile *log)
  : writes_(is_first_rank(communicator))
  , verbosity_(verbosity)
  , out_(&out)
  , error_(&error)
  , log_(log)
{}

Console Console::silent(MPI_Comm communicator)
{
  Console console(communicator, Verbosity::quiet);
  console.writes_ = false;
  return console;
}

void Console::show(const std::string &text)
{
  if (writes_)
    *out_ << text << std::flush;
}

void Console::log(const std::string &text)
{
  if (writes_ && log_ != nullptr)
    log_->write(text);
}

void Console::result(const std::string &text)
{
  show(text);
  log(text);
}

void Console::normal(const std::string &text)
{
  if (!is_quiet())
    show(text);
  log(text);
}

void Console::verbose(const std::string &text)
{
  if (is_verbose())
    result(text);
}

void Console::warning(const std::string &text) { complain("warning", text); }

void Console::error(const std::string &text) { complain("error", text); }

void Console::complain(const std::string &kind, const std::string &text)
{
  if (!writes_)
    return;
  // The streams may end in one terminal: keep their order.
  out_->flush();
  // In one piece: the streams of several processes may end in one terminal, too, which would put theirs between.
  const std::string line = "tensormg: " + kind + ": " + text + '\n';
  *error_ << line << std::flush;
  log(line);
}

std::string format_count(std::int64_t n)
{
  const std::string digits = std::to_string(n);
  const std::size_t sign = n < 0 ? 1 : 0;
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i)
  {
    if (i > sign && (digits.size() - i) % 3 == 0)
      text += ' ';
    text += digits[i];
  }
  return text;
}

std::string format_number(double value)
{
  if (value == 0.)
    return "0";
  const double magnitude = std::abs(value);
  if (!std::isfinite(value) || magnitude < 1e-4 || magnitude >= 1e6)
    return print("%.*g", 3, value);
  const int decimals = std::max(0, 2 - static_cast<int>(std::floor(std::log10(magnitude))));
  return print("%.*f", decimals, value);
}

std::string format_residual(double value) { return print("%.*e", 2, value); }

std::string format_bytes(double bytes)
{
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  while (bytes >= 1000. && unit + 1 < units.size())
  {
    bytes /= 1024.;
    ++unit;
  }
  return format_number(bytes) + ' ' + units[unit];
}

std::string format_seconds(double seconds)
{
  return seconds < 1. ? format_number(1e3 * seconds) + " ms" : format_number(seconds) + " s";
}

std::string TextTable::text() const
{
  std::vector<std::size_t> widths;
  for (const std::vector<std::string> &row : rows_)
  {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t c = 0; c < row.size(); ++c)
      widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text;
  for (const std::vector<std::string> &row : rows_)
  {
    std::string line = indent_;
    for (std::size_t c = 0; c < row.size(); ++c)
    {
      const std::string padding(widths[c] - row[c].size(), ' ');
      line +=
          (c > 0 ? "  " : "") + (static_cast<int>(c) < left_ ? row[c] + padding : padding + row[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}
} // namespace tensormg
