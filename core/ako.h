/* libako: the primitives of ako-lua. One public header a module. */
#ifndef AKO_H
#define AKO_H

#define AKO_VERSION "0.1.0"

#include "clock.h"
#include "error.h"
#include "fs.h"
#include "json.h"
#include "log.h"

#endif
