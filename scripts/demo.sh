#!/bin/sh
# The main job, for real and without a key: make a suite from two families, prove it, run the embedded model on it,
# judge, report. Everything lies in the folder given as $1; a second time goes on from what is there.
set -eu
demo="$1"
model=qwen2.5-coder-0.5b
say() { printf '\n==> %s\n' "$*"; }

say "weights of $model (about 490 MB the first time, then from the cache)"
steelyard models pull "$model"

if [ ! -e "$demo/suite/manifest.json" ]; then
  say "make a suite from two families"
  rm -rf "$demo/suite"
  steelyard make orbital-extreme trail --n 12 --seed demo --out "$demo/suite" --name demo
fi

say "prove it: the verifier of every item fails on nothing and on named wrong answers, passes on right ones"
steelyard prove "$demo/suite"

say "run $model on it, two rollouts an item, and judge"
if [ -e "$demo/run/run.json" ]; then resume=--resume; else resume=; fi
steelyard run "$demo/suite" --model "$model" --rollouts 2 --temperature 0.7 --max-new-tokens 160 \
  --out "$demo/run" $resume

say "skipped: container tasks (no Docker is used here)"
say "where everything lies"
echo "suite     $demo/suite   (dev.jsonl, proofs.jsonl, manifest.json)"
echo "run       $demo/run     (rollouts.jsonl, judgements/, anomalies.json, report.json)"
echo "again     steelyard report $demo/run;  steelyard judge $demo/run;  make demo"
