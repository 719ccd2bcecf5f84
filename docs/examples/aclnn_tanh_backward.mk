# Builds and runs the call sample against the CANN that ASCEND_TOOLKIT_HOME names: a real one or the simulated one.
#
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0
#
#   make -f aclnn_tanh_backward.mk run                                                     on a machine with an NPU
#   python ../../tests/cann_sim/run.py -- make -f aclnn_tanh_backward.mk run               on the simulated Ascend
#
# BUILD is the folder for the program (default: build, below the current one).

ifeq ($(ASCEND_TOOLKIT_HOME),)
$(error ASCEND_TOOLKIT_HOME is not set: source CANN's set_env.sh, or use tests/cann_sim/run.py)
endif

HERE := $(dir $(abspath $(lastword $(MAKEFILE_LIST))))
BUILD ?= build
PROGRAM := $(BUILD)/aclnn_tanh_backward
CXXFLAGS ?= -O2 -Wall -Wextra

all: $(PROGRAM)

$(PROGRAM): $(HERE)aclnn_tanh_backward.cc
	@mkdir -p $(BUILD)
	$(CXX) -std=c++17 $(CXXFLAGS) -I$(ASCEND_TOOLKIT_HOME)/include $< -o $@ \
	  -L$(ASCEND_TOOLKIT_HOME)/lib64 -Wl,-rpath,$(ASCEND_TOOLKIT_HOME)/lib64 -lopapi -lnnopbase -lascendcl

run: $(PROGRAM)
	@$(PROGRAM)

clean:
	rm -f $(PROGRAM)

.PHONY: all run clean
