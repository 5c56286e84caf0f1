"""What transformers makes of the templates in chat-templates/, which were written for this test.

  python test/golden/chat-templates.py     (transformers; the date is set, nothing is drawn at random)

Writes chat-templates.json beside this file: conversations, and for each template and case the text or the refusal.
"""

import datetime
import json
from pathlib import Path

import jinja2
import transformers
from transformers.utils import chat_template_utils


class Fixed(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2026, 2, 3, 4, 5, 6)


chat_template_utils.datetime = Fixed

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "search",
            "description": "Find passages on “anything” & all <of> it's kind",
            "parameters": {
                "type": "object",
                "properties": {"query": {"type": "string"}, "k": {"type": "integer", "default": 3}},
                "required": ["query"],
            },
        },
    },
    {"type": "function", "function": {"name": "now", "description": "", "parameters": {}}},
]


def call(text, *ids):
    function = {"name": "search", "arguments": {"query": "Mühle am Amber", "k": 2, "exact": True, "not": None}}
    calls = [{"id": id, "type": "function", "function": function} for id in ids]
    return {"role": "assistant", "content": text, "tool_calls": calls}


def tool(content, id="call00001"):
    return {"role": "tool", "name": "search", "content": content, "tool_call_id": id}


def says(role, content, **more):
    return {"role": role, "content": content, **more}


SYSTEM = says("system", "  Answer briefly. 简短。\n")
ASK = says("user", "Who built the mill at Lindow?")
THOUGHT = "<think>\nThe mill is old.\n\nSearch first.\n</think>\n\n"
CONVERSATIONS = {
    "question": [ASK],
    "system": [SYSTEM, ASK],
    "turns": [SYSTEM, ASK, says("assistant", " Mara Voss. \n"), says("user", "When?"), says("assistant", "In 1874.")],
    "thinking": [ASK, says("assistant", THOUGHT + "Mara Voss."), says("user", "When?"), says("assistant", THOUGHT + "In 1874.")],
    "thinking as a field": [ASK, says("assistant", "Mara Voss.", reasoning_content="It is old.\n"), says("user", "When?")],
    "a call": [SYSTEM, ASK, call("", "call00001"), tool('{"hits": ["Mill — 1874"]}')],
    "a call after thinking": [ASK, call(THOUGHT, "call00001"), tool("[]"), says("assistant", "Nobody knows.")],
    "two calls": [ASK, call("Two at once.", "call00001", "call00002"), tool("1"), tool("2", "call00002")],
    "bad id": [ASK, call("", "x"), tool("1", "x")],
    "no turns": [ASK, ASK],
    "null content": [ASK, says("assistant", None), says("user", "?")],
    "parts": [says("user", [{"type": "text", "text": "Look:"}, {"type": "image"}]), says("skip", "x"), says("assistant", "it is"), says("stop", "y")],
    "odd texts": [says("user", "{{ 7 * 7 }} {% raw %} <|im_end|> \\n \u2028 \U0001f999 \"q\" 'a' </s>")],
    "none": [],
}
CASES = [
    {"tools": False, "generation": False, "variables": {}},
    {"tools": False, "generation": True, "variables": {}},
    {"tools": True, "generation": True, "variables": {}},
    {"tools": False, "generation": True, "variables": {"enable_thinking": False, "date": "today", "extra": {"b": [1, {"c": "ü"}], "a": 0.5, "number": 3}}},
]

folder = Path(__file__).with_suffix("")
renders = {}
for path in sorted(folder.glob("*.jinja")):
    source = path.read_text()
    renders[path.stem] = {}
    for name, messages in CONVERSATIONS.items():
        results = []
        for case in CASES:
            try:
                [text], _ = chat_template_utils.render_jinja_template(
                    [messages],
                    tools=TOOLS if case["tools"] else None,
                    chat_template=source,
                    add_generation_prompt=case["generation"],
                    bos_token="<s>",
                    eos_token="</s>",
                    **case["variables"],
                )
                results.append({"text": text})
            except jinja2.exceptions.TemplateError as error:
                refused = type(error) is jinja2.exceptions.TemplateError
                results.append({"refused": str(error)} if refused else {"error": str(error)})
            except TypeError as error:
                results.append({"error": str(error)})
        renders[path.stem][name] = results

record = {
    "tool": "transformers",
    "version": transformers.__version__,
    "jinja2": jinja2.__version__,
    "script": "chat-templates.py",
    "date": "2026-02-03T04:05:06",
    "tools": TOOLS,
    "cases": CASES,
    "conversations": CONVERSATIONS,
    "renders": renders,
}
path = folder.with_suffix(".json")
path.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n")
for template, results in renders.items():
    flat = [case for cases in results.values() for case in cases]
    print(template, {key: sum(key in case for case in flat) for key in ("text", "refused", "error")})
