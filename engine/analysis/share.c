#include "engine/analysis/facts.h"
void share_all(struct facts *f, struct ana_kernel *k) { (void)f; (void)k; }
