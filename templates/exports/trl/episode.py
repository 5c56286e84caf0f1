"""An episode of the exported recipe: the tags of its protocol, its searches and its budgets, as agentrl plays them.

experiment.json holds the settings. Searches go to a server that speaks Search-R1's /retrieve, such as `agentrl serve`. Two environment
variables change where: AGENTRL_SEARCH_URL names another address, AGENTRL_SEARCH_TOKEN holds the server's token.
"""

import json
import os
import re
import time
import urllib.error
import urllib.request
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
EXPERIMENT = json.loads((FOLDER / "experiment.json").read_text(encoding="utf-8"))
PROTOCOL = EXPERIMENT["protocol"]
TOOL = EXPERIMENT["tool"]
BUDGETS = EXPERIMENT["budgets"]
SEARCH_URL = os.environ.get("AGENTRL_SEARCH_URL", EXPERIMENT["searchUrl"])

# White space as JavaScript trims it; Python's differs in a few characters.
BLANK = "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"


def tag_pattern(tag):
    """Matches a pair of tags; its group is the text between them."""
    opening, closing = tag
    return re.compile(f"{re.escape(opening)}(.*?){re.escape(closing)}", re.DOTALL)


PATTERNS = [("search", tag_pattern(PROTOCOL["call"])), ("answer", tag_pattern(PROTOCOL["answer"]))]
CALL_END, ANSWER_END = PROTOCOL["call"][1], PROTOCOL["answer"][1]


def first_end(text, marks):
    """End of the earliest of several texts; None if there is none."""
    ends = [text.index(mark) + len(mark) for mark in marks if mark in text]
    return min(ends) if ends else None


def find_cut(text):
    """Where a message ends; None keeps all of it."""
    if not PROTOCOL["callsFirst"]:
        return first_end(text, [CALL_END, ANSWER_END])
    cut = first_end(text, [CALL_END])
    return first_end(text, [ANSWER_END]) if cut is None else cut


def parse(text):
    """The action of a message: ("search" or "answer", input), or None."""
    found = [(match.start(), tool, match[1].strip(BLANK)) for tool, pattern in PATTERNS for match in [pattern.search(text)] if match]
    return min(found)[1:] if found else None


def retrieve(query, attempts=6):
    """Passages of a query from the retrieval server; raises after several failed attempts."""
    body = json.dumps({"queries": [query], "topk": TOOL["topK"], "return_scores": True}).encode()
    headers = {"content-type": "application/json"}
    if token := os.environ.get("AGENTRL_SEARCH_TOKEN"):
        headers["authorization"] = f"Bearer {token}"
    for attempt in range(attempts):
        try:
            with urllib.request.urlopen(urllib.request.Request(SEARCH_URL, body, headers), timeout=60) as reply:
                return [each["document"] for each in json.load(reply)["result"][0]]
        except (urllib.error.URLError, TimeoutError) as error:
            refused = isinstance(error, urllib.error.HTTPError) and error.code not in (429, 500, 502, 503, 504)
            if refused or attempt == attempts - 1:
                raise RuntimeError(f"{SEARCH_URL}: no passages ({error}). Start the server; README.md shows the command.") from error
            time.sleep(min(2**attempt, 10))


def title_and_text(document):
    """Servers of Search-R1 have both in `contents`: the title in quotes, a line end, the text."""
    if "title" in document and "text" in document:
        return document["title"], document["text"]
    title, _, text = document["contents"].partition("\n")
    return title.strip('"'), text


def search(query):
    """The text of one search's result."""
    if query == "":
        return "The query was empty."
    documents = retrieve(query)
    if not documents:
        return "Nothing was found."
    quoted = TOOL["show"] == "search-r1"
    mark = '"' if quoted else ""
    lines = [f"Doc {i + 1}(Title: {mark}{title}{mark}) {text}" for i, (title, text) in enumerate(map(title_and_text, documents))]
    return "\n".join(lines) + ("" if quoted else "\n")


def is_final(number):
    """Whether message `number`, from 0, is the last one, for which no search is run."""
    turns = BUDGETS["turns"]
    return turns["onExhausted"] == "final-turn" and turns["limit"] is not None and number >= turns["limit"]


def does_nothing(message, number):
    """Whether message `number`, from 0, has no action, or a search without a query."""
    action = parse(message)
    return action is None or (action == ("search", "") and not is_final(number))


class Episode:
    """The environment's side of one trajectory. `messages` are the policy's; `end` tells how it ended, None while it goes on."""

    def __init__(self):
        self.messages, self.searches, self.invalid, self.end = [], 0, 0, None

    def step(self, message):
        """Takes a message (it is cut here) and returns the reply; None: the episode ended."""
        cut = find_cut(message)
        message = message if cut is None else message[:cut]
        limit, exhausted = BUDGETS["turns"]["limit"], BUDGETS["turns"]["onExhausted"]
        final = is_final(len(self.messages))
        self.invalid += does_nothing(message, len(self.messages))
        self.messages.append(message)
        action = parse(message)
        if action is not None and action[0] == "answer":
            self.end = "answered"
        elif final:
            self.end = "turn-limit"
        elif action in (None, ("search", "")) and PROTOCOL["onInvalid"] == "end":
            self.end = "invalid"
        if self.end is not None:
            return None
        if action is None:
            reply = PROTOCOL["invalid"]
        else:
            self.searches += 1
            before, after = PROTOCOL["result"]
            reply = before + search(action[1]) + after
        if exhausted == "end" and limit is not None and len(self.messages) >= limit:
            self.end = "turn-limit"
            return None
        return reply
