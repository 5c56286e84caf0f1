"""A loop as in the Tinker cookbook, by the official SDK over `agentrl serve engine`: SFT, sampling, PPO, save, resume.

python test/golden/tinker-sdk.py URL KEY    tinker 0.25.0 and 0.38.0. Prints one JSON object.
"""

import json
import sys
from importlib.metadata import version

import tinker
from tinker import types

url, key = sys.argv[1:3]
service = tinker.ServiceClient(base_url=url, api_key=key)
[model] = [each.model_name for each in service.get_server_capabilities().supported_models]
client = service.create_lora_training_client(base_model=model, rank=4, seed=7)
IDS = list(range(10, 22))
WEIGHTS = [0.0] * 3 + [1.0] * 8


def datum(ids, **arrays):
    inputs = types.ModelInput.from_ints(ids[:-1])
    return types.Datum(model_input=inputs, loss_fn_inputs={"target_tokens": ids[1:], **arrays})


def learn(of, data, loss, rate):
    result = of.forward_backward([data], loss)
    step = of.optim_step(types.AdamParams(learning_rate=rate))
    step.result()
    return result.result()


def score(of):
    result = of.forward([datum(IDS, weights=WEIGHTS)], "cross_entropy").result()
    return list(result.loss_fn_outputs[0]["logprobs"].data)


sft = [learn(client, datum(IDS, weights=WEIGHTS), "cross_entropy", 1e-2).metrics["loss:sum"] for _ in range(4)]

sampler = client.save_weights_and_get_sampling_client()
prompt = types.ModelInput.from_ints(IDS[:4])
params = types.SamplingParams(max_tokens=8, temperature=1.0, seed=3)
drawn = sampler.sample(prompt=prompt, num_samples=2, sampling_params=params).result().sequences
first = drawn[0]
row = datum(
    IDS[:4] + list(first.tokens),
    logprobs=[0.0] * 3 + list(first.logprobs),
    advantages=[0.0] * 3 + [1.0] * len(first.tokens),
)
ppo = learn(client, row, "ppo", 1e-3).loss_fn_outputs[0]["logprobs"].data[3:]

state = client.save_state("st1").result().path
straight = score(client)
# SDK 0.38 makes both models by one load_weights call, 0.25 by create_model and load_weights.
weights_only = score(service.create_training_client_from_state(state))
resumed = service.create_training_client_from_state_with_optimizer(state)
loaded = score(resumed)
data = datum(IDS, weights=WEIGHTS)
learn(client, data, "cross_entropy", 1e-2)
learn(resumed, data, "cross_entropy", 1e-2)


def apart(one, other):
    return max(abs(a - b) for a, b in zip(one, other, strict=True))


print(
    json.dumps(
        {
            "sdk": version("tinker"),
            "sft": sft,
            "samples": [{"tokens": list(each.tokens), "stop": str(each.stop_reason)} for each in drawn],
            "samplerToTrainer": apart(ppo, first.logprobs),
            "weightsOnly": apart(weights_only, straight),
            "loaded": apart(loaded, straight),
            "nextStep": apart(score(client), score(resumed)),
            "moved": apart(score(client), straight),
        }
    )
)
