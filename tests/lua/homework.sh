#!/bin/sh
# A proposer without a mind: the next file of $CANDIDATES, and beforehand the homework that the bundled policies ask
# for: a plan (autodev), receipts (ako4all_gated), and notes for a stall (all of them).
set -eu

note() { "$AKO_LUA" -q "$AKO_POLICY" note --session="$AKO_SESSION" "$@"; }

receipts() {
    for document in ako4all-kernel-loop.md cuda-cpp-kernel-reference.md cuda-cpp/cuda-cpp-overview.md \
        nvidia-architecture-reference.md architectures/sm90-optimization-guide.md profiling-debugging-reference.md \
        troubleshooting.md; do
        note --topic=read -m "$document: https://example.org/$document"
    done
    note --topic=ncu -m "unavailable: a scripted proposer profiles nothing"
}

plan() {
    cat > "plan/plan_v$((AKO_TRIAL + 1)).md" << PLAN
- Bottleneck: loads, by guess
- Change: $1
- Mechanism: another kernel altogether
- Magnitude: 5 %
- Disproof: the same time
- Fallback: the next file
- Sources: https://example.org/, which has this one next
- Cell: $(echo bandwidth compute occupancy latency balanced | cut -d' ' -f"$((AKO_PROPOSAL % 5 + 1))") / early: $1
- Warnings: noise chasing, local-optimum polish, attribution loss, profile blindness, per-workload hiding and
  correctness drift are answered with another kernel
PLAN
}

file=$(ls "$CANDIDATES" | sed -n "${AKO_PROPOSAL}p")
[ -n "$file" ] || exit 0
[ "$AKO_PROPOSAL" != 1 ] || receipts
for topic in search review reread direction profile ncu; do
    note --topic="$topic" -m "unavailable: $file is next whatever there is, https://example.org/"
done
[ ! -d plan ] || plan "$file"
cp "$CANDIDATES/$file" "$AKO_SOLUTION"
printf 'rewrite: %s\npredict: 5 %%\n' "$file" > "$AKO_HYPOTHESIS_FILE"
