#!/bin/sh
# One edit by Claude Code: the brief goes in on standard input, its last words are the hypothesis.
#
#   ako-lua policies/kernelbench.lua --propose /path/to/claude.sh --propose-seconds=1200
#
# It may read and edit files, and nothing else: no shell. Flags of your own go behind the script's name, as in
# --propose '/path/to/claude.sh --model NAME'.
set -eu

ask="Standard input is the brief of a kernel optimization. Do its next step: one change that you expect to make the
kernel faster, with results unchanged. Edit only: $AKO_SOLUTION_FILES
The last trial was $AKO_LAST_TRIAL ($AKO_STATUS, $AKO_VERDICT: $AKO_REASON); its files are in $AKO_LAST_FILES.
You cannot build or run anything: your edit is built, checked and timed when you are done.
End with one sentence that says why it is faster, then a line 'predict: N %'."

claude -p "$ask" --permission-mode acceptEdits --allowedTools "Read,Edit,Glob,Grep" "$@" \
    < "$AKO_BRIEF" > "$AKO_HYPOTHESIS_FILE"
cat "$AKO_HYPOTHESIS_FILE"
