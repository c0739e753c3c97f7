/* machine: see machine.h. Runs the tools in a folder of our own. */
#include "engine/workspace/machine/machine.h"

#include "engine/base/name.h"
#include "engine/base/private_folder.h"
#include "engine/base/tool.h"

#include <stdio.h>
#include <string.h>

#define MOST_SAID 60000u       /* bytes of a tool's words that are read */
#define MOST_TEXT (256u << 20) /* bytes of a listing */

/* ---- ptxas ---- */
static int assemble(char *ptxas, const char *arch, const char *ptx, const char *cubin, char **said)
{
    char option[32];
    snprintf(option, sizeof option, "-arch=%s", arch);
    char *line[] = { ptxas,
                     option,
                     program_word("-lineinfo"),
                     program_word("-v"),
                     program_word("-o"),
                     program_word(cubin),
                     program_word(ptx),
                     NULL };
    return program_listen(line, MOST_SAID, said);
}

/* The device's architecture, else the target's, else the oldest that this ptxas still knows: PTX of an
 * older target compiles for any newer GPU. */
static enum status assemble_any(const struct machine_want *w, char *ptxas, const char *ptx,
                                const char *cubin, struct machine_code *out, struct diags *ds)
{
    static const char *const newer[] = { "sm_75", "sm_80", "sm_90", "sm_100", "sm_120" };
    char *said = NULL;
    int rc;
    if (w->cc)
        snprintf(out->arch, sizeof out->arch, "sm_%u%s", w->cc,
                 *w->target && w->target[strlen(w->target) - 1] == 'a' ? "a" : "");
    else
        snprintf(out->arch, sizeof out->arch, "%s", w->target);
    rc = assemble(ptxas, out->arch, ptx, cubin, &said);
    for (size_t i = 0; rc && said && strstr(said, "gpu-name") && i < ARRAY_LEN(newer); i++) {
        base_free(said);
        snprintf(out->arch, sizeof out->arch, "%s", newer[i]);
        rc = assemble(ptxas, out->arch, ptx, cubin, &said);
    }
    if (rc) {
        const char *line = said && *said ? said : "it could not be started";
        diag_add(ds, DIAG_ERROR, "ptxas", NULL, NO_SPAN, "ptxas: %.*s", (int)strcspn(line, "\n"), line);
    } else {
        ptxas_read_said(said, w->kernel, &out->said);
    }
    base_free(said);
    return rc ? ST_INPUT : ST_OK;
}

/* ---- disassemblers ---- */
static enum status list(char *const *line, const struct machine_want *w, struct machine_code *out,
                        struct diags *ds)
{
    char *text = NULL;
    int rc = program_listen(line, MOST_TEXT, &text);
    if (rc) {
        diag_add(ds, DIAG_ERROR, "disassembler", NULL, NO_SPAN, "%s: %.*s", line[0],
                 text ? (int)strcspn(text, "\n") : 0, text ? text : "");
        base_free(text);
        return ST_INPUT;
    }
    if (machine_parse(out, text, w->kernel))
        return ST_OK;
    diag_add(ds, DIAG_ERROR, "disassembler", NULL, NO_SPAN, "%s shows no machine code of %s", line[0],
             w->kernel);
    return ST_INPUT;
}

/* A cubin with the lines of its source; anything else that holds machine code by cuobjdump alone. */
static enum status disassemble(const char *file, bool cubin, const struct machine_want *w,
                               struct machine_code *out, struct diags *ds)
{
    char *nvdisasm = cubin ? program_find("nvdisasm") : NULL,
         *cuobjdump = nvdisasm ? NULL : program_find("cuobjdump");
    char *first[] = { nvdisasm, program_word("-c"), program_word("-g"), program_word(file), NULL },
         *second[] = { cuobjdump, program_word("-sass"), program_word(file), NULL };
    enum status st = ST_REFUSED;
    if (nvdisasm || cuobjdump)
        st = list(nvdisasm ? first : second, w, out, ds);
    else
        snprintf(out->missing, sizeof out->missing, "%s",
                 cubin ? "neither nvdisasm nor cuobjdump is here (both are in the CUDA toolkit)"
                       : "cuobjdump is not here (it is in the CUDA toolkit)");
    BASE_FREE(nvdisasm, cuobjdump);
    return st;
}

static enum status compile(const struct machine_want *w, char *ptxas, struct machine_code *out,
                           struct diags *ds)
{
    char *folder = NULL;
    struct buf ptx = { 0 }, cubin = { 0 };
    enum status st = private_folder_make(&folder, ds);
    if (st == ST_OK)
        st = private_folder_put(folder, "kernel.ptx", w->ptx.s, w->ptx.n, &ptx, ds);
    buf_printf(&cubin, "%s/kernel.cubin", folder ? folder : "");
    if (st == ST_OK && cubin.oom)
        st = ST_NOMEM;
    if (st == ST_OK)
        st = assemble_any(w, ptxas, ptx.s, cubin.s, out, ds);
    if (st == ST_OK && disassemble(cubin.s, true, w, out, ds) != ST_OK && !*out->missing)
        st = ST_INPUT;
    buf_free(&ptx);
    buf_free(&cubin);
    private_folder_remove(folder);
    return st;
}

enum status machine_make(const struct machine_want *w, struct machine_code *out, struct diags *ds)
{
    *out = (struct machine_code){ .said = { -1, -1, -1, -1, -1 } };
    char *ptxas = w->file ? NULL : program_find("ptxas");
    enum status st = ST_REFUSED;
    if (w->file) {
        st = disassemble(w->file, base_stem(w->file, ".cubin"), w, out, ds);
        if (*out->missing)
            diag_add(ds, DIAG_ERROR, "disassembler", w->file, NO_SPAN, "%s", out->missing);
    } else if (ptxas) {
        st = compile(w, ptxas, out, ds);
    } else {
        diag_add(ds, DIAG_ERROR, "ptxas", NULL, NO_SPAN,
                 "ptxas was not found (it is part of the CUDA toolkit)");
    }
    if (st != ST_OK)
        machine_free(out);
    base_free(ptxas);
    return st;
}

void machine_free(struct machine_code *c)
{
    BASE_FREE(c->v, c->text);
    c->v = NULL;
    c->text = NULL;
    c->n = 0;
}
