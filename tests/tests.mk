# Tests: every tests/unit/test_*.c is a cmocka program over the engine (and tui) libraries.
UNIT_SRC := $(sort $(wildcard tests/unit/test_*.c))
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(BUILD)/tests/%)
TEST_TOOL := $(BUILD)/tests/tool

$(BUILD)/tests/%: $(BUILD)/tests/unit/%.o $(BUILD)/tests/support.o $(if $(TUI_OBJ),$(BUILD)/libtui.a) $(BUILD)/libengine.a
	@mkdir -p $(@D); $(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka $(TERMLIBS) $(LDLIBS)
.SECONDARY:

# Scripts that drive the built program; each prints TAP lines.
TEST_SCRIPTS := $(sort $(wildcard tests/cli/*.sh tests/terminal/*.sh))

.PHONY: check tests
tests: all $(UNIT_BIN)
check:
	@TUI=$(TUI) CC=$(CC) sh tests/tool/setup.sh test
	@$(MAKE) -s --no-print-directory -j$(NPROC) tests > $(or $(TMPDIR),/tmp)/gpulocw-build.$$$$ 2>&1 \
	    || { cat $(or $(TMPDIR),/tmp)/gpulocw-build.$$$$; rm -f $(or $(TMPDIR),/tmp)/gpulocw-build.$$$$; exit 1; }; rm -f $(or $(TMPDIR),/tmp)/gpulocw-build.$$$$
	@tests/run.sh $(BUILD) $(UNIT_BIN) $(TEST_SCRIPTS)

# Figures, never pass or fail.
BENCH_SRC := $(sort $(wildcard tests/bench/bench_*.c))
BENCH_BIN := $(BENCH_SRC:tests/bench/%.c=$(BUILD)/bench/%)
$(BUILD)/bench/%: $(BUILD)/tests/bench/%.o $(if $(TUI_OBJ),$(BUILD)/libtui.a) $(BUILD)/libengine.a
	@mkdir -p $(@D); $(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(TERMLIBS) $(LDLIBS)
.PHONY: bench
bench: $(BENCH_BIN)
	@for b in $(BENCH_BIN); do echo "== $$(basename $$b)"; $$b || exit 1; done

-include $(UNIT_SRC:%.c=$(BUILD)/%.d)
