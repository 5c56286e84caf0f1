#!/usr/bin/env bash
# Trains the exported recipe with verl. Further arguments are hydra overrides: ./run.sh trainer.n_gpus_per_node=8
set -euo pipefail
cd "$(dirname "$0")"
export PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}"
exec python3 -m verl.trainer.main_ppo --config-path "$PWD" --config-name config agentrl.root="$PWD" "$@"
