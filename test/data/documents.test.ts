import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { dataSource, skippedText } from "../../src/data/data-folder.ts";
import { readDocument } from "../../src/data/documents.ts";
import { readPassages } from "../../src/data/passages.ts";
import { textFiles } from "../../src/data/text-folder.ts";
import { collect } from "../helpers/collect.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const file = (name: string): string => join(folder, name);

/** A PDF of one page; without text the page is empty. */
function pdf(text: string): string {
  const content = text === "" ? "" : `BT /F1 12 Tf 72 720 Td (${text}) Tj ET`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    "<< /Title (Rivers) >>",
  ];
  let body = "%PDF-1.4\n";
  const starts = objects.map((object, i) => {
    const start = body.length;
    body += `${i + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(start).padStart(10, "0")} 00000 n \n`;
  });
  const table = `xref\n0 7\n0000000000 65535 f \n${starts.join("")}`;
  return `${body}${table}trailer\n<< /Size 7 /Root 1 0 R /Info 6 0 R >>\nstartxref\n${body.length}\n%%EOF\n`;
}

const HTML = `<!doctype html><html><head><title>Oslo &amp; its river</title><style>p { color: red }</style></head>
<body><nav><a href="/">Home</a></nav><h1>Oslo</h1><p>Oslo is the <b>capital</b> of <a href="/no">Norway</a>.</p>
<p>Its river is the Akerselva.</p><script>alert(1)</script><img src="x.png" alt="x"></body></html>`;

describe("readDocument", () => {
  it("reads the text and title of HTML, without navigation, scripts, styles and addresses", async () => {
    writeFileSync(file("oslo.html"), HTML);
    const { title, text } = await readDocument(file("oslo.html"));
    expect(title).toBe("Oslo & its river");
    expect(text).toBe("Oslo\n\nOslo is the capital of Norway.\n\nIts river is the Akerselva.");
  });

  it("reads the text and title of a PDF", async () => {
    writeFileSync(file("rivers.pdf"), pdf("The Akerselva flows through Oslo."));
    expect(await readDocument(file("rivers.pdf"))).toEqual({
      title: "Rivers",
      text: "The Akerselva flows through Oslo.",
    });
  });

  it("refuses a PDF that is damaged or has only pictures", async () => {
    writeFileSync(file("damaged.pdf"), "%PDF-1.4\nnothing");
    await expect(readDocument(file("damaged.pdf"))).rejects.toThrow(
      errorWith("FILE_FORMAT", "damaged.pdf: cannot be read as PDF"),
    );
    writeFileSync(file("scan.pdf"), pdf(""));
    await expect(readDocument(file("scan.pdf"))).rejects.toThrow(
      errorWith("FILE_FORMAT", "has no text, only pictures"),
    );
  });

  it("refuses a text in another encoding than UTF-8", async () => {
    writeFileSync(file("latin.txt"), Buffer.from([0x4d, 0xfc, 0x6e]));
    await expect(readDocument(file("latin.txt"))).rejects.toThrow(errorWith("FILE_FORMAT"));
  });
});

describe("a folder of documents", () => {
  const docs = file("docs");
  beforeAll(() => {
    mkdirSync(join(docs, "sub"), { recursive: true });
    writeFileSync(join(docs, "a.md"), "# Oslo\n\nOslo is a city.\n");
    writeFileSync(join(docs, "sub", "b.htm"), HTML);
    writeFileSync(join(docs, "c.docx"), "PK");
    writeFileSync(join(docs, "d.png"), "x");
    writeFileSync(join(docs, "e.txt"), "");
    writeFileSync(join(docs, "f.xyz"), "x");
    writeFileSync(join(docs, ".hidden"), "x");
    symlinkSync(join(docs, "nowhere"), join(docs, "g.txt"));
    symlinkSync(docs, join(docs, "sub", "up"));
  });

  it("accounts for every file: read, or skipped and why", async () => {
    const { files, skipped } = await textFiles(docs);
    expect(files).toEqual([join(docs, "a.md"), join(docs, "sub", "b.htm")]);
    expect(Object.fromEntries(skipped.map(({ path, why }) => [path, why]))).toEqual({
      ".hidden": "hidden",
      "c.docx": "a word processor's document; save it as .html, .pdf or .txt",
      "d.png": "a picture",
      "e.txt": "empty",
      "f.xyz": ".xyz is read nowhere as text",
      "g.txt": "a link to nothing",
      "sub/up": "a link to a folder above it",
    });
    expect(skippedText(skipped)).toBe(
      "; 7 files are skipped: c.docx (a word processor's document; save it as .html, .pdf or .txt), d.png (a picture), e.txt (empty), f.xyz (.xyz is read nowhere as text), g.txt (a link to nothing), 1 more, 1 hidden",
    );
  });

  it("becomes passages with the documents' own titles", async () => {
    const passages = await collect(readPassages(docs));
    expect(passages.map(({ id, title }) => [id, title])).toEqual([
      ["a.md#1", "Oslo"],
      ["sub/b.htm#1", "Oslo & its river"],
    ]);
  });

  it("names the files beside the data that it reads", async () => {
    const data = file("rows");
    mkdirSync(data);
    writeFileSync(join(data, "train.jsonl"), `{"id": "1", "text": "Oslo"}\n`);
    writeFileSync(join(data, "README.md"), "# About");
    const { files, skipped } = await dataSource(data);
    expect(files).toEqual([join(data, "train.jsonl")]);
    expect(skipped.map(({ path }) => path)).toEqual(["README.md"]);
  });
});
