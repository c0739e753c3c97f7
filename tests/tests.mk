# Tests: every tests/unit/test_*.c is a cmocka program over the engine (and tui) libraries.
UNIT_SRC := $(sort $(wildcard tests/unit/test_*.c))
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(BUILD)/tests/%)
TEST_TOOL := $(BUILD)/tests/tool

$(BUILD)/tests/%: $(BUILD)/tests/unit/%.o $(BUILD)/tests/support.o $(if $(TUI_OBJ),$(BUILD)/libtui.a) $(BUILD)/libengine.a
	@mkdir -p $(@D); $(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka $(TERMLIBS) $(LDLIBS)
.SECONDARY:

-include $(UNIT_SRC:%.c=$(BUILD)/%.d)
