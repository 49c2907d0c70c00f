#include <stdlib.h>

#include "clock.h"
#include "error.h"
#include "sample.h"

#define TRIES 3

/* The middle of a few requests for so many calls of nothing, by our own clock. */
static int cost_of(trial *t, int64_t *ns, int launches)
{
    int64_t took[TRIES] = {0};
    int status = AKO_OK;
    for (int i = 0; status == AKO_OK && !t->ended && i < TRIES; i++) {
        json_t *reply = NULL;
        int64_t start = ako_clock_ns();
        status = trial_ask_referee(t, &reply, "calibrate",
                                   json_pack("{s:i, s:i, s:b, s:s}", "warmup", 0, "launches", launches, "flush",
                                             t->timing.flush, "timer", "auto"),
                                   -1);
        took[i] = ako_clock_ns() - start;
        json_decref(reply);
    }
    int64_t low = took[0] < took[1] ? took[0] : took[1], high = took[0] < took[1] ? took[1] : took[0];
    *ns = took[2] < low ? low : took[2] > high ? high : took[2];
    return status;
}

int calibrate(trial *t)
{
    calibration *c = &t->ev->calibration;
    int64_t one = 0, several = 0;
    int n = t->n_sets > 1 ? t->n_sets : 2;
    ako_place place = ako_lane_place(t->unit->lane);
    if (c->done && c->flush == t->timing.flush && c->place == place)
        return AKO_OK;
    int status = cost_of(t, &one, 1);
    if (status == AKO_OK && !t->ended)
        status = cost_of(t, &several, n);
    if (status != AKO_OK || t->ended)
        return status;
    int64_t each = several > one ? (several - one) / (n - 1) : 0;
    *c = (calibration){.done = true,
                       .flush = t->timing.flush,
                       .place = place,
                       .each_ns = each,
                       .fixed_ns = one > each ? one - each : 0};
    return AKO_OK;
}
