# Finds libraries through pkg-config and the CUDA headers, if there are any.

PKG_CONFIG ?= pkg-config

LUA_PC := $(firstword $(foreach p,lua5.4 lua-5.4 lua54 lua,$(shell $(PKG_CONFIG) --exists '$(p) >= 5.4.4' 2>/dev/null && echo $(p))))
CORE_PC := libgit2 libpcre2-8 jansson libffi minizip

LUA_CFLAGS  := $(if $(LUA_PC),$(shell $(PKG_CONFIG) --cflags $(LUA_PC)))
LUA_LIBS    := $(if $(LUA_PC),$(shell $(PKG_CONFIG) --libs $(LUA_PC)))
CORE_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(CORE_PC) 2>/dev/null)
CORE_LIBS   := $(shell $(PKG_CONFIG) --libs $(CORE_PC) 2>/dev/null)
CMOCKA_CFLAGS := $(shell $(PKG_CONFIG) --cflags cmocka 2>/dev/null)
CMOCKA_LIBS   := $(shell $(PKG_CONFIG) --libs cmocka 2>/dev/null)

ifneq ($(CUDA),0)
CUDA_CANDIDATES := $(CUDA_HOME) /usr/local/cuda \
    $(patsubst %/bin/,%,$(dir $(realpath $(shell command -v nvcc 2>/dev/null)))) \
    $(shell python3 -c 'import site,sys,os; [print(os.path.join(p,"nvidia",d)) for p in site.getsitepackages()+[site.getusersitepackages()] for d in ("cu13","cu12") if os.path.isdir(os.path.join(p,"nvidia",d))]' 2>/dev/null)
CUDA_DIR := $(firstword $(foreach d,$(CUDA_CANDIDATES),$(if $(and $(wildcard $(d)/include/cuda_runtime_api.h),$(wildcard $(d)/include/nvrtc.h)),$(d))))
CUDA_INCLUDES := $(if $(CUDA_DIR),$(wildcard $(CUDA_DIR)/include $(CUDA_DIR)/extras/CUPTI/include))
ifneq ($(foreach d,$(CUDA_INCLUDES),$(wildcard $(d)/cupti.h)),)
HAVE_CUDA := 1
CUDA_CPP := -DAKO_HAVE_CUDA=1 $(addprefix -isystem ,$(CUDA_INCLUDES))
endif
endif
