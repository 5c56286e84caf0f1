import { defineLayout, parseRecord, z } from "agentrl";

const schema = z.object({ asked: z.string(), replies: z.array(z.string()), told: z.string() });

export default defineLayout({
  name: "asked-told",
  summary: "asked, replies[], told: the passage with the answer",
  // A layout of "passages" reads corpora: its `read` returns { id, title, text }.
  holds: "questions",
  // Whether a file with this first record has the layout. Layouts of plugins are tried first.
  fits: (record) => "asked" in record && "told" in record,
  read(record, where) {
    // A record that does not fit is an error with its file and line.
    const { asked, replies, told } = parseRecord(schema, record, where);
    const passage = { id: `passage of ${asked}`, title: "", text: told };
    return { question: asked, references: replies, annotations: { context: [passage] } };
  },
});
