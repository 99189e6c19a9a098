// The screen, and the log if there is one: rank 0 writes, as much as the verbosity asks for.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

#include "apps/common/log_file.h"
#include "apps/parameters/parameters.h"

namespace tensormg
{
/// Takes finished text. Every rank has one and calls it alike; only rank 0 of the communicator
/// writes. Each text is flushed, so that a run can be watched through a pipe. A log takes all that the screen shows, and
/// what it would show without `quiet`.
class Console
{
public:
  /// Results go to standard output, warnings to standard error.
  Console(MPI_Comm communicator, Verbosity verbosity, LogFile *log = nullptr);
  Console(MPI_Comm communicator, Verbosity verbosity, std::ostream &out, std::ostream &error,
      LogFile *log = nullptr);

  /// Nothing at all, not even the result: for solves that are a part of something larger.
  static Console silent(MPI_Comm communicator);

  /// Shown with every verbosity.
  void result(const std::string &text);
  /// Shown unless quiet.
  void normal(const std::string &text);
  /// Shown if verbose.
  void verbose(const std::string &text);
  /// "tensormg: warning: ..." on the error stream, with every verbosity.
  void warning(const std::string &text);
  /// "tensormg: error: ..." likewise.
  void error(const std::string &text);

  bool is_quiet() const { return verbosity_ == Verbosity::quiet; }
  bool is_verbose() const { return verbosity_ == Verbosity::verbose; }

private:
  void complain(const std::string &kind, const std::string &text);
  void show(const std::string &text);
  void log(const std::string &text);

  bool writes_;
  Verbosity verbosity_;
  std::ostream *out_;
  std::ostream *error_;
  LogFile *log_; ///< nullptr: none
};

// Numbers for people.

/// "262 144"
std::string format_count(std::int64_t n);
/// "1.5 GiB"; three digits
std::string format_bytes(double bytes);
/// "1.23e-08"
std::string format_residual(double value);
/// Three digits without an exponent where that is readable: "0.0123", "12.3", "1.2e+06".
std::string format_number(double value);
/// "12.3 ms", "1.23 s"
std::string format_seconds(double seconds);

/// Columns of text, aligned to the right (the first `left` columns to the left), two blanks apart;
/// every line begins with `indent`. Rows may have fewer cells than the first one.
class TextTable
{
public:
  explicit TextTable(std::string indent = "  ", int left = 0)
    : indent_(std::move(indent))
    , left_(left)
  {}
  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  std::string text() const;

private:
  std::string indent_;
  int left_;
  std::vector<std::vector<std::string>> rows_;
};
} // namespace tensormg
