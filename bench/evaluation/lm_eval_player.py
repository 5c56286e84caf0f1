"""lm-evaluation-harness asks the endpoint as often as we do: lm_eval_player.py URL QUESTIONS REQUESTS CONCURRENCY FOLDER.

Each request is a question of its own: it has no turns and no searches. Exit status 3 where it is not installed.
"""

import json
import os
import sys

try:
    import lm_eval
except ImportError as error:
    print(f"{error.name} is not installed", file=sys.stderr)
    sys.exit(3)


def main(url, questions, requests, concurrency, folder):
    with open(questions, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    data = os.path.join(folder, "requests.jsonl")
    with open(data, "w", encoding="utf-8") as file:
        for i in range(int(requests)):
            row = rows[i % len(rows)]
            file.write(json.dumps({"question": row["question"], "answer": row["answer"]}) + "\n")
    task = {
        "task": "instant",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": data}},
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": "{{question}}",
        "doc_to_target": "{{answer}}",
        "generation_kwargs": {"until": ["</search>", "</answer>"], "max_gen_toks": 500, "do_sample": False},
        "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
    }
    results = lm_eval.simple_evaluate(
        model="local-chat-completions",
        model_args={
            "base_url": f"{url}/chat/completions",
            "model": "instant",
            "num_concurrent": int(concurrency),
            "max_retries": 1,
        },
        tasks=[task],
        apply_chat_template=True,
        log_samples=True,
        bootstrap_iters=0,
    )
    print(json.dumps({"version": lm_eval.__version__, "questions": len(results["samples"]["instant"])}))


if __name__ == "__main__":
    main(*sys.argv[1:])
