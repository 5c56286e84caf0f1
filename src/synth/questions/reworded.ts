import { exactMatch } from "../../text/answers.ts";
import { mentionsIn } from "../../text/words.ts";
import type { Role } from "../../trajectory/role.ts";
import type { Task } from "../../trajectory/task.ts";
import { GAP } from "./masked-questions.ts";

/**
 * Questions in a model's words, with the answers that they have. One stays as it was where the model's tells the answer or leaves the gap,
 * and where the model, shown the sentences, answers its own question otherwise.
 *
 * Source: round-trip consistency, Alberti et al., ACL 2019. Different here: the answer was chosen before the question, by a rule.
 *
 * @param told for each question the sentences that it was made from.
 * @throws {RolloutError} where the model gives no answer.
 */
export async function reworded(
  tasks: readonly Task[],
  told: readonly (readonly string[])[],
  { teacher, ...limits }: { teacher: Role; maxTokens: number; signal: AbortSignal },
): Promise<{ tasks: Task[]; changed: number }> {
  const asked = await Promise.all(
    tasks.map(async (task, i) => {
      const [answer = ""] = task.references;
      const sentences = (told[i] ?? []).join("\n");
      const request = questionRequest(sentences, answer);
      const written = await teacher.complete(request, limits);
      const question = written.trim();
      const isOne = question !== "" && !question.includes("\n") && !question.includes(GAP);
      if (!isOne || mentionsIn(question)(answer)) return null;
      const check = answerRequest(sentences, question);
      const found = await teacher.complete(check, limits);
      return exactMatch(found, task.references) === 1 ? question : null;
    }),
  );
  return {
    tasks: tasks.map((task, i) => ({ ...task, question: asked[i] ?? task.question })),
    changed: asked.filter((question) => question !== null).length,
  };
}

function questionRequest(sentences: string, answer: string): string {
  return `${sentences}\n\nWrite one question, in the language of this text, that has one right answer: ${answer}\nIt says enough to find the text among many others, and it does not tell the answer. Reply with the question alone.`;
}

function answerRequest(sentences: string, question: string): string {
  return `${sentences}\n\nQuestion: ${question}\nReply with the answer alone, in the words of the text.`;
}
