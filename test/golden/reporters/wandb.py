"""Makes wandb.json: the records of a W&B offline run, as wandb's own messages and DataStore write them.

python wandb.py, with wandb 0.17.9: the last versions whose reader and writer are Python. Nothing here is random.
`file` is a whole file. `long` is the SHA-256 of one whose second record crosses two block borders and whose last begins in the 7
bytes before one, which hold no chunk's header.
"""
import hashlib
import json
import os
import sys
import tempfile

sys.path.pop(0)  # this file's name is the package's

from wandb import __version__  # noqa: E402
from wandb.proto import wandb_internal_pb2 as pb  # noqa: E402
from wandb.sdk.internal.datastore import DataStore  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def written(records):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.wandb")
        store = DataStore()
        store.open_for_write(path)
        for num, record in enumerate(records, 1):
            record.num = num
            store.write(record)
        store.close()
        with open(path, "rb") as f:
            return f.read()


def items(values):
    return [{"key": key, "value_json": value} for key, value in values.items()]


def run():
    header = pb.Record()
    header.header.version_info.producer = "agentrl 0.1.0"
    begun = pb.Record(run=pb.RunRecord(run_id="1a2b3c4d", project="p", display_name="n"))
    begun.run.config.update.extend([pb.ConfigItem(**i) for i in items({"seed": "1", "a.b": '"ü"'})])
    begun.run.start_time.seconds, begun.run.start_time.nanos = 1700000000, 250000000
    row = {"losses/kl": "NaN", "a/b": "0.5", "c": "-Infinity", "d": "1e-7"}
    history = pb.Record(history=pb.HistoryRecord(item=[pb.HistoryItem(**i) for i in items(row)]))
    history.history.step.num = 300
    summary = pb.Record(summary=pb.SummaryRecord(update=[pb.SummaryItem(**i) for i in items(row)]))
    alert = pb.Record(alert=pb.AlertRecord(title="alarm", text="step 300: ü", level="WARN"))
    end = pb.Record(exit=pb.RunExitRecord(exit_code=130, runtime=7))
    return [header, begun, history, summary, alert, end, pb.Record(final=pb.FinalRecord())]


def long():
    def alert(size):
        return pb.Record(alert=pb.AlertRecord(title="t", text="x" * size, level="INFO"))

    # The file header and the frames of the first two records leave 5 bytes of the third block.
    records = [alert(100), alert(98_000), alert(1)]
    size = len(written(records[:2]))
    return [alert(100), alert(98_000 + 3 * 32_768 - 5 - size), alert(1)]


if __name__ == "__main__":
    found = long()
    document = {
        "wandb": __version__,
        "file": written(run()).hex(),
        "longTexts": [len(record.alert.text) for record in found],
        "long": hashlib.sha256(written(found)).hexdigest(),
        "longBytes": len(written(found)),
    }
    with open(os.path.join(HERE, "wandb.json"), "w") as f:
        f.write(json.dumps(document, indent=1) + "\n")
