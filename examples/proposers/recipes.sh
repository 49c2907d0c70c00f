#!/bin/sh
# A list of edits of the rmsnorm example for a CPU, one a proposal, each on the best so far:
#
#   ako-lua policies/kernelbench.lua --task examples/rmsnorm --device cpu \
#       --propose "$PWD/examples/proposers/recipes.sh"
#
# Behind the last one it changes nothing any more, and after as many proposals as the policy's budget.no_ops the run
# ends.
set -eu

# recipe NUMBER WHY GAIN SED_SCRIPT: GAIN is by how many per cent it should be faster
recipe() {
    [ "$AKO_PROPOSAL" -eq "$1" ] || return 0
    sed -i "$4" "$AKO_SOLUTION"
    printf '%s\npredict: %s %%\n' "$2" "$3" > "$AKO_HYPOTHESIS_FILE"
    echo "recipe $1, on top of trial $AKO_BEST"
}

recipe 1 "a sum that may be split lets the compiler use vectors for it" 100 \
    's|^void rmsnorm|__attribute__((optimize("associative-math", "no-signed-zeros", "no-trapping-math")))\n&|'

recipe 2 "one square root and one division a row, instead of one an element" 10 \
    '/for (int d/{
        N
        s|\( *\)\(for[^\n]*\n *out\[d\] = row\[d\]\) / sqrtf(\(.*\)) \* w|\1float scale = 1.0f / sqrtf(\3);\n\1\2 * scale * w|
    }'

recipe 3 "rows that cannot overlap need no check before a loop over vectors" 2 \
    's|float \*row =|float *restrict row =|; s|float \*out =|float *restrict out =|'
