#!/bin/sh
# Serves the shipped base policy by llama.cpp's own server, over an OpenAI-compatible API, on this machine's processor.
#
#   sh bench/evaluation/serve-llama.sh [PORT]              then: agentrl eval --policy http://127.0.0.1:PORT/v1 --model base-policy
#
# Needs cmake, ninja, a C++ compiler, and a Python with gguf, numpy, safetensors and pip (PYTHON; bench/training/requirements.txt).
# Builds once into WORK. llama.cpp's sources lie in the source package of llama-cpp-python on PyPI.
set -eu
PORT=${1:-18080}
PYTHON=${PYTHON:-python3}
VERSION=0.3.36
HERE=$(cd "$(dirname "$0")" && pwd)
WORK=${WORK:-${TMPDIR:-/tmp}/agentrl-llama-$VERSION}
MODEL=${MODEL:-$HERE/../../datasets/base-policy}
mkdir -p "$WORK"

if [ ! -x "$WORK/build/bin/llama-server" ]; then
  "$PYTHON" -m pip download --quiet --no-deps --no-binary :all: --dest "$WORK" "llama-cpp-python==$VERSION"
  tar -xzf "$WORK"/llama_cpp_python-"$VERSION".tar.gz -C "$WORK"
  cmake -S "$WORK/llama_cpp_python-$VERSION/vendor/llama.cpp" -B "$WORK/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DBUILD_SHARED_LIBS=OFF -DLLAMA_CURL=OFF -DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF \
    -DLLAMA_BUILD_UI=OFF -DLLAMA_USE_PREBUILT_UI=OFF
  nice cmake --build "$WORK/build" --target llama-server
fi
"$PYTHON" "$HERE/../training/gguf_model.py" "$MODEL" "$WORK/policy.gguf" "$HERE/plain.jinja"
# Eight conversations at once, each with the model's whole context of 512 tokens.
exec "$WORK/build/bin/llama-server" --model "$WORK/policy.gguf" --alias base-policy --host 127.0.0.1 --port "$PORT" \
  --ctx-size 4096 --parallel 8 --threads 2 --jinja --no-webui
