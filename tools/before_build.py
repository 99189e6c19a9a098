#!/usr/bin/env python3
"""Answers what needs no build: options of a program, its parameters, and mistakes in what it is given.

    tools/before_build.py SUBCOMMAND [argument...]

The launcher calls it before it installs or builds anything. It knows the parameters from docs/parameters.md, which
the programs write and a test keeps current. What it does not understand it leaves to the program, whose word counts.

Exit code: 0 nothing to say, the program may start; 2 a mistake, named on standard error; 3 answered on standard output.
"""

import json
import math
import os
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GO_ON, MISTAKE, ANSWERED = 0, 2, 3
MAX_INT = 2**31 - 1
COLUMNS = 78

FILE = ("PARAMETER_FILE", "a .prm or .json file")
COMMON = [("-s, --set SECTION.KEY=VALUE", "override a parameter: --set problem.degree=4; may be repeated"),
          ("-q, --quiet", "show only the result"),
          ("-v, --verbose", "show everything"),
          ("--print-parameters", "print the parameters of this program as a commented file, and do nothing else"),
          ("--all", "with --print-parameters: also the parameters of the other programs")]
LAST = [("-n, --ranks N", "number of MPI ranks (./tensormg --help)"),
        ("-h, --help", "print this and exit"), ("--version", "print what was built and exit")]
# Programs: what they do, arguments, options of their own, and the file's place in what is checked here.
PROGRAMS = {
    "solve": ("Solves -div(K grad u) + c u = f by multigrid.", [FILE],
              [("--dry-run", "check everything and show the memory that is needed; solve and write nothing")]),
    "converge": ("Measures orders of convergence on a sequence of grids.", [FILE], []),
    "compare": ("Compares backends and precisions of the operator, each checked first.", [FILE],
                [("--solve", "whole solves of the problem instead of the operator")]),
    "diagnose": ("Measures what this machine can do and how far kernels are from it: whether they gain from tensor "
                 "cores, and what bounds them.",
                 [("CLASS", "any of {classes}"), FILE], [("--quick", "fewer problems and repetitions")]),
    "benchmark": ("Measures scale bandwidth, operator, exchange and solve", [],
                  [("--degrees N ...", "polynomial degrees"),
                   ("--backend NAME", "auto, which takes a GPU for each rank if there are such; cpu; or cuda, wmma, mma"),
                   ("--dofs N", "unknowns wanted, of all ranks"), ("--dofs-per-rank N", "unknowns wanted of each rank"),
                   ("--curved", "curved cells in 3D on the CPU, each rank with a mesh of its own, and deal.II's MatrixFree beside them"),
                   ("--dimension N", "2 or 3"),
                   ("--repetitions N", "of every kernel"),
                   ("--output STEM", "stem of the result files, .json and .md are appended"),
                   ("--quiet", "no line per part")]),
}
EXIT_CODES = ("Exit codes: 0 success, 1 unexpected error, 2 unusable arguments or parameters, 3 iteration limit, "
              "4 stagnation, 5 NaN or Inf, 6 indefinite preconditioner, 7 convergence order missed, 8 wrong results of a "
              "kernel, 9 the device failed or is out of memory.")


class Mistake(Exception):
    """Something that the program would refuse; the text is for the user."""


class NotUnderstood(Exception):
    """Left to the program."""


# --- parameters as docs/parameters.md has them


class Entry:
    def __init__(self, section, key, default, allowed, description):
        self.section, self.key, self.default = section, key, default
        self.allowed, self.description = allowed, description
        self.name = f"{section}.{key}"


def read_description(path):
    """Entries by name, and the programs that read each section, both in the order of the file."""
    entries, readers, section = {}, {}, None
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = line[3:].strip()
            readers[section] = []
        elif line.startswith("Read by "):
            readers[section] = re.findall("`([^`]*)`", line)
        elif section and line.startswith("| `"):
            cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            entry = Entry(section, cells[0].strip("`"), cells[1].strip("`"), *cells[2:])
            entries[entry.name] = entry
    return entries, readers


# --- words of messages


def distance(a, b):
    """Number of insertions, deletions and replacements from one word to the other."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        diagonal, row[0] = row[0], i + 1
        for j, y in enumerate(b):
            diagonal, row[j + 1] = row[j + 1], min(diagonal + (x != y), row[j] + 1, row[j + 1] + 1)
    return row[-1]


def nearest(text, candidates):
    """The candidate that `text` may be a misspelling or the beginning of; empty if there is none."""
    best, best_distance = "", math.inf
    for candidate in candidates:
        far = distance(text, candidate)
        if len(text) > 2 and candidate.startswith(text):
            far = 0
        if far <= max(2, len(candidate) // 3) and far < best_distance and far < len(candidate):
            best, best_distance = candidate, far
    return best


def suggestion(text, candidates):
    guess = nearest(text, candidates)
    return f" (did you mean '{guess}'?)" if guess else ""


def prefix(where):
    return f"{where} " if where == "--set" else f"{where}: "


# --- files and overrides as lists of (section, key, value, where)


def read_text(file):
    if not os.path.exists(file):
        folder = os.path.dirname(file) or "."
        others = [name for name in sorted(os.listdir(folder)) if name.endswith((".prm", ".json"))] \
            if os.path.isdir(folder) else []
        guess = nearest(os.path.basename(file), others)
        where = os.path.join(os.path.dirname(file), guess)
        raise Mistake(f"{file}: there is no such file" + (f" (did you mean {where}?)" if guess else ""))
    if os.path.isdir(file):
        raise Mistake(f"{file}: is a directory; a parameter file (.prm or .json) is needed")
    if not os.path.isfile(file): # a pipe is read once, by the program
        raise NotUnderstood
    try:
        with open(file, encoding="utf-8-sig", errors="surrogateescape", newline="") as stream:
            return stream.read()
    except OSError as error:
        raise Mistake(f"{file}: cannot be read") from error


def after_keyword(line, keyword):
    """The rest of the line after the keyword in lower or upper case; None without it."""
    word, _, rest = line.replace("\t", " ").partition(" ")
    if word not in (keyword, keyword.upper()):
        return None
    return rest.strip()


def read_prm_line(line, where, opened, assignments):
    name, setting = after_keyword(line, "subsection"), after_keyword(line, "set")
    if name:
        opened.append((name, where))
    elif line in ("end", "END"):
        if not opened:
            raise Mistake(f"{where}: 'end' without a subsection")
        opened.pop()
    elif setting and "=" in setting and setting[0] != "=":
        key, _, value = setting.partition("=")
        assignments.append((".".join(name for name, _ in opened), key.strip(), value.strip(), where))
    elif after_keyword(line, "include") is not None:
        raise Mistake(f"{where}: 'include' is not supported; put all parameters into one file")
    else:
        raise Mistake(f"{where}: cannot read '{line}'; allowed: subsection NAME, set KEY = VALUE, end, and # comments")


def read_prm(text, file):
    assignments, opened, pending, first = [], [], "", 1
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        if not pending:
            first = number
        line = line.partition("#")[0].strip()
        if line.endswith("\\"):
            pending += line[:-1]
            continue
        line, pending = (pending + line).strip(), ""
        if line:
            read_prm_line(line, f"{file}:{first}", opened, assignments)
    if pending.strip():
        raise Mistake(f"{file}:{first}: the last line ends with a backslash")
    if opened:
        raise Mistake(f"{opened[-1][1]}: subsection '{opened[-1][0]}' is not closed by 'end'")
    return assignments


def read_json(text, file):
    def place(key):
        lines = [number for number, line in enumerate(text.splitlines(), 1)
                 if re.search(rf'"{re.escape(key)}"\s*(:|$)', line)]
        return f"{file}:{lines[0]}" if len(lines) == 1 else file

    def pairs(items):
        keys = [key for key, _ in items]
        for key in keys:
            if keys.count(key) > 1:
                raise Mistake(f"{file}: the key '{key}' stands twice in the same place")
        return dict(items)

    def collect(value, section):
        for key, value in value.items():
            if isinstance(value, dict):
                yield from collect(value, f"{section}.{key}" if section else key)
                continue
            values = value if isinstance(value, list) else [value]
            values = [str(item).lower() if isinstance(item, bool) else item for item in values]
            if not all(isinstance(item, str) for item in values):
                raise Mistake(f"{place(key)}: {section}.{key} = {json.dumps(value)} cannot be used; allowed: a number, true "
                              "or false, a text in quotes, or a list of these")
            separator = "; " if key == "exact_gradient" else ", "
            yield section, key, separator.join(item.strip() for item in values), place(key)

    try:
        document = json.loads(text, object_pairs_hook=pairs, parse_int=str, parse_float=str)
    except json.JSONDecodeError as error:
        raise Mistake(f"{file}:{error.lineno}: not valid JSON: {error.msg}") from error
    if not isinstance(document, dict):
        raise Mistake(f'{file}: not an object; allowed: {{"section": {{"key": value}}}}')
    return list(collect(document, ""))


def read_file(file):
    text = read_text(file)
    if not file.endswith((".prm", ".json")):
        raise Mistake(f"{file}: a parameter file ends in .prm or .json")
    if not text.strip():
        raise Mistake(f"{file}: the file is empty")
    assignments = read_prm(text, file) if file.endswith(".prm") else read_json(text, file)
    if not assignments:
        raise Mistake(f"{file}: the file sets no parameter")
    seen = {}
    for section, key, _, where in assignments:
        name = f"{section}.{key}" if section else key
        if name in seen:
            raise Mistake(f"{prefix(where)}{name} is set a second time; first in {seen[name]}")
        seen[name] = where
    return assignments


def read_override(text):
    name, equals, value = text.partition("=")
    section, dot, key = name.strip().rpartition(".")
    if not (equals and dot and section and key):
        raise Mistake(f"--set {text}: cannot be read; allowed: section.key=value, e.g. solver.tolerance=1e-10")
    return section, key, value.strip(), "--set"


# --- checks


def unknown(section, key, where, entries):
    """The message for a name that no parameter has."""
    name = f"{section}.{key}" if section else key
    keys = [entry.key for entry in entries.values() if entry.section == section]
    same_key = [entry.name for entry in entries.values() if entry.key == key]
    sections = list(dict.fromkeys(entry.section for entry in entries.values()))
    if keys:
        guess = nearest(key, keys)
        guess = f"{section}.{guess}" if guess else (same_key or [nearest(name, entries)])[0]
        text, allowed = "unknown parameter", f"allowed in section {section}: {', '.join(keys)}"
    else:
        guess = nearest(section.rpartition(".")[2], sections)
        if same_key and f"{guess}.{key}" not in entries:
            guess = same_key[0]
        text = f"unknown section '{section}'" if section else "parameter outside every section"
        allowed = f"allowed sections: {', '.join(sections)}"
    return f"{prefix(where)}{name}: {text}{f' (did you mean {guess}?)' if guess else ''}; {allowed}"


def to_integer(text):
    value = int(text) if re.fullmatch(r"[+-]?[0-9]+", text) else None
    return value if value is not None and abs(value) < 2**63 else None


def to_number(text):
    if not re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text):
        return None
    value = float(text)
    underflow = value == 0 and re.search("[1-9]", re.split("[eE]", text)[0])
    return None if math.isinf(value) or underflow else value


def complain_integer(value, lower, upper):
    number = to_integer(value)
    if number is None:
        return "is not an integer"
    return "" if lower <= number <= upper else "is out of range"


def complain_number(value, lower, upper):
    """The bounds are pairs of a comparison and a number, or None."""
    number = to_number(value)
    if number is None:
        return "is not a finite number of double precision"
    for sign, bound in filter(None, (lower, upper)):
        holds = {">": number > bound, ">=": number >= bound, "<": number < bound, "<=": number <= bound}[sign]
        if not holds:
            return "is out of range"
    return ""


def complain_increasing(value, lower, upper):
    last = -math.inf
    for part in split(value):
        number = to_integer(part)
        if number is None or not lower <= number <= upper:
            return f"has the entry '{part}'"
        if number <= last:
            return "is not increasing"
        last = number
    return "" if value else "is empty"


def complain_words(value, known, may_be_empty):
    seen = set()
    for part in split(value):
        if part not in known:
            return f"has the entry '{part}'{suggestion(part, known)}"
        if part in seen:
            return f"has the entry '{part}' twice"
        seen.add(part)
    return "" if value or may_be_empty else "is empty"


def complain_directions(value, dimension, integers):
    parts = split(value)
    if len(parts) not in (1, dimension):
        return f"has {len(parts)} entries, but problem.dimension is {dimension}"
    for part in parts:
        number = to_integer(part) if integers else to_number(part)
        if number is None or (integers and not 1 <= number <= MAX_INT):
            return f"has the entry '{part}'"
    return ""


def split(text):
    return [part.strip() for part in text.split(",")] if text.strip() else []


def complaint(allowed, value, dimension):
    """What is wrong with a value, by what docs/parameters.md allows; empty if nothing, or not known here."""
    word_list = r"[\w.+-]+(?:, [\w.+-]+)+"
    if "#" in value or "\n" in value or "\r" in value or value.endswith("\\"):
        return "contains '#', a line break or a final backslash"
    if allowed == "true or false":
        return "" if value in ("true", "false") else "is neither true nor false"
    if match := re.fullmatch(r"(\d+) or (\d+)", allowed) or re.fullmatch(r"an integer from (-?\d+) to (-?\d+)", allowed):
        return complain_integer(value, int(match[1]), int(match[2]))
    if match := re.fullmatch(r"an integer >= (-?\d+)", allowed):
        return complain_integer(value, int(match[1]), MAX_INT)
    if match := re.fullmatch(r"a number(?: (>=?) (\S+))?(?:(?: and)? (<=?) (\S+))?", allowed):
        return complain_number(value, match[1] and (match[1], float(match[2])), match[3] and (match[3], float(match[4])))
    if match := re.fullmatch(r"an increasing list of integers from (\d+) to (\d+)", allowed):
        return complain_increasing(value, int(match[1]), int(match[2]))
    if match := re.fullmatch(rf"a list of ({word_list})(, or nothing .*)?", allowed):
        words = match[1].split(", ")
        return complain_words(value, words, bool(match[2]))
    if re.fullmatch(word_list, allowed.replace(" (as far as built)", "")):
        words = allowed.replace(" (as far as built)", "").split(", ")
        return "" if value in words else f"is not a known word{suggestion(value, words)}"
    if match := re.fullmatch(r"(nothing, )?one number for all directions, or one per direction, separated by commas"
                             r"(; integers >= 1)?", allowed):
        return "" if match[1] and not value else complain_directions(value, dimension, bool(match[2]))
    if allowed in ("a path", "a file name without a directory") and not value:
        return "is empty"
    if "that ends in .txt or .log" in allowed and value and not value.endswith((".txt", ".log")):
        return "ends in neither .txt nor .log"
    return "contains '/'" if "a file name without a directory" in allowed and "/" in value else ""


def check(assignments, entries):
    """The values by name; raises Mistake for the first one that cannot be used."""
    values, places = {}, {}
    for section, key, value, where in assignments:
        name = f"{section}.{key}" if section else key
        if name not in entries:
            raise Mistake(unknown(section, key, where, entries))
        values[name], places[name] = value, where
    dimension = to_integer(values.get("problem.dimension", entries["problem.dimension"].default))
    for name, entry in entries.items():
        if name in values and (text := complaint(entry.allowed, values[name], dimension)):
            raise Mistake(f"{prefix(places[name])}{name} = '{values[name]}' {text}; allowed: {entry.allowed}")
    return values


# --- what is printed


def wrap(text):
    """As deal.II breaks comments: the last line is shorter than the others may be."""
    lines = textwrap.wrap(text, COLUMNS - 4, break_long_words=False, break_on_hyphens=False)
    if len(lines[-1]) == COLUMNS - 4:
        lines[-1:] = lines[-1].rsplit(" ", 1)
    return lines


def print_parameters(program, show_all, values, entries, readers):
    """As the program prints them: a commented .prm file."""
    solves = values.get("compare.solve") == "true"
    print("# Listing of Parameters\n# ---------------------")
    for section, programs in readers.items():
        if not (show_all or program in programs or (solves and f"{program} --solve" in programs)):
            continue
        mine = [entry for entry in entries.values() if entry.section == section]
        written = {entry.key: values.get(entry.name, entry.default) for entry in mine}
        width, value_width = max(map(len, written)), max(map(len, written.values()))
        print(f"subsection {section}")
        for entry in mine:
            text = f"{entry.description} Allowed: {entry.allowed}."
            for line in wrap(text):
                print(f"  # {line}")
            value = written[entry.key]
            changed = f"{value:<{value_width}} # default: {entry.default}"
            print(f"  set {entry.key:<{width}} = {value if value == entry.default else changed}")
            if entry is not mine[-1]:
                print()
        print("end\n\n")


def print_help(program, entries):
    about, arguments, options = PROGRAMS[program]
    classes = re.sub("^a list of ", "", entries["diagnose.classes"].allowed)
    arguments = [(name, text.format(classes=classes)) for name, text in arguments]
    print(f"usage: ./tensormg {program} [OPTIONS] {' '.join(f'[{name} ...]' for name, _ in arguments[:-1])}"
          f"{' ' if len(arguments) > 1 else ''}{f'[{arguments[-1][0]}]' if arguments else ''}".rstrip())
    print(textwrap.fill(about, 100) + "\n")
    for name, text in arguments + options + (COMMON if arguments else []) + LAST:
        if program == "benchmark" and name == "--version":
            continue
        print(textwrap.fill(text, 110, initial_indent=f"  {name:<29} ", subsequent_indent=" " * 32))
    print("\n" + textwrap.fill(EXIT_CODES, 100))


# --- the command line


class CommandLine:
    def __init__(self, program, arguments):
        self.overrides, self.words, self.flags = [], [], set()
        own = {name for name, _ in PROGRAMS[program][2]}
        plain = {"-h": "--help", "-q": "--quiet", "-v": "--verbose"}
        arguments = iter(arguments)
        for argument in arguments:
            if argument in ("-s", "--set"):
                self.overrides.append(next(arguments, None))
            elif argument.startswith("--set="):
                self.overrides.append(argument[6:])
            elif argument.startswith("-s") and len(argument) > 2:
                self.overrides.append(argument[2:])
            elif plain.get(argument, argument) in own | {
                    "--help", "--quiet", "--verbose", "--version", "--print-parameters", "--all"}:
                self.flags.add(plain.get(argument, argument))
            elif re.match("--[a-z]", argument):
                known = own | {name.split()[-1] if "," not in name else name.split()[1] for name, _ in COMMON + LAST}
                raise Mistake(f"the option {argument} is not known{suggestion(argument, sorted(known))}; "
                              f"see tensormg {program} --help")
            elif argument.startswith("-") and argument != "-":
                raise NotUnderstood
            else:
                self.words.append(argument)
        if None in self.overrides:
            raise Mistake(f"--set needs SECTION.KEY=VALUE; see tensormg {program} --help")
        if {"--quiet", "--verbose"} <= self.flags:
            raise Mistake("--quiet excludes --verbose")

    def file(self, program, classes):
        """The parameter file, or None; words are put before the overrides."""
        files = [word for word in self.words if program != "diagnose" or word not in classes]
        for other in files:
            if program == "diagnose" and "." not in other:
                raise Mistake(f"'{other}' is neither a parameter file nor one of {', '.join(classes)}"
                              f"{suggestion(other, classes)}")
        if len(files) > 1:
            raise Mistake(f"two parameter files: '{files[0]}' and '{files[1]}'")
        first = [] if files or program != "diagnose" else ["output.directory=output/diagnose"]
        words = [word for word in self.words if word not in files]
        if words:
            first.append(f"diagnose.classes={', '.join(words)}")
        for flag, setting in (("--solve", "compare.solve=true"), ("--quick", "diagnose.quick=true")):
            if flag in self.flags:
                first.append(setting)
        self.overrides[:0] = first
        return files[0] if files else None


def answer(program, arguments):
    entries, readers = read_description(ROOT / "docs/parameters.md")
    if any(argument in ("-h", "--help") for argument in arguments):
        print_help(program, entries)
        return ANSWERED
    if program == "benchmark":
        return GO_ON
    line = CommandLine(program, arguments)
    if "--version" in line.flags:
        return GO_ON
    classes = re.sub("^a list of ", "", entries["diagnose.classes"].allowed).split(", ")
    file = line.file(program, classes)
    wants_print = "--print-parameters" in line.flags
    if file is None and not line.overrides and not wants_print:
        raise Mistake(f"a parameter file is missing; see tensormg {program} --help; --print-parameters shows one to start "
                      "from")
    assignments = read_file(file) if file is not None else []
    values = check(assignments + [read_override(text) for text in line.overrides], entries)
    if wants_print:
        print_parameters(program, "--all" in line.flags, values, entries, readers)
        return ANSWERED
    return GO_ON


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in PROGRAMS:
        return GO_ON
    try:
        code = answer(sys.argv[1], sys.argv[2:])
        sys.stdout.flush()
        return code
    except Mistake as mistake:
        text = str(mistake).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        print(f"tensormg: error: {text}", file=sys.stderr)
        return MISTAKE
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ANSWERED
    except Exception: # pylint: disable=broad-except # the program will say it
        return GO_ON


if __name__ == "__main__":
    sys.exit(main())
