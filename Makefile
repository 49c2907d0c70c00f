# ako-lua. `make` builds build/ako-lua and build/ako-worker; `make demo` runs the main job; `make test` the tests.
#
#   V=1                    print commands           CUDA=0                 leave the CUDA parts out
#   SAN=address,undefined  sanitizer build          WERROR=1               warnings are errors (CI)
#   PREFIX, DESTDIR        where install puts things CUDA_HOME             which CUDA toolkit's headers to use

PREFIX  ?= /usr/local
DESTDIR ?=
BINDIR     = $(DESTDIR)$(PREFIX)/bin
LIBDIR     = $(DESTDIR)$(PREFIX)/lib
LIBEXECDIR = $(DESTDIR)$(PREFIX)/libexec/ako-lua
INCLUDEDIR = $(DESTDIR)$(PREFIX)/include/ako
DATADIR    = $(DESTDIR)$(PREFIX)/share/ako-lua

comma := ,
Q := $(if $(V),,@)
# Builds of different kinds never share objects.
B := build$(if $(SAN),/$(subst $(comma),-,$(SAN)))$(if $(filter 0,$(CUDA)),/no-cuda)

include mk/deps.mk

CC       ?= cc
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wvla \
            $(if $(WERROR),-Werror)
CFLAGS   ?= -O2 -g
# Random numbers must have the same bits on CPU and GPU, so no compiler may fuse a multiply and an add.
ALL_CFLAGS  := -std=c11 -fPIC -fvisibility=default -ffp-contract=off $(WARNINGS) $(CFLAGS) \
               $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
ALL_LDFLAGS := $(LDFLAGS) $(if $(SAN),-fsanitize=$(SAN)) -rdynamic
CORE_CPP := -D_GNU_SOURCE -Icore -DAKO_SOURCE_DIR='"$(CURDIR)"' $(CORE_CFLAGS) $(CUDA_CPP) $(CPPFLAGS)
LUA_CPP  := -D_GNU_SOURCE -Icore -Ilua $(LUA_CFLAGS) $(CPPFLAGS)
CORE_ALL_LIBS := $(CORE_LIBS) -ldl -lm -lpthread -lrt

# The modules that other programs may use, one header each.
PUBLIC   := ako arena buf build cancel clock confine device dtype dtype_bits error evaluator fs git hooks journal json \
            log memory ops paired process regex runner stats tensor timing unit versions wire
CORE_SRC   := $(wildcard core/*.c) $(if $(HAVE_CUDA),$(wildcard core/gpu/*.c),$(wildcard core/nogpu/*.c))
WORKER_SRC := $(wildcard core/worker/*.c)
LUA_SRC    := $(wildcard lua/*.c)
TEST_SRC   := $(wildcard tests/core/test_*.c)

CORE_OBJ   := $(CORE_SRC:%.c=$(B)/obj/%.o)
WORKER_OBJ := $(WORKER_SRC:%.c=$(B)/obj/%.o)
LUA_OBJ    := $(LUA_SRC:%.c=$(B)/obj/%.o)
TESTS      := $(TEST_SRC:tests/core/%.c=$(B)/tests/%)

.PHONY: all demo test test-gpu bench lint install uninstall clean deps format
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:

# pkg-config can answer only once the packages are there, so what installs them builds in a second make.
AGAIN = +$(Q)$(MAKE) --no-print-directory
NOTE_CUDA = $(if $(HAVE_CUDA),@:,@echo "  NOTE  no CUDA headers found (CUDA_HOME, /usr/local/cuda, nvcc, pip): the CUDA parts are left out")

all:
	$(Q)mk/deps.sh
	$(AGAIN) programs

demo:
	$(Q)mk/deps.sh
	$(AGAIN) programs
	$(Q)$(B)/ako-lua policies/kernelbench.lua

test:
	$(Q)mk/deps.sh test
	$(AGAIN) tests
	$(Q)B=$(B) tests/run.sh

# The same suite where there is a GPU. Machines that lack the libraries to build with run what was built elsewhere:
# AKO_PREBUILT=1 skips building.
test-gpu:
ifndef AKO_PREBUILT
	$(Q)mk/deps.sh test
	$(AGAIN) tests
endif
	$(Q)B=$(B) AKO_TEST_GPU=1 tests/run.sh

bench:
ifndef AKO_PREBUILT
	$(Q)mk/deps.sh
	$(AGAIN) programs
endif
	$(Q)$(B)/ako-lua tests/bench/bench.lua

deps:
	$(Q)mk/deps.sh test lint

.PHONY: programs tests
programs: $(B)/libako.a $(B)/libako.so $(B)/ako-lua $(B)/ako-worker
	$(NOTE_CUDA)
tests: programs $(TESTS)

$(B)/obj/core/%.o: core/%.c
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC    $<")
	$(Q)$(CC) $(ALL_CFLAGS) $(CORE_CPP) -MMD -MP -c $< -o $@

$(B)/obj/lua/%.o: lua/%.c
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC    $<")
	$(Q)$(CC) $(ALL_CFLAGS) $(LUA_CPP) -MMD -MP -c $< -o $@

$(B)/libako.a: $(CORE_OBJ)
	$(if $(V),,@echo "  AR    $@")
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# With the roles in it, which an interpreter runs that has loaded it (stdlib/python); none of its names gives way to
# those of other libraries there.
$(B)/libako.so: $(CORE_OBJ) $(filter-out %/main.o,$(WORKER_OBJ))
	$(if $(V),,@echo "  LD    $@")
	$(Q)$(CC) -shared -Wl,-Bsymbolic $(ALL_LDFLAGS) $^ $(CORE_ALL_LIBS) -o $@

$(B)/ako-lua: $(LUA_OBJ) $(B)/libako.a
	$(if $(V),,@echo "  LD    $@")
	$(Q)$(CC) $(ALL_LDFLAGS) $^ $(LUA_LIBS) $(CORE_ALL_LIBS) -o $@

$(B)/ako-worker: $(WORKER_OBJ) $(B)/libako.a
	$(if $(V),,@echo "  LD    $@")
	$(Q)$(CC) $(ALL_LDFLAGS) $^ $(CORE_ALL_LIBS) -o $@

$(B)/tests/%: tests/core/%.c $(B)/libako.a
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC    $<")
	$(Q)$(CC) $(ALL_CFLAGS) $(CORE_CPP) -Itests/core $(CMOCKA_CFLAGS) -MMD -MP $< $(B)/libako.a $(ALL_LDFLAGS) \
	    $(CMOCKA_LIBS) $(CORE_ALL_LIBS) -o $@

# What core embeds with .incbin, which -MMD cannot see.
$(B)/obj/core/gpu/ops_library.o: core/gpu/ops.cu core/gpu/ops_kernels.h $(addprefix core/,dtype_bits.h philox.h fill.h judge.h layout.h words.h)

-include $(CORE_OBJ:.o=.d) $(WORKER_OBJ:.o=.d) $(LUA_OBJ:.o=.d) $(TESTS:=.d)

# Formatting, static analysis of C, of Lua, and of shell where the tools are there. CI installs them.
C_FILES   := $(wildcard core/*.[ch] core/gpu/*.[ch] core/nogpu/*.[ch] core/worker/*.[ch] lua/*.[ch] tests/core/*.[ch])
lint:
	clang-format --dry-run -Werror $(C_FILES)
	cppcheck --quiet --error-exitcode=1 --std=c11 --inline-suppr --enable=warning,performance,portability \
	    --suppress=missingIncludeSystem --suppress=normalCheckLevelMaxBranches -D_GNU_SOURCE -Icore -Ilua \
	    core lua
	luacheck --quiet stdlib policies examples tests/lua tests/bench

format:
	clang-format -i $(C_FILES)

install: all
	install -d $(BINDIR) $(LIBDIR) $(LIBEXECDIR) $(INCLUDEDIR) $(DATADIR)
	install -m 755 $(B)/ako-lua $(BINDIR)/ako-lua
	install -m 755 $(B)/ako-worker $(LIBEXECDIR)/ako-worker
	install -m 644 $(B)/libako.a $(LIBDIR)/libako.a
	install -m 755 $(B)/libako.so $(LIBDIR)/libako.so
	install -m 644 $(PUBLIC:%=core/%.h) $(INCLUDEDIR)
	cp -R stdlib policies examples $(DATADIR)
	chmod -R a+rX $(DATADIR)

uninstall:
	rm -f $(BINDIR)/ako-lua $(LIBEXECDIR)/ako-worker $(LIBDIR)/libako.a $(LIBDIR)/libako.so
	rm -rf $(INCLUDEDIR) $(DATADIR)
	rmdir $(LIBEXECDIR) 2>/dev/null || true

clean:
	rm -rf build
