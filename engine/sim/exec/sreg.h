/* sreg: where the values of special registers are, and who fills them in. */
#pragma once

#include "engine/sim/decoded.h"

struct exec_cta;
struct exec_launch;

/* BANK_CTA for what differs from CTA to CTA, else BANK_SREG: of a launch, for each warp of a CTA. */
enum exec_bank exec_sreg_bank(uint32_t sreg);
/* Room for them, and the values of a launch. False: out of memory. */
bool exec_launch_sregs(struct exec_launch *x);
bool exec_cta_sregs(struct exec_cta *c);
/* A CTA starts. */
void exec_fill_sregs(struct exec_cta *c);
