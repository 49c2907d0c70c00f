#!/bin/sh
# Runs every test that is built under $B: the C programs of tests/core, then the Lua tests inside ako-lua.
# Prints a line a program and ends with what passed, failed and was skipped and why. Exit 1 when anything failed.
# Run it from the project's root.
set -u

B=${B:-build}
export AKO_HOME="${AKO_HOME:-$PWD}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 passed=0 skipped=0

for program in "$B"/tests/test_*; do
    case $program in *.d | *\*) continue ;; esac
    if CMOCKA_MESSAGE_OUTPUT=TAP "$program" >"$work/out" 2>"$work/err"; then verdict=ok; else verdict=FAILED; fi
    # cmocka calls a skipped test "not ok N # SKIP"; the line before says why.
    skip=$(grep -c '# SKIP' "$work/out")
    good=$(grep '^ok' "$work/out" | grep -cv '# SKIP')
    bad=$(grep '^not ok' "$work/out" | grep -cv '# SKIP')
    if [ "$verdict" = FAILED ]; then
        failed=$((failed + (bad > 0 ? bad : 1)))
        cat "$work/out" "$work/err"
    fi
    awk -v reason="${program##*/} does not say why" \
        '/# SKIP/ { print reason } !/^(not ok|ok|1\.\.|#)/ { reason = $0 }' "$work/out" >>"$work/why"
    passed=$((passed + good)) skipped=$((skipped + skip))
    printf '%-8s %-32s %3d passed %3d skipped\n' "$verdict" "${program##*/}" "$good" "$skip"
done

if "$B/ako-lua" tests/lua/run.lua >"$work/out" 2>&1; then lua=passed; else lua=FAILED failed=$((failed + 1)); fi
cat "$work/out"
sed -n 's/^ok.*# SKIP //p' "$work/out" >>"$work/why"

"$B/ako-lua" tests/device.lua
echo "C: $passed passed, $skipped skipped; Lua: $lua"
if [ -s "$work/why" ]; then
    echo "skipped, because:"
    sort "$work/why" | uniq -c | sort -rn
fi
[ "$failed" = 0 ] && exit 0
# Once more at the end, where a log that was cut short still has them.
awk '/^not ok/ { print; more = 1; next } /^#/ && !/^# tests\/lua\/[a-z_]*\.lua$/ { if (more) print; next } { more = 0 }' "$work/out"
echo "$failed failed"
exit 1
