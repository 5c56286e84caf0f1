// Servers that answer as a real MLflow and a real Trackio did once, in a process of their own: prints its address as one line.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { basename } from "node:path";

const file = new URL("../../test/golden/reporters/replies.json", import.meta.url);
const { mlflow, trackio } = JSON.parse(readFileSync(file, "utf8"));
const answers = {
  "get-by-name": mlflow.experiment,
  search: mlflow["no run"],
  create: mlflow["run made"],
  "log-batch": mlflow.logged,
  update: mlflow.updated,
  version: trackio.version,
  get_run_mutation_status: trackio.allowed,
  bulk_log: trackio.logged,
  bulk_alert: trackio.alerted,
};

const server = createServer((request, response) => {
  request.resume();
  request.on("end", () => {
    const { pathname } = new URL(request.url, "http://server");
    const { status, body } = answers[basename(pathname)] ?? { status: 404, body: {} };
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  });
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`);
});
