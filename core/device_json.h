/* Devices as JSON, with the names that the protocol and Lua use: those of the structures. */
#ifndef AKO_DEVICE_JSON_H
#define AKO_DEVICE_JSON_H

#include "device.h"
#include "json.h"

/* Every property; "place" is "gpu" or "cpu", and what a kind of device does not have is left out. AKO_NOMEM. */
int ako_device_props_json(ako_json **out, const ako_device_props *device);

/* The state; what could not be read is left out. "processes" holds others' PIDs, absent when unknown. AKO_NOMEM. */
int ako_device_state_json(ako_json **out, const ako_device_state *state);

#endif
