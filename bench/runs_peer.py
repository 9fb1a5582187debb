"""The peers of `runs.py` and `stored.py`, run by an interpreter that has them. Nothing here imports Steelyard.

    python runs_peer.py inspect-run QUESTIONS.jsonl URL LOG_FOLDER CONCURRENCY
    python runs_peer.py inspect-score LOG_FOLDER
    python runs_peer.py inspect-frame LOG_FOLDER
    python runs_peer.py lm-eval-task QUESTIONS.jsonl FOLDER

Inspect scores with `match`; the OpenAI provider calls the endpoint, with as many connections as are asked for. lm-eval
is called by its own command line with the task that `lm-eval-task` writes.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path


def inspect_run(questions: str, url: str, folder: str, concurrency: str) -> None:
    """An Inspect evaluation with its log on disk."""
    os.environ.update(OPENAI_API_KEY="x", INSPECT_DISPLAY="none")
    from inspect_ai import Task, eval  # noqa: A004
    from inspect_ai.dataset import Sample
    from inspect_ai.model import GenerateConfig, get_model
    from inspect_ai.scorer import match
    from inspect_ai.solver import generate

    rows = [json.loads(line) for line in Path(questions).read_text(encoding="utf-8").splitlines()]
    samples = [Sample(input=row["question"], target=row["answer"], id=i) for i, row in enumerate(rows, 1)]
    config = GenerateConfig(max_connections=int(concurrency), max_tokens=16, seed=0)
    model = get_model("openai/bench", base_url=url, config=config, api_key="x", responses_api=False)
    task = Task(dataset=samples, solver=generate(), scorer=match(), name="bench")
    (log,) = eval(
        task, model=model, log_dir=folder, display="none", max_samples=int(concurrency), log_format="eval",
        fail_on_error=False,
    )  # fmt: skip
    if log.status != "success":
        sys.exit(f"inspect: {log.status}: {log.error.message if log.error else ''}")


def _log(folder: str) -> str:
    return str(next(Path(folder).glob("*.eval")))


def inspect_score(folder: str) -> None:
    """Score a stored Inspect log again and write it."""
    os.environ["INSPECT_DISPLAY"] = "none"
    from inspect_ai import score
    from inspect_ai.log import read_eval_log, write_eval_log
    from inspect_ai.scorer import match

    log = read_eval_log(_log(folder))
    write_eval_log(score(log, match(), action="overwrite", display="none"), str(Path(folder) / "again.eval2"), "eval")


def inspect_frame(folder: str) -> None:
    """A stored Inspect log as a data frame of samples."""
    from inspect_ai.analysis import samples_df

    print(samples_df(_log(folder), quiet=True).shape)


_TASK = """task: bench
dataset_path: json
dataset_kwargs:
  data_files:
    test: {questions}
output_type: generate_until
test_split: test
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{answer}}}}"
generation_kwargs:
  max_gen_toks: 16
  until: []
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
metadata:
  version: 1
"""


def lm_eval_task(questions: str, folder: str) -> None:
    """Write the task file that lm-eval reads."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    (Path(folder) / "bench.yaml").write_text(_TASK.format(questions=questions), "utf-8")


_VERBS = {
    "inspect-run": inspect_run,
    "inspect-score": inspect_score,
    "inspect-frame": inspect_frame,
    "lm-eval-task": lm_eval_task,
}

if __name__ == "__main__":
    _VERBS[sys.argv[1]](*sys.argv[2:])
