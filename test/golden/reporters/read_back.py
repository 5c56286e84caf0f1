"""What the real readers make of a run that our reporters told: one JSON document on stdout.

python read_back.py RUNS RUN MLFLOW_URL EXPERIMENT TRACKIO_URL PROJECT

RUNS is a log directory for TensorBoard, RUN a run folder in it; the last four as the run was told to. Read by
tensorboard's EventAccumulator, by TensorBoard's own server with and without its data server, by MLflow's client, and
by Trackio's server. Versions are part of the document. Where the run folder has a metrics.jsonl, the last run of that name in each
reader must have exactly its steps and figures (TensorBoard's rounded to 32 bits); otherwise the exit status is 1.
"""
import json
import math
import os
import socket
import struct
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from importlib.metadata import version


def plain(value):
    return value if math.isfinite(value) else str(value)


def tensorboard_files(run):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    read = EventAccumulator(os.path.join(run, "tensorboard"), size_guidance={"scalars": 0}).Reload()
    return {
        tag: [[e.step, plain(e.value)] for e in read.Scalars(tag)] for tag in read.Tags()["scalars"]
    }


def get(url, body=None, headers=None):
    data = None if body is None else json.dumps(body).encode()
    heads = {"content-type": "application/json", **(headers or {})}
    with urllib.request.urlopen(urllib.request.Request(url, data=data, headers=heads)) as reply:
        return json.loads(reply.read())


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def tensorboard_server(runs, run, fast):
    port = free_port()
    program = os.path.join(os.path.dirname(sys.executable), "tensorboard")
    command = [program, "--logdir", runs, "--port", str(port), f"--load_fast={fast}", "--samples_per_plugin", "scalars=10000"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    name = os.path.join(os.path.basename(run), "tensorboard")
    base = f"http://127.0.0.1:{port}/data/plugin"
    try:
        for _ in range(120):
            time.sleep(1)
            try:
                tags = get(f"{base}/scalars/tags").get(name, {})
            except OSError:
                continue
            if tags:
                break
        # What is loaded may be only a beginning.
        time.sleep(8)
        tags = get(f"{base}/scalars/tags")[name]

        def scalars(tag):
            query = urllib.parse.urlencode({"run": name, "tag": tag})
            return [[step, value] for _, step, value in get(f"{base}/scalars/scalars?{query}")]

        texts = {}
        for tag in get(f"{base}/text/tags").get(name, []):
            query = urllib.parse.urlencode({"run": name, "tag": tag})
            texts[tag] = [[e["step"], e["text"]] for e in get(f"{base}/text/text?{query}")]
        experiment = get(f"{base}/hparams/experiment", {"experimentName": ""})
        asked = {
            "experimentName": "",
            "startIndex": 0,
            "sliceSize": 10,
            "allowedStatuses": ["STATUS_UNKNOWN", "STATUS_SUCCESS", "STATUS_FAILURE", "STATUS_RUNNING"],
            "colParams": [],
        }
        groups = get(f"{base}/hparams/session_groups", asked)["sessionGroups"]
        return {
            "scalars": {tag: scalars(tag) for tag in tags},
            "texts": texts,
            "hparams": [
                {"hparams": g["hparams"], "status": g["sessions"][0].get("status")} for g in groups
            ],
            "hparamNames": sorted(i["name"] for i in experiment.get("hparamInfos", [])),
        }
    finally:
        server.terminate()
        server.wait()


def mlflow_runs(url, experiment):
    from mlflow.tracking import MlflowClient

    client = MlflowClient(url)
    found = client.get_experiment_by_name(experiment)
    runs = []
    for run in client.search_runs([found.experiment_id], order_by=["attributes.start_time ASC"]):
        history = {
            key: [[m.step, plain(m.value)] for m in client.get_metric_history(run.info.run_id, key)]
            for key in sorted(run.data.metrics)
        }
        runs.append(
            {
                "name": run.info.run_name,
                "status": run.info.status,
                "params": run.data.params,
                "tags": {k: v for k, v in run.data.tags.items() if k.startswith("agentrl.")},
                "metrics": history,
            }
        )
    return runs


def trackio_runs(url, project):
    base = url.split("?")[0].rstrip("/")

    def call(api, **kwargs):
        return get(f"{base}/api/{api}", {"kwargs": kwargs})["data"]

    runs = []
    for run in call("get_runs_for_project", project=project):
        name, run_id = run["name"], run["id"]
        curves = {}
        for row in call("get_logs", project=project, run=name, run_id=run_id):
            for key, value in row.items():
                if key not in ("step", "timestamp"):
                    curves.setdefault(key, []).append([row["step"], value])
        alerts = call("get_alerts", project=project, run=name, run_id=run_id)
        runs.append(
            {
                "name": name,
                "metrics": {key: sorted(curves[key], key=lambda e: e[0]) for key in sorted(curves)},
                "alerts": [[a["level"], a["title"], a["text"], a["step"]] for a in alerts],
                "config": call("get_run_configs", project=project).get(run_id),
            }
        )
    return runs


def single(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def same(a, b):
    return a == b or (isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b))


def compared(run, curves, name_for=lambda name: name, rounded=lambda value: value):
    """Points of the run's own log that a reader has otherwise, has not, or has twice."""
    with open(os.path.join(run, "metrics.jsonl")) as lines:
        log = [json.loads(line) for line in lines]
    points, wrong = 0, []
    for name in log[0]["data"]:
        told = [[line["step"], rounded(line["data"][name])] for line in log if name in line["data"]]
        read = [[step, float(value)] for step, value in curves.get(name_for(name), [])]
        points += len(told)
        if len(told) != len(read) or not all(
            a[0] == b[0] and same(float(a[1]), b[1]) for a, b in zip(told, read)
        ):
            wrong.append(name)
    return {"points": points, "wrong": wrong}


if __name__ == "__main__":
    runs, run, mlflow_url, experiment, trackio_url, project = sys.argv[1:7]
    found = {
        "versions": {name: version(name) for name in ("tensorboard", "mlflow", "trackio")},
        "tensorboardFiles": tensorboard_files(run),
        "tensorboard": tensorboard_server(runs, run, "false"),
        "tensorboardFast": tensorboard_server(runs, run, "true"),
        "mlflow": mlflow_runs(mlflow_url, experiment),
        "trackio": trackio_runs(trackio_url, project),
    }
    if os.path.exists(os.path.join(run, "metrics.jsonl")):
        name = os.path.basename(run)
        last = {
            reader: [each["metrics"] for each in found[reader] if each["name"] == name][-1]
            for reader in ("mlflow", "trackio")
        }
        found["equal"] = {
            "tensorboardFiles": compared(run, found["tensorboardFiles"], rounded=single),
            "tensorboard": compared(run, found["tensorboard"]["scalars"], rounded=single),
            "tensorboardFast": compared(run, found["tensorboardFast"]["scalars"], rounded=single),
            "mlflow": compared(run, last["mlflow"], lambda name: name.replace("@", "_at_")),
            "trackio": compared(run, last["trackio"]),
        }
    print(json.dumps(found, indent=1))
    sys.exit(1 if any(each["wrong"] for each in found.get("equal", {}).values()) else 0)
