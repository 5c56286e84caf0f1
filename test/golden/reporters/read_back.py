"""What the real readers make of a run that our reporters told: one JSON document on stdout.

python read_back.py RUNS RUN MLFLOW_URL EXPERIMENT TRACKIO_URL PROJECT

RUNS is a log directory for TensorBoard, RUN a run folder in it; the last four as the run was told to. Read by
tensorboard's EventAccumulator, by TensorBoard's own server with and without its data server, by MLflow's client, and
by Trackio's server. Versions are part of the document.
"""
import json
import math
import os
import socket
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


if __name__ == "__main__":
    runs, run, mlflow_url, experiment, trackio_url, project = sys.argv[1:7]
    print(
        json.dumps(
            {
                "versions": {name: version(name) for name in ("tensorboard", "mlflow", "trackio")},
                "tensorboardFiles": tensorboard_files(run),
                "tensorboard": tensorboard_server(runs, run, "false"),
                "tensorboardFast": tensorboard_server(runs, run, "true"),
                "mlflow": mlflow_runs(mlflow_url, experiment),
                "trackio": trackio_runs(trackio_url, project),
            },
            indent=1,
        )
    )
