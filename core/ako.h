/* libako: the primitives of ako-lua. One public header a module. */
#ifndef AKO_H
#define AKO_H

#define AKO_VERSION "0.1.0"

#include "build.h"
#include "cancel.h"
#include "clock.h"
#include "confine.h"
#include "device.h"
#include "dtype.h"
#include "error.h"
#include "evaluator.h"
#include "fs.h"
#include "git.h"
#include "journal.h"
#include "json.h"
#include "log.h"
#include "memory.h"
#include "ops.h"
#include "process.h"
#include "regex.h"
#include "runner.h"
#include "stats.h"
#include "tensor.h"
#include "timing.h"
#include "unit.h"
#include "versions.h"
#include "wire.h"

#endif
