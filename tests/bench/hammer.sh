#!/bin/sh
# Keeps the GPU busy with another program while the decisions of tests/bench/hammered.lua are taken.
#   hammer.sh INDEPENDENT AKO_LUA
stop=$(mktemp -u)
(while [ ! -e "$stop" ]; do AKO_NO_CUPTI=1 "$1" 33554432 5000 || exit; done) >/dev/null 2>&1 &
sleep 2
"$2" tests/bench/hammered.lua
code=$?
touch "$stop"
wait
rm -f "$stop"
exit $code
