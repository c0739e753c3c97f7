/* What the device is, as programs ask: by the preset; names of errors; what there is one of. */
#include "engine/emulate/runtime/runtime.h"

#include <string.h>

#define DRIVER_VERSION 13000

/* ---- properties ---- */
#define PUT(type, ...)                                              \
    do {                                                            \
        const type v_[] = { __VA_ARGS__ };                          \
        at = (at + sizeof(type) - 1) / sizeof(type) * sizeof(type); \
        memcpy(out + at, v_, sizeof v_);                            \
        at += sizeof v_;                                            \
    } while (0)

/* Texts have the room that they have; numbers stand alone. */
static size_t put_text(char *out, size_t at, const char *text, size_t room)
{
    size_t n = strlen(text);
    memcpy(out + at, text, n < room ? n : room - 1);
    return at + room;
}

static size_t put_properties(char *out, int version)
{
    const struct wire_device *D = device();
    size_t at = 0;
#define PROP(type, name, count, value, since) PROP_##type(value, count, since)
#define PROP_char(value, count, since)        at = put_text(out, at, value, count);
#define NUMBER(type, value, since)                              \
    if ((since) < 0 ? version <= -(since) : version >= (since)) \
        PUT(type, (type)(value));
#define PROP_unsigned(value, count, since) NUMBER(unsigned, value, since)
#define PROP_int(value, count, since)      NUMBER(int, value, since)
#define PROP_size_t(value, count, since)   NUMBER(size_t, value, since)
#define PROP2(type, name, x, y)            PUT(type, x, y);
#define PROP3(type, name, x, y, z)         PUT(type, x, y, z);
#include "engine/emulate/runtime/props.def"
    return at;
}

static cudaError_t properties(void *p, int id, int version, size_t clear)
{
    BEGIN
    if (!p || id)
        END(p ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    char out[2048] = { 0 };
    size_t n = put_properties(out, version);
    memcpy(p, out, n > clear ? n : clear);
    END(cudaSuccess);
}

/* Bytes of the whole structure from CUDA 12 on: reserved words at its end are 0. */
enum { SIZE_12 = 1032, SIZE_13 = 1008 };
EXPORT cudaError_t cudaGetDeviceProperties(void *p, int id)
{
    int version = runtime_version() / 1000;
    return properties(p, id, version >= 13 ? 13 : 11, version >= 13 ? SIZE_13 : 0);
}

PLAIN(cudaGetDeviceProperties_v2, (void *p, int id), properties(p, id, 12, SIZE_12))

EXPORT cudaError_t cudaDeviceGetAttribute(int *value, int attribute, int id)
{
    BEGIN
    const struct wire_device *D = device();
    static const int none = -2;
    int v = none;
    switch (attribute) {
#define ATTRIBUTE(number, what) \
    case number:                \
        v = (int)(what);        \
        break;
#include "engine/emulate/runtime/attributes.def"
    default: break;
    }
    if (!value || id || v == none)
        END(id ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    *value = v;
    END(cudaSuccess);
}

/* ---- there is one ---- */
LOCKED(cudaGetDeviceCount, (int *n), ANSWER(n, 1))
LOCKED(cudaGetDevice, (int *id), ANSWER(id, 0))

static cudaError_t the_device(int id)
{
    BEGIN
    END(id ? cudaErrorInvalidDevice : cudaSuccess);
}

PLAIN(cudaSetDevice, (int id), the_device(id))
PLAIN(cudaInitDevice, (int id, unsigned device_flags, unsigned flags),
      ((void)device_flags, (void)flags, the_device(id)))
PLAIN(cudaSetValidDevices, (const int *ids, int n),
      n > 0 && ids ? the_device(ids[0]) : give(cudaErrorInvalidValue))
PLAIN(cudaChooseDevice, (int *id, const void *properties_wanted),
      ((void)properties_wanted, cudaGetDevice(id)))
PLAIN(cudaSetDeviceFlags, (unsigned flags), ((void)flags, the_device(0)))

EXPORT cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
    if (flags)
        *flags = 8; /* mapped memory */
    return the_device(0);
}

PLAIN(cudaDeviceCanAccessPeer, (int *can, int id, int peer),
      can ? (*can = 0, id || peer ? give(cudaErrorInvalidDevice) : cudaSuccess)
          : give(cudaErrorInvalidValue))
PLAIN(cudaDeviceEnablePeerAccess, (int peer, unsigned flags),
      ((void)flags, give(peer ? cudaErrorInvalidDevice : cudaErrorPeerAccessUnsupported)))
PLAIN(cudaDeviceDisablePeerAccess, (int peer),
      give(peer ? cudaErrorInvalidDevice : cudaErrorPeerAccessNotEnabled))

/* There is no second device. */
PLAIN(cudaDeviceGetP2PAttribute, (int *value, int attribute, int id, int peer),
      ((void)attribute, (void)id, (void)peer,
       give(value ? cudaErrorInvalidDevice : cudaErrorInvalidValue)))

/* Texels of four bytes and less as many as the properties say; of larger ones as many as fill the same. */
EXPORT cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t *most,
                                                        const struct cudaChannelFormatDesc *d, int id)
{
    enum { TEXELS = 268435456 };
    int bits = d ? d->x + d->y + d->z + d->w : 0;
    if (!most || bits <= 0)
        return give(cudaErrorInvalidValue);
    *most = bits > 32 ? (size_t)TEXELS * 32 / (size_t)bits : TEXELS;
    return the_device(id);
}

EXPORT cudaError_t cudaDeviceGetPCIBusId(char *text, int n, int id)
{
    static const char bus[] = "0000:00:00.0";
    if (!text || n < (int)sizeof bus)
        return give(cudaErrorInvalidValue);
    memcpy(text, bus, sizeof bus);
    return the_device(id);
}

EXPORT cudaError_t cudaDeviceGetByPCIBusId(int *id, const char *text)
{
    if (!id || !text)
        return give(cudaErrorInvalidValue);
    *id = 0;
    return the_device(0);
}

PLAIN(cudaDriverGetVersion, (int *version), give(ANSWER(version, DRIVER_VERSION)))
PLAIN(cudaRuntimeGetVersion, (int *version), give(ANSWER(version, runtime_version())))

/* ---- settings that change nothing here ---- */
enum { LIMITS = 8 };
static size_t limit[LIMITS] = { 1024, 1 << 20, 8 << 20, 2, 2048, 128, 0, 0 };

EXPORT cudaError_t cudaDeviceGetLimit(size_t *value, int what)
{
    if (what < 0 || what >= LIMITS || !value)
        return give(cudaErrorUnsupportedLimit);
    *value = limit[what];
    return the_device(0);
}

EXPORT cudaError_t cudaDeviceSetLimit(int what, size_t value)
{
    if (what < 0 || what >= LIMITS)
        return give(cudaErrorUnsupportedLimit);
    limit[what] = value;
    return the_device(0);
}

PLAIN(cudaThreadExit, (void), the_device(0))

static cudaError_t zero_of(int *value)
{
    if (!value)
        return give(cudaErrorInvalidValue);
    *value = 0;
    return the_device(0);
}

PLAIN(cudaDeviceGetCacheConfig, (int *value), zero_of(value))
PLAIN(cudaDeviceSetCacheConfig, (int value), ((void)value, the_device(0)))
PLAIN(cudaDeviceGetSharedMemConfig, (int *value),
      value ? (*value = 1, the_device(0)) : give(cudaErrorInvalidValue)) /* banks of four bytes */
PLAIN(cudaDeviceSetSharedMemConfig, (int value), ((void)value, the_device(0)))

/* What CUDA 10 and older called the same. */
PLAIN(cudaThreadGetLimit, (size_t * value, int what), cudaDeviceGetLimit(value, what))
PLAIN(cudaThreadSetLimit, (int what, size_t value), cudaDeviceSetLimit(what, value))
PLAIN(cudaThreadGetCacheConfig, (int *value), cudaDeviceGetCacheConfig(value))
PLAIN(cudaThreadSetCacheConfig, (int value), cudaDeviceSetCacheConfig(value))

/* Doubles are doubles since compute capability 1.3. */
PLAIN(cudaSetDoubleForDevice, (double *d), d ? the_device(0) : give(cudaErrorInvalidValue))
PLAIN(cudaSetDoubleForHost, (double *d), cudaSetDoubleForDevice(d))

EXPORT cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    return the_device(0);
}

PLAIN(cudaCtxResetPersistingL2Cache, (void), the_device(0))
PLAIN(cudaProfilerStart, (void), cudaSuccess)
PLAIN(cudaProfilerStop, (void), cudaSuccess)

/* ---- advice about managed memory ---- */
EXPORT cudaError_t cudaMemPrefetchAsync(const void *p, size_t n)
{
    BEGIN(void) n;
    END(block_at(p) ? cudaSuccess : cudaErrorInvalidValue);
}

PLAIN(cudaMemPrefetchAsync_v2, (const void *p, size_t n), cudaMemPrefetchAsync(p, n))
PLAIN(cudaMemAdvise, (const void *p, size_t n), cudaMemPrefetchAsync(p, n))
PLAIN(cudaMemAdvise_v2, (const void *p, size_t n), cudaMemPrefetchAsync(p, n))

/* ---- errors ---- */
static const struct {
    int number;
    const char *name, *text;
} errors[] = {
#define ERROR(number, name, text)        { number, name, text },
#define BOTH(number, name, result, text) { number, name, text },
#define RESULT(number, result)
#include "engine/emulate/runtime/errors.def"
};

EXPORT const char *cudaGetErrorName(cudaError_t e)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].number == e)
            return errors[i].name;
    return "unrecognized error code";
}

EXPORT const char *cudaGetErrorString(cudaError_t e)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].number == e)
            return *errors[i].text ? errors[i].text : errors[i].name;
    return "unrecognized error code";
}
