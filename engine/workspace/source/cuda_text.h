/* cuda_text: reading CUDA C++ without a compiler: words, brackets, where a kernel is defined. What cannot
 * be told for certain is "no"; what the edits come to is tried by a compiler. */
#pragma once

#include "engine/workspace/source_edits_int.h"

enum { CUDA_NAME_MOST = 256 };

struct cuda_kernel {
    struct source_file *file;
    char name[CUDA_NAME_MOST]; /* as it is called in the source */
    const char *at;            /* the name */
    const char *params;        /* behind '(' */
    const char *body;          /* at '{' */
    const char *end;           /* behind '}' */
    uint32_t line;             /* of the name */
};
/* Is its one definition in a file that was found? The name is filled in in any case. */
bool cuda_define(struct source_editing *h, struct cuda_kernel *d);
bool cuda_word_char(char c);
/* The word from `from` on in a text; NULL: none. */
const char *cuda_word(const char *from, const char *end, const char *word);
/* Behind the bracket that closes the one at p; NULL: none. */
const char *cuda_closed(const char *p, const char *end, char open, char shut);
struct str cuda_trimmed(struct str s);
uint32_t cuda_line_of(const struct source_file *f, const char *p);
/* The line before which helper functions go: behind the last #include before any code. */
uint32_t cuda_helper_line(const struct source_file *f);
/* The name of parameter i; n 0: not told. */
struct str cuda_param(const struct cuda_kernel *d, unsigned i);
/* Is a pointer of that name declared between these places, as parameter or variable? */
bool cuda_is_pointer(const char *from, const char *end, struct str name);
/* Does a function that is no kernel say this word? Macros count. */
bool cuda_others_say(const struct cuda_kernel *d, const char *word);
/* The only place `name<<<` of the file; 0: none, or several. */
uint32_t cuda_launch_line(const struct cuda_kernel *d);

/* ---- edits of a kernel; false: nothing was edited ---- */
/* Lines behind the '{' of the body, lines before its '}' (NULL: none). */
bool cuda_wrap_body(struct source_editing *h, const struct cuda_kernel *d, const char *first,
                    const char *last);
/* One configuration's parts, each told and edited where it has a form. d NULL: the source is not known. */
void cuda_loads(struct source_editing *h, const struct cuda_kernel *d);
void cuda_place(struct source_editing *h, const struct cuda_kernel *d); /* which thread does what work */
void cuda_shared(struct source_editing *h, const struct cuda_kernel *d);
