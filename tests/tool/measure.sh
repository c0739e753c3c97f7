#!/bin/sh
# Figures of the tree: functions, lines, who decides what an instruction is, fixpoints, circles, members of a header line, asserts of several
# claims, what one row rebuilds.
# usage: measure.sh BUILD (built and up to date) [rebuilt: only what one row rebuilds]
set -u
b=$1
# of the sources that are there: a build folder keeps objects of files that were moved or deleted
deps() { for f in $(find engine tui -name '*.c'); do if [ -f "$b/${f%.c}.d" ]; then echo "$b/${f%.c}.d"; fi; done; }
rebuilt() { deps | xargs grep -lE "(^| )(\./)?$1( |:|\$)" | wc -l; }
objects() {
    echo "objects: $(deps | wc -l)"
    echo "rebuilt after a row of engine/ptx/ops.def: $(rebuilt engine/ptx/ops.def)"
    # a row of options.def has its field in the header of its group: the group that most objects include
    rows=$(for h in engine/rec/opt_*.h; do echo "$(deps | xargs grep -lE "(^| )(\./)?($h|engine/rec/options\.def)( |:|\$)" | wc -l) ($h)"; done | sort -rn | head -1)
    echo "rebuilt after a row of engine/rec/options.def and its field, at most: $rows"
    for f in engine/rec/counters.def engine/rec/fields.def; do echo "rebuilt after a row of $f: $(rebuilt $f)"; done
    for f in engine/tune/tune.h engine/rec/launch.h engine/workspace/job.h tui/app/app.h engine/rec/result.h engine/rec/options.h; do echo "rebuilt after a change of $f: $(rebuilt $f)"; done
}
[ "${2:-}" != rebuilt ] || { objects; exit; }
files=$(git ls-files 'engine/*.[ch]' 'tui/*.[ch]')
python3 tests/tool/functions.py
python3 tests/tool/op_decisions.py
python3 tests/tool/fixpoints.py
python3 tests/tool/printed_json.py | tail -1
python3 tests/tool/one_name.py
echo "templates of PTX whose parts have no name: $(grep -rhcE '%%%s' --include=*.c engine/rewrites engine/pass | awk '{ n += $1 } END { print n }') lines"
echo "lines of .c, .h and .def of engine and tui: $(cat $files $(git ls-files 'engine/*.def' 'tui/*.def') | wc -l)"
echo "lines over 110 columns: $(cat $files $(git ls-files 'tests/*.[ch]' | grep -v heldout) | LC_ALL=C.UTF-8 grep -cE '^.{111,}')"
echo "longest header: $(wc -l $(git ls-files 'engine/*.h' 'tui/*.h') | grep -v total | sort -rn | head -1 | awk '{ print $1 " lines (" $2 ")" }')"
echo "header lines with three or more members: $(cat $(git ls-files 'engine/*.h' 'tui/*.h') | grep -cE '^ +[a-z][a-zA-Z0-9_ *]* [*]?[a-z0-9_]+([[][^]]*[]])?(, [*]?[a-z0-9_]+([[][^]]*[]])?){2,};')"
echo "asserts of several claims: $(cat $(git ls-files 'tests/*.[ch]') | sed 's/"\(\\.\|[^"\\]\)*"//g' | grep -cE 'assert_true\(.*&&')"
echo "files of a room that call each other in a circle: $(python3 tests/tool/circles.py | tail -1)"
objects
echo "fitted numbers in code: $(python3 tests/tool/fitted_numbers.py | grep -c '^#') found, $(grep -vc '^#' tests/tool/fitted_numbers.txt) exceptions with reasons"
tests=$(git ls-files 'tests/unit/test_*.c' | wc -l)
echo "test programs that take a filter as their argument (tests/support.c): $(grep -lE 'cmocka_run_group_tests' $(git ls-files 'tests/unit/test_*.c') | wc -l) of $tests"
git log -200 --format=%s | awk '{ print length($0) }' | sort -n | awk '{ a[NR] = $1 } END { printf "commit subjects, last %d: median %d columns, p90 %d, longest %d", NR, a[int((NR + 1) / 2)], a[int(NR * 0.9)], a[NR] }'
echo "; with a body: $(git log -200 --format='%H' | while read -r c; do [ -z "$(git log -1 --format=%b "$c")" ] || echo; done | wc -l)"
echo "documents: $(python3 tests/tool/prose.py | sed -n 's/^for readers  */for readers /p')"
lacking=$(for f in CONTRIBUTING.md CHANGELOG.md .clang-format .editorconfig docs/glossary.md; do [ -f $f ] || echo $f; done; grep -q '^check-fast:' Makefile tests/tests.mk || echo check-fast)
echo "missing of CONTRIBUTING, CHANGELOG, .clang-format, .editorconfig, glossary, check-fast: ${lacking:-none}"
