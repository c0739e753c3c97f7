/* run_kind: what a user can run. */
#pragma once

enum run_kind { RUN_ONE, RUN_SWEEP, RUN_TUNE };
