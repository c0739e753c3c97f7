# Fuzz targets: every tests/fuzz/fuzz_*.c is one, with a row of `runs` in tests/fuzz/run.sh and its seeds there.
# libFuzzer needs clang; without it the targets are left out. What `make` offers:
#   fuzz-build     builds the targets whose instrumented rooms compile quickly (part of `make check`, so that they cannot rot)
#   fuzz           every target for FUZZ_TIME seconds, then the workbench under random keys
#   fuzz-campaign  FUZZ_RUNS executions in all, FUZZ_JOBS processes at a time; prints a table
#   fuzz-carry     carry-fuzz/: the targets, their seeds and run.sh, for a machine without clang
# Each target is also built against the plain library (build/tests/fuzz/), where tests/cli/fuzz_corpus.sh runs it over the corpora.
FUZZ_CC   ?= clang
FUZZ_TIME ?= 60
FUZZ_RUNS ?= 10000000
FUZZ_JOBS ?= $(NPROC)
FUZZ_SAN  := -fsanitize=address,undefined -fno-sanitize-recover=undefined
FUZZ_SRC  := $(sort $(wildcard tests/fuzz/fuzz_*.c))
FUZZ_BIN  := $(FUZZ_SRC:tests/fuzz/%.c=$(BUILD)/fuzz/%)
FUZZ_DEEP := $(addprefix $(BUILD)/fuzz/,fuzz_again fuzz_analysis fuzz_pass fuzz_sim)
FUZZ_ROOMS := base rec ptx session container
FUZZ_OBJ  := $(patsubst %.c,$(BUILD)/fuzz/%.o,$(filter $(FUZZ_ROOMS:%=engine/%/%),$(ENGINE_SRC)))
FUZZ_DEEP_OBJ := $(patsubst %.c,$(BUILD)/fuzz/%.o,$(filter $(foreach r,base rec ptx perfmodel analysis invariants pass rewrites sim,engine/$(r)/%),$(ENGINE_SRC)))
FUZZ_CCFLAGS := $(CSTD) $(WARN) -O1 -g -fno-strict-aliasing -ffp-contract=off -I. -MMD -MP -Wno-pass-failed -fsanitize=fuzzer-no-link $(FUZZ_SAN)
# libFuzzer is C++; its library is linked in, as a machine without clang may lack it.
FUZZ_LINK  = @$(FUZZ_CC) -fsanitize=fuzzer $(FUZZ_SAN) -static-libstdc++ -o $@ $(filter %.o %.a,$^)
FUZZ_CJSON := $(if $(wildcard $(shell $(CC) -print-file-name=libcjson.a 2>/dev/null)),-l:libcjson.a,-lcjson)
$(BUILD)/fuzz/%.o: %.c
	@mkdir -p $(@D); $(FUZZ_CC) $(FUZZ_CCFLAGS) -c -o $@ $<
# Files: the rooms that read them, watched; what those call for beside is as in the program.
$(BUILD)/fuzz/fuzz_session: $(BUILD)/fuzz/tests/fuzz/fuzz_session.o $(FUZZ_OBJ) $(BUILD)/libengine.a
	$(FUZZ_LINK) $(FUZZ_CJSON) -llz4 -lzstd -lpthread -ldl -lm
$(BUILD)/fuzz/fuzz_journal: $(BUILD)/fuzz/tests/fuzz/fuzz_journal.o $(FUZZ_OBJ) $(BUILD)/libengine.a
	$(FUZZ_LINK) $(FUZZ_CJSON) -llz4 -lzstd -lpthread -ldl -lm
$(BUILD)/fuzz/fuzz_ptx: $(BUILD)/fuzz/tests/fuzz/fuzz_ptx.o $(filter $(BUILD)/fuzz/engine/base/% $(BUILD)/fuzz/engine/ptx/%,$(FUZZ_OBJ))
	$(FUZZ_LINK) -lpthread -lm
# Executables, fatbins and the rest, and the listing of what is in them.
$(BUILD)/fuzz/fuzz_container: $(BUILD)/fuzz/tests/fuzz/fuzz_container.o $(FUZZ_OBJ) $(BUILD)/fuzz/engine/workspace/source_list.o $(BUILD)/libengine.a
	$(FUZZ_LINK) $(FUZZ_CJSON) -llz4 -lzstd -lpthread -ldl -lm
# What the library in somebody's program wrote down; what it asks, and both ends of --worker.
FUZZ_FRAMES := $(BUILD)/fuzz/tests/fuzz/frames.o $(BUILD)/fuzz/engine/dev/worker/wire.o
$(BUILD)/fuzz/fuzz_live: $(BUILD)/fuzz/tests/fuzz/fuzz_live.o $(patsubst %,$(BUILD)/fuzz/engine/live/%.o,live take apply) $(FUZZ_OBJ) $(BUILD)/libengine.a
	$(FUZZ_LINK) $(FUZZ_CJSON) -llz4 -lzstd -lpthread -ldl -lm
$(BUILD)/fuzz/fuzz_remote: $(BUILD)/fuzz/tests/fuzz/fuzz_remote.o $(FUZZ_FRAMES) $(patsubst %,$(BUILD)/fuzz/engine/live/%.o,apply remote remote_back serve) $(FUZZ_OBJ) $(BUILD)/libengine.a
	$(FUZZ_LINK) $(FUZZ_CJSON) -llz4 -lzstd -lpthread -ldl -lm
# Modules that an emulated program loads.
$(BUILD)/fuzz/fuzz_emulate: $(BUILD)/fuzz/tests/fuzz/fuzz_emulate.o $(BUILD)/fuzz/engine/emulate/modules.o $(FUZZ_OBJ) $(BUILD)/libengine.a
	$(FUZZ_LINK) $(FUZZ_CJSON) -llz4 -lzstd -lpthread -ldl -lm
# Requests of other programs; what people write for other tools.
$(BUILD)/fuzz/fuzz_service: $(BUILD)/fuzz/tests/fuzz/fuzz_service.o $(patsubst %.c,$(BUILD)/fuzz/%.o,$(filter engine/service/%,$(ENGINE_SRC))) $(FUZZ_OBJ) $(BUILD)/libengine.a
	$(FUZZ_LINK) $(FUZZ_CJSON) -llz4 -lzstd -lpthread -ldl -lm
# Files for `check`, presets, sessions of other versions; the tools themselves, in this process.
$(BUILD)/fuzz/fuzz_rules: $(BUILD)/fuzz/tests/fuzz/fuzz_rules.o $(BUILD)/fuzz/engine/check/rules.o $(BUILD)/fuzz/engine/sim/preset.o $(FUZZ_OBJ) $(BUILD)/libengine.a
	$(FUZZ_LINK) $(FUZZ_CJSON) -llz4 -lzstd -lpthread -ldl -lm
$(BUILD)/fuzz/fuzz_versions: $(BUILD)/fuzz/tests/fuzz/fuzz_versions.o $(FUZZ_OBJ) $(BUILD)/libengine.a
	$(FUZZ_LINK) $(FUZZ_CJSON) -llz4 -lzstd -lpthread -ldl -lm
$(BUILD)/fuzz/fuzz_requests: $(BUILD)/fuzz/tests/fuzz/fuzz_requests.o $(patsubst %.c,$(BUILD)/fuzz/%.o,$(filter engine/api/% engine/service/% engine/cmd/line/%,$(ENGINE_SRC))) $(FUZZ_OBJ) $(BUILD)/libengine.a
	$(FUZZ_LINK) $(FUZZ_CJSON) -llz4 -lzstd -lpthread -ldl -lm
FUZZ_SOURCE := $(patsubst %,$(BUILD)/fuzz/engine/%.o,workspace/source/source_edits workspace/source/source_edits_cuda workspace/source/source_edits_python workspace/source/source_edits_text workspace/output_file rewrites/order)
$(BUILD)/fuzz/fuzz_source: $(BUILD)/fuzz/tests/fuzz/fuzz_source.o $(BUILD)/fuzz/tests/fuzz/kernel.o $(FUZZ_SOURCE) $(FUZZ_OBJ) $(BUILD)/libengine.a
	$(FUZZ_LINK) $(FUZZ_CJSON) -llz4 -lzstd -lpthread -ldl -lm
# The worker protocol: of the devices' room its transport and records alone.
FUZZ_WIRE := $(BUILD)/fuzz/engine/dev/worker/wire.o $(BUILD)/fuzz/engine/dev/worker/wire_records.o $(BUILD)/fuzz/engine/dev/dev_result.o $(BUILD)/fuzz/engine/sim/preset.o $(BUILD)/fuzz/engine/sim/timing/expansion.o
$(BUILD)/fuzz/fuzz_wire: $(BUILD)/fuzz/tests/fuzz/fuzz_wire.o $(BUILD)/fuzz/tests/fuzz/frames.o $(filter $(BUILD)/fuzz/engine/base/% $(BUILD)/fuzz/engine/rec/% $(BUILD)/fuzz/engine/ptx/%,$(FUZZ_OBJ)) $(FUZZ_WIRE)
	$(FUZZ_LINK) -lpthread -lm
# What is written by hand for the workbench, and the rooms that those readers use.
FUZZ_TEXTS := $(patsubst %,$(BUILD)/fuzz/tui/%.o,base/theme base/key base/request app/launch_edit base/expr base/text)
$(BUILD)/fuzz/fuzz_texts: $(BUILD)/fuzz/tests/fuzz/fuzz_texts.o $(FUZZ_TEXTS) $(filter $(BUILD)/fuzz/engine/base/% $(BUILD)/fuzz/engine/rec/%,$(FUZZ_OBJ))
	$(FUZZ_LINK) -lpthread -lm
# Kernels: the rooms that read, rewrite and run them, with mutations that know lines and words of PTX.
FUZZ_KERNEL := $(patsubst %,$(BUILD)/fuzz/tests/fuzz/%.o,kernel mutate)
$(BUILD)/fuzz/libkernel.a: $(FUZZ_DEEP_OBJ)
	@rm -f $@; ar rcs $@ $^
$(FUZZ_DEEP): $(BUILD)/fuzz/%: $(BUILD)/fuzz/tests/fuzz/%.o $(FUZZ_KERNEL) $(BUILD)/fuzz/libkernel.a $(BUILD)/gen/embed.o
	$(FUZZ_LINK) -lpthread -ldl -lm

.PHONY: fuzz-build fuzz-build-all fuzz fuzz-tui fuzz-campaign fuzz-carry fuzz-corpus
# The library first: the make below must not write it while this one does.
fuzz-build fuzz-build-all: $(BUILD)/libengine.a $(BUILD)/gen/embed.o
	@if echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' | $(FUZZ_CC) -fsanitize=fuzzer -xc -o /dev/null - 2>/dev/null; \
	    then $(MAKE) -s --no-print-directory -j$(NPROC) $(if $(findstring all,$@),$(FUZZ_BIN),$(filter-out $(FUZZ_DEEP),$(FUZZ_BIN))); else echo "fuzz targets left out: $(FUZZ_CC) has no libFuzzer"; fi
tests: fuzz-build fuzz-corpus
fuzz: fuzz-build-all
	@tests/fuzz/run.sh --bin $(BUILD)/fuzz --work $(BUILD)/fuzz/work --seconds $(FUZZ_TIME) --jobs $(FUZZ_JOBS)
fuzz-campaign: fuzz-build-all
	@tests/fuzz/run.sh --bin $(BUILD)/fuzz --work $(BUILD)/fuzz/work --runs $(FUZZ_RUNS) --jobs $(FUZZ_JOBS)
fuzz-carry: fuzz-build-all
	@rm -rf carry-fuzz; mkdir -p carry-fuzz/tests
	@for f in $(FUZZ_BIN); do strip -g -o carry-fuzz/$$(basename $$f) $$f || exit 1; done
	@lib="$$(ldd carry-fuzz/fuzz_session carry-fuzz/fuzz_container | awk '/libcjson|liblz4|libzstd/ { print $$3 }' | sort -u)"; test -z "$$lib" || cp $$lib carry-fuzz/
	@cp tests/fuzz/run.sh carry-fuzz/run.sh; for d in $$(tests/fuzz/run.sh --seeds); do mkdir -p carry-fuzz/$$(dirname $$d) && cp -r $$d carry-fuzz/$$(dirname $$d)/ || exit 1; done
	@echo "carry-fuzz/ is ready ($$(du -sh carry-fuzz | cut -f1)): carry-fuzz/run.sh [--runs N | --seconds N] [--jobs N]"
# The workbench under random keys, with sanitizers and a seed nobody chose.
fuzz-tui:
	@$(MAKE) -s --no-print-directory -j$(NPROC) BUILD=$(BUILD)/storm OPT=-O1 CC="$(CC) -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer" \
	    $(BUILD)/storm/gpulocw $(BUILD)/storm/tests/test_tui_fuzz $(BUILD)/storm/tests/test_tui_storm > $(BUILD)/storm.log 2>&1 || { tail $(BUILD)/storm.log; exit 1; }
	@GPULOCW_FUZZ_SECONDS=$(FUZZ_TIME) GPULOCW_FUZZ_SEED=$${GPULOCW_FUZZ_SEED:-$$(date +%s%N)} $(BUILD)/storm/tests/test_tui_fuzz
	@GPULOCW_BUILD=$(BUILD)/storm GPULOCW_FUZZ_SECONDS=$(FUZZ_TIME) GPULOCW_FUZZ_SEED=$${GPULOCW_FUZZ_SEED:-$$(date +%s%N)} $(BUILD)/storm/tests/test_tui_storm
fuzz: fuzz-tui

# The targets without libFuzzer, over the plain library: they run the files they are given.
FUZZ_ALONE := $(FUZZ_SRC:tests/fuzz/%.c=$(BUILD)/tests/fuzz/%)
$(FUZZ_ALONE): $(BUILD)/tests/fuzz/%: $(BUILD)/tests/fuzz/%.o $(BUILD)/tests/fuzz/standalone.o $(BUILD)/tests/fuzz/kernel.o $(BUILD)/tests/fuzz/frames.o $(patsubst %.c,$(BUILD)/%.o,$(filter-out tui/term/%,$(TUI_SRC))) $(BUILD)/libengine.a
	@mkdir -p $(@D); $(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LDLIBS)
fuzz-corpus: $(FUZZ_ALONE)
-include $(FUZZ_OBJ:.o=.d) $(FUZZ_DEEP_OBJ:.o=.d) $(FUZZ_WIRE:.o=.d) $(FUZZ_TEXTS:.o=.d) $(FUZZ_KERNEL:.o=.d) $(FUZZ_FRAMES:.o=.d) $(FUZZ_SOURCE:.o=.d) $(wildcard $(BUILD)/fuzz/engine/service/*.d $(BUILD)/fuzz/engine/api/*.d $(BUILD)/fuzz/engine/cmd/line/*.d $(BUILD)/fuzz/engine/check/*.d $(BUILD)/tests/fuzz/*.d $(BUILD)/fuzz/tests/fuzz/*.d)
