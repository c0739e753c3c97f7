# Tests: every tests/unit/test_*.c is a cmocka program over the engine (and tui) libraries.
UNIT_SRC := $(sort $(wildcard tests/unit/test_*.c))
# cmocka compares floats as float, and records made by hand hold literals.
$(BUILD)/tests/% $(BUILD)/fuzz/tests/%: WARN += -Wno-float-conversion -Wno-write-strings
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(BUILD)/tests/%)
TEST_TOOL := $(BUILD)/tests/tool

$(BUILD)/tests/%: $(BUILD)/tests/unit/%.o $(BUILD)/tests/support.o $(if $(TUI_OBJ),$(BUILD)/libtui.a) $(BUILD)/libengine.a
	@mkdir -p $(@D); $(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %libtui.a,$^) $(filter %libengine.a,$^) -lcmocka $(TERMLIBS) $(LDLIBS)
.SECONDARY:

# Scripts that drive the built program; each prints TAP lines.
TEST_SCRIPTS := $(sort $(wildcard tests/cli/*.sh tests/terminal/*.sh))

# Those that take longest begin first, so that none of them runs alone at the end. Slurm waits more than it works.
FIRST = tests/conformance/slurm.sh $(addprefix $(BUILD)/tests/,$(shell cat tests/slow.txt)) tests/cli/lessons.sh tests/cli/memory.sh tests/cli/clean_clone.sh
# Pages that show the tables of the program.
PAGES := options keys presets operations launch-guesses ptx-coverage diagnostics json-fields
PAGE_FILES := $(PAGES:%=$(BUILD)/reference/%.md)
.PHONY: check tests unit-tests
unit-tests: $(UNIT_BIN)
tests: all $(UNIT_BIN) $(BUILD)/tests/gpu_diff $(BUILD)/tests/man $(BUILD)/tests/reference $(BUILD)/tests/tables $(BUILD)/tests/ptx_coverage $(BUILD)/tests/contracted $(PAGE_FILES)
check:
	@TUI="$(TUI)" CC="$(CC)" sh tests/tool/setup.sh test
	@echo "building the program and its tests" >&2
	@$(MAKE) -s --no-print-directory -j$(NPROC) tests > $(or $(TMPDIR),/tmp)/gpulocw-build.$$$$ 2>&1 \
	    || { cat $(or $(TMPDIR),/tmp)/gpulocw-build.$$$$; rm -f $(or $(TMPDIR),/tmp)/gpulocw-build.$$$$; exit 1; }; rm -f $(or $(TMPDIR),/tmp)/gpulocw-build.$$$$
	@GPULOCW_TEST_JOBS=$${GPULOCW_TEST_JOBS:-$(NPROC)} tests/run.sh $(BUILD) $(FIRST) $(filter-out $(FIRST),$(UNIT_BIN) $(TEST_SCRIPTS))

# The manual page and the reference pages: from the program's tables (those of the workbench too, which need no terminal).
$(BUILD)/tests/tables: $(BUILD)/tests/ref/gen_rows.o
$(BUILD)/tests/man $(BUILD)/tests/reference $(BUILD)/tests/tables: $(BUILD)/tests/%: $(BUILD)/tests/tool/%.o $(patsubst %.c,$(BUILD)/%.o,$(filter-out tui/term/%,$(TUI_SRC))) $(BUILD)/libengine.a
	@mkdir -p $(@D); $(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
.PHONY: man
man: $(BUILD)/tests/man
	@$(BUILD)/tests/man > docs/gpulocw.1.tmp && mv docs/gpulocw.1.tmp docs/gpulocw.1
# The pages, into $(BUILD)/reference.
.PHONY: reference
reference: $(PAGE_FILES)
	@ls $^
page = mkdir -p $(@D) && $(1) > $@.tmp && mv $@.tmp $@
$(BUILD)/reference/options.md $(BUILD)/reference/keys.md: $(BUILD)/reference/%.md: $(BUILD)/tests/reference
	@$(call page,$< $*)
$(BUILD)/reference/presets.md $(BUILD)/reference/operations.md $(BUILD)/reference/launch-guesses.md: $(BUILD)/reference/%.md: $(BUILD)/tests/tables
	@$(call page,$< $*)
$(BUILD)/reference/ptx-coverage.md: $(BUILD)/tests/ptx_coverage
	@$(call page,$<)
$(BUILD)/reference/json-fields.md: $(BUILD)/gpulocw
	@$(call page,$< schema --format md)
$(BUILD)/reference/diagnostics.md: tests/tool/codes.py $(shell find engine tui -name '*.[ch]')
	@$(call page,python3 $<)
# The experiments and applications of the papers, from engine/paper.
.PHONY: papers
papers: all
	@$(BUILD)/gpulocw paper --format md > docs/lab/papers-figures.md.tmp && mv docs/lab/papers-figures.md.tmp docs/lab/papers-figures.md
	@sed '/^<!-- made by make papers -->$$/q' docs/papers.md > docs/papers.md.tmp && $(BUILD)/gpulocw paper claims --format md | head -1 >> docs/papers.md.tmp && \
	    sed -n '/^<!-- end -->$$/,$$p' docs/papers.md >> docs/papers.md.tmp && mv docs/papers.md.tmp docs/papers.md
# Every message of the program, with file and line.
.PHONY: messages
messages:
	@python3 tests/tool/messages.py
# The worked changes of docs/internals/extending.md, in a scratch copy.
.PHONY: recipes
recipes:
	@tests/tool/recipes.sh
# Words and mean sentence length of every document; the commands that the documents name.
.PHONY: prose
prose:
	@python3 tests/tool/prose.py

# For the inner loop. One program, and of it the tests with F in their name: make t T=test_ptx_parse F=loads
.PHONY: t check-fast format check-format measure
t:
	@$(MAKE) -s --no-print-directory -j$(NPROC) $(BUILD)/tests/$(T) && $(BUILD)/tests/$(T) $(if $(F),'$(F)' | awk '{ print } /^\[=*\] [1-9][0-9]* test\(s\) run/ { ran = 1 } /^\[  FAILED  \]/ { bad = 1 } END { if (!ran) print "no test of $(T) has $(F) in its name"; exit bad || !ran }')
# What takes longest (tests/slow.txt) is left to `make check`.
FAST_BIN = $(filter-out $(addprefix $(BUILD)/tests/,$(shell cat tests/slow.txt)),$(UNIT_BIN))
check-fast:
	@$(MAKE) -s --no-print-directory -j$(NPROC) all $(FAST_BIN)
	@GPULOCW_TEST_JOBS=$(NPROC) tests/run.sh $(BUILD) $(FAST_BIN) tests/cli/layers.sh tests/cli/format.sh tests/cli/devices_are_data.sh
# One style for every C file (.clang-format; clang-format 14, from Debian).
FORMATTED = $(shell find engine tui tests -name '*.[ch]' | grep -v '^tests/golden\|^tests/heldout\|^tests/fuzz/corpus')
format:
	@clang-format -i $(FORMATTED)
check-format:
	@clang-format --dry-run -Werror $(FORMATTED)
# Figures of the tree: rooms, lines, members, asserts, what one row rebuilds.
measure:
	@sh tests/tool/measure.sh $(BUILD)

# ptxas and gpulocw on the same modules and N mutations of them; needs ptxas.
# How many of launch's guesses run clean, with races and unwritten memory looked for: many minutes. Apart are
# modules that are wrong on purpose and the outputs of rewrites, whose launch is the original's.
LAUNCH_MODULES = $(shell find kernels tests -name '*.ptx' | grep -v '/bad_\|^tests/fuzz/corpus\|/refused.ptx$$' | sort)
.PHONY: launch-rate
launch-rate: $(BUILD)/gpulocw
	@python3 tests/tool/launch_rate.py $(BUILD)/gpulocw $(or $(FILES),$(LAUNCH_MODULES))

# Modules that mean the same get the same answers: the kernels of kernels/ and N made ones, with more questions than `make check` asks.
.PHONY: metamorphic
metamorphic: $(BUILD)/gpulocw
	@python3 tests/tool/metamorphic.py $< -n $(or $(N),2000) -s $(or $(SEED),2) -q $(or $(QUESTIONS),4,6) --ctas 48 $(FILES)

.PHONY: ptxas-diff
ptxas-diff: $(BUILD)/gpulocw
	@python3 tests/tool/ptxas_diff.py $(BUILD)/gpulocw $(or $(N),200) $(or $(SEED),1)

# What takes other people's programs: official MCP clients from npm, the Debian packages, one file for any Linux, aarch64
# under qemu.
.PHONY: check-packages
check-packages:
	@TUI="$(TUI)" CC="$(CC)" sh tests/tool/setup.sh test packages
	@$(MAKE) -s --no-print-directory -j$(NPROC) all $(EMULATE_BIN)
	@GPULOCW_TEST_JOBS=1 GPULOCW_TEST_LIMIT=1800 tests/run.sh $(BUILD) $(sort $(wildcard tests/packages/*.sh))

# README's two commands in a bare Debian root, as root and as a user (an hour).
.PHONY: check-bare
check-bare:
	@GPULOCW_BARE=1 GPULOCW_TEST_JOBS=1 GPULOCW_TEST_LIMIT=7200 tests/run.sh $(BUILD) tests/packages/bare.sh

# Figures, never pass or fail.
BENCH_SRC := $(sort $(wildcard tests/bench/bench_*.c))
BENCH_BIN := $(BENCH_SRC:tests/bench/%.c=$(BUILD)/bench/%)
$(BUILD)/bench/%: $(BUILD)/tests/bench/%.o $(if $(TUI_OBJ),$(BUILD)/libtui.a) $(BUILD)/libengine.a
	@mkdir -p $(@D); $(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(TERMLIBS) $(LDLIBS)
# What bench_functional is held against: as good as the compiler makes it.
BENCH_REF := $(patsubst tests/ref_kernels/%.c,$(BUILD)/bench/ref/%.o,$(wildcard tests/ref_kernels/*.c))
$(BUILD)/bench/ref/%.o: tests/ref_kernels/%.c
	@mkdir -p $(@D); $(CC) $(ALL_CFLAGS) -O3 -c -o $@ $<
$(BUILD)/bench/bench_functional: $(BENCH_REF)
.PHONY: bench
bench: $(BENCH_BIN) $(BUILD)/gpulocw $(BUILD)/tests/live/threads $(BUILD)/tests/emulate/driver_many
	@for b in $(BENCH_BIN); do echo "== $$(basename $$b)"; \
	    case $$b in *bench_ptx) command -v ptxas >/dev/null && $$b --ptxas || $$b ;; *) $$b ;; esac || exit 1; done
	@echo "== branches"; python3 tests/tool/branch_speed.py $(BUILD)/gpulocw
	@echo "== list"; python3 tests/tool/list_speed.py $(BUILD)/gpulocw
	@echo "== survey"; python3 tests/tool/launch_cost.py $(BUILD)
	@echo "== batch"; python3 tests/tool/batch_share.py $(BUILD)/gpulocw

-include $(UNIT_SRC:%.c=$(BUILD)/%.d) $(BENCH_SRC:%.c=$(BUILD)/%.d) $(BUILD)/tests/terminal/pictures.d

# ---- devices: fake driver and CUPTI, conformance, what travels to a GPU machine ----
FAKE_DIR := $(BUILD)/tests/fake
FAKES    := $(FAKE_DIR)/libcuda.so.1 $(FAKE_DIR)/libcuda-old.so $(FAKE_DIR)/libcuda-lacks.so $(FAKE_DIR)/libcupti.so $(FAKE_DIR)/libnvml.so
FAKE_CC   = @mkdir -p $(@D); $(CC) $(CSTD) $(WARN) -O1 -g -I. -fPIC -shared -o $@ $<
$(FAKE_DIR)/libcuda.so.1: tests/fake/fake_cuda.c engine/dev/cuda/drv.h
	$(FAKE_CC)
$(FAKE_DIR)/libcuda-old.so: tests/fake/fake_cuda.c engine/dev/cuda/drv.h
	$(FAKE_CC) -DFAKE_OLD
$(FAKE_DIR)/libcuda-lacks.so: tests/fake/fake_cuda.c engine/dev/cuda/drv.h
	$(FAKE_CC) -DFAKE_LACKS
$(FAKE_DIR)/libcupti.so: tests/fake/fake_cupti.c engine/dev/cuda/cupti_api.h
	$(FAKE_CC)
TEST_SCRIPTS += $(wildcard tests/conformance/*.sh)
$(FAKE_DIR)/libnvml.so: tests/fake/fake_nvml.c
	$(FAKE_CC)
DEV_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test_dev_*.c))
$(DEV_TESTS): $(BUILD)/tests/fake/fake.o $(BUILD)/tests/conformance/conf.o | $(FAKES)
# cupti_profiler_host.h includes the C++ header <string> for nothing: an empty one satisfies it.
$(BUILD)/gen/cxx/string:
	@mkdir -p $(@D); touch $@
$(BUILD)/tests/unit/test_dev_abi.o: | $(BUILD)/gen/cxx/string
$(BUILD)/tests/unit/test_dev_abi.o: FILE_CFLAGS := $(if $(CUPTI_HOME),-isystem $(CUPTI_HOME)/include) -isystem $(BUILD)/gen/cxx

# The conformance suite on a real GPU, by itself: needs neither ncurses nor cJSON nor cmocka.
GPU_CHECK_ROOMS := base rec ptx sim dev
GPU_CHECK_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(filter $(GPU_CHECK_ROOMS:%=engine/%/%),$(ENGINE_SRC)))
$(BUILD)/tests/gpu_check: $(BUILD)/tests/conformance/gpu_check.o $(BUILD)/tests/conformance/conf.o $(GPU_CHECK_OBJ)
	@mkdir -p $(@D); $(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ -lpthread -ldl -lm
$(BUILD)/tests/gpu_diff: $(BUILD)/tests/gpu/diff.o $(BUILD)/tests/gpu/diff_run.o $(BUILD)/tests/gpu/reduce.o $(BUILD)/tests/ref/gen.o $(BUILD)/tests/ref/gen_rows.o $(GPU_CHECK_OBJ)
	@mkdir -p $(@D); $(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ -lpthread -ldl -lm
# Micro-kernels side by side on devices: docs/lab/micro-kernels.md.
$(BUILD)/tests/gpu_micro: $(BUILD)/tests/gpu/micro.o $(BUILD)/tests/gpu/micro_rows.o $(BUILD)/libengine.a
	@mkdir -p $(@D); $(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
# The program itself may have been built elsewhere: GPULOCW=carry/gpulocw. Steps, limits and verdicts: tests/gpu/check.sh.
.PHONY: check-gpu
check-gpu: $(BUILD)/tests/gpu_check $(BUILD)/tests/gpu_diff
	@BUILD=$(BUILD) GPULOCW=$(firstword $(GPULOCW) $(wildcard $(BUILD)/gpulocw carry/gpulocw)) tests/gpu/check.sh $(DEVICE)

# The simulated device against recorded GPUs: the suites that nobody fitted, the questions and kernels of public programs, three tables side by side.
# GPU=RECORD: made by accuracy.py record on a GPU machine; MODEL: the preset; CURVES=both, =none: of which half curves are made. Questions of another
# folder: QUESTIONS. Captured launches are too large to keep, so both halves of the last record are from the GPU's machine.
.PHONY: accuracy suites
GPU ?= tests/gpu/accuracy-h200.jsonl
QUESTIONS ?= $(wildcard ../shared/repro/questions)
accuracy: $(BUILD)/gpulocw
	@test -f "$(GPU)" || { echo "make accuracy GPU=RECORD: a record of a GPU, made there by tests/gpu/accuracy.py record -d cuda:0 -o RECORD"; exit 1; }
	@rm -f $(BUILD)/accuracy-sim.jsonl $(BUILD)/questions-sim.jsonl; record() { GPULOCW=$(BUILD)/gpulocw python3 tests/gpu/accuracy.py record -d $(or $(MODEL),sim:hopper-h200) -o "$$@"; }; \
	record $(BUILD)/accuracy-sim.jsonl --kinds run,agents,predict && { [ "$(CURVES)" = none ] || record $(BUILD)/accuracy-sim.jsonl --kinds pi --half $(or $(CURVES),development); } && \
	python3 tests/gpu/accuracy.py table "$(GPU)" $(BUILD)/accuracy-sim.jsonl && \
	{ [ "$(GPU)" != tests/gpu/accuracy-h200.jsonl ] || { record $(BUILD)/questions-sim.jsonl --kinds run,exact $(addprefix --launches ,tests/questions $(QUESTIONS)) --of tests/gpu/questions-h200.jsonl && \
	python3 tests/gpu/accuracy.py tables public=tests/gpu/public-h200.jsonl,tests/gpu/public-sim.jsonl questions=tests/gpu/questions-h200.jsonl,$(BUILD)/questions-sim.jsonl own=$(GPU),$(BUILD)/accuracy-sim.jsonl; }; }
# Sampled runs beside whole ones, on the suites and the demo kernels (an hour of processor time); RECORD=FILE goes on where it was cut off.
.PHONY: sampled
sampled: $(BUILD)/gpulocw
	@GPULOCW=$(BUILD)/gpulocw python3 tests/gpu/sampled.py $(if $(RECORD),--record $(RECORD)) -t $(or $(THREADS),2)
# What gpulocw paper claims is tried on: runs every experiment that has no document in RECORD yet (an hour and more), then
# writes engine/paper/recorded.def.
RECORD ?= $(BUILD)/papers
.PHONY: papers-record
papers-record: all
	@mkdir -p $(RECORD); for id in $$($(BUILD)/gpulocw paper | sed -n 's/^  \(s[0-9]-[a-z0-9]*\) .*/\1/p'); do \
	    [ -s $(RECORD)/$$id.json ] || { echo $$id; $(BUILD)/gpulocw paper $$id --json > $(RECORD)/$$id.tmp && mv $(RECORD)/$$id.tmp $(RECORD)/$$id.json; } || exit 1; done
	@python3 tests/tool/papers_record.py $(RECORD)

# The PTX of the suites, from their CUDA sources (nvcc).
suites:
	@tests/suites/build.sh
# A folder that runs on another machine of the same kind: the headless binary with the one library it may lack there.
.PHONY: carry
carry:
	@$(MAKE) --no-print-directory TUI=0 BUILD=$(BUILD)/carry LDFLAGS='-Wl,-rpath,\$$$$ORIGIN' $(BUILD)/carry/gpulocw $(BUILD)/carry/tests/gpu_check $(BUILD)/carry/tests/gpu_diff $(BUILD)/carry/tests/gpu_micro
	@rm -rf carry; mkdir -p carry/kernels carry/tests/conformance
	@cp $(BUILD)/carry/gpulocw $(BUILD)/carry/tests/gpu_check $(BUILD)/carry/tests/gpu_diff $(BUILD)/carry/tests/gpu_micro carry/
	@cp $$(ldd carry/gpulocw | awk '/libcjson|liblz4|libzstd/ { print $$3 }') carry/
	@cp kernels/*.ptx kernels/*.json carry/kernels/; cp $(CONF_PTX) carry/tests/conformance/; mkdir -p carry/tests/gpu carry/tests/sim; cp -r tests/gpu/* carry/tests/gpu/; mkdir -p carry/tests/suites; cp tests/suites/*.ptx tests/suites/*.json tests/suites/*.py carry/tests/suites/; cp tests/sim/cluster.* carry/tests/sim/
	@cp tests/gpu/check.sh carry/check-gpu
	@echo "carry/ is ready: carry/gpulocw worker, carry/gpulocw devices; carry/check-gpu runs what make check-gpu does"
CONF_PTX := tests/conformance/kernels.ptx
-include $(wildcard $(BUILD)/tests/tool/*.d)
-include $(wildcard $(BUILD)/tests/conformance/*.d $(BUILD)/tests/fake/*.d $(BUILD)/tests/*.d)
# ---- end of devices ----

# The scalar reference interpreter that the simulated device is compared with.
REF_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/ref/*.c))
$(BUILD)/tests/test_sim_exec_diff $(BUILD)/tests/test_analysis_values: $(REF_OBJ)
-include $(REF_OBJ:.o=.d) $(wildcard $(BUILD)/tests/gpu/*.d)

# A program on a fake driver, for the library that capture injects.
$(BUILD)/tests/live/libfake.so: tests/live/fake_live.c tests/live/fake_memory.c tests/live/fake_graph.c tests/live/fake_live.h tests/live/fake_cupti.h
	@mkdir -p $(@D); $(CC) $(CSTD) $(WARN) -Wno-missing-prototypes -Wno-pedantic -O1 -g -I. -fPIC -shared -Wl,-soname,libfake.so -o $@ tests/live/fake_live.c tests/live/fake_memory.c tests/live/fake_graph.c -ldl
$(BUILD)/tests/live/program: tests/live/program.c $(BUILD)/tests/live/libfake.so
	@$(CC) $(CSTD) $(WARN) -D_GNU_SOURCE -O1 -g -I. -o $@ $< $(BUILD)/tests/live/libfake.so -Wl,-rpath,$(abspath $(@D))
$(BUILD)/tests/live/captured: tests/live/captured.c $(BUILD)/tests/live/libfake.so
	@$(CC) $(CSTD) $(WARN) -O1 -g -I. -D_GNU_SOURCE -o $@ $< $(BUILD)/tests/live/libfake.so -ldl -Wl,-rpath,$(abspath $(@D))
$(BUILD)/tests/live/threads: tests/live/threads.c $(BUILD)/tests/live/libfake.so
	@$(CC) $(CSTD) $(WARN) -O1 -g -I. -D_GNU_SOURCE -o $@ $< $(BUILD)/tests/live/libfake.so -lpthread -Wl,-rpath,$(abspath $(@D))
tests: $(BUILD)/tests/live/program $(BUILD)/tests/live/captured $(BUILD)/tests/live/threads
# The same for what apply puts into a program.
$(BUILD)/tests/live/swap/libfake.so: tests/live/fake_swap.c tests/live/fake_swap.h tests/live/fake_cupti.h
	@mkdir -p $(@D); $(CC) $(CSTD) $(WARN) -D_GNU_SOURCE -Wno-missing-prototypes -Wno-pedantic -O1 -g -I. -fPIC -shared -Wl,-soname,libfake.so -o $@ $< -ldl
$(BUILD)/tests/live/swap/swapped: tests/live/swapped.c $(BUILD)/tests/live/swap/libfake.so
	@$(CC) $(CSTD) $(WARN) -D_GNU_SOURCE -O1 -g -I. -o $@ $< $(BUILD)/tests/live/swap/libfake.so -Wl,-rpath,$(abspath $(@D))
tests: $(BUILD)/tests/live/swap/swapped $(BUILD)/tests/live/libfailalloc.so
$(BUILD)/tests/live/libfailalloc.so: tests/live/failalloc.c
	@mkdir -p $(@D); $(CC) $(CSTD) $(WARN) -D_GNU_SOURCE -Wno-missing-prototypes -O1 -g -fPIC -shared -o $@ $< -ldl
$(BUILD)/tests/test_tui_program $(BUILD)/tests/test_live_peek: $(BUILD)/tests/live/swap/swapped
$(BUILD)/tests/test_tui_program: | $(BUILD)/tests/emulate/vectors $(BUILD)/tests/emulate/columns
$(BUILD)/tests/test_cmd_writers: $(BUILD)/tests/live/captured

# The program with its front end, sessions and workspace under sanitizers, for tests/terminal/storm.sh; the rest is as always.
WATCHED := $(if $(TUI_OBJ),$(patsubst %.c,$(BUILD)/watched/%.o,$(TUI_SRC) tui/term/main.c $(filter engine/base/% engine/session/% engine/workspace/%,$(ENGINE_SRC))))
WATCH   := -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
$(BUILD)/watched/%.o: %.c
	@mkdir -p $(@D); $(CC) $(ALL_CFLAGS) $(WATCH) -c -o $@ $<
$(BUILD)/watched/gpulocw: $(WATCHED) $(BUILD)/gen/page.o $(BUILD)/libengine.a
	@$(CC) $(ALL_CFLAGS) $(LDFLAGS) $(WATCH) -o $@ $^ $(TERMLIBS) $(LDLIBS)
tests: $(if $(TUI_OBJ),$(BUILD)/watched/gpulocw)
-include $(WATCHED:.o=.d)

# ---- fuzz targets ----
include tests/fuzz/fuzz.mk

# ---- the coverage table of PTX ----
$(BUILD)/tests/ptx_coverage $(BUILD)/tests/contracted: $(BUILD)/tests/%: $(BUILD)/tests/tool/%.o $(BUILD)/libengine.a
	@mkdir -p $(@D); $(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
# Static analysis; tests/tool/cppcheck.supp names what it says and is not so.
.PHONY: lint
lint:
	@cppcheck --enable=warning,portability --std=c11 -I. -D_GNU_SOURCE --max-configs=1 -q -j$(NPROC) --error-exitcode=1 --suppress=missingIncludeSystem --suppressions-list=tests/tool/cppcheck.supp engine tui

# What the tests execute: a table by room and the longest functions that nothing entered; GCOV_TESTS for some of them alone.
GCOV_TESTS ?= $(UNIT_SRC:tests/unit/%.c=$(BUILD)/gcov/tests/%) $(filter-out %/clean_clone.sh %/docs.sh %/layers.sh,$(TEST_SCRIPTS))
.PHONY: gcov
gcov:
	@mkdir -p $(BUILD)/gcov; $(MAKE) -s --no-print-directory -j$(NPROC) BUILD=$(BUILD)/gcov OPT=-O1 EXTRA_CFLAGS=--coverage FUZZ_CC=false tests > $(BUILD)/gcov.log 2>&1 || { tail $(BUILD)/gcov.log; exit 1; }
	@find $(BUILD)/gcov -name '*.gcda' -exec rm {} +
	@-GPULOCW_TEST_TIMES=1 tests/run.sh $(BUILD)/gcov $(GCOV_TESTS) > $(BUILD)/gcov.log
	@tail -1 $(BUILD)/gcov.log; python3 tests/tool/gcov.py $(BUILD)/gcov
# ---- end of fuzz and coverage ----

# ---- pictures of the documents, made by the program ----
$(BUILD)/tests/pictures: $(BUILD)/tests/terminal/pictures.o $(BUILD)/libtui.a $(BUILD)/libengine.a
	@mkdir -p $(@D); $(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(TERMLIBS) $(LDLIBS)
.PHONY: pictures
pictures: $(BUILD)/tests/pictures
	@mkdir -p docs/pictures; $(BUILD)/tests/pictures docs/pictures

# ---- rewrites: the table of the documents, and the long comparison (50 random combinations per kernel, two devices) ----
.PHONY: rewrites-table check-rewrites source-table
# 25 configurations of 6 kernels through `source`, each edit applied, compiled and compared by the script itself; needs nvcc.
source-table: $(BUILD)/gpulocw
	@python3 tests/tool/source_table.py $<
rewrites-table: $(BUILD)/tests/test_pass_equal
	@PASS_TABLE=tests/golden/rewrites-table.md PASS_RANDOM=0 $<
check-rewrites: $(BUILD)/tests/test_pass_equal $(BUILD)/tests/test_pass_heldout $(BUILD)/tests/test_pass_run $(BUILD)/tests/test_pass_golden
	@for d in sim:hopper-h200 sim:fermi-48k; do echo "== $$d"; PASS_DEVICE=$$d PASS_RANDOM=50 $(BUILD)/tests/test_pass_equal && PASS_DEVICE=$$d PASS_RANDOM=50 $(BUILD)/tests/test_pass_heldout || exit 1; done
	@$(BUILD)/tests/test_pass_run && $(BUILD)/tests/test_pass_golden
	@PASS_TABLE=$(BUILD)/rewrites-table.md PASS_RANDOM=0 $(BUILD)/tests/test_pass_equal > /dev/null 2>&1; diff tests/golden/rewrites-table.md $(BUILD)/rewrites-table.md && echo "tests/golden/rewrites-table.md is what the tests write"

# ---- the model checker: the oracle for "legal", and the campaign of generated kernels times every pass ----
MC_ROOMS := base rec ptx sim analysis invariants pass rewrites perfmodel
MC_OBJ := $(patsubst tests/modelcheck/%.c,$(BUILD)/tests/modelcheck/%.o,$(filter-out %/mc_main.c,$(wildcard tests/modelcheck/*.c)))
MC_ENGINE := $(patsubst %.c,$(BUILD)/%.o,$(filter $(MC_ROOMS:%=engine/%/%),$(ENGINE_SRC)))
$(BUILD)/tests/test_pass_legal: $(MC_OBJ)
# Without cJSON and curses, so that it runs on a machine that has neither.
$(BUILD)/tests/modelcheck/modelcheck: $(BUILD)/tests/modelcheck/mc_main.o $(MC_OBJ) $(MC_ENGINE)
	@mkdir -p $(@D); $(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ -lpthread -lm
tests: $(BUILD)/tests/modelcheck/modelcheck
# Random kernels with every pass, tried in one process.
$(BUILD)/tests/attacks/tries: $(BUILD)/tests/attacks/tries.o $(BUILD)/libengine.a
	@mkdir -p $(@D); $(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
tests: $(BUILD)/tests/attacks/tries
# Kernels written at random with every pass, on other data: WRITTEN_N of them. The model checker: CHECKED_N kernels. Numbers in all: what
# stands in the ledgers of CORRECTNESS is not done again. `correctness` writes the table of docs/correctness.md, and says the share of
# demo kernels that end proven and of damaged texts that are found.
WRITTEN_N ?= 100000
CHECKED_N ?= 20000
WRITTEN_SEED ?= 1
CORRECTNESS ?= $(BUILD)/correctness
CORRECTNESS_PY = nice python3 tests/tool/correctness.py $(BUILD) --seed $(WRITTEN_SEED) --folder $(CORRECTNESS) --jobs $(NPROC)
.PHONY: written proven damaged correctness
written: $(BUILD)/tests/attacks/tries
	@$(CORRECTNESS_PY) --written $(WRITTEN_N)
proven: all
	@nice python3 tests/tool/proven.py $(BUILD)/gpulocw
damaged: all
	@nice python3 tests/mutants/texts.py $(BUILD)/gpulocw
correctness: $(BUILD)/tests/attacks/tries $(BUILD)/tests/modelcheck/modelcheck damaged proven
	@$(CORRECTNESS_PY) --checked $(CHECKED_N) --written $(WRITTEN_N) --page docs/correctness.md
MODELCHECK_N ?= 20000
.PHONY: modelcheck
modelcheck: $(BUILD)/tests/modelcheck/modelcheck
	@$< -j $(NPROC) -n $(MODELCHECK_N) -s $(or $(MODELCHECK_SEED),1) -o $(BUILD)/modelcheck-false
-include $(wildcard $(BUILD)/tests/modelcheck/*.d)
# ---- end of the model checker ----

# Programs for emulate, as ones that are built with nvcc -cudart shared.
EMULATE_BIN := $(patsubst tests/emulate/%.c,$(BUILD)/tests/emulate/%,$(wildcard tests/emulate/*.c))
$(BUILD)/tests/emulate/%: tests/emulate/%.c tests/emulate/program.h tests/emulate/driver.h $(BUILD)/gen/emulate.so engine/emulate/runtime/cuda_abi.h
	@mkdir -p $(@D); $(CC) $(CSTD) $(WARN) -Wno-conversion -Wno-sign-conversion -Wno-unused-function -D_GNU_SOURCE -O1 -g -I. -o $@ $< $(BUILD)/gen/emulate.so -lpthread -ldl
# Libraries with a static runtime inside: with names and without, with a kernel and without; the toolkit's lies above them as Python's packages have it.
INSIDE := $(BUILD)/tests/emulate/inside
$(INSIDE)/stripped-kernel.so: $(wildcard tests/emulate/inside/*.c) tests/emulate/program.h
	@mkdir -p $(INSIDE)/nvidia/cu13/lib; cc="$(CC) $(CSTD) -D_GNU_SOURCE -O2 -fPIC -fvisibility=hidden -I."; \
	$$cc -c -o $(INSIDE)/runtime.o tests/emulate/inside/runtime.c && rm -f $(INSIDE)/nvidia/cu13/lib/libcudart_static.a && ar rc $(INSIDE)/nvidia/cu13/lib/libcudart_static.a $(INSIDE)/runtime.o && \
	for k in "" -kernel; do $$cc $${k:+-DKERNELS} -Dprobe='__attribute__((visibility("default"))) probe' -shared -o $(INSIDE)/named$$k.so tests/emulate/inside/library.c $(INSIDE)/nvidia/cu13/lib/libcudart_static.a && \
	strip -o $(INSIDE)/stripped$$k.so $(INSIDE)/named$$k.so || exit 1; done
$(INSIDE)/libnvJitLink.so.13: tests/emulate/inside/nvjitlink.c
	@mkdir -p $(@D); $(CC) $(CSTD) -O2 -fPIC -shared -o $@ $<
tests: $(EMULATE_BIN) $(INSIDE)/stripped-kernel.so $(INSIDE)/libnvJitLink.so.13
# CUDA programs under emulation, each in several ways of building it; some minutes, needs nvcc.
.PHONY: clients
clients: all $(EMULATE_BIN)
	@python3 tests/gpu/clients.py $(BUILD)/gpulocw
.PHONY: emulate-suite
emulate-suite: all
	@python3 tests/tool/emulate_suite.py $(BUILD)
