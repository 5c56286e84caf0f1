"""Evaluates `agentrl serve env` with verifiers (0.4.0): `vf-eval`, its taskset `openenv`, and a stub model that this script serves.

  agentrl serve env --recipe search-r1 --tier mini --port 8002
  python test/golden/openenv-verifiers.py http://127.0.0.1:8002 200

EPISODES episodes, seeds 0, 1, …; the stub streams, and plays by openenv_policy.py. verifiers 0.4.0 pins packages that openenv 0.10.0 does
not allow: install verifiers first, then openenv with --no-deps, fastapi, websockets, fastmcp, gradio, and mcp==2.0.0 last. Prints one
line of JSON; exits with 1 if an episode failed.
"""

import json
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from openenv_policy import next_message

URL, EPISODES = sys.argv[1], int(sys.argv[2])


class Model(BaseHTTPRequestHandler):
    """An OpenAI-compatible model; verifiers sends each observation as JSON in a message of the user."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        shown = [json.loads(text(m))["observation"]["text"] for m in asked["messages"] if m["role"] == "user"]
        said = {"role": "assistant", "content": next_message(shown)}
        about = {"id": "stub", "created": 1, "model": asked["model"]}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        if asked.get("stream"):
            chunk = {**about, "object": "chat.completion.chunk"}
            events = [
                {**chunk, "choices": [{"index": 0, "delta": said, "finish_reason": None}]},
                {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
                {**chunk, "choices": [], "usage": usage},
            ]
            body = "".join(f"data: {json.dumps(each)}\n\n" for each in events) + "data: [DONE]\n\n"
            self.reply("text/event-stream", body)
        else:
            choice = {"index": 0, "message": said, "finish_reason": "stop"}
            self.reply("application/json", json.dumps({**about, "object": "chat.completion", "choices": [choice], "usage": usage}))

    def reply(self, kind: str, body: str):
        data = body.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Server(ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True


def text(message: dict) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


model = Server(("127.0.0.1", 0), Model)
threading.Thread(target=model.serve_forever, daemon=True).start()

CONFIG = f"""
model = "stub"
num_rollouts = 1
max_concurrent = 8
push = false
[env.taskset]
id = "openenv"
base_url = "{URL}"
resets = [{", ".join(f"{{ seed = {seed} }}" for seed in range(EPISODES))}]
[env.player.harness]
id = "null"
[env.player.runtime]
type = "subprocess"
[client]
type = "eval"
base_url = "http://127.0.0.1:{model.server_address[1]}/v1"
"""

with tempfile.TemporaryDirectory() as folder:
    (Path(folder) / "vf.toml").write_text(CONFIG)
    begun = time.perf_counter()
    ran = subprocess.run(
        [Path(sys.executable).parent / "vf-eval", "@", "vf.toml", "--output-dir", "out"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    seconds = time.perf_counter() - begun
    rows = [json.loads(line) for path in Path(folder).glob("out/**/traces.jsonl") for line in path.open()]

rewards = [trace["rewards"]["openenv_reward"]["score"] for row in rows for trace in row["traces"]]
failed = [row["errors"] for row in rows if not row["ok"]]
print(json.dumps({
    "episodes": len(rows), "failed": len(failed), "firstFailure": failed[:1], "exit": ran.returncode,
    "meanReward": sum(rewards) / max(1, len(rewards)), "seconds": round(seconds, 1),
}))  # fmt: skip
if ran.returncode != 0 or failed or len(rows) != EPISODES:
    print(ran.stdout[-2000:], ran.stderr[-2000:], file=sys.stderr)
    sys.exit(1)
