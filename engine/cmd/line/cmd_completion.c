/* completion: the shells' side of completing a command line. Each script asks the program what may stand
 * there
 * (`gpulocw completion -- WORD...`, see complete.c) and leaves files to the shell. */
#include "engine/cmd/cmd_int.h"
#include "engine/workspace/args.h"

#include <string.h>

/* bash breaks words at ':' and '=': the line is split at blanks instead, and what bash believes typed
 * already is cut off again. */
static const char bash[] =
    "_gpulocw() {\n"
    "    local line words cur strip endings\n"
    "    read -ra words <<<\"${COMP_LINE:0:COMP_POINT}\"\n"
    "    [[ ${COMP_LINE:0:COMP_POINT} == *[[:space:]] ]] && words+=(\"\")\n"
    "    cur=${words[${#words[@]}-1]}\n"
    "    strip=${cur%\"${cur##*[:=]}\"}\n"
    "    COMPREPLY=()\n"
    "    while IFS= read -r line; do\n"
    "        case $line in\n"
    "            :folders) compopt -o filenames; mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen "
    "-d -- \"$2\") ;;\n"
    "            :files) compopt -o filenames; mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f "
    "-- \"$2\") ;;\n"
    "            :files*) endings=${line#:files }; compopt -o filenames\n"
    "                mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- \"$2\"; compgen -f -- "
    "\"$2\" | grep -E \"\\.(${endings// /|})\\$\") ;;\n"
    "            *) line=${line%%$'\\t'*}; COMPREPLY+=(\"${line#\"$strip\"}\") ;;\n"
    "        esac\n"
    "    done < <(\"${1/#\\~/$HOME}\" completion -- \"${words[@]:1}\" 2>/dev/null)\n"
    "    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[:=] ]] && compopt -o nospace\n"
    "    return 0\n"
    "}\n"
    "complete -F _gpulocw gpulocw\n";

static const char zsh[] =
    "#compdef gpulocw\n"
    "_gpulocw() {\n"
    "    local line word help\n"
    "    local -a said\n"
    "    for line in \"${(@f)$(\"${~words[1]}\" completion -- \"${(@)words[2,CURRENT]}\" "
    "2>/dev/null)}\"; do\n"
    "        case $line in\n"
    "            ('') ;;\n"
    "            (:folders) _path_files -/ ;;\n"
    "            (:files) _files ;;\n"
    "            (:files*) _files -g \"*.(${${line#:files }// /|})(-.)\" ;;\n"
    "            (*) word=${line%%$'\\t'*} help=${line#$word} "
    "said+=(\"${word//:/\\\\:}${help:+:${help#$'\\t'}}\") ;;\n"
    "        esac\n"
    "    done\n"
    "    (( $#said )) && _describe gpulocw said\n"
    "}\n"
    "if [ \"$funcstack[1]\" = _gpulocw ]; then _gpulocw \"$@\"; else compdef _gpulocw gpulocw; fi\n";

static const char fish[] =
    "function __gpulocw_complete\n"
    "    set -l words (commandline -opc) (commandline -ct)\n"
    "    for line in ($words[1] completion -- $words[2..-1] 2>/dev/null)\n"
    "        switch $line\n"
    "            case ':folders'\n"
    "                __fish_complete_directories (commandline -ct)\n"
    "            case ':files'\n"
    "                __fish_complete_path (commandline -ct)\n"
    "            case ':files*'\n"
    "                for ending in (string split ' ' -- (string replace ':files ' '' -- $line))\n"
    "                    __fish_complete_suffix .$ending\n"
    "                end\n"
    "            case '*'\n"
    "                echo $line\n"
    "        end\n"
    "    end\n"
    "end\n"
    "complete -c gpulocw -f -a '(__gpulocw_complete)'\n";

static const struct {
    const char *name, *text;
} shells[] = { { "bash", bash }, { "zsh", zsh }, { "fish", fish } };

int cmd_completion(struct args *a)
{
    struct diags ds = { 0 };
    for (size_t i = 0; a->nfiles && i < ARRAY_LEN(shells); i++)
        if (strcmp(a->file[0], shells[i].name) == 0) {
            struct buf out = { 0 };
            buf_puts(&out, shells[i].text);
            cmd_give(a, &out);
            return cmd_finish(a, ST_OK, &ds);
        }
    struct diag *d = diag_add(&ds, DIAG_ERROR, "usage", NULL, NO_SPAN,
                              a->nfiles ? "no completion for the shell '%s'" : "no shell given",
                              a->nfiles ? a->file[0] : "");
    diag_hint(d, "the shells are bash, zsh and fish: . <(gpulocw completion bash)");
    return cmd_finish(a, ST_USAGE, &ds);
}
