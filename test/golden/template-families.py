"""What jinja2, set up by transformers, makes of short templates in the manner of twenty families of models.

  python test/golden/template-families.py     (transformers, jinja2; the date is set, nothing is drawn at random)

The templates were written for this test: each uses the constructs that a family's own template uses, in other words. Conversations and
tools are those of chat-templates.json. Writes template-families.json beside this file.
"""

import datetime
import json
import platform
from pathlib import Path

import jinja2
import transformers
from transformers.utils import chat_template_utils


class Fixed(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2026, 2, 3, 4, 5, 6)


chat_template_utils.datetime = Fixed

FAMILIES = {
    "qwen2.5": r"""{%- if tools %}
    {{- '<|im_start|>system\n' }}
    {%- if messages[0]['role'] == 'system' %}{{- messages[0]['content'] }}{%- else %}{{- 'Be of help.' }}{%- endif %}
    {{- "\n\n# Tools\n<tools>" }}
    {%- for tool in tools %}{{- "\n" }}{{- tool | tojson }}{%- endfor %}
    {{- "\n</tools><|im_end|>\n" }}
{%- endif %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) or (message.role == "assistant" and not message.tool_calls) %}
        {{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>' + '\n' }}
    {%- elif message.role == "assistant" %}
        {{- '<|im_start|>' + message.role }}
        {%- if message.content %}{{- '\n' + message.content }}{%- endif %}
        {%- for call in message.tool_calls %}
            {%- if call.function is defined %}{%- set call = call.function %}{%- endif %}
            {{- '\n<tool_call>\n{"name": "' }}{{- call.name }}{{- '", "arguments": ' }}{{- call.arguments | tojson }}{{- '}\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\n' }}
    {%- elif message.role == "tool" %}
        {%- if (loop.index0 == 0) or (messages[loop.index0 - 1].role != "tool") %}{{- '<|im_start|>user' }}{%- endif %}
        {{- '\n<tool_response>\n' }}{{- message.content }}{{- '\n</tool_response>' }}
        {%- if loop.last or (messages[loop.index0 + 1].role != "tool") %}{{- '<|im_end|>\n' }}{%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}
""",
    "qwen3": r"""{%- set ns = namespace(searching=true, last=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.searching and message.role == "user" and message.content is string and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.searching = false %}
        {%- set ns.last = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.content is string %}{%- set content = message.content %}{%- else %}{%- set content = '' %}{%- endif %}
    {%- if message.role == "assistant" %}
        {%- set thought = '' %}
        {%- if message.reasoning_content is string %}
            {%- set thought = message.reasoning_content %}
        {%- elif '</think>' in content %}
            {%- set thought = content.split('</think>')[0].rstrip('\n').split('<think>')[-1].lstrip('\n') %}
            {%- set content = content.split('</think>')[-1].lstrip('\n') %}
        {%- endif %}
        {%- if loop.index0 > ns.last and (loop.last or (not loop.last and thought)) %}
            {{- '<|im_start|>' + message.role + '\n<think>\n' + thought.strip('\n') + '\n</think>\n\n' + content.lstrip('\n') }}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\n' + content }}
        {%- endif %}
        {%- if message.tool_calls %}{%- for call in message.tool_calls %}
            {%- if (loop.first and content) or (not loop.first) %}{{- '\n' }}{%- endif %}
            {%- if call.function %}{%- set call = call.function %}{%- endif %}
            {{- '<tool_call>' }}{%- if call.arguments is string %}{{- call.arguments }}{%- else %}{{- call.arguments | tojson }}{%- endif %}
        {%- endfor %}{%- endif %}
        {{- '<|im_end|>\n' }}
    {%- else %}{{- '<|im_start|>' + message.role + '\n' + content + '<|im_end|>\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\n\n</think>\n\n' }}{%- endif %}
{%- endif %}""",
    "llama-2": r"""{% if messages[0]['role'] == 'system' %}{% set rest = messages[1:] %}{% set system = messages[0]['content'] %}{% else %}{% set rest = messages %}{% set system = false %}{% endif %}{% for message in rest %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Roles must alternate user/assistant/user') }}{% endif %}{% if loop.index0 == 0 and system != false %}{% set content = '<<SYS>>\n' + system + '\n<</SYS>>\n\n' + message['content'] %}{% else %}{% set content = message['content'] %}{% endif %}{% if message['role'] == 'user' %}{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}{% elif message['role'] == 'assistant' %}{{ ' ' + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}""",
    "llama-3": r"""{% set loop_messages = messages %}{% for message in loop_messages %}{% set content = '<|start|>' + message['role'] + '<|end|>\n\n'+ message['content'] | trim + '<|eot|>' %}{% if loop.index0 == 0 %}{% set content = bos_token + content %}{% endif %}{{ content }}{% endfor %}{% if add_generation_prompt %}{{ '<|start|>assistant<|end|>\n\n' }}{% endif %}""",
    "llama-3.1": r"""{{- bos_token }}
{%- if custom_tools is defined %}{%- set tools = custom_tools %}{%- endif %}
{%- if not tools_in_user_message is defined %}{%- set tools_in_user_message = true %}{%- endif %}
{%- if not date_string is defined %}{%- if strftime_now is defined %}{%- set date_string = strftime_now("%d %b %Y") %}{%- else %}{%- set date_string = "26 Jul 2024" %}{%- endif %}{%- endif %}
{%- if messages[0]['role'] == 'system' %}{%- set system_message = messages[0]['content']|trim %}{%- set messages = messages[1:] %}{%- else %}{%- set system_message = "" %}{%- endif %}
{{- "<|h|>system<|/h|>\n\n" }}
{%- if builtin_tools is defined or tools is not none %}{{- "Environment: ipython\n" }}{%- endif %}
{%- if builtin_tools is defined %}{{- "Tools: " + builtin_tools | reject('equalto', 'code_interpreter') | join(", ") + "\n\n"}}{%- endif %}
{{- "Today: " + date_string + "\n\n" }}{{- system_message }}{{- "<|eot|>" }}
{%- if tools_in_user_message and not tools is none %}
    {%- if messages | length != 0 %}{%- set first_user_message = messages[0]['content']|trim %}{%- set messages = messages[1:] %}
    {%- else %}{{- raise_exception("There is no first user message for the tools!") }}{%- endif %}
    {{- '<|h|>user<|/h|>\n\n' -}}
    {%- for t in tools %}{{- t | tojson(indent=4) }}{{- "\n\n" }}{%- endfor %}
    {{- first_user_message + "<|eot|>"}}
{%- endif %}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|h|>' + message['role'] + '<|/h|>\n\n'+ message['content'] | trim + '<|eot|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls|length == 1 %}{{- raise_exception("This model only supports single tool-calls at once!") }}{%- endif %}
        {%- set call = message.tool_calls[0].function %}
        {%- if builtin_tools is defined and call.name in builtin_tools %}
            {{- call.name + ".call(" }}{%- for arg_name, arg_val in call.arguments | items %}{{- arg_name + '="' + arg_val + '"' }}{%- if not loop.last %}{{- ", " }}{%- endif %}{%- endfor %}{{- ")" }}
        {%- else %}{{- '{"name": "' + call.name + '", "parameters": ' }}{{- call.arguments | tojson }}{{- "}" }}{%- endif %}
    {%- elif message.role == "tool" or message.role == "ipython" %}
        {%- if message.content is mapping or message.content is iterable %}{{- message.content | tojson }}{%- else %}{{- message.content }}{%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|h|>assistant<|/h|>\n\n' }}{%- endif %}
""",
    "mistral-v3": r"""{%- set user_messages = messages | selectattr("role", "equalto", "user") | list %}
{%- set ns = namespace() %}{%- set ns.index = 0 %}
{%- for message in messages %}{%- if not (message.role == "tool" or message.role == "tool_results" or (message.tool_calls is defined and message.tool_calls is not none)) %}
{%- if (message["role"] == "user") != (ns.index % 2 == 0) %}{{- raise_exception("After the optional system message, roles must alternate") }}{%- endif %}{%- set ns.index = ns.index + 1 %}{%- endif %}{%- endfor %}
{{- bos_token }}
{%- for message in messages %}
    {%- if message["role"] == "user" %}
        {%- if tools is not none and (message == user_messages[-1]) %}{{- "[AVAILABLE_TOOLS] [" }}{%- for tool in tools %}{%- set tool = tool.function %}{{- '{"type": "function", "function": {' }}
            {%- for key, val in tool.items() if key != "return" %}{%- if val is string %}{{- '"' + key + '": "' + val + '"' }}{%- else %}{{- '"' + key + '": ' + val|tojson }}{%- endif %}{%- if not loop.last %}{{- ", " }}{%- endif %}{%- endfor %}
            {{- "}}" }}{%- if not loop.last %}{{- ", " }}{%- else %}{{- "]" }}{%- endif %}{%- endfor %}{{- "[/AVAILABLE_TOOLS]" }}{%- endif %}
        {{- "[INST] " + message["content"] + "[/INST]" }}
    {%- elif message.tool_calls is defined and message.tool_calls is not none %}
        {{- "[TOOL_CALLS] [" }}{%- for call in message.tool_calls %}{%- set out = call.function|tojson %}{{- out[:-1] }}{{- ', "id": "' + call.id + '"}' }}{%- if not loop.last %}{{- ", " }}{%- else %}{{- "]" + eos_token }}{%- endif %}{%- endfor %}
    {%- elif message["role"] == "assistant" %}{{- " " + message["content"]|trim + eos_token}}
    {%- elif message["role"] == "tool" %}{%- if message.content is defined and message.content.content is defined %}{%- set content = message.content.content %}{%- else %}{%- set content = message.content %}{%- endif %}{{- '[TOOL_RESULTS] {"content": ' + content|string + '}[/TOOL_RESULTS]' }}
    {%- endif %}
{%- endfor %}
""",
    "mistral-v7": r"""{%- set today = strftime_now("%Y-%m-%d") %}{%- set default_system = "Knows until 2023. Today is " + today + ".\nAsk when unsure." %}
{{- bos_token }}{%- if messages and messages[0]['role'] == 'system' %}{%- if messages[0]['content'] is string %}{%- set system = messages[0]['content'] %}{%- else %}{%- set system = messages[0]['content'][0]['text'] %}{%- endif %}{%- set rest = messages[1:] %}{%- else %}{%- set system = default_system %}{%- set rest = messages %}{%- endif %}
{{- '[SYSTEM_PROMPT]' + system + '[/SYSTEM_PROMPT]' }}
{%- for message in rest %}
    {%- if message['role'] == 'user' %}{%- if message['content'] is string %}{{- '[INST]' + message['content'] + '[/INST]' }}{%- else %}{{- '[INST]' }}{%- for block in message['content'] %}{%- if block['type'] == 'text' %}{{- block['text'] }}{%- elif block['type'] in ['image', 'image_url'] %}{{- '[IMG]' }}{%- else %}{{- raise_exception('Only text and image blocks are supported in message content!') }}{%- endif %}{%- endfor %}{{- '[/INST]' }}{%- endif %}
    {%- elif message['role'] == 'assistant' %}{{- message['content'] + eos_token }}{%- elif message['role'] != 'tool' %}{{- raise_exception('Only user, system and assistant roles are supported!') }}{%- endif %}
{%- endfor %}""",
    "gemma-2": r"""{{ bos_token }}{% if messages and messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Conversation roles must alternate') }}{% endif %}{% if (message['role'] == 'assistant') %}{% set role = 'model' %}{% else %}{% set role = message['role'] %}{% endif %}{{ '<start_of_turn>' + role + '
' + message['content'] | trim + '<end_of_turn>
' }}{% endfor %}{% if add_generation_prompt %}{{'<start_of_turn>model
'}}{% endif %}""",
    "gemma-3": r"""{{ bos_token }}
{%- if messages and messages[0]['role'] == 'system' -%}
    {%- if messages[0]['content'] is string -%}{%- set prefix = messages[0]['content'] + '\n\n' -%}{%- else -%}{%- set prefix = messages[0]['content'][0]['text'] + '\n\n' -%}{%- endif -%}
    {%- set rest = messages[1:] -%}
{%- else -%}{%- set prefix = "" -%}{%- set rest = messages -%}{%- endif -%}
{%- for message in rest -%}
    {%- set role = "model" if message['role'] == 'assistant' else message['role'] -%}
    {{ '<start_of_turn>' + role + '\n' + (prefix if loop.first else "") }}
    {%- if message['content'] is string -%}{{ message['content'] | trim }}
    {%- elif message['content'] is iterable -%}{%- for item in message['content'] -%}{%- if item['type'] == 'image' -%}{{ '<start_of_image>' }}{%- elif item['type'] == 'text' -%}{{ item['text'] | trim }}{%- endif -%}{%- endfor -%}
    {%- else -%}{{ raise_exception("Invalid content type") }}{%- endif -%}
    {{ '<end_of_turn>\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}{{'<start_of_turn>model\n'}}{%- endif -%}
""",
    "phi-3": r"""{% for message in messages %}{% if message['role'] == 'system' %}{{'<|system|>
' + message['content'] + '<|end|>
'}}{% elif message['role'] == 'user' %}{{'<|user|>
' + message['content'] + '<|end|>
'}}{% elif message['role'] == 'assistant' %}{{'<|assistant|>
' + message['content'] + '<|end|>
'}}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>
' }}{% else %}{{ eos_token }}{% endif %}""",
    "phi-4": r"""{% for message in messages %}{% if message['role'] == 'system' and 'tools' in message and message['tools'] is not none %}{{ '<|' + message['role'] + '|>' + message['content'] + '<|tool|>' + message['tools'] + '<|/tool|>' + '<|end|>' }}{% elif (message['role'] == 'system') %}{{'<|im_start|>system<|im_sep|>' + message['content'] + '<|im_end|>'}}{% else %}{{'<|im_start|>' + message['role'] + '<|im_sep|>' ~ message['content'] ~ '<|im_end|>'}}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant<|im_sep|>' }}{% endif %}""",
    "deepseek-r1": r"""{% if not add_generation_prompt is defined %}{% set add_generation_prompt = false %}{% endif %}{% set ns = namespace(is_first=false, is_tool=false, is_output_first=true, system_prompt='') %}{%- for message in messages %}{%- if message['role'] == 'system' %}{% set ns.system_prompt = message['content'] %}{%- endif %}{%- endfor %}{{bos_token}}{{ns.system_prompt}}{%- for message in messages %}{%- if message['role'] == 'user' %}{%- set ns.is_tool = false -%}{{'<|User|>' + message['content']}}{%- endif %}{%- if message['role'] == 'assistant' and message['tool_calls'] is defined and message['tool_calls'] is not none %}{%- set ns.is_tool = false -%}{%- for tool in message['tool_calls']%}{%- if not ns.is_first %}{{'<|Assistant|><|calls|><|call|>' + tool['type'] + '<|sep|>' + tool['function']['name'] + '\n' + '```json' + '\n' + tool['function']['arguments']|tojson + '\n' + '```' + '<|/call|>'}}{%- set ns.is_first = true -%}{%- else %}{{'\n' + '<|call|>' + tool['type'] + '<|/call|>'}}{{'<|/calls|>'}}{%- endif %}{%- endfor %}{%- endif %}{%- if message['role'] == 'assistant' and message['tool_calls'] is not defined and message['content'] is not none %}{%- if ns.is_tool %}{{'<|/outputs|>' + message['content'] + '<|end|>'}}{%- set ns.is_tool = false -%}{%- else %}{% set content = message['content'] %}{% if '</think>' in content %}{% set content = content.split('</think>')[-1] %}{% endif %}{{'<|Assistant|>' + content + '<|end|>'}}{%- endif %}{%- endif %}{%- if message['role'] == 'tool' %}{%- set ns.is_tool = true -%}{%- if ns.is_output_first %}{{'<|outputs|><|output|>' + message['content'] + '<|/output|>'}}{%- set ns.is_output_first = false %}{%- else %}{{'\n<|output|>' + message['content'] + '<|/output|>'}}{%- endif %}{%- endif %}{%- endfor -%}{% if ns.is_tool %}{{'<|/outputs|>'}}{% endif %}{% if add_generation_prompt and not ns.is_tool %}{{'<|Assistant|><think>\n'}}{% endif %}""",
    "command-r": r"""{%- macro type_of(spec, required) -%}
{%- set known = {"string": "str", "number": "float", "integer": "int", "boolean": "bool"} -%}
{%- if spec.type in known -%}{{ known[spec.type] if required else 'Optional[' + known[spec.type] + ']' }}
{%- elif spec.type == "array" -%}List[{{ type_of(spec["items"], true) }}]{%- else -%}Dict{%- endif -%}
{%- endmacro -%}
{{ bos_token }}{% if messages and messages[0]['role'] == 'system' %}{% set rest = messages[1:] %}{% set preamble = messages[0]['content'] %}{% else %}{% set rest = messages %}{% set preamble = '## Task\nYou answer.' %}{% endif %}{{ '<|START|><|SYSTEM|>' }}{{ preamble }}
{%- for tool in tools or [] %}{% if loop.first %}{{ '\n\n## Tools\n' }}{% endif %}{{ '```python\ndef ' + tool.function.name + '(' }}{% for name, spec in (tool.function.parameters.get('properties') or {}).items() %}{{ name + ': ' }}{{ type_of(spec, name in tool.function.parameters.required) }}{{ ', ' if not loop.last }}{% endfor %}{{ ') -> List[Dict]:\n    ##' + tool.function.description|replace('\n', '\n    ') + '##\n    pass\n```' }}{% if not loop.last %}{{ '\n\n' }}{% endif %}{% endfor %}{{ '<|END|>' }}
{%- for message in rest %}{% set content = message['content'] %}{% if message.role == 'user' %}{{ '<|START|><|USER|>' + content.strip() + '<|END|>' }}{% elif message.role == 'assistant' %}{{ '<|START|><|BOT|>' }}{% if message.tool_calls is defined %}{{ 'Action: ```json\n[\n' }}{% for call in message.tool_calls %}{{ '    {\n' }}{{ '        "tool_name": "' + call.function.name + '",\n        "parameters": ' + call.function.arguments|tojson(indent=4)|indent(8) }}{{ '\n    }' }}{% if not loop.last %}{{ ',\n' }}{% endif %}{% endfor %}{{ '\n]```' }}{% else %}{{ content.strip() }}{% endif %}{{ '<|END|>' }}{% elif message.role == 'tool' %}{{ '<|START|><|SYSTEM|><results>\n' }}{% for line in content.splitlines() %}{{ loop.index0 ~ ': ' ~ line|title }}{% endfor %}{{ '</results><|END|>' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|START|><|BOT|>' }}{% endif %}""",
    "granite": r"""{%- if messages and messages[0]['role'] == 'system' %}{%- set system_message = messages[0]['content'] %}{%- set rest = messages[1:] %}{%- else %}{%- set system_message = "Today is " ~ strftime_now('%B %d, %Y') ~ ".\nYou are Stone." %}{%- if tools and documents %}{%- set system_message = system_message + " Both." %}{%- elif tools %}{%- set system_message = system_message + " Tools." %}{%- endif %}{%- set rest = messages %}{%- endif %}
{{- '<|role|>system<|/role|>' + system_message + '<|eot|>\n' }}
{%- if tools %}{{- '<|role|>tools<|/role|>' }}{{- tools | tojson(indent=4) }}{{- '<|eot|>\n' }}{%- endif %}
{%- for message in rest %}{{- '<|role|>' + message['role'] + '<|/role|>' ~ message['content'] ~ '<|eot|>\n' }}{%- if loop.last and add_generation_prompt %}{{- '<|role|>assistant' }}{%- if controls %}{{- ' ' + controls | tojson }}{%- endif %}{{- '<|/role|>' }}{%- endif %}{%- endfor %}""",
    "smollm3": r"""{# defaults #}
{%- if enable_thinking is not defined -%}{%- set enable_thinking = true -%}{%- endif -%}
{%- if messages and messages[0].role == "system" -%}{%- set system = messages[0].content -%}{%- if "/no_think" in system -%}{%- set mode = "/no_think" -%}{%- else -%}{%- set mode = "/think" if enable_thinking else "/no_think" -%}{%- endif -%}{%- set custom = system.replace("/no_think", "").replace("/think", "").rstrip() -%}{%- else -%}{%- set mode = "/think" if enable_thinking else "/no_think" -%}{%- endif -%}
{{- "<|im_start|>system\n## Metadata\n\n" -}}
{%- set today = strftime_now("%d %B %Y") -%}
{{- "Today Date: " ~ today ~ "\n" -}}{{- "Reasoning Mode: " + mode + "\n\n" -}}
{%- if custom -%}{{- custom + "\n\n" -}}{%- endif -%}
{%- if xml_tools or tools -%}{%- set ns = namespace(xml="<tools>\n") -%}{%- for tool in (xml_tools or tools) -%}{%- set ns.xml = ns.xml ~ (tool | string) ~ "\n" -%}{%- endfor -%}{{- ns.xml ~ "</tools>" + "\n\n" -}}{%- endif -%}
{{- "<|im_end|>\n" -}}
{%- for message in messages -%}
    {%- set content = message.content if message.content is string else "" -%}
    {%- if message.role == "user" -%}{{ "<|im_start|>" + message.role + "\n" + content + "<|im_end|>\n" }}
    {%- elif message.role == "assistant" -%}{% generation %}{%- if mode == "/think" -%}{{ "<|im_start|>assistant\n" + content.lstrip("\n") + "<|im_end|>\n" }}{%- else -%}{{ "<|im_start|>assistant\n" + "<think>\n\n</think>\n" + content.lstrip("\n") + "<|im_end|>\n" }}{%- endif -%}{% endgeneration %}
    {%- elif message.role == "tool" -%}{{ "<|im_start|>user\n" + content + "<|im_end|>\n" }}{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{%- if mode == "/think" -%}{{ "<|im_start|>assistant\n" }}{%- else -%}{{ "<|im_start|>assistant\n" + "<think>\n\n</think>\n" }}{%- endif -%}{%- endif -%}
""",
    "zephyr": r"""{% for message in messages %}
{% if message['role'] == 'user' %}
{{ '<|user|>
' + message['content'] + eos_token }}
{% elif message['role'] == 'system' %}
{{ '<|system|>
' + message['content'] + eos_token }}
{% elif message['role'] == 'assistant' %}
{{ '<|assistant|>
'  + message['content'] + eos_token }}
{% endif %}
{% if loop.last and add_generation_prompt %}
{{ '<|assistant|>' }}
{% endif %}
{% endfor %}""",
    "falcon": r"""{% for message in messages %}{% if not loop.first %}{{ '
' }}{% endif %}{% if message['role'] == 'system' %}{{ message['content'] }}{% elif message['role'] == 'user' %}{{ 'User: ' + message['content'].replace('\r\n', '\n').replace('\n\n', '\n') }}{% elif message['role'] == 'assistant' %}{{ 'Falcon: ' + message['content'] }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '\n' + 'Falcon:' }}{% endif %}""",
    "yi-internlm": r"""{% if messages and messages[0]['role'] == 'system' %}{% set system_message = messages[0]['content'] %}{% endif %}{% if system_message is defined %}{{ bos_token + system_message }}{% endif %}{% for message in messages %}{% set content = message['content'] %}{% if message['role'] == 'user' %}{{ '<|im_start|>user\n' + content + '<|im_end|>\n<|im_start|>assistant\n' }}{% elif message['role'] == 'assistant' %}{{ content ~ '<|im_end|>' ~ '\n' }}{% endif %}{% endfor %}""",
    "glm-4": r"""[gMASK]<sop>
{%- if tools -%}
<|system|>
# Tools
{% for tool in tools %}{%- set function = tool.function if tool.get("function") else tool %}

## {{ function.name }}

{{ function | tojson(indent=4, ensure_ascii=False) }}
{%- endfor %}
{%- endif -%}
{%- macro visible_text(content) -%}
    {%- if content is string -%}{{- content }}
    {%- elif content is iterable and content is not mapping -%}{%- for item in content -%}{%- if item is mapping and item.type == 'text' -%}{{- item.text }}{%- elif item is string -%}{{- item }}{%- endif -%}{%- endfor -%}
    {%- else -%}{{- content }}{%- endif -%}
{%- endmacro -%}
{%- set ns = namespace(last_user_index=-1) %}
{%- for m in messages %}{%- if m.role == 'user' %}{% set ns.last_user_index = loop.index0 -%}{%- endif %}{%- endfor %}
{% for m in messages %}
{%- if m.role == 'user' -%}<|user|>
{{ visible_text(m.content) }}
{{- '/nothink' if (enable_thinking is defined and not enable_thinking and not visible_text(m.content).endswith("/nothink")) else '' -}}
{%- elif m.role == 'assistant' -%}
<|assistant|>
{%- set reasoning_content = '' %}{%- set content = visible_text(m.content) %}
{%- if m.reasoning_content is string %}{%- set reasoning_content = m.reasoning_content %}
{%- elif '</think>' in content %}{%- set reasoning_content = content.split('</think>')[0].rstrip('\n').split('<think>')[-1].lstrip('\n') %}{%- set content = content.split('</think>')[-1].lstrip('\n') %}{%- endif %}
{%- if loop.index0 > ns.last_user_index and reasoning_content -%}{{ '\n<think>' + reasoning_content.strip() + '</think>'}}{%- else -%}{{ '\n<think></think>' }}{%- endif -%}
{%- if content.strip() -%}{{ '\n' + content.strip() }}{%- endif -%}
{% if m.tool_calls %}{% for tc in m.tool_calls %}{%- if tc.function %}{%- set tc = tc.function %}{%- endif %}{{ '\n<tool_call>' + tc.name }}{% set _args = tc.arguments %}{% for k, v in _args.items() %}<arg_key>{{ k }}</arg_key><arg_value>{{ v | tojson(ensure_ascii=False) if v is not string else v }}</arg_value>{% endfor %}</tool_call>{% endfor %}{% endif %}
{%- elif m.role == 'tool' -%}{%- if loop.first or (messages[loop.index0 - 1].role != "tool") %}{{- '<|observation|>' }}{%- endif %}{{- '\n<tool_response>\n' }}{{- m.content }}{{- '\n</tool_response>' }}
{%- elif m.role == 'system' -%}<|system|>
{{ visible_text(m.content) }}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}<|assistant|>{{- '\n<think></think>' if (enable_thinking is defined and not enable_thinking) else '' -}}{%- endif -%}""",
    "hermes": r"""{%- macro json_to_python_type(json_spec) %}
{%- set basic = {"string": "str", "number": "float", "integer": "int", "boolean": "bool"} %}
{%- if basic[json_spec.type] is defined %}{{- basic[json_spec.type] }}
{%- elif json_spec.type == "array" %}{{- "list[" + json_to_python_type(json_spec|items) + "]" }}
{%- elif json_spec.type == "object" %}{%- if json_spec.additionalProperties is defined %}{{- "dict[str, " + json_to_python_type(json_spec.additionalProperties) + ']' }}{%- else %}{{- "dict" }}{%- endif %}
{%- elif json_spec.type is iterable %}{{- "Union[" }}{%- for t in json_spec.type %}{{- json_to_python_type({"type": t}) }}{%- if not loop.last %}{{- "," }}{%- endif %}{%- endfor %}{{- "]" }}
{%- else %}{{- "Any" }}{%- endif %}
{%- endmacro %}
{{- bos_token }}{{- '<|im_start|>system\nTools within <tools></tools>: <tools> ' }}
{%- for tool in tools or [] %}{%- if tool.function is defined %}{%- set tool = tool.function %}{%- endif %}
{{- '{"type": "function", "function": ' }}{{- '{"name": "' + tool.name + '", "description": "' + tool.name + '(' }}
{%- for param_name, param_fields in tool.parameters.properties|items %}{{- param_name + ": " + json_to_python_type(param_fields) }}{%- if not loop.last %}{{- ", " }}{%- endif %}{%- endfor %}
{{- ")" }}{%- if tool.return is defined %}{{- " -> " + json_to_python_type(tool.return) }}{%- endif %}{{- " - " + tool.description + "\n\n" }}
{%- for param_name, param_fields in tool.parameters.properties|items %}{%- if loop.first %}{{- "    Args:\n" }}{%- endif %}{{- "        " + param_name + "(" + json_to_python_type(param_fields) + "): " + (param_fields.description|default('')|trim) }}{%- endfor %}
{{- '", "parameters": ' }}{%- if tool.parameters.properties | length == 0 %}{{- "{}" }}{%- else %}{{- tool.parameters|tojson }}{%- endif %}{{- "}" }}{%- if not loop.last %}{{- "\n" }}{%- endif %}
{%- endfor %}{{- " </tools>" }}{{- '<|im_end|>\n' }}
{%- for message in messages %}{%- if message.role in ("user", "system") or (message.role == "assistant" and message.tool_calls is not defined) %}{{- '<|im_start|>' + message.role + '\n' ~ message.content ~ '<|im_end|>' + '\n' }}
{%- elif message.role == "assistant" %}{{- '<|im_start|>' + message.role }}{%- for tool_call in message.tool_calls %}{{- '\n<tool_call>\n' }}{%- if tool_call.function is defined %}{%- set tool_call = tool_call.function %}{%- endif %}{{- '{' }}{{- '"name": "' }}{{- tool_call.name }}{{- '"' }}{%- if tool_call.arguments is defined %}{{- ', ' }}{{- '"arguments": ' }}{{- tool_call.arguments|tojson }}{%- endif %}{{- '}' }}{{- '\n</tool_call>' }}{%- endfor %}{{- '<|im_end|>\n' }}
{%- elif message.role == "tool" %}{%- if loop.previtem and loop.previtem.role != "tool" %}{{- '<|im_start|>tool\n' }}{%- endif %}{{- '<tool_response>\n' }}{{- message.content }}{%- if not loop.last %}{{- '\n</tool_response>\n' }}{%- else %}{{- '\n</tool_response>' }}{%- endif %}{%- if not loop.last and loop.nextitem.role != "tool" %}{{- '<|im_end|>' }}{%- elif loop.last %}{{- '<|im_end|>' }}{%- endif %}{%- endif %}{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}""",
    "harmony": r"""{%- macro render_type(spec, required_params, is_nullable=false) -%}
    {%- if spec.type == "array" -%}{%- if spec['items'] -%}{{- render_type(spec['items'], required_params) + '[]' }}{%- else -%}{{- "any[]" }}{%- endif -%}
    {%- elif spec.type is defined and spec.type is iterable and spec.type is not string and spec.type is not mapping and spec.type[0] is defined -%}{%- if spec.type | length > 1 -%}{{- spec.type | join(" | ") }}{%- else -%}{{- spec.type[0] }}{%- endif -%}
    {%- elif spec.oneOf -%}{%- for variant in spec.oneOf -%}{{- render_type(variant, required_params) -}}{%- if not loop.last %}{{- " | " }}{% endif -%}{%- endfor -%}
    {%- elif spec.type == "string" -%}{%- if spec.enum -%}{{- '"' + spec.enum|join('" | "') + '"' -}}{%- else -%}{{- "string" }}{%- if spec.nullable %}{{- " | null" }}{%- endif -%}{%- endif -%}
    {%- elif spec.type in ("number", "integer") -%}{{- "number" }}
    {%- else -%}{{- "any" }}{%- endif -%}
{%- endmacro -%}
{%- macro namespace_of(name, tools) -%}
    {{- "## " + name + "\n\n" }}{{- "namespace " + name + " {\n\n" }}
    {%- for tool in tools %}{%- set tool = tool.function %}{{- "// " + tool.description + "\n" }}{{- "type "+ tool.name + " = " }}
        {%- if tool.parameters and tool.parameters.properties %}{{- "(_: {\n" }}{%- for param_name, param_spec in tool.parameters.properties.items() %}{%- if param_spec.description %}{{- "// " + param_spec.description + "\n" }}{%- endif %}{{- param_name }}{%- if param_name not in (tool.parameters.required or []) -%}{{- "?" }}{%- endif -%}{{- ": " }}{{- render_type(param_spec, tool.parameters.required or []) }}{%- if param_spec.default is defined -%}{%- if param_spec.default is mapping or param_spec.default is iterable -%}{{- ", // default: " + param_spec.default|tojson }}{%- else -%}{{- ", // default: " + param_spec.default|string }}{%- endif -%}{%- endif -%}{%- if not loop.last %}{{- ",\n" }}{%- else %}{{- "\n" }}{%- endif -%}{%- endfor %}{{- "}) => any;\n\n" }}{%- else -%}{{- "() => any;\n\n" }}{%- endif -%}
    {%- endfor %}{{- "} // namespace " + name }}
{%- endmacro -%}
{{- "<|start|>system<|message|>Current date: " + strftime_now("%Y-%m-%d") + "\n\nReasoning: " + (reasoning_effort|default('medium')) + "\n\n# Valid channels: analysis, final.<|end|>" }}
{%- if tools %}{{- "<|start|>developer<|message|># Tools\n\n" }}{{- namespace_of("functions", tools) }}{{- "<|end|>" }}{%- endif %}
{%- set last_call = namespace(name=none) %}
{%- for message in messages -%}
    {%- if message.role == 'assistant' -%}
        {%- if "content" in message and message.content is string and ("<|channel|>analysis" in message.content or "<|channel|>final" in message.content) %}{{- raise_exception("Pass analysis as a field.") }}{%- endif %}
        {%- if "tool_calls" in message %}
            {%- set call = message.tool_calls[0] %}{%- if call.function %}{%- set call = call.function %}{%- endif %}
            {%- if message.reasoning_content %}{{- "<|start|>assistant<|channel|>analysis<|message|>" + message.reasoning_content + "<|end|>" }}{%- endif %}
            {{- "<|start|>assistant to=" }}{{- "functions." + call.name + "<|channel|>commentary " }}{{- (call.content_type if call.content_type is defined else "json") + "<|message|>" }}{{- call.arguments|tojson }}{{- "<|call|>" }}{%- set last_call.name = call.name %}
        {%- elif loop.last and not add_generation_prompt %}{{- "<|start|>assistant<|channel|>final<|message|>" ~ message.content ~ "<|return|>" }}
        {%- else %}{{- "<|start|>assistant<|channel|>final<|message|>" ~ message.content ~ "<|end|>" }}{%- set last_call.name = none %}{%- endif %}
    {%- elif message.role == 'tool' -%}{%- if last_call.name is none %}{{- raise_exception("Message has tool role, but there was no previous assistant message with a tool call!") }}{%- endif %}{{- "<|start|>functions." + last_call.name }}{{- " to=assistant<|channel|>commentary<|message|>" + message.content|tojson + "<|end|>" }}
    {%- elif message.role == 'user' -%}{{- "<|start|>user<|message|>" ~ message.content ~ "<|end|>" }}{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}<|start|>assistant{%- endif -%}""",
    "nemotron": r"""{%- set ns = namespace(enable_thinking=true, non_tool=[]) -%}
{%- for message in messages -%}{%- set content = message['content'] -%}{%- if message['role'] == 'user' or message['role'] == 'system' -%}{%- if '/think' in content|string -%}{%- set ns.enable_thinking = true -%}{%- elif '/no_think' in content|string -%}{%- set ns.enable_thinking = false -%}{%- endif -%}{%- endif -%}{%- if message['role'] != 'tool' -%}{%- set ns.non_tool = ns.non_tool + [message] -%}{%- endif -%}{%- endfor -%}
{{ '<SPECIAL_10>System\n' }}
{%- if messages and messages[0].role == 'system' -%}{{ messages[0].content.replace('/think', '').strip() }}{%- endif -%}
{%- if tools -%}{{ '\n<AVAILABLE_TOOLS>[' }}{%- for tool in tools -%}{{ (tool.function if tool.function is defined else tool) | tojson }}{{- ', ' if not loop.last else '' -}}{%- endfor -%}{{ ']</AVAILABLE_TOOLS>' }}{%- endif -%}{{ '\n\n' }}
{%- for message in messages -%}
{%- if message.role == 'user' -%}{{ '<SPECIAL_11>User\n' ~ message.content ~ '\n' }}
{%- elif message.role == 'assistant' -%}{%- set content = (message.content or '')|string -%}{%- if '<think>' in content and '</think>' in content -%}{%- set content = content.split('</think>', 1)[1].strip() -%}{%- endif -%}{{ '<SPECIAL_11>Assistant\n' + content }}{%- if message.tool_calls -%}{{ '<TOOLCALL>[' }}{%- for call in message.tool_calls -%}{%- set fn = call.function if call.function is defined else call -%}{{ '{"name": "' + fn.name + '", "arguments": ' }}{%- if fn.arguments is string -%}{{ fn.arguments }}{%- else -%}{{ fn.arguments | tojson }}{%- endif -%}{{ '}' }}{{- ', ' if not loop.last -}}{%- endfor -%}{{ ']</TOOLCALL>' }}{%- endif -%}{{ '\n<SPECIAL_12>\n' }}
{%- elif message.role == 'tool' -%}{%- if loop.first or (messages[loop.index0 - 1].role != 'tool') -%}{{ '<SPECIAL_11>User\n<TOOL_RESPONSE>[' }}{%- endif -%}{{ message.content }}{{- ', ' if not loop.last and (messages[loop.index0 + 1].role == 'tool') else ']</TOOL_RESPONSE>\n' -}}{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<SPECIAL_11>Assistant\n' }}{%- if ns.enable_thinking and enable_thinking|default(true) -%}{{ '<think>\n' }}{%- else -%}{{ '<think></think>' }}{%- endif -%}{%- endif -%}""",
    "olmo-2": r"""{{ bos_token }}{% for message in messages %}{% if message['role'] == 'system' %}{{ '<|system|>
' + message['content'] + '
' }}{% elif message['role'] == 'user' %}{{ '<|user|>
' + message['content'] + '
' }}{% elif message['role'] == 'assistant' %}{% if not loop.last %}{{ '<|assistant|>
'  + message['content'] + eos_token + '
' }}{% else %}{{ '<|assistant|>
'  + message['content'] + eos_token }}{% endif %}{% endif %}{% if loop.last and add_generation_prompt %}{{ '<|assistant|>
' }}{% endif %}{% endfor %}""",
}

shared = json.loads(Path(__file__).with_name("chat-templates.json").read_text())
CONVERSATIONS = ["turns", "thinking", "thinking as a field", "two calls", "parts", "none", "null content"]
CASES = [
    {"tools": False, "generation": False, "variables": {}},
    {"tools": True, "generation": True, "variables": {}},
    {"tools": False, "generation": True, "variables": {"enable_thinking": False}},
]


def rendered(compiled, messages, case):
    try:
        text = compiled.render(
            messages=messages,
            tools=shared["tools"] if case["tools"] else None,
            documents=None,
            add_generation_prompt=case["generation"],
            bos_token="<s>",
            eos_token="</s>",
            **case["variables"],
        )
        return {"text": text}
    except jinja2.exceptions.TemplateError as error:
        refused = type(error) is jinja2.exceptions.TemplateError
        return {"refused": str(error)} if refused else {"error": type(error).__name__}
    except Exception as error:
        return {"error": type(error).__name__}


families = {}
for name, source in FAMILIES.items():
    compiled = chat_template_utils._compile_jinja_template(source)
    renders = {title: [rendered(compiled, shared["conversations"][title], case) for case in CASES] for title in CONVERSATIONS}
    families[name] = {"template": source, "renders": renders}
    flat = [each for results in renders.values() for each in results]
    print(name, {key: sum(key in each for each in flat) for key in ("text", "refused", "error")})

record = {
    "tool": "transformers",
    "version": transformers.__version__,
    "jinja2": jinja2.__version__,
    "python": platform.python_version(),
    "script": "template-families.py",
    "seed": "none: nothing is drawn",
    "date": "2026-02-03T04:05:06",
    "cases": CASES,
    "families": families,
}
Path(__file__).with_suffix(".json").write_text(json.dumps(record, ensure_ascii=True) + "\n")
