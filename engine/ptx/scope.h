/* scope: names, brace scopes and label references while a body is parsed. */
#pragma once

#include "engine/base/base.h"

struct ptx_symbol;

enum ptx_name_kind { NAME_REG, NAME_RANGE, NAME_SYM, NAME_LABEL };
struct ptx_name {
    struct str name;
    uint32_t hash, next; /* next: older entry of the bucket, +1 */
    /* REG: func reg or PTX_NO_INDEX; RANGE, LABEL: their index; SYM of a function: in funcs */
    uint32_t scope, index;
    uint8_t kind;    /* enum ptx_name_kind */
    uint8_t type;    /* enum ptx_type */
    uint8_t vec;     /* elements of a vector: 1, 2, 4 or 8 */
    bool undeclared; /* only so that it is told once */
    struct ptx_symbol *sym;
    struct span at;
};
/* %r<n>: registers get an index at first use. `dense` covers small numbers, `sparse` the rest,
 * so the cost follows the uses, never n. */
struct ptx_range {
    uint64_t count;
    uint32_t *dense;
    uint32_t ndense, used;
    struct strmap sparse;
};
struct ptx_scope {
    uint32_t parent; /* index of the scope around it */
    uint32_t names;  /* names, and ranges, that there were when it began */
    uint32_t ranges;
    uint32_t first_label; /* its labels, as a list */
    uint32_t last_label;
};
struct ptx_label_place {
    uint32_t next;
    struct span at;
    bool used;
}; /* next label of the same scope */

enum ptx_ref_kind { REF_LABEL, REF_TARGET /* of .branchtargets */, REF_TABLE /* brx.idx */ };
struct ptx_label_ref {
    uint32_t *slot;
    struct str name;
    struct span at;
    uint32_t stmt;
    enum ptx_ref_kind kind;
};
