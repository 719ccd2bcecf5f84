// Initialisation, devices, contexts, and calls that only have to be there.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>

#include "acl/acl.h"
#include "aclnn/aclnn_base.h"
#include "call.h"
#include "handles.h"
#include "memory.h"
#include "soc.h"
#include "stream.h"

namespace sim {
namespace {

struct Context {
  int device;
};

Handles<Context> &contexts() {
  static auto *instance = new Handles<Context>(kContexts);
  return *instance;
}

void *primary_context() {
  static void *const handle = contexts().add(std::make_shared<Context>(Context{0}));
  return handle;
}

thread_local void *current_context = nullptr;
std::atomic<bool> initialized{false};

}  // namespace

const char *soc_name() {
  static const std::string *const name = [] {
    const char *wanted = std::getenv("CANN_SIM_SOC");
    return new std::string(wanted != nullptr && *wanted != '\0' ? wanted : "Ascend910B1");
  }();
  return name->c_str();
}

// Atlas A2 and later: 910B and 910_93. The first 910, and 310, have no bfloat16.
bool soc_has_bfloat16() {
  return std::strncmp(soc_name(), "Ascend910B", 10) == 0 || std::strncmp(soc_name(), "Ascend910_93", 12) == 0;
}

}  // namespace sim

using sim::fail;

extern "C" {

aclError aclInit(const char *) {
  SIM_CALL();
  if (sim::initialized.exchange(true)) return fail(__func__, ACL_ERROR_REPEAT_INITIALIZE, "already initialised");
  return ACL_SUCCESS;
}

aclError aclFinalize() {
  SIM_CALL();
  if (!sim::initialized.exchange(false)) return fail(__func__, ACL_ERROR_UNINITIALIZE, "not initialised");
  return ACL_SUCCESS;
}

aclnnStatus aclnnInit(const char *) {
  SIM_CALL();
  return ACLNN_SUCCESS;
}

aclnnStatus aclnnFinalize() {
  SIM_CALL();
  return ACLNN_SUCCESS;
}

const char *aclrtGetSocName() { return sim::soc_name(); }

aclError aclrtGetRunMode(aclrtRunMode *mode) {
  SIM_CALL();
  *mode = ACL_HOST;
  return ACL_SUCCESS;
}

aclError aclrtGetDeviceCount(uint32_t *count) {
  SIM_CALL();
  if (count == nullptr) return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "the result pointer is null");
  *count = 1;
  return ACL_SUCCESS;
}

aclError aclrtSetDevice(int32_t device) {
  SIM_CALL();
  if (device != 0) return fail(__func__, ACL_ERROR_RT_INVALID_DEVICEID, "device %d, there is one device: 0", device);
  sim::current_context = sim::primary_context();
  return ACL_SUCCESS;
}

aclError aclrtResetDevice(int32_t device) {
  SIM_CALL();
  if (device != 0) return fail(__func__, ACL_ERROR_RT_INVALID_DEVICEID, "device %d, there is one device: 0", device);
  sim::current_context = nullptr;
  return sim::synchronize_all(__func__);
}

aclError aclrtGetDevice(int32_t *device) {
  SIM_CALL();
  if (device == nullptr) return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "the result pointer is null");
  if (sim::current_context == nullptr) return fail(__func__, ACL_ERROR_RT_CONTEXT_NULL, "no device was set");
  *device = 0;
  return ACL_SUCCESS;
}

aclError aclrtCreateContext(aclrtContext *context, int32_t device) {
  SIM_CALL();
  if (context == nullptr) return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "the result pointer is null");
  if (device != 0) return fail(__func__, ACL_ERROR_RT_INVALID_DEVICEID, "device %d, there is one device: 0", device);
  *context = sim::contexts().add(std::make_shared<sim::Context>(sim::Context{device}));
  sim::current_context = *context;
  return ACL_SUCCESS;
}

aclError aclrtDestroyContext(aclrtContext context) {
  SIM_CALL();
  if (!sim::contexts().remove(context)) {
    return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "%p is not a live context", context);
  }
  if (sim::current_context == context) sim::current_context = nullptr;
  return ACL_SUCCESS;
}

aclError aclrtSetCurrentContext(aclrtContext context) {
  SIM_CALL();
  if (!sim::contexts().find(context)) {
    return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "%p is not a live context", context);
  }
  sim::current_context = context;
  return ACL_SUCCESS;
}

aclError aclrtGetCurrentContext(aclrtContext *context) {
  SIM_CALL();
  if (context == nullptr) return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "the result pointer is null");
  *context = sim::current_context;
  if (sim::current_context == nullptr) return fail(__func__, ACL_ERROR_RT_CONTEXT_NULL, "no device was set");
  return ACL_SUCCESS;
}

// Settings that change nothing on a host.
#define SIM_SETTING(name, ...)    \
  aclError name(__VA_ARGS__) {    \
    SIM_CALL();                   \
    return ACL_SUCCESS;           \
  }
SIM_SETTING(aclrtSetDeviceSatMode, int)
SIM_SETTING(aclrtSetExceptionInfoCallback, void *)
SIM_SETTING(aclrtSetOpExecuteTimeOut, uint32_t)
SIM_SETTING(aclrtSetOpWaitTimeout, uint32_t)
SIM_SETTING(aclrtSetStreamFailureMode, aclrtStream, uint64_t)
SIM_SETTING(aclrtCtxSetSysParamOpt, int, int64_t)
SIM_SETTING(aclrtSetDeviceResLimit, int32_t, int, uint32_t)
SIM_SETTING(aclrtSetStreamResLimit, aclrtStream, int, uint32_t)
SIM_SETTING(aclrtResetStreamResLimit, aclrtStream)
SIM_SETTING(aclrtUseStreamResInCurrentThread, aclrtStream)
SIM_SETTING(aclSetCompileopt, int, const char *)
SIM_SETTING(aclopSetCompileFlag, int)
SIM_SETTING(aclopSetModelDir, const char *)
SIM_SETTING(aclmdlInitDump, void)
SIM_SETTING(aclmdlSetDump, const char *)
SIM_SETTING(aclmdlFinalizeDump, void)
SIM_SETTING(HcclSetConfig, int, int64_t)

// Memory that operators keep between launches; MindSpore asks for it where an executor cannot be made repeatable.
SIM_SETTING(InitHugeMemThreadLocal, void *, bool)
SIM_SETTING(UnInitHugeMemThreadLocal, void *, bool)
SIM_SETTING(ReleaseHugeMem, void *, bool)

// The Ascend910B1 has 24 cube and 48 vector cores.
static aclError core_limit(int type, uint32_t *value) {
  *value = type == 0 ? 24 : 48;
  return ACL_SUCCESS;
}
aclError aclrtGetDeviceResLimit(int32_t, int type, uint32_t *value) {
  SIM_CALL();
  return core_limit(type, value);
}
aclError aclrtGetStreamResLimit(aclrtStream, int type, uint32_t *value) {
  SIM_CALL();
  return core_limit(type, value);
}
aclError aclrtGetResInCurrentThread(int type, uint32_t *value) {
  SIM_CALL();
  return core_limit(type, value);
}

aclError aclrtDeviceGetStreamPriorityRange(int32_t *least, int32_t *greatest) {
  SIM_CALL();
  *least = 7;
  *greatest = 0;
  return ACL_SUCCESS;
}

aclError aclrtDeviceCanAccessPeer(int32_t *can, int32_t, int32_t) {
  SIM_CALL();
  *can = 0;
  return ACL_SUCCESS;
}

aclError aclrtGetLastError(int) { return ACL_SUCCESS; }

// The channel over which printing operators talk to the host: always open, always empty.
void *acltdtCreateChannel(uint32_t, const char *) {
  static int channel;
  return &channel;
}
void *acltdtCreateChannelWithCapacity(uint32_t, const char *, size_t) { return acltdtCreateChannel(0, nullptr); }
void *acltdtCreateDataset() {
  static int dataset;
  return &dataset;
}
aclError acltdtDestroyDataset(void *) { return ACL_SUCCESS; }
aclError acltdtDestroyChannel(void *) { return ACL_SUCCESS; }
aclError acltdtCleanChannel(void *) { return ACL_SUCCESS; }
aclError acltdtStopChannel(void *) { return ACL_SUCCESS; }
size_t acltdtGetDatasetSize(const void *) { return 0; }
aclError acltdtQueryChannelSize(const void *, size_t *size) {
  *size = 0;
  return ACL_SUCCESS;
}
aclError acltdtReceiveTensor(const void *, void *, int32_t) {
  const timespec pause{0, 50 * 1000 * 1000};
  nanosleep(&pause, nullptr);
  return ACL_ERROR_RT_QUEUE_EMPTY;
}

// MindSpore describes its memory pool to the old operator route; the simulator's operators ask for none.
void *aclrtAllocatorCreateDesc() {
  static int description;
  return &description;
}
SIM_SETTING(aclrtAllocatorDestroyDesc, void *)
SIM_SETTING(aclrtAllocatorRegister, aclrtStream, void *)
SIM_SETTING(aclrtAllocatorUnregister, aclrtStream)
SIM_SETTING(aclrtAllocatorSetObjToDesc, void *, void *)
SIM_SETTING(aclrtAllocatorSetAllocFuncToDesc, void *, void *)
SIM_SETTING(aclrtAllocatorSetFreeFuncToDesc, void *, void *)
SIM_SETTING(aclrtAllocatorSetAllocAdviseFuncToDesc, void *, void *)
SIM_SETTING(aclrtAllocatorSetGetAddrFromBlockFuncToDesc, void *, void *)

}  // extern "C"
