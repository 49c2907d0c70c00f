/* The addresses of the calls of a request lie in the worker's own memory, which native code shares with it. Cheats that
 * want to do more than one call at a time find them there. */
#ifndef BATCH_H
#define BATCH_H

#include "honest.h"
#include "scan.h"

#define MOST_CALLS 9

typedef struct call {
    const float *w, *x; /* in the order of their names */
    float *y;
} call;

#define AREAS 256

/* Memory of the C library's: the heap, or what a sanitizer has in its place. */
static inline int heaps(area *list)
{
    int n = 0, all = areas(list, AREAS, "");
    for (int i = 0; i < all; i++)
        if (strcmp(list[i].name, "[heap]") == 0 || (!list[i].name[0] && list[i].to - list[i].from < 32 << 20))
            list[n++] = list[i];
    return n;
}

/* The calls behind a place of a list of pointers to calls, the addresses of which lie in `where`. */
static inline int read_list(call *out, const uintptr_t *list, const area *where)
{
    int n = 0;
    for (; n < MOST_CALLS && list[n] % 8 == 0; n++) {
        if (list[n] < where->from || list[n] + sizeof *out > where->to)
            break;
        out[n] = *(const call *)list[n];
        if ((uintptr_t)out[n].x < where->to || (uintptr_t)out[n].y < where->to)
            break;
    }
    return n;
}

/* The calls that come after this one in its request. */
static inline int find_calls(call *out, const float *x, const float *w, float *y)
{
    static area list[AREAS];
    const call mine = {w, x, y};
    int n = 0, heaps_n = heaps(list);
    for (int i = 0; i < heaps_n; i++)
        for (uintptr_t at = find(&list[i], 0, &mine, sizeof mine); at; at = find(&list[i], at + 8, &mine, sizeof mine))
            for (int j = 0; j < heaps_n; j++)
                for (uintptr_t p = find(&list[j], 0, &at, sizeof at); p; p = find(&list[j], p + 8, &at, sizeof at))
                    if (p + 8 * MOST_CALLS < list[j].to && (n = read_list(out, (uintptr_t *)p + 1, &list[i])) > 0)
                        return n;
    return n;
}

#endif
