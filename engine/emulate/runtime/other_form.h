/* OTHER_FORM(name, of): a function of that name that jumps to another, arguments and all. */
#pragma once

#if defined(__x86_64__)
#define OTHER_JUMP "jmp "
#define OTHER_AT   "@PLT"
#elif defined(__aarch64__)
#define OTHER_JUMP "b "
#define OTHER_AT   ""
#else
#error "a jump for this processor"
#endif
#define OTHER_FORM(name, of)                                                                           \
    __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ": " OTHER_JUMP #of OTHER_AT \
            "\n.size " #name ", .-" #name "\n");
