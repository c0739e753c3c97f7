/* The rows of fields.def that are members of structs of rooms below this one. */
#include "engine/analysis/analysis.h"
#include "engine/dev/dev_pool.h"
#include "engine/perfmodel/valley.h"
#include "engine/search/advice.h"
#include "engine/search/found.h"
#include "engine/session/documents.h"
#include "engine/session/session_int.h"

MEMBER_NAMES(level_name, "quick", "full")
MEMBER_NAMES(verdict_name, "not-proven", "holds", "broken")

static const struct member rows[] = {
#define RECORD(name, what) { .key = name },
#define FIELD(...)
#define DOC(bind, name, ...) { name, bind, false },
#include "engine/rec/fields.def"
};

struct members doc_members(const char *record)
{
    struct members m = members_of(rows, ARRAY_LEN(rows), record);
    return m.n ? m : record_members(record);
}
