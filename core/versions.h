/* What this build consists of and what it finds on the machine. */
#ifndef AKO_VERSIONS_H
#define AKO_VERSIONS_H

#include "json.h"

/* An array of {"name","version","path"} for each library, linked or opened at run time; one that is missing has "why"
 * instead of "path" and an empty version. Loads nothing large and starts no driver: a few ms. AKO_NOMEM. */
int ako_versions(ako_json **out);

#endif
