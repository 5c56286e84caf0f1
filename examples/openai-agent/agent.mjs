// An agent as anyone would write it with the OpenAI SDK: it knows nothing of agentrl. It reads a question per line from stdin, lets the
// model search a few times, and writes the answer as a line to stdout. SEARCH_URL is a search server with Search-R1's API.
import { createInterface } from "node:readline";
import OpenAI from "openai";

const client = new OpenAI(); // OPENAI_BASE_URL, OPENAI_API_KEY
const SEARCH_URL = process.env.SEARCH_URL ?? "http://127.0.0.1:8000/retrieve";
const MOST_SEARCHES = 4;

async function search(query) {
  const response = await fetch(SEARCH_URL, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ queries: [query], topk: 2 }),
  });
  const { result } = await response.json();
  return result[0]
    .map(({ contents }, i) => {
      const [title, ...text] = contents.split("\n");
      return `Doc ${i + 1}(Title: ${title.replaceAll('"', "")}) ${text.join("\n")}\n`;
    })
    .join("");
}

async function answer(question) {
  const messages = [{ role: "user", content: `Question: ${question}\n` }];
  for (let searches = 0; searches <= MOST_SEARCHES; searches++) {
    const { choices } = await client.chat.completions.create({
      model: "policy",
      messages,
      stop: ["</search>", "</answer>"],
    });
    const { content } = choices[0].message;
    const query = content.split("<search>")[1];
    if (query === undefined) return content.split("<answer>")[1]?.trim() ?? "";
    const found = await search(query.trim());
    messages.push(
      { role: "assistant", content: `${content}</search>` },
      { role: "user", content: `\n\n<information>${found}</information>\n\n` },
    );
  }
  return "";
}

for await (const question of createInterface({ input: process.stdin }))
  console.log(JSON.stringify({ answer: await answer(question) }));
