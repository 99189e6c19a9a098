#include "operators/blocks/abaqus_file.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>

#include "operators/blocks/block_mesh.h"
#include "operators/data/short_text.h"

namespace tensormg
{
namespace
{
  std::string in_capitals(std::string text)
  {
    std::transform(text.begin(), text.end(), text.begin(),
        [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return text;
  }

  /// Lists of elements, line by line.
  class AbaqusChecker
  {
  public:
    void read(const std::string &line)
    {
      ++number_;
      if (line.starts_with("**"))
        return;
      if (line.starts_with("*"))
        keyword_ = in_capitals(line.substr(0, line.find_first_of(",\r")));
      else if (keyword_ == "*ELEMENT")
        read_element(line);
      else if (keyword_.starts_with("*ELSET")) // as deal.II compares
        read_set(line);
      else if (keyword_ == "*SURFACE" && std::isdigit(static_cast<unsigned char>(line[0])) != 0)
        read_number(line.substr(0, line.find(',')));
    }

    /// Sets may stand before the elements.
    void check_numbers() const
    {
      if (largest_ > n_elements_)
        throw MeshError("line " + std::to_string(line_of_largest_) + " names element " +
            std::to_string(largest_) + "; there are " + std::to_string(n_elements_));
      if (largest_ > 0 && !is_in_order_)
        throw MeshError("line " + std::to_string(line_of_largest_) + " names elements by number: " +
            "then they must be numbered from 1 in the order of the file");
    }

  private:
    void read_element(const std::string &line)
    {
      ++n_elements_;
      is_in_order_ = is_in_order_ && std::atol(line.c_str()) == n_elements_;
    }

    void read_set(const std::string &line)
    {
      if (line.find_first_not_of("0123456789, \t\r") != std::string::npos)
        throw MeshError("line " + std::to_string(number_) + ", '" + cut(line) +
            "', is in a list *ELSET, and is no list of elements by number");
      std::istringstream words(line);
      for (std::string word; std::getline(words, word, ',');)
        if (word.find_first_of("0123456789") != std::string::npos)
          read_number(word);
    }

    void read_number(const std::string &word)
    {
      const long element = std::atol(word.c_str());
      if (element < 1)
        throw MeshError("line " + std::to_string(number_) + " names element " +
            std::to_string(element) + "; they are numbered from 1");
      if (element > largest_)
      {
        largest_ = element;
        line_of_largest_ = number_;
      }
    }

    std::string keyword_;
    long number_ = 0; ///< of the line
    long n_elements_ = 0, largest_ = 0, line_of_largest_ = 0;
    bool is_in_order_ = true;
  };
} // namespace

void check_abaqus(const std::string &content)
{
  std::istringstream lines(content);
  AbaqusChecker checker;
  for (std::string line; std::getline(lines, line);)
    checker.read(line);
  checker.check_numbers();
}
} // namespace tensormg
