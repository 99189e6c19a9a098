// A text line by line, each cut into words, for readers whose messages name file and line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tensormg::sparse
{
/// Lines of which % and what stands behind it is a comment.
class Lines
{
public:
  Lines(std::string_view text, std::string name)
    : rest_(text)
    , name_(std::move(name))
  {}

  /// The next line, whatever it is; false at the end.
  bool next();

  /// The next line that is neither empty nor a comment, without the comment behind it.
  bool next_with_content();

  /// Takes the next word of the line; empty if there is none.
  std::string_view word();

  /// Throws MatrixMarketError with "NAME:LINE: text".
  [[noreturn]] void fail(const std::string &text) const;

  /// Fails unless nothing is left of the line, or a comment.
  void expect_end();

  /// A word for a message: short, and without bytes that a terminal would obey.
  static std::string quoted(std::string_view word);

  std::size_t bytes_left() const { return rest_.size(); }

private:
  std::string_view peek();

  std::string_view rest_, line_;
  std::string name_;
  std::int64_t number_ = 0;
};

/// The text without the mark that some editors put before UTF-8.
std::string_view without_byte_order_mark(std::string_view text);

/// Fails if the text is a compressed file or an archive.
void refuse_packed(std::string_view text, const Lines &lines);
} // namespace tensormg::sparse
