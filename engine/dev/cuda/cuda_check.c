/* What every call of the driver goes through: its errors as diagnostics, memory of the device. */
#include "engine/dev/cuda/cuda_int.h"

enum status cuda_check(struct cuda_dev *d, drv_result e, const char *what, struct diags *ds)
{
    if (drv_is_sticky(e))
        d->base.unusable = true;
    return drv_check(&d->drv, e, what, ds);
}

enum status cuda_alloc(struct cuda_dev *d, uint64_t n, const char *what, drv_ptr *out, struct diags *ds)
{
    drv_result e = d->drv.mem_alloc(out, (size_t)n);
    if (e == DRV_SUCCESS)
        return ST_OK;
    *out = 0;
    if (e != DRV_ERROR_OUT_OF_MEMORY)
        return cuda_check(d, e, what, ds);
    size_t left = 0, total = 0;
    d->drv.mem_info(&left, &total);
    struct diag *g = diag_add(ds, DIAG_ERROR, "device-memory", NULL, NO_SPAN,
                              "no room for '%s' (%llu bytes) on %s: %zu of %zu bytes are free", what,
                              (unsigned long long)n, d->base.info.name, left, total);
    diag_hint(g, "every buffer is stored twice and outputs up to three times; nvidia-smi lists other "
                 "programs that use memory");
    return ST_DEVICE;
}
