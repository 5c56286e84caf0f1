import { defineWorld, random, z } from "agentrl";

const COLOURS = ["red", "blue", "green", "white", "black", "brown"];
const SPLITS = ["train", "dev", "test"];

/** Box number i of a split. Splits share no box: each has numbers of its own. */
function box({ seed, split }, i) {
  const number = 1 + SPLITS.length * i + SPLITS.indexOf(split);
  const draw = random(seed).derive("box-colours", split, i);
  return { id: `box-${number}`, name: `Box ${number}`, colour: draw.pick(COLOURS) };
}

export default defineWorld({
  name: "box-colours",
  summary: "Boxes, each with a colour that one passage states.",
  // Increase it when a change of this file changes a question or a passage.
  version: 1,
  // Every world has the options seed, split and questions as well.
  options: z.strictObject({ boxes: z.int().min(1).default(60) }),
  *tasks(settings) {
    const draw = random(settings.seed).derive("box-colours questions", settings.split);
    for (let i = 0; i < settings.questions; i++) {
      const { id, name, colour } = box(settings, draw.int(settings.boxes));
      yield {
        id: `box-colours-${settings.split}-${settings.seed}-${i}`,
        question: `What is the colour of ${name}?`,
        references: [colour],
        source: "box-colours",
        annotations: {
          type: "colour",
          hops: 1,
          supportingPassages: [id],
          // Steps for the teacher gold-chain: a query, what it finds, and where.
          decomposition: [{ question: `colour of ${name}`, answer: colour, passage: id }],
        },
      };
    }
  },
  *passages(settings) {
    for (let i = 0; i < settings.boxes; i++) {
      const { id, name, colour } = box(settings, i);
      yield { id, title: name, text: `The colour of ${name} is ${colour}.` };
    }
  },
  // Reads the texts that were written, without the code that wrote them.
  async check({ tasks, passages }) {
    const colours = new Map();
    for await (const { text } of passages()) {
      const [, name, colour] = /^The colour of (.+) is (\w+)\.$/.exec(text) ?? [];
      colours.set(name, colour);
    }
    const wrong = tasks.filter(({ question, references }) => {
      const [, name] = /^What is the colour of (.+)\?$/.exec(question) ?? [];
      return colours.get(name) !== references[0];
    });
    return {
      counts: { passages: colours.size, questions: tasks.length },
      problems: wrong.map(({ id }) => {
        return { where: id, code: "answer-differs", message: "no passage states the reference" };
      }),
    };
  },
  // Texts that become one token each in a fresh policy; a word at the start of a text has no space before it.
  vocabulary: () => ["What", " Box", " colour", ...COLOURS.map((colour) => ` ${colour}`)],
});
