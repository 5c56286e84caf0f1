"""A policy of rules for the questions of search-r1, as the peers of `agentrl serve env` play them."""

import re


def next_message(shown: list[str]) -> str:
    """The assistant's next turn.

    shown: the prompt, then each reply. Searches with the question, then with the last name of the first passage, then answers with the
    year or the last name that the newest passages give: right now and then.
    """
    question = shown[0].strip().removeprefix("Question: ")
    if len(shown) == 1:
        return f"<search>{question}</search>"
    passage = re.sub(r"^.*?\) ", "", shown[-1].split("\nDoc 2")[0], flags=re.S)
    names = re.findall(r"[A-Z]\w+(?: [A-Z]\w+)+", passage)
    if len(shown) == 2 and names:
        return f"<search>{names[-1]}</search>"
    years = re.findall(r"\b\d{4}\b", passage)
    wants_year = question.startswith("When") or " year " in question
    found = years if wants_year else names
    return f"<answer>{found[-1] if found else 'unknown'}</answer>"
