"""Makes tensorboard.json and replies.json: python record.py MLFLOW_URL TRACKIO_URL TRACKIO_WRITE_TOKEN

tensorboard.json: the records of an event file, as TensorBoard's own messages and record writer make them.
replies.json: what real servers answer to the requests that our reporters make. Ids are replaced by fixed ones.
Packages: tensorboard, mlflow, trackio; their versions are in the files. Nothing here is random but ids.
"""
import io
import json
import os
import sys
import urllib.error
import urllib.request
from importlib.metadata import version

HERE = os.path.dirname(os.path.abspath(__file__))


def write(name, value):
    with open(os.path.join(HERE, name), "w") as f:
        f.write(json.dumps(value, indent=1) + "\n")


def tensorboard_records():
    from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2, types_pb2
    from tensorboard.plugins.hparams import plugin_data_pb2
    from tensorboard.summary.writer.record_writer import RecordWriter

    def record(event):
        out = io.BytesIO()
        RecordWriter(out).write(event.SerializeToString())
        return out.getvalue().hex()

    def summary(at, step, value):
        return event_pb2.Event(wall_time=at, step=step, summary=summary_pb2.Summary(value=[value]))

    def metadata(plugin, content=b""):
        data = summary_pb2.SummaryMetadata.PluginData(plugin_name=plugin, content=content)
        return summary_pb2.SummaryMetadata(plugin_data=data)

    text = tensor_pb2.TensorProto(dtype=types_pb2.DT_STRING, string_val=["| a |\nü".encode()])
    text.tensor_shape.dim.add(size=1)
    start = plugin_data_pb2.SessionStartInfo(group_name="run-1", start_time_secs=1700000000.25)
    start.hparams["algorithm.name"].string_value = "grpo"
    end = plugin_data_pb2.SessionEndInfo(status=1, end_time_secs=1700000009.5)
    scalars = [("rollout/reward_mean", 0.1), ("losses/kl", float("inf")), ("zero", 0.0)]
    values = [summary_pb2.Summary.Value(tag=t, simple_value=v) for t, v in scalars]
    restart = event_pb2.Event(wall_time=1700000001.5, step=301)
    restart.session_log.status = event_pb2.SessionLog.START
    return {
        "version": record(event_pb2.Event(wall_time=1700000000.25, file_version="brain.Event:2")),
        "start": record(restart),
        "scalars": record(
            event_pb2.Event(wall_time=1700000002.75, step=300, summary=summary_pb2.Summary(value=values))
        ),
        "text": record(
            summary(1.5, 0, summary_pb2.Summary.Value(tag="settings", tensor=text, metadata=metadata("text")))
        ),
        "settings": record(
            summary(
                1700000000.25,
                5000000000,
                summary_pb2.Summary.Value(
                    tag="_hparams_/session_start_info",
                    metadata=metadata(
                        "hparams",
                        plugin_data_pb2.HParamsPluginData(session_start_info=start).SerializeToString(),
                    ),
                ),
            )
        ),
        "end": record(
            summary(
                1700000009.5,
                12,
                summary_pb2.Summary.Value(
                    tag="_hparams_/session_end_info",
                    metadata=metadata(
                        "hparams",
                        plugin_data_pb2.HParamsPluginData(session_end_info=end).SerializeToString(),
                    ),
                ),
            )
        ),
    }


def asker(base, headers=()):
    def ask(path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            base + path, data=data, headers={"content-type": "application/json", **dict(headers)}
        )
        try:
            with urllib.request.urlopen(request) as reply:
                return {"status": reply.status, "body": json.loads(reply.read())}
        except urllib.error.HTTPError as error:
            return {"status": error.code, "body": json.loads(error.read())}

    return ask


def mlflow_replies(url):
    ask = asker(url + "/api/2.0/mlflow")
    name = f"recorded-{os.getpid()}"
    get = f"/experiments/get-by-name?experiment_name={name}"
    made = {"experiment missing": ask(get), "experiment made": ask("/experiments/create", {"name": name})}
    made["experiment exists"] = ask("/experiments/create", {"name": name})
    made["experiment"] = ask(get)
    experiment = made["experiment made"]["body"]["experiment_id"]
    tags = [{"key": "agentrl.run", "value": "t"}]
    search = {"experiment_ids": [experiment], "filter": "tags.`agentrl.run` = 't'", "max_results": 1}
    made["no run"] = ask("/runs/search", search)
    create = {"experiment_id": experiment, "run_name": "r", "start_time": 1700000000000, "tags": tags}
    made["run made"] = ask("/runs/create", create)
    run = made["run made"]["body"]["run"]["info"]["run_id"]
    params = [{"key": "seed", "value": "0"}]
    made["logged"] = ask("/runs/log-batch", {"run_id": run, "params": params})
    made["run found"] = ask("/runs/search", search)
    made["run"] = ask(f"/runs/get?run_id={run}")
    changed = [{"key": "seed", "value": "1"}]
    made["param changed"] = ask("/runs/log-batch", {"run_id": run, "params": changed})
    bad = [{"key": "a@b", "value": 1, "timestamp": 1, "step": 1}]
    made["bad name"] = ask("/runs/log-batch", {"run_id": run, "metrics": bad})
    made["updated"] = ask("/runs/update", {"run_id": run, "status": "FINISHED", "end_time": 1700000001000})
    made["run missing"] = ask("/runs/get?run_id=nope")
    text = json.dumps(made).replace(run, "run-1").replace(name, "search-r1")
    return json.loads(text.replace(f'"{experiment}"', '"7"'))


def trackio_replies(url, token):
    ask, stranger = asker(url, {"x-trackio-write-token": token}.items()), asker(url)
    log = {"project": "recorded", "run": "r", "run_id": "i", "metrics": {"a/b": 1}, "step": 1, "log_id": "l"}
    alert = {
        "project": "recorded",
        "run": "r",
        "run_id": "i",
        "title": "alarm",
        "text": "t",
        "level": "warn",
        "step": 1,
        "timestamp": "2026-01-01T00:00:00.000Z",
        "alert_id": "a",
    }
    return {
        "version": ask("/version"),
        "allowed": ask("/api/get_run_mutation_status", {}),
        "stranger": stranger("/api/get_run_mutation_status", {}),
        "logged": ask("/api/bulk_log", {"kwargs": {"logs": [log], "hf_token": None}}),
        "token wanted": stranger("/api/bulk_log", {"kwargs": {"logs": [log], "hf_token": None}}),
        "alerted": ask("/api/bulk_alert", {"kwargs": {"alerts": [alert], "hf_token": None}}),
        "unknown": ask("/api/no_such_call", {}),
    }


if __name__ == "__main__":
    mlflow_url, trackio_url, token = sys.argv[1:4]
    by = "test/golden/reporters/record.py"
    write(
        "tensorboard.json",
        {"by": by, "versions": {"tensorboard": version("tensorboard")}, "records": tensorboard_records()},
    )
    versions = {name: version(name) for name in ("mlflow", "trackio")}
    replies = {"mlflow": mlflow_replies(mlflow_url), "trackio": trackio_replies(trackio_url, token)}
    write("replies.json", {"by": by, "versions": versions, **replies})
