/* Our declarations of the CUDA driver API and of CUPTI against NVIDIA's headers,
 * where the machine has them. DRV_NATIVE spells the same list with their types. */
#if defined(__has_include)
#if __has_include(<cuda.h>)
#include <cuda.h>
#define HAVE_CUDA_H
#define DRV_NATIVE
#endif
#if __has_include(<cupti_range_profiler.h>) && __has_include(<cuda.h>)
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#define HAVE_CUPTI_H
#endif
#endif
#if defined(HAVE_CUPTI_H) && defined(__has_include)
#if __has_include(<cupti.h>)
#include <cupti.h>
#define HAVE_CALLBACKS_H
#endif
#endif
#include "engine/dev/cuda/cupti_api.h"
#include "engine/dev/cuda/drv.h"
#include "engine/dev/inject/inject.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

/* ---- driver ---- */
#ifdef HAVE_CUDA_H
#define X(ours, type, native) _Static_assert(sizeof(type) == sizeof(native), #native);
DRV_TYPES(X)
#undef X
#define X(ours, value, native) _Static_assert((int)(value) == (int)(native), #native);
DRV_CONSTANTS(X)
#undef X
/* cuda.h of a toolkit older than 12.8 has no cuEventElapsedTime_v2: declared as the list has it. */
#if CUDA_VERSION < 12080
CUresult cuEventElapsedTime_v2(float *ms, CUevent a, CUevent b);
#endif
#define X(field, sym, older, needed, params) \
    _Static_assert(                          \
        __builtin_types_compatible_p(__typeof__(((struct drv *)0)->field), __typeof__(&sym)), #sym);
DRV_API(X)
#undef X
#endif

#ifdef HAVE_CUDA_H
#define SAME_WINDOW(ours, theirs) \
    _Static_assert(offsetof(struct drv_window, ours) == offsetof(CUaccessPolicyWindow, theirs), #theirs);
SAME_WINDOW(base, base_ptr)
SAME_WINDOW(bytes, num_bytes)
SAME_WINDOW(ratio, hitRatio)
SAME_WINDOW(hit, hitProp)
SAME_WINDOW(miss, missProp)
_Static_assert(sizeof(struct drv_window) == sizeof(CUaccessPolicyWindow) &&
                   offsetof(CUstreamAttrValue, accessPolicyWindow) == 0,
               "access policy window");
#endif

/* What the injected library reads of callbacks, records and calls. */
#ifdef HAVE_CALLBACKS_H
#define AT(ours, field, theirs, member) \
    _Static_assert(offsetof(struct ours, field) == offsetof(theirs, member), #theirs "." #member);
AT(call, site, CUpti_CallbackData, callbackSite)
AT(call, function, CUpti_CallbackData, functionName)
AT(call, params, CUpti_CallbackData, functionParams)
AT(call, result, CUpti_CallbackData, functionReturnValue)
AT(call, symbol, CUpti_CallbackData, symbolName)
AT(call, context, CUpti_CallbackData, context)
AT(call, own, CUpti_CallbackData, correlationData)
AT(call, correlation, CUpti_CallbackData, correlationId)
AT(ran, start, CUpti_ActivityKernel10, start)
AT(ran, end, CUpti_ActivityKernel10, end)
AT(ran, grid, CUpti_ActivityKernel10, gridX)
AT(ran, block, CUpti_ActivityKernel10, blockX)
AT(ran, shared, CUpti_ActivityKernel10, dynamicSharedMemory)
AT(ran, correlation, CUpti_ActivityKernel10, correlationId)
AT(ran, name, CUpti_ActivityKernel10, name)
AT(launch_call, f, cuLaunchKernel_params, f)
AT(launch_call, grid, cuLaunchKernel_params, gridDimX)
AT(launch_call, block, cuLaunchKernel_params, blockDimX)
AT(launch_call, shared, cuLaunchKernel_params, sharedMemBytes)
AT(launch_call, stream, cuLaunchKernel_params, hStream)
AT(launch_call, params, cuLaunchKernel_params, kernelParams)
AT(launch_call, extra, cuLaunchKernel_params, extra)
AT(launch_call, params, cuLaunchCooperativeKernel_params, kernelParams)
AT(launch_ex_call, config, cuLaunchKernelEx_params, config)
AT(launch_ex_call, f, cuLaunchKernelEx_params, f)
AT(launch_ex_call, params, cuLaunchKernelEx_params, kernelParams)
AT(launch_config, block, CUlaunchConfig, blockDimX)
AT(launch_config, shared, CUlaunchConfig, sharedMemBytes)
AT(launch_config, stream, CUlaunchConfig, hStream)
AT(launch_config, attribute, CUlaunchConfig, attrs)
AT(launch_config, nattributes, CUlaunchConfig, numAttrs)
AT(launch_attribute, value, CUlaunchAttribute, value)
AT(node_params, f, CUDA_KERNEL_NODE_PARAMS, func)
AT(node_params, grid, CUDA_KERNEL_NODE_PARAMS, gridDimX)
AT(node_params, shared, CUDA_KERNEL_NODE_PARAMS, sharedMemBytes)
AT(node_params, params, CUDA_KERNEL_NODE_PARAMS, kernelParams)
AT(node_params, extra, CUDA_KERNEL_NODE_PARAMS, extra)
AT(node_params, kernel, CUDA_KERNEL_NODE_PARAMS, kern)
AT(copy3d, from_type, CUDA_MEMCPY3D, srcMemoryType)
AT(copy3d, from_device, CUDA_MEMCPY3D, srcDevice)
AT(copy3d, to_type, CUDA_MEMCPY3D, dstMemoryType)
AT(copy3d, to_host, CUDA_MEMCPY3D, dstHost)
AT(copy3d, width, CUDA_MEMCPY3D, WidthInBytes)
_Static_assert(sizeof(struct launch_attribute) == sizeof(CUlaunchAttribute) &&
                   sizeof(struct copy3d) == sizeof(CUDA_MEMCPY3D) &&
                   sizeof(struct node_params) >= sizeof(CUDA_KERNEL_NODE_PARAMS),
               "launch attributes, copies and nodes of graphs");
#endif

static void test_driver(void **state)
{
    (void)state;
#ifndef HAVE_CUDA_H
    skip();
#endif
    /* Names in the list are distinct: two rows for one function would hide a slip. */
    static const char *const names[] = {
#define X(field, sym, older, needed, params) #sym,
        DRV_API(X)
#undef X
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        for (size_t k = i + 1; k < ARRAY_LEN(names); k++)
            assert_string_not_equal(names[i], names[k]);
}

/* ---- CUPTI: the size up to the last member, and where the pointers lie ---- */
#ifdef HAVE_CUPTI_H
#define SAME_SIZE(ours, last, theirs) \
    _Static_assert(CUPTI_SIZE(ours, last) == theirs##_STRUCT_SIZE, #theirs);
#define SAME_PLACE(ours, member, theirs, field) \
    _Static_assert(offsetof(struct ours, member) == offsetof(theirs, field), #theirs "." #field);
SAME_SIZE(cupti_init, priv, CUpti_Profiler_Initialize_Params)
SAME_SIZE(cupti_init, priv, CUpti_Profiler_DeInitialize_Params)
SAME_SIZE(cupti_chip, name, CUpti_Device_GetChipName_Params)
SAME_SIZE(cupti_availability, image, CUpti_Profiler_GetCounterAvailability_Params)
SAME_SIZE(cupti_host_open, host, CUpti_Profiler_Host_Initialize_Params)
SAME_SIZE(cupti_host_close, host, CUpti_Profiler_Host_Deinitialize_Params)
SAME_SIZE(cupti_add, n, CUpti_Profiler_Host_ConfigAddMetrics_Params)
SAME_SIZE(cupti_config_size, n, CUpti_Profiler_Host_GetConfigImageSize_Params)
SAME_SIZE(cupti_config, image, CUpti_Profiler_Host_GetConfigImage_Params)
SAME_SIZE(cupti_passes, passes, CUpti_Profiler_Host_GetNumOfPasses_Params)
SAME_SIZE(cupti_evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params)
SAME_SIZE(cupti_enable, object, CUpti_RangeProfiler_Enable_Params)
SAME_SIZE(cupti_object, object, CUpti_RangeProfiler_Disable_Params)
SAME_SIZE(cupti_object, object, CUpti_RangeProfiler_Start_Params)
SAME_SIZE(cupti_object, object, CUpti_RangeProfiler_PopRange_Params)
SAME_SIZE(cupti_push, name, CUpti_RangeProfiler_PushRange_Params)
SAME_SIZE(cupti_data_size, n, CUpti_RangeProfiler_GetCounterDataSize_Params)
SAME_SIZE(cupti_data_init, data, CUpti_RangeProfiler_CounterDataImage_Initialize_Params)
SAME_SIZE(cupti_set, target_level, CUpti_RangeProfiler_SetConfig_Params)
SAME_SIZE(cupti_stop, all_submitted, CUpti_RangeProfiler_Stop_Params)
SAME_SIZE(cupti_decode, dropped, CUpti_RangeProfiler_DecodeData_Params)
SAME_PLACE(cupti_chip, device, CUpti_Device_GetChipName_Params, deviceIndex)
SAME_PLACE(cupti_availability, n, CUpti_Profiler_GetCounterAvailability_Params,
           counterAvailabilityImageSize)
SAME_PLACE(cupti_host_open, chip, CUpti_Profiler_Host_Initialize_Params, pChipName)
SAME_PLACE(cupti_host_open, availability, CUpti_Profiler_Host_Initialize_Params,
           pCounterAvailabilityImage)
SAME_PLACE(cupti_evaluate, range, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex)
SAME_PLACE(cupti_evaluate, names, CUpti_Profiler_Host_EvaluateToGpuValues_Params, ppMetricNames)
SAME_PLACE(cupti_data_size, ranges, CUpti_RangeProfiler_GetCounterDataSize_Params, maxNumOfRanges)
SAME_PLACE(cupti_data_size, nodes, CUpti_RangeProfiler_GetCounterDataSize_Params, maxNumRangeTreeNodes)
SAME_PLACE(cupti_set, config, CUpti_RangeProfiler_SetConfig_Params, pConfig)
SAME_PLACE(cupti_set, data, CUpti_RangeProfiler_SetConfig_Params, pCounterDataImage)
SAME_PLACE(cupti_set, range, CUpti_RangeProfiler_SetConfig_Params, range)
SAME_PLACE(cupti_set, replay, CUpti_RangeProfiler_SetConfig_Params, replayMode)
SAME_PLACE(cupti_set, ranges_per_pass, CUpti_RangeProfiler_SetConfig_Params, maxRangesPerPass)
SAME_PLACE(cupti_set, levels, CUpti_RangeProfiler_SetConfig_Params, numNestingLevels)
SAME_PLACE(cupti_set, pass, CUpti_RangeProfiler_SetConfig_Params, passIndex)
_Static_assert((int)CUPTI_RANGE_AUTO == (int)CUPTI_AutoRange &&
                   (int)CUPTI_RANGE_USER == (int)CUPTI_UserRange,
               "ranges");
_Static_assert((int)CUPTI_REPLAY_KERNEL == (int)CUPTI_KernelReplay &&
                   (int)CUPTI_REPLAY_USER == (int)CUPTI_UserReplay,
               "replay modes");
_Static_assert((int)CUPTI_TYPE_RANGE_PROFILER == (int)CUPTI_PROFILER_TYPE_RANGE_PROFILER,
               "profiler type");
_Static_assert((int)CUPTI_NO_PRIVILEGE == (int)CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "privilege");
_Static_assert((int)CUPTI_VIRTUAL_NO_PRIVILEGE ==
                   (int)CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES,
               "privilege");
#endif

static void test_cupti(void **state)
{
    (void)state;
#ifndef HAVE_CUPTI_H
    skip();
#endif
    assert_int_equal(CUPTI_SIZE(cupti_init, priv), 2 * sizeof(void *));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_driver), cmocka_unit_test(test_cupti) };
    return cmocka_run_group_tests_name("declarations of CUDA and CUPTI", tests, NULL, NULL);
}
