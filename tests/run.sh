#!/bin/sh
# Runs every test that is built under $B: the C programs of tests/core, then the Lua tests inside ako-lua.
# Prints a line a program and ends with what passed, failed and was skipped and why. Exit 1 when anything failed.
set -u

B=${B:-build}
tap=$(mktemp)
trap 'rm -f "$tap"' EXIT
failed=0 passed=0 skipped=0

for program in "$B"/tests/test_*; do
    case $program in *.d | *\*) continue ;; esac
    if CMOCKA_MESSAGE_OUTPUT=TAP "$program" >"$tap" 2>"$tap.err"; then verdict=ok; else verdict=FAILED; fi
    good=$(grep -c '^ok' "$tap")
    skip=$(grep -ci '# *skip' "$tap")
    bad=$(grep -c '^not ok' "$tap")
    [ "$verdict" = ok ] || { failed=$((failed + (bad > 0 ? bad : 1))); cat "$tap" "$tap.err"; }
    passed=$((passed + good - skip)) skipped=$((skipped + skip))
    printf '%-8s %-32s %3d passed %3d skipped\n' "$verdict" "${program##*/}" $((good - skip)) "$skip"
done
rm -f "$tap.err"

"$B/ako-lua" tests/lua/run.lua >"$tap" 2>&1
lua=$?
cat "$tap"
[ "$lua" = 0 ] || failed=$((failed + 1))

gpu=$("$B/ako-lua" --list-devices 2>/dev/null | head -n 1)
echo "C: $passed passed, $skipped skipped; Lua: $([ "$lua" = 0 ] && echo passed || echo FAILED)${gpu:+; on $gpu}"
if [ "${AKO_TEST_GPU:-0}" = 1 ] && [ "$skipped" -gt 0 ]; then
    echo "skipped tests name what they lack in their own output"
fi
[ "$failed" = 0 ] || { echo "$failed failed"; exit 1; }
