/* What task.c and unit.c share: members that tasks and units both have. */
#ifndef AKO_UNIT_PARTS_H
#define AKO_UNIT_PARTS_H

#include "dtype.h"
#include "reader.h"
#include "unit.h"

int ako_shape_parse(ako_shape *out, const ako_json *list, const ako_reader *reader, const char *key);
int ako_dtype_member(ako_dtype *out, const ako_reader *reader); /* the member "dtype" */

#endif
