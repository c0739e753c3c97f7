/* prompt: the one-line editor at the bottom: commands, searches, values, notes. */
#pragma once

#include "engine/base/base.h"

enum prompt_kind {
    PROMPT_NONE,
    PROMPT_COMMAND,
    PROMPT_SEARCH,
    PROMPT_VALUE,
    PROMPT_NOTE,
    PROMPT_FILTER,
    PROMPT_CONFIRM,
    PROMPT_GUESS /* a question about a guessed launch */
};
#define PROMPT_TEXT 512
struct prompt {
    enum prompt_kind kind;
    char label[64], text[PROMPT_TEXT];
    size_t n, at;            /* bytes; at lies on a code point boundary */
    long target;             /* what a value or note belongs to */
    bool selected;           /* the text that is there goes when something is typed */
    size_t recall;           /* history entries back; 0: the typed text */
    char typed[PROMPT_TEXT]; /* kept while recalling */
    /* what Tab found more than one of, each ended by a newline; until the next key. offered: how many,
       also of those that did not fit */
    char choices[4096];
    size_t nchoices, offered;
};
#define HISTORY_MAX 100
struct history {
    char *v[HISTORY_MAX];
    size_t n;
};
void history_add(struct history *h, const char *line); /* repeats of the last are left out */
void history_free(struct history *h);

void prompt_open(struct prompt *p, enum prompt_kind kind, const char *label, const char *text,
                 long target);
void prompt_close(struct prompt *p);
enum prompt_result { PROMPT_GOES_ON, PROMPT_DONE, PROMPT_DROPPED, PROMPT_COMPLETE };
/* PROMPT_COMPLETE: Tab was pressed; the owner completes. */
enum prompt_result prompt_key(struct prompt *p, const struct history *h, uint32_t key);
void prompt_offer(struct prompt *p, const char *word); /* one more choice */
/* Replaces the bytes [from, at) by text. */
void prompt_replace(struct prompt *p, size_t from, const char *text);
