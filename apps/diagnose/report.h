// What the screen and the files show of a diagnosis.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>

#include "apps/diagnose/classes.h"
#include "apps/diagnose/diagnose.h"

namespace tensormg::diagnose
{
/// What a run without a device says first; empty if it has one.
std::string no_device_text(const Diagnosis &diagnosis);

/// The machines with what they give at most.
std::string machines_text(const Diagnosis &diagnosis);

/// Class `ceilings`: bandwidth by size, rate, balance and alpha by unit.
std::string ceilings_text(const Machine &machine);

/// "[2/7] scale: ..." with what the class lacks and, if it runs, the columns of its entries.
std::string class_heading(const ClassRow &row, std::size_t number, std::size_t of);

/// The line above the entries of one problem.
std::string problem_heading(const std::string &class_name, const std::string &problem);

/// The line of one entry, as wide as the columns of the heading.
std::string entry_text(const Diagnosis &diagnosis, const Entry &entry);

/// The accuracies from `first` on, which have one range: methods by lengths.
std::string accuracy_text(const Diagnosis &diagnosis, std::size_t first);

/// One sentence about a measured entry: how far it is from theory, what bounds it, what it gains.
std::string verdict(const Diagnosis &diagnosis, const Entry &entry);

/// Every kernel over all problems: how far from its bound, and its gain over the twin.
std::string verdicts_text(const Diagnosis &diagnosis);

/// What is not available here, and what is not written yet.
std::string missing_text(const Diagnosis &diagnosis);

/// One line per entry; missing values are empty.
void write_csv(const Diagnosis &diagnosis, std::ostream &out);

/// Everything, for programs; tools/report_diagnose.py makes plots and a page of it.
void write_json(const Diagnosis &diagnosis, std::ostream &out);
} // namespace tensormg::diagnose
