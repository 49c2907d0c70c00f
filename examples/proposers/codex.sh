#!/bin/sh
# One edit by Codex: request and brief go in on standard input, its last message is the hypothesis.
#
#   ako-lua policies/kernelbench.lua --propose /path/to/codex.sh --propose-seconds=1200
#
# Its sandbox lets commands write in the workspace, but not in .git, where the session's records lie. Flags of your own
# go behind the script's name, as in --propose '/path/to/codex.sh --model NAME'.
set -eu

{
    cat << ASK
Below is the brief of a kernel optimization. Do its next step: one change that you expect to make the kernel faster,
with results unchanged. Edit only: $AKO_SOLUTION_FILES
The last trial was $AKO_LAST_TRIAL ($AKO_STATUS, $AKO_VERDICT: $AKO_REASON); its files are in $AKO_LAST_FILES.
Do not commit. Your edit is built, checked and timed when you are done.
End with one sentence that says why it is faster, then a line 'predict: N %'.

ASK
    cat "$AKO_BRIEF"
} | codex exec --sandbox workspace-write --output-last-message "$AKO_HYPOTHESIS_FILE" "$@" -
