# stackbuild: see README.md for use, CONTRIBUTING.md for the map.
#
# The layers, lowest first: a file includes its own folder, base/, and X/X.h of a
# lower folder X.  `make lint` holds this (ci/check-layers reads these two lines).
LAYERS := base python facts recipe resolve plan render
PURE := base python facts recipe resolve plan render

BUILD ?= build
PREFIX ?= /usr/local
VERSION := $(shell sed -n '1s/^\# stackbuild \([0-9.]*\).*/\1/p' NEWS.md)

CC ?= cc
CFLAGS ?= -O2 -g
PYTHON ?= python3
FUZZ_S ?= 60

std = -std=c11 -D_GNU_SOURCE -Isrc -I$(BUILD)/gen
warn = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith
ifdef DEVELOPER
warn += -Werror
endif
compile = $(CC) $(std) $(warn) $(CFLAGS) $(SAN) -MMD -MP

# Sources: one library of all pure layers; the mains beside it.
lib_c := $(filter-out src/facts/generate.c,$(foreach l,$(LAYERS),$(wildcard src/$(l)/*.c)))
lib_o := $(lib_c:src/%.c=$(BUILD)/%.o)
base_o := $(patsubst src/%.c,$(BUILD)/%.o,$(wildcard src/base/*.c))
facts_o := $(filter $(BUILD)/base/% $(BUILD)/python/% $(BUILD)/facts/%,$(lib_o))
gen_o := $(BUILD)/gen/knowledge.o $(BUILD)/gen/templates.o
main_o := $(BUILD)/main.o $(BUILD)/options.o $(BUILD)/pipeline.o
world_o := $(patsubst src/%.c,$(BUILD)/%.o,$(wildcard src/world/*.c))

ssl := $(firstword $(wildcard $(shell $(CC) -print-file-name=libcrypto.a)) -lcrypto)
libs = -lyaml $(ssl)

all: stackbuild $(BUILD)/stackbuild-world

# `make` leaves ./stackbuild; with another BUILD= the program stays there.
ifeq ($(BUILD),build)
stackbuild: $(BUILD)/stackbuild
	ln -f $< $@ 2>/dev/null || cp $< $@
else
stackbuild: $(BUILD)/stackbuild
endif

$(BUILD)/%.o: src/%.c
	@mkdir -p $(@D)
	$(compile) -c -o $@ $<

$(BUILD)/gen/%.o: $(BUILD)/gen/%.c
	$(compile) -c -o $@ $<

$(BUILD)/libstack.a: $(lib_o) $(gen_o)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/stackbuild: $(main_o) $(BUILD)/libstack.a
	$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $(main_o) $(BUILD)/libstack.a $(libs)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

.PHONY: all
