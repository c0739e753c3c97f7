/* fields: the fields of every JSON document (fields.def), as text, Markdown and JSON Schema. */
#pragma once

#include "engine/base/base.h"

/* Of every document whose record has a row "version". */
#define DOCUMENT_VERSION 1
/* The key of a row whose type is a record: its fields stand in this one. */
#define FIELD_MEMBERS "(members)"
/* A row of fields.def. Every text is constant. */
struct field {
    const char *key;  /* a path: "kernels[].name" */
    const char *type; /* a JSON type, "list of T", "A or B", or the name of a record */
    const char *unit; /* "": none */
    const char *when; /* when it is null or absent: "never", or why */
    const char *what; /* its meaning, for people */
};
/* A document, or a record that documents hold. */
struct field_record {
    const char *name;
    const char *what;           /* of a document: the command that prints it */
    const struct field *fields; /* borrowed, for ever */
    size_t n;                   /* of them */
};
size_t field_record_count(void);
struct field_record field_record_at(size_t i); /* i: below the count */
/* By name; "run" finds the document of that command, "session" gpulocw-session. False: there is none. */
bool field_record_find(const char *name, struct field_record *r);
/* Does its name stand in `format`, as that of whole documents does? */
bool field_record_is_document(const struct field_record *r);
/* The row whose key is the whole path; NULL: only longer keys hold it. */
const struct field *field_of(const struct field_record *r, struct str path);
/* Can the field be null; is its key always there? */
bool field_can_be_null(const struct field *f);
bool field_is_always_there(const struct field *f);
/* Appends "; null: why" or "; absent: why"; nothing where the field is always there and never null. */
void field_put_when(const struct field *f, struct buf *out);

/* The documents, a line each. */
void fields_list(struct buf *out);
/* One record: two lines a field. */
void fields_text(const struct field_record *r, struct buf *out);
/* One record: a table. */
void fields_md(const struct field_record *r, struct buf *out);
/* JSON Schema, draft 2020-12, of one record with all that it holds; r NULL: of any document. */
void fields_schema(const struct field_record *r, struct buf *out);
