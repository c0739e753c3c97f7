/* Private to session: field tables that drive writer and reader alike, and records. */
#pragma once

#include "engine/rec/record.h"
#include "engine/session/json.h"

struct ana_coalesce;
struct ana_kernel;
struct dev_info;
struct interval;
struct launch_spec;
struct limits;
struct options;
struct result;
struct tune_found;
struct tune_proof;

/* preset.c: the tree of a shipped preset or a file; the caller frees it (cJSON_Delete). */
enum status preset_tree(const char *name_or_path, cJSON **t, struct diags *ds);

/* ---- members of structs (engine/rec/record.h) ---- */
void members_write(struct jw *w, struct members m, const void *record);
/* Absent or null keys leave the record as it is; a wrong type is a diagnostic. */
enum status members_read(const cJSON *o, struct members m, void *record, const char *where,
                         struct diags *ds);

/* The bound rows of a record of fields.def (doc_members.c). */
struct members doc_members(const char *record);
/* They as an object: a member of the open one, or without a key (json.c). */
void put_record(struct jw *w, const char *key, const char *record, const void *of);

/* ---- records (records.c) ---- */
void put_options(struct jw *w, const struct options *o);
void put_device(struct jw *w, const struct dev_info *d);
void put_device_members(struct jw *w, const struct dev_info *d); /* into an open object */
/* {"percent", "low", "high"}, or null where it is not known */
void put_interval(struct jw *w, const char *key, struct interval i);
void get_limits(const cJSON *o, struct limits *out);   /* of an object with what json_limits writes */
void put_result(struct jw *w, const struct result *r); /* members into an open object */
void put_result_as(struct jw *w, const char *key, const struct result *r); /* a member of its own */
struct ana_banks;
/* members of an exact count, of an analysed kernel: banks_json.c */
void json_banks(struct jw *w, const struct ana_banks *b);
void json_banks_cure(struct jw *w, const struct ana_kernel *k);
void put_curve(struct jw *w, const struct ana_kernel *k); /* the "curve" member of an analysed kernel */
void put_coalesce(struct jw *w, const struct ana_coalesce *c); /* the "coalesce" member */
enum status get_options(const cJSON *o, struct options *out, struct diags *ds);
enum status get_device(const cJSON *o, struct dev_info *out, struct diags *ds);
enum status get_result(const cJSON *o, struct result *out, struct diags *ds);
void put_data_sets(struct jw *w, const struct tune_found *f);
enum status get_data_sets(const cJSON *run, struct tune_found *f, struct diags *ds);
void put_line_as(struct jw *w, const char *key, const struct options *o); /* NULL: null */
enum status get_proof(const cJSON *o /* may be NULL */, struct tune_proof *p, struct diags *ds);
struct arg_spec;
/* An argument made from its "tensor_map" member; false: `why` says what is wrong (launch_tensor.c). */
bool get_tensor_map(const cJSON *o, struct arg_spec *a, char *why, size_t n);
void put_tensor_map(struct jw *w, const struct arg_spec *a);
/* The member "texture", "surface" or "sampler"; NULL: none. The same from it (launch_tensor.c). */
const cJSON *texture_member(const cJSON *o);
bool get_texture(const cJSON *o, struct arg_spec *a, char *why, size_t n);
void put_texture(struct jw *w, const struct arg_spec *a);
/* "address" and "expect" of a buffer; false: `why` (launch_tensor.c). */
bool get_beside(const cJSON *o, struct arg_spec *a, char *why, size_t n);
void put_beside(struct jw *w, const struct arg_spec *a);
/* "pointers" of a struct argument: arguments inside it, appended to v (room for all); false: `why`. */
bool get_pointers(const cJSON *o, const struct arg_spec *outer, struct arg_spec *v, size_t *n, char *why,
                  size_t size);
struct init_spec;
/* launch_init.c: `o`, an "init" of `count` elements (0: not known yet); NULL makes zeros. */
enum status get_init(const cJSON *o, const char *path, const char *where, uint64_t count,
                     struct init_spec *in, struct diags *ds);
void put_init(struct jw *w, const struct init_spec *in); /* key and value */
/* May the file `name` that stands in `o` be read? As launch_path_check. */
enum status launch_file_inside(const cJSON *o, const char *path, const char *where, const char *name,
                               struct diags *ds);
void put_launch(struct jw *w, const struct launch_spec *l, bool nested);
/* Words of enum launch_guess; those that are unknown are left out. */
void launch_guessed_put(struct jw *w, unsigned guessed);
unsigned launch_guessed_get(const cJSON *list);
/* A diagnostic about the object o of a launch, at its place in the file; ST_INPUT. */
enum status launch_wrong(struct diags *ds, const char *path, const cJSON *o, const char *where,
                         const char *what);
enum status get_launch(const cJSON *o, const char *path, const char *dir, struct launch_spec *out,
                       struct diags *ds);
/* Errors for keys that mean nothing, in the launch and what it holds (launch_keys.c). */
enum status launch_keys_check(const cJSON *o, const char *path, struct diags *ds);
/* May `full`, a file that a description or session at `path` names, be read? It must be a regular file,
 * and inside the folder `dir` when links are followed, unless --allow-files was given. What is not there
 * is not refused. `at` may be NO_SPAN. */
enum status launch_path_check(const char *full, const char *dir, const char *path, struct span at,
                              const char *where, struct diags *ds);
/* The same of all data files of a launch that a session at `path` holds. */
enum status launch_data_check(const struct launch_spec *l, const char *path, struct diags *ds);
char *launch_path(const char *dir, const char *name); /* name, from dir when it is relative; owned */
char *path_dir(const char *path);                     /* owned; "." when there is none */
