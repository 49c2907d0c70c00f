-- One line on the device that the tests found.
local found = assert(require "ako.device".find "auto")
print(("on %s, %s"):format(found.id, found.name))
